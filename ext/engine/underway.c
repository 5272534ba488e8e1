#include "underway.h"
#include "index.h"
#include "slot.h"

#define TAG_BITS 63u

uint64_t larder_underway_tags(const larder_pool *pool, const uint64_t *tags, size_t count)
{
    uint64_t what = 0;
    for (size_t i = 0; i < count; i++) {
        what |= UINT64_C(1) << ((larder_mix(pool, tags[i]) >> 32) * TAG_BITS >> 32);
    }
    return what;
}

/* model/token.pml: underway_begins() */
void larder_underway_begin(larder_pool *pool, uint64_t what)
{
    LARDER_FAULT(LARDER_AT_UNDERWAY);
    /* Counted first, and last when it is over: a death in between leaves the count too high, which costs looks.
     * release: the tick that follows carries both to whoever takes a token at it or later (the clock is read with
     * acquire); an older token is older than the item's killer. */
    atomic_fetch_add_explicit(&pool->header->underway, 1, memory_order_release);
    LARDER_FAULT(LARDER_AT_UNDERWAY);
    atomic_store_explicit(&pool->slot->underway, what, memory_order_release);
}

void larder_underway_end(larder_pool *pool)
{
    LARDER_FAULT(LARDER_AT_UNDERWAY);
    /* release: who finds that it is over finds the cells where the second tick has moved them. */
    atomic_store_explicit(&pool->slot->underway, 0, memory_order_release);
    LARDER_FAULT(LARDER_AT_UNDERWAY);
    atomic_fetch_sub_explicit(&pool->header->underway, 1, memory_order_release);
}

/* model/token.pml: storer(), judge */
bool larder_is_underway(larder_pool *pool, const uint64_t *tags, size_t count)
{
    /* acquire: as above. */
    if (atomic_load_explicit(&pool->header->underway, memory_order_acquire) == 0) {
        return false;
    }
    uint32_t used = larder_slots_used(pool);
    uint64_t mine = larder_underway_tags(pool, tags, count) | LARDER_UNDERWAY_CLEAR;
    for (uint32_t i = 0; i < used; i++) {
        uint64_t its = atomic_load_explicit(&pool->slots[i].underway, memory_order_acquire);
        if ((its & mine) != 0 && i != pool->slot_index && larder_slot_seems_alive(pool, i)) {
            return true;
        }
    }
    return false;
}

void larder_underway_bury(larder_pool *pool, uint32_t index)
{
    /* relaxed: nobody else writes here, we hold the slot's lock; and what it did not finish it has promised nobody. */
    if (atomic_load_explicit(&pool->slots[index].underway, memory_order_relaxed) != 0) {
        LARDER_FAULT(LARDER_AT_UNDERWAY);
        atomic_store_explicit(&pool->slots[index].underway, 0, memory_order_relaxed);
        LARDER_FAULT(LARDER_AT_UNDERWAY);
        atomic_fetch_sub_explicit(&pool->header->underway, 1, memory_order_relaxed);
    }
}
