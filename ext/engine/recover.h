/* The segments and the index as they are found: when a pool is opened, and when the lock was taken from an owner who
 * died in the middle of his work. What the lists said follows from the table (S3 of segment.h).
 */
#ifndef LARDER_RECOVER_H
#define LARDER_RECOVER_H

#include "pool.h"

/* Is every segment one? Others may be working with them. */
bool larder_segments_are_sound(const larder_pool *pool);

/* Can the index be one, as far as a few places tell? Others may be working with it. What was overwritten has ticks that
 * are still to come, which would refuse whatever is stored. */
bool larder_index_is_sound(const larder_pool *pool);

/* Do the lists have ends? Under the segment lock. */
bool larder_lists_are_sound(const larder_pool *pool);

/* Makes the lists anew from the table. Under the segment lock. */
void larder_segments_recover(larder_pool *pool);

#endif
