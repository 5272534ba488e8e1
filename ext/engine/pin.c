#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pin.h"
#include "map.h"
#include "slot.h"

static void set_bit(larder_pool *pool, uint32_t segment)
{
    _Atomic uint64_t *word = &pool->attached.own_pins[segment / 64];
    /* relaxed: only this process writes its pins; the fence that follows orders the store. */
    atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) | UINT64_C(1) << segment % 64,
                          memory_order_relaxed);
}

/* model/pin.pml: drop() */
static void clear_bit(larder_pool *pool, uint32_t segment)
{
    _Atomic uint64_t *word = &pool->attached.own_pins[segment / 64];
    LARDER_FAULT(LARDER_AT_UNPIN);
    /* release: all reads under the pin happen before it falls. */
    atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) & ~(UINT64_C(1) << segment % 64),
                          memory_order_release);
}

/* model/pin.pml: pin_set() */
bool larder_pin_set(larder_pool *pool, uint32_t segment, uint32_t generation)
{
    if (larder_pinned(pool, segment) != 0) {
        return larder_pin_holds(pool, segment, generation);
    }
    LARDER_FAULT(LARDER_AT_PIN);
    set_bit(pool, segment);
    /* relaxed: the fence comes before we ask whether the segment is apart; see map.h. */
    atomic_store_explicit(&pool->pinned[segment], generation + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    /* acquire: the bytes of this generation were written before. */
    if (atomic_load_explicit(&pool->generations[segment], memory_order_acquire) != generation) {
        atomic_store_explicit(&pool->pinned[segment], 0, memory_order_relaxed);
        clear_bit(pool, segment);
        return false;
    }
    if (!pool->zero_copy || larder_map_is_apart(pool->attached.mapping, segment)) {
        atomic_store_explicit(&pool->pinned[segment], (generation + 1) | LARDER_PINNED_APART, memory_order_relaxed);
    }
    pool->request.pinned_list[pool->request.pinned_count++] = segment;
    atomic_store_explicit(&pool->slot->pinned, pool->request.pinned_count, memory_order_relaxed);
    larder_map_protect(pool, segment, true);
    return true;
}

void larder_pin_keep(larder_pool *pool)
{
    _Atomic uint64_t *since = &pool->slot->pinned_since;
    if (atomic_load_explicit(since, memory_order_relaxed) == 0) {
        atomic_store_explicit(since, larder_pool_now(pool), memory_order_relaxed);
    }
}

/* How many are left, for others to see. relaxed: figures. */
static void tell(larder_pool *pool)
{
    if (pool->request.pinned_count == 0) {
        atomic_store_explicit(&pool->slot->pinned_since, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&pool->slot->pinned, pool->request.pinned_count, memory_order_relaxed);
}

static void drop_entry(larder_pool *pool, uint32_t segment)
{
    larder_map_protect(pool, segment, false);
    atomic_store_explicit(&pool->pinned[segment], 0, memory_order_relaxed);
    clear_bit(pool, segment);
}

void larder_pin_drop(larder_pool *pool, uint32_t segment)
{
    /* Brief pins are dropped in the reverse order of setting, with at most a few in between. */
    uint32_t i = pool->request.pinned_count;
    while (i-- > 0) {
        if (pool->request.pinned_list[i] == segment) {
            pool->request.pinned_list[i] = pool->request.pinned_list[--pool->request.pinned_count];
            drop_entry(pool, segment);
            break;
        }
    }
    tell(pool);
}

void larder_pins_drop(larder_pool *pool)
{
    while (pool->request.pinned_count > 0) {
        drop_entry(pool, pool->request.pinned_list[--pool->request.pinned_count]);
    }
    pool->request.kept_count = 0;
    tell(pool);
}

/* model/pin.pml: look_at_pins(); model/fork.pml: reclaimer() */
bool larder_pinned_by_any(larder_pool *pool, uint32_t segment)
{
    /* The reclaimer's half of the protocol in pin.h: what the caller wrote, a generation or that the segment is sealed,
     * comes before our look. */
    atomic_thread_fence(memory_order_seq_cst);
    LARDER_FAULT(LARDER_AT_LOOK);
    /* Asked anew at each: a process that forks copies its pins to a slot behind its own, which may be the first to be
     * taken there, and then drops its own. A process that finds those dropped finds the copy counted. */
    for (uint32_t i = 0; i < larder_slots_used(pool); i++) {
        const _Atomic uint64_t *word = pool->pins + (size_t)i * pool->geometry.pin_words + segment / 64;
        /* acquire: pairs with the release that drops a pin; the reads under it are done. */
        if ((atomic_load_explicit(word, memory_order_acquire) >> segment % 64 & 1) != 0 &&
            larder_slot_seems_alive(pool, i)) {
            return true;
        }
    }
    return false;
}
