#include "invalidate.h"
#include "carried.h"
#include "enter.h"
#include "recent.h"
#include "tag.h"
#include "token.h"
#include "underway.h"

/* Strictly forward, as in larder_own_move(): where somebody younger was first, we take another tick. Did we leave his,
 * he would look through it, as his own, at what was there before both of us. model/token.pml: raise() */
static void raise_cell(larder_pool *pool, _Atomic uint64_t *cell, uint64_t *tick)
{
    LARDER_FAULT(LARDER_AT_TAG);
    /* seq_cst: as for all that the clock judges. */
    uint64_t seen = atomic_load_explicit(cell, memory_order_seq_cst);
    do {
        if (seen == *tick) {
            return; /* another of our tags has that cell, too */
        }
        /* No cell is ahead of the clock, unless it was damaged; then it is set right. */
        while (seen > *tick && seen <= larder_now_logical(pool->header)) {
            *tick = larder_own_tick(pool);
        }
    } while (!atomic_compare_exchange_weak_explicit(cell, &seen, *tick, memory_order_seq_cst, memory_order_seq_cst));
    larder_own_note(pool, cell, *tick, seen);
}

/* The tag's cells reach the tick, or one that was taken later; then the tag is among the recent ones, if an item may
 * carry it. True: it is. model/token.pml: raise_cells(), enter() */
static bool raise_tag(larder_pool *pool, uint64_t tag, uint64_t *tick)
{
    uint64_t its = *tick; /* none of its cells is older: what is let past them for one's own is let past the entry */
    _Atomic uint64_t *cells[LARDER_TAG_CELLS];
    larder_tag_cells(pool, tag, cells);
    for (uint32_t c = 0; c < LARDER_TAG_CELLS; c++) {
        raise_cell(pool, cells[c], tick);
    }
    if (!larder_is_carried(pool, tag)) { /* T4 */
        return false;
    }
    larder_recent_enter(pool, tag, its);
    return true;
}

/* Ticks; then all their stamps have reached that tick, or one that was taken later, and the change is counted. Where
 * the table has not changed, no look need be repeated. model/token.pml: invalidate() */
static void raise_tags(larder_pool *pool, const uint64_t *tags, size_t count)
{
    bool entered = false;
    uint64_t tick = larder_own_tick(pool);
    for (size_t i = 0; i < count; i++) {
        entered |= raise_tag(pool, tags[i], &tick);
    }
    if (!entered) {
        return;
    }
    LARDER_FAULT(LARDER_AT_INVALIDATED);
    /* seq_cst, after the table: who sees the new count sees it. T2: a look that missed it says an older count. */
    atomic_fetch_add_explicit(&pool->header->invalidations, 1, memory_order_seq_cst);
}

/* model/token.pml: invalidator() */
static void invalidate_entered(larder_pool *pool, const uint64_t *tags, size_t count)
{
    uint64_t number = larder_underway_begin(pool, larder_underway_tags(pool, tags, count));
    raise_tags(pool, tags, count);
    /* T3: from here on nobody reads anything older. Who did has an older token than this tick. */
    raise_tags(pool, tags, count);
    larder_underway_end(pool, number);
}

/* model/save.pml: operation() */
void larder_invalidate(larder_pool *pool, const uint64_t *tags, size_t count)
{
    do {
        if (!larder_pool_enter_surely(pool)) {
            return;
        }
        invalidate_entered(pool, tags, count);
    } while (larder_pool_was_closed(pool));
}
