/* Ghosts: the memory of evicted keys. A key that returns while its ghost is there was evicted too early: from the small
 * queue, it goes straight to the main one.
 */
#ifndef LARDER_GHOST_H
#define LARDER_GHOST_H

#include "pool.h"

/* Remembers a key of `bytes` that was evicted from the queue. Under the segment lock. */
void larder_ghost_add(larder_pool *pool, uint64_t hash, enum larder_list queue, uint64_t bytes);

/* Was the key, which is about to be stored with `bytes`, evicted from the small queue not long ago? Forgets it, and
 * learns from it how large the small queue should be. */
bool larder_ghost_take(larder_pool *pool, uint64_t hash, uint64_t bytes);

/* What the two queues may hold together. */
static inline uint64_t larder_usable_bytes(const larder_pool *pool)
{
    return (uint64_t)(pool->geometry.segment_count - 2) << pool->segment_shift;
}

#endif
