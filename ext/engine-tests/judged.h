/* Counters, and items that are touched, of one pool, by processes any of which may die or be stopped in the middle:
 * they share what they know beside the pool, and what they find there is judged by it.
 *
 *   J1  A counter says no more than was begun to be counted.
 *   J2  ... and where nothing may have taken it, no less than was told to have been counted.
 *   J3  An item's expiry is that of its last touch, or of the one that is in flight, or was when its process died; and
 *       it is not found beyond it.
 *   J4  ... and where nothing may have taken it, it is found until then; or until the expiry that it had before its
 *       last touch, if that was earlier.
 */
#ifndef LARDER_JUDGED_H
#define LARDER_JUDGED_H

#include "crowd.h"

/* Before the first process is started. */
void judged_begin(void);

/* From now on nothing expires. What expires while it is moved may lose a touch (../PROOFS.md, Limits), so such items are
 * not judged after it. */
void judged_lasts(void);

/* From now on processes may die, between a move and the look for a touch as well (the same limits). */
void judged_may_die(void);

/* Does something with a counter, or with an item, of which each process has some for itself; or looks at another's. */
void judged_count(larder_pool *pool, rng *r);
void judged_touch(larder_pool *pool, rng *r, uint64_t process);

/* Around a round of work, when all processes rest. `all_stays`: nothing will be done in it that takes a counter or an
 * item, to a pool that does not evict (J2, J4). At its end all that is there is judged. */
void judged_begin_round(larder_pool *pool, bool all_stays);
void judged_end_round(larder_pool *pool);

#endif
