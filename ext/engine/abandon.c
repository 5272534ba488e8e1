/* Giving back the memory of a pool that was removed or saved, while processes may still have it mapped.
 *
 * A file's memory is given back when nobody maps it any more, which is when each of its processes has looked at the
 * path again; a process that removes pool after pool would have them all until its request ends, because it may be
 * using values in place, and idle workers keep one that was saved until their next request, so that there might be no
 * room for its successor. So whoever removes or saves a pool frees its segments at once, but for those that somebody
 * pins, by the protocol of pin.h: the generation is raised, and only then are the pins looked at. Who has not noticed
 * yet finds that every word is void. Nobody opens a segment any more, because the lock is not to be had (lock.c): so
 * none is written to without a pin.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "abandon.h"
#include "attach.h"
#include "lease.h"
#include "lock.h"
#include "pin.h"
#include "segment.h"

#include <fcntl.h>

void larder_pool_give_back(larder_pool *pool)
{
    if (!larder_lock_whatever(pool)) {
        return; /* its memory goes with the last mapping */
    }
    for (uint32_t i = 0, run; i < pool->geometry.segment_count; i += run) {
        uint32_t generation = atomic_load_explicit(&pool->generations[i], memory_order_relaxed);
        run = larder_segment_state_of(&pool->segments[i]) == LARDER_FREE ? 1 : larder_run_of(pool, i);
        LARDER_FAULT(LARDER_AT_GIVE_BACK);
        /* seq_cst, before the pins: as in larder_empty_segment(). model/pin.pml: raise_generation() */
        atomic_store_explicit(&pool->generations[i], (generation + 1) & LARDER_GENERATION_MASK, memory_order_seq_cst);
        if (!larder_pinned_by_any(pool, i)) {
            (void)!fallocate(pool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             (off_t)larder_segment_offset(pool, i), (off_t)((uint64_t)run << pool->segment_shift));
        }
    }
    larder_unlock(pool);
}

void larder_pool_abandon(larder_pool *pool)
{
    larder_pool_doubt(pool);
    if (pool->slot == NULL || atomic_load_explicit(&pool->header->dead, memory_order_acquire) != LARDER_DEAD) {
        return;
    }
    larder_pool_give_back(pool);
    if (pool->pinned_count == 0 && pool->inherited_fd < 0 && !pool->pins_shared) {
        larder_leases_end(pool);
        larder_detach(pool);
        pool->checked_at = 0; /* the next operation looks for the next pool, however soon it comes */
    }
}
