/* The segments as they are found: when a pool is opened, and when the lock was taken from an owner who died in the
 * middle of his work. What the lists said follows from the table (S3 of segment.h).
 */
#ifndef LARDER_RECOVER_H
#define LARDER_RECOVER_H

#include "pool.h"

/* After attaching: are the tables sound? Makes the lists of a new pool. */
bool larder_segments_start(larder_pool *pool);

/* Makes the lists anew from the table. Under the segment lock. */
void larder_segments_recover(larder_pool *pool);

#endif
