/* Pools of one name in different formats: what happens while the extension is upgraded and processes of both versions
 * run.
 *
 *     /dev/shm/larder-<uid>/shop@4   held by php-fpm's old workers
 *                           shop@5   held by new ones
 *
 * The format is part of a file's name, so each version makes, opens and replaces its own file only. They know this of
 * each other, and it must never change:
 *
 *   - the name: the pool's, "@", the format in decimal;
 *   - the lock (flock) on the directory, which a process that gives or takes a name holds;
 *   - a process that uses a pool holds an open-file-description lock somewhere in its file, and one that does not has
 *     none;
 *   - a process that has its lock looks once more whether the file has its name, before it uses the pool; and a
 *     process that takes the name from a file that no process holds asks once more whether any process does when it
 *     has another name, and then gives it back: so either sees the other;
 *   - a process finds out by itself, soon, that its pool's name is gone.
 *
 * Deletes and invalidations in one of them do not reach the other. So what no process has held while another was
 * there is not used again:
 *
 *   U1  A process that opens or saves a pool removes those of other formats that no process holds.
 *   U2  If there was one of another format, held or not, and no process holds that of its own, it begins with an empty
 *       one. Nor does it load a snapshot.
 *   U3  A process that removes or clears a pool removes those of other formats, held or not.
 *
 * As long as another is held, a process that opens one looks again every minute: the last of the old workers may end,
 * and no process start. (Processes of both versions that run at the same time still do not hear of each other's
 * deletes; the guide says what to do about that.)
 */
#ifndef LARDER_FORMATS_H
#define LARDER_FORMATS_H

#include "pool.h"

/* U1 and U2, before the handle is attached. False: `error`; another process is making, saving or removing a pool, or
 * only an existing one is wanted, and U2 forbids to use it. */
bool larder_formats_settle(larder_pool *pool, int directory, larder_error *error);

/* U1, under the directory's lock. True: there is none left. */
bool larder_formats_sweep(const larder_pool *pool, int directory);

/* U1, now and then, for a handle that is attached. */
void larder_formats_look_again(larder_pool *pool);

/* The pool has been cleared: those of other formats are to be, too. Sets pool->request.undone if that fails. */
void larder_formats_clear(larder_pool *pool);

/* Takes the name away from all of them, under the directory's lock. How many there were, -1: error. */
int larder_formats_remove(const larder_pool *pool, int directory, larder_error *error);

/* Takes the name away from the pool, in all formats, under the directory's lock. 1: done, 0: there was none, -1: error.
 */
int larder_formats_remove_all(const larder_pool *pool, int directory, larder_error *error);

#endif
