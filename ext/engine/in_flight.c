#include "in_flight.h"
#include "slot.h"

#define BITS  (LARDER_IN_FLIGHT_WORDS * 64u)
#define CLEAR (BITS - 1) /* tags share the others */

static void add_bit(larder_in_flight *what, uint32_t bit)
{
    what->bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

larder_in_flight larder_in_flight_tags(const larder_pool *pool, const uint64_t *tags, size_t count)
{
    larder_in_flight what = {{0}};
    for (size_t i = 0; i < count; i++) {
        add_bit(&what, (uint32_t)((larder_mix(pool, tags[i]) >> 32) * CLEAR >> 32));
    }
    return what;
}

larder_in_flight larder_in_flight_clear(void)
{
    larder_in_flight what = {{0}};
    add_bit(&what, CLEAR);
    return what;
}

/* model/token.pml: in_flight_begins(); model/in_flight.pml: invalidator(), take_number() */
uint64_t larder_in_flight_begin(larder_pool *pool, larder_in_flight what)
{
    for (uint32_t i = 0; i < LARDER_IN_FLIGHT_WORDS; i++) {
        if (what.bits[i] != 0) {
            LARDER_FAULT(LARDER_AT_IN_FLIGHT);
            /* relaxed: the number carries it. */
            atomic_store_explicit(&pool->slot->in_flight[i], what.bits[i], memory_order_relaxed);
        }
    }
    LARDER_FAULT(LARDER_AT_IN_FLIGHT);
    /* release: a reader of this number or a later one finds what was said. The tick that follows carries both to a
     * process that takes a token at it or later (the clock is read with acquire); an older token is older than the
     * item's killer. */
    return atomic_fetch_add_explicit(&pool->header->in_flight_begun, 1, memory_order_release) + 1;
}

/* model/token.pml: in_flight_ends(); model/in_flight.pml: invalidator() */
void larder_in_flight_end(larder_pool *pool, uint64_t number)
{
    uint64_t before = number - 1;
    for (uint32_t i = 0; i < LARDER_IN_FLIGHT_WORDS; i++) {
        /* relaxed: no other process writes here. */
        if (atomic_load_explicit(&pool->slot->in_flight[i], memory_order_relaxed) != 0) {
            LARDER_FAULT(LARDER_AT_IN_FLIGHT);
            /* release: a reader that finds it over finds the cells where the second tick has moved them. */
            atomic_store_explicit(&pool->slot->in_flight[i], 0, memory_order_release);
        }
    }
    LARDER_FAULT(LARDER_AT_IN_FLIGHT);
    /* If all before it are over; else the next process that looks at the slots says so. release: as above. */
    atomic_compare_exchange_strong_explicit(&pool->header->in_flight_over, &before, number, memory_order_release,
                                            memory_order_relaxed);
}

/* Is its holder in the middle of something, of anything or of what `mine` names? */
static bool says(const larder_slot *slot, const larder_in_flight *mine, bool *concerned)
{
    bool anything = false;
    *concerned = false;
    for (uint32_t i = 0; i < LARDER_IN_FLIGHT_WORDS; i++) {
        /* acquire: as above. */
        uint64_t its = atomic_load_explicit(&slot->in_flight[i], memory_order_acquire);
        anything |= its != 0;
        *concerned |= (its & mine->bits[i]) != 0;
    }
    return anything;
}

/* model/token.pml: storer(), judge; model/in_flight.pml: asker(), ask() */
bool larder_is_in_flight(larder_pool *pool, const uint64_t *tags, size_t count)
{
    bool all_over = true, concerned;
    if (larder_all_is_over(pool)) {
        return false;
    }
    /* acquire: as there. */
    uint64_t begun = atomic_load_explicit(&pool->header->in_flight_begun, memory_order_acquire);
    larder_in_flight mine = larder_in_flight_tags(pool, tags, count);
    add_bit(&mine, CLEAR);
    for (uint32_t i = 0, used = larder_slots_used(pool); i < used; i++) {
        if (says(&pool->slots[i], &mine, &concerned) && larder_slot_seems_alive(pool, i)) {
            if (concerned && i != pool->writer.slot_index) {
                return true;
            }
            all_over = false;
        }
    }
    if (all_over) {
        LARDER_FAULT(LARDER_AT_IN_FLIGHT);
        larder_raise(&pool->header->in_flight_over, begun);
    }
    return false;
}
