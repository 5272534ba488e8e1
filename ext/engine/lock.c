#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lock.h"
#include "segment.h"
#include "slot.h"

#include <stdlib.h>
#include <time.h>

#define LOCK_SPINS          128      /* before the first look at the time */
#define LOCK_FIRST_NAP_NS   20000    /* each is twice as long as the one before */
#define LOCK_LONGEST_NAP_NS 1000000  /* so that many who wait do not keep the owner from a processor */
#define LOCK_WAIT_NS        70000000 /* for one owner, perhaps of hundreds that run; then a store is refused */
#define LOCK_NEXT_WAIT_NS   1000000  /* ... and the next ones sooner, while that owner has not gone on */

/* Where nothing is evicted, what cannot be stored is lost, and not just computed anew. */
#define LOCK_WAIT_IN_ALL_WITHOUT_EVICTION_NS 2000000000 /* for owners that go on */
#define LOCK_NEXT_WAIT_WITHOUT_EVICTION_NS   10000000

/* ---- what an owner's death leaves ------------------------------------------------------------------------------ */

/* Under the lock. False also for a new pool, in which all is zero. */
bool larder_lists_are_sound(const larder_pool *pool)
{
    uint32_t count = pool->geometry.segment_count;
    for (uint32_t list = 0; list < LARDER_LISTS; list++) {
        const larder_list_ends *ends = &pool->header->lists[list];
        bool empty = ends->first == LARDER_NO_SEGMENT && ends->last == LARDER_NO_SEGMENT && ends->count == 0;
        bool linked = ends->first < count && ends->last < count && ends->count > 0 && ends->count <= count &&
                      pool->segments[ends->first].prev == LARDER_NO_SEGMENT &&
                      pool->segments[ends->last].next == LARDER_NO_SEGMENT;
        if (!empty && !linked) {
            return false;
        }
    }
    return pool->header->victim <= count;
}

typedef struct aged {
    uint64_t sequence;
    uint32_t index;
} aged;

static int by_age(const void *a, const void *b)
{
    uint64_t x = ((const aged *)a)->sequence, y = ((const aged *)b)->sequence;
    return (x > y) - (x < y);
}

/* A dead owner may have left a run half made or half freed. What no head claims is free. */
static void repair_runs(larder_pool *pool)
{
    uint32_t covered = 0;
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        larder_segment *segment = &pool->segments[i];
        enum larder_segment_state state = larder_segment_state_of(segment);
        segment->list = LARDER_LISTS;
        if (i < covered) {
            segment->run = 0;
            larder_segment_set_state(segment, LARDER_TAIL);
        } else if (state == LARDER_TAIL || state == LARDER_FREE || segment->run == 0) {
            segment->run = 1;
            larder_segment_set_state(segment, LARDER_FREE);
        } else {
            covered = i + segment->run;
        }
    }
}

/* model/lock.pml: recover() */
void larder_segments_recover(larder_pool *pool)
{
    uint32_t count = pool->geometry.segment_count, found = 0;
    aged *order = malloc(count * sizeof *order);
    pool->header->victim = 0; /* items of it that were unlinked are skipped the next time */
    repair_runs(pool);
    for (uint32_t list = 0; list < LARDER_LISTS; list++) {
        pool->header->lists[list] =
            (larder_list_ends){.first = LARDER_NO_SEGMENT, .last = LARDER_NO_SEGMENT, .count = 0, .unused = 0};
    }
    for (uint32_t i = 0; i < count; i++) {
        larder_segment *segment = &pool->segments[i];
        enum larder_segment_state state = larder_segment_state_of(segment);
        if (state == LARDER_FREE) {
            larder_list_push(pool, LARDER_LIST_FREE, i);
        } else if (state == LARDER_LIMBO) {
            larder_list_push(pool, LARDER_LIST_LIMBO, i);
        } else if (state == LARDER_OPEN && i != larder_open_of(pool, (enum larder_list)segment->queue)) {
            larder_segment_set_state(segment, LARDER_SEALED);
            state = LARDER_SEALED;
        }
        if (state == LARDER_SEALED && order != NULL) {
            order[found++] = (aged){segment->sequence, i};
        } else if (state == LARDER_SEALED) {
            larder_list_push(pool, (enum larder_list)segment->queue, i); /* no memory to sort: any order */
        }
    }
    if (order != NULL) {
        qsort(order, found, sizeof *order, by_age);
        for (uint32_t i = 0; i < found; i++) {
            larder_list_push(pool, (enum larder_list)pool->segments[order[i].index].queue, order[i].index);
        }
    }
    free(order);
}

/* ---- the lock ------------------------------------------------------------------------------------------------- */

static int64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t lock_word(const larder_pool *pool)
{
    return (uint64_t)pool->writer.incarnation << 32 |
           (uint64_t)(pool->writer.lock_turn & LARDER_LOCK_TURNS) << LARDER_LOCK_SLOT_BITS |
           (pool->writer.slot_index + 1);
}

/* model/lock.pml: take_lock(), exchange() */
static bool try_lock(larder_pool *pool, uint64_t from)
{
    pool->writer.lock_turn++;
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
    pool->writer.stuck_owner = 0;
    return true;
}

/* How long one call waits. */
typedef struct waiting {
    int64_t end;        /* of all waiting */
    int64_t seen_since; /* when this owner was first seen */
    uint64_t seen;
    int64_t next; /* how long to wait for an owner that was waited for in vain before */
    int64_t nap;
} waiting;

static waiting begin_to_wait(const larder_pool *pool)
{
    bool evicts = pool->geometry.evict != 0;
    int64_t now = monotonic_ns();
    return (waiting){.end = now + (evicts ? LOCK_WAIT_NS : LOCK_WAIT_IN_ALL_WITHOUT_EVICTION_NS),
                     .seen_since = now,
                     .next = evicts ? LOCK_NEXT_WAIT_NS : LOCK_NEXT_WAIT_WITHOUT_EVICTION_NS,
                     .nap = LOCK_FIRST_NAP_NS};
}

/* Still at the same work? If the owner is stopped, once was long enough; if it only waits for a processor, those whose
 * stores are refused must not keep it busy. */
static bool is_over(waiting *left, uint64_t owner, uint64_t stuck_owner)
{
    int64_t now = monotonic_ns();
    if (owner != left->seen) {
        left->seen = owner;
        left->seen_since = now;
    }
    bool is_stuck = owner != 0 && owner == stuck_owner;
    return now >= left->end || now - left->seen_since >= (is_stuck ? left->next : LOCK_WAIT_NS);
}

static void nap(waiting *left)
{
    struct timespec moment = {.tv_sec = 0, .tv_nsec = left->nap};
    nanosleep(&moment, NULL);
    left->nap = left->nap * 2 < LOCK_LONGEST_NAP_NS ? left->nap * 2 : LOCK_LONGEST_NAP_NS;
}

/* model/lock.pml: take_lock() */
bool larder_lock_whatever(larder_pool *pool)
{
    for (int spin = 0; spin < LOCK_SPINS; spin++) {
        if (try_once(pool)) {
            return true;
        }
    }
    waiting left = begin_to_wait(pool);
    for (;;) {
        uint64_t owner = atomic_load_explicit(&pool->header->lock, memory_order_relaxed);
        if (owner == 0 ? try_lock(pool, 0) : owner_is_dead(pool, owner) && try_lock(pool, owner)) {
            if (owner != 0) {
                larder_segments_recover(pool);
            }
            return true;
        }
        if (is_over(&left, owner, pool->writer.stuck_owner)) {
            pool->writer.stuck_owner = owner;
            return false;
        }
        nap(&left);
    }
}

/* In a pool that was removed, or saved, no process makes room any more: its memory is given back. */
static bool keep_if_alive(larder_pool *pool)
{
    /* acquire: the mark was set before the process that gives the memory back took the lock. */
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
