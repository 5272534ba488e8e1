/* The segment lock: its holder makes room, opens and seals segments, and keeps their lists. Reading, storing into an
 * open segment and deleting need none of that, and never take it.
 *
 * Its word says whose it is, slot and incarnation, so that it can be taken from a dead owner, after which the lists are
 * made anew; and for which time it holds it, so that a process that waits for a stopped one waits once.
 */
#ifndef LARDER_LOCK_H
#define LARDER_LOCK_H

#include "pool.h"

/* False: another process has held it for too long, or the pool was removed. */
bool larder_lock(larder_pool *pool);
bool larder_try_lock(larder_pool *pool);

/* Of a removed one, too. */
bool larder_lock_whatever(larder_pool *pool);
void larder_unlock(larder_pool *pool);

/* What the lists of segments said follows from the table (S3 of segment.h): they are made anew when a pool is opened,
 * and when the lock was taken from an owner that died in the middle of its work. */

/* Do the lists have ends? Under the lock. */
bool larder_lists_are_sound(const larder_pool *pool);

/* Makes them anew from the table. Under the lock. */
void larder_segments_recover(larder_pool *pool);

#endif
