#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lock.h"
#include "recover.h"
#include "slot.h"

#include <time.h>

#define LOCK_PATIENCE_NS 10000000 /* then a store is refused: the lock's owner is stopped, or starved */
#define LOCK_RESPITE_NS  1000000  /* ... and so are the next, sooner, while it has not gone on */
#define LOCK_SPINS       128      /* before the first look at the time */

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t lock_word(const larder_pool *pool)
{
    return (uint64_t)pool->incarnation << 32 |
           (uint64_t)(pool->lock_turn & LARDER_LOCK_TURNS) << LARDER_LOCK_SLOT_BITS | (pool->slot_index + 1);
}

/* model/lock.pml: take_lock(), exchange() */
static bool try_lock(larder_pool *pool, uint64_t from)
{
    pool->lock_turn++;
    LARDER_FAULT(LARDER_AT_LOCK);
    /* acquire: all that the previous owner wrote. */
    return atomic_compare_exchange_strong_explicit(&pool->header->lock, &from, lock_word(pool), memory_order_acquire,
                                                   memory_order_relaxed);
}

/* model/lock.pml: take_lock(), dead */
static bool owner_is_dead(larder_pool *pool, uint64_t owner)
{
    uint32_t slot = ((uint32_t)owner & ((1u << LARDER_LOCK_SLOT_BITS) - 1)) - 1;
    return slot >= pool->geometry.slot_count ||
           atomic_load_explicit(&pool->slots[slot].incarnation, memory_order_acquire) != owner >> 32 ||
           larder_slot_bury(pool, slot);
}

static bool try_once(larder_pool *pool)
{
    if (atomic_load_explicit(&pool->header->lock, memory_order_relaxed) != 0 || !try_lock(pool, 0)) {
        return false;
    }
    pool->stuck_owner = 0;
    return true;
}

/* model/lock.pml: take_lock() */
bool larder_lock_whatever(larder_pool *pool)
{
    for (int spin = 0; spin < LOCK_SPINS; spin++) {
        if (try_once(pool)) {
            return true;
        }
    }
    int64_t begin = monotonic_ns();
    for (;;) {
        uint64_t owner = atomic_load_explicit(&pool->header->lock, memory_order_relaxed);
        if (owner == 0 ? try_lock(pool, 0) : owner_is_dead(pool, owner) && try_lock(pool, owner)) {
            if (owner != 0) {
                larder_segments_recover(pool);
            }
            return true;
        }
        /* Still at the same work? If it is stopped, once was long enough; if it only waits for a processor, those whose
         * stores are refused must not keep it busy. */
        bool is_stuck = owner != 0 && owner == pool->stuck_owner;
        if (monotonic_ns() - begin >= (is_stuck ? LOCK_RESPITE_NS : LOCK_PATIENCE_NS)) {
            pool->stuck_owner = owner;
            return false;
        }
        struct timespec moment = {.tv_sec = 0, .tv_nsec = 20000};
        nanosleep(&moment, NULL);
    }
}

/* In a pool that was removed, or saved, nobody makes room any more: its memory is given back. */
static bool keep_if_alive(larder_pool *pool)
{
    /* acquire: the mark was set before whoever gives the memory back took the lock. */
    if (atomic_load_explicit(&pool->header->dead, memory_order_acquire) == LARDER_LIVES) {
        return true;
    }
    larder_unlock(pool);
    return false;
}

bool larder_lock(larder_pool *pool)
{
    return larder_lock_whatever(pool) && keep_if_alive(pool);
}

bool larder_try_lock(larder_pool *pool)
{
    return try_once(pool) && keep_if_alive(pool);
}

/* model/lock.pml: process(), inside */
void larder_unlock(larder_pool *pool)
{
    /* release: our changes. By exchange, so that an owner who was taken for dead cannot free another's lock. */
    uint64_t own = lock_word(pool);
    LARDER_FAULT(LARDER_AT_UNLOCK);
    atomic_compare_exchange_strong_explicit(&pool->header->lock, &own, 0, memory_order_release, memory_order_relaxed);
}
