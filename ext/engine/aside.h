/* Which directory a user's pools lie in, or a group's.
 *
 * Any user can make a directory in /dev/shm, also under a name that another user's pools are to have. So there is the
 * directory's own name, its *home*, and if another process has that, one *aside*: <home>.<six letters at random>, of
 * which, as of the home, every process can see that it is the owner's (directory.h).
 *
 * All processes of the owner have to use the same one, also if the stranger's directory comes or goes later. So the
 * first of the owner's directories is used, the home before any aside, and these in the order of their names; and a new
 * one is made only where there is none. Two processes may each make one at once:
 *
 *     make a directory | look for the first: mine?    yes: remove the others, and tell those who use their pools
 *                                                     no: remove mine, and use the first
 *
 * At least one of the two sees the other's. Only a process that has made one looks for others: an ordinary process opens the home
 * and is done. A process that uses an aside looks for the home at the start of each request, as it does for the pool.
 */
#ifndef LARDER_ASIDE_H
#define LARDER_ASIDE_H

#include "directory.h"

/* Opens the directory, and says in `pool` where it and the pool are. If there is none it is made, or, without `make`,
 * the answer -1 with an empty message. Otherwise -1: it cannot be made, or not be used. */
int larder_find_directory(larder_pool *pool, bool make, larder_error *error);

/* Does the handle use an aside although the home is the owner's by now? */
bool larder_home_is_back(const larder_pool *pool);

/* Says where the pool is at home, and where its snapshots are. False: a path is too long. */
bool larder_name_places(larder_pool *pool, const larder_pool_config *config, larder_error *error);

/* Is the process another user's than the one that the home is named after? */
bool larder_user_is_another(const larder_pool *pool);

/* Names both places after the user whose the process is now. */
void larder_follow_user(larder_pool *pool);

/* Says that the pools lie in that directory. False: its path is too long. */
bool larder_settle_in(larder_pool *pool, const char *directory);

#endif
