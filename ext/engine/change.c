/* Changes of items, besides reading (get.h), counting (count.c) and taking (take.c): store, delete, touch,
 * invalidate, clear, list.
 */
#include "carried.h"
#include "enter.h"
#include "formats.h"
#include "index.h"
#include "larder.h"
#include "lock.h"
#include "recent.h"
#include "segment.h"
#include "stale.h"
#include "store.h"
#include "tag.h"
#include "token.h"
#include "in_flight.h"

#include <string.h>

/* model/save.pml: operation(). A store during which the pool was closed is done if the snapshot has brought its item to
 * the next pool. Else it is refused, and the item that it was to replace goes there. To store there would be wrong: if
 * we were stopped meanwhile, what has been stored and deleted there is younger than our value. */
enum larder_result larder_store(larder_pool *pool, const larder_key *key, const larder_value *value,
                                const larder_terms *terms)
{
    enum larder_result result = LARDER_UNREACHED;
    larder_claim as = {.judged = false};
    bool closed = false;
    do {
        if (!larder_pool_enter_to_write(pool)) {
            return LARDER_UNREACHED;
        }
        result =
            closed ? larder_store_too_late(pool, key, terms, &as) : larder_store_entered(pool, key, value, terms, &as);
        closed = larder_pool_was_closed(pool);
    } while (closed);
    return result;
}

/* model/save.pml: operation() */
bool larder_delete(larder_pool *pool, const larder_key *key)
{
    bool existed = false;
    do {
        if (!larder_pool_enter_surely(pool)) {
            break;
        }
        larder_place place = larder_place_of(pool, key->hash);
        larder_missed_take(pool, key);
        existed |= larder_erase(pool, &place, key);
    } while (larder_pool_was_closed(pool));
    if (existed && !pool->request.undone) {
        larder_count(pool, LARDER_DELETES);
    }
    return existed;
}

/* model/touch.pml: touch() */
static bool touch_entered(larder_pool *pool, const larder_key *key, uint64_t expiry)
{
    for (int tries = 0; tries < 64; tries++) {
        larder_place place = larder_place_of(pool, key->hash);
        larder_found found;
        if (!larder_find(pool, &place, key, &found)) {
            return false;
        }
        /* relaxed: it is exchanged below, or left. */
        uint64_t seen = atomic_load_explicit(&found.item->expiry, memory_order_relaxed);
        if (larder_is_invalidated(pool, found.item) || !larder_is_to_come(pool, seen)) {
            larder_found_drop(pool, &found);
            return false;
        }
        larder_segment_note_expiry(&pool->segments[found.segment], expiry);
        LARDER_FAULT(LARDER_AT_TOUCH);
        /* By exchange: another process may have found the item dead since we looked, larder_stays_dead(). seq_cst: a
         * mover looks at the expiry again after it has turned the word; so one of us sees the other. */
        bool given = atomic_compare_exchange_strong_explicit(&found.item->expiry, &seen, expiry, memory_order_seq_cst,
                                                             memory_order_relaxed);
        bool still = given && atomic_load_explicit(found.at, memory_order_seq_cst) == found.word;
        larder_found_drop(pool, &found);
        if (still) {
            return true;
        }
    }
    return false;
}

bool larder_touch(larder_pool *pool, const larder_key *key, uint64_t expiry)
{
    bool touched = false;
    do {
        touched = larder_pool_enter_surely(pool) && touch_entered(pool, key, expiry);
    } while (!pool->request.undone && larder_pool_was_closed(pool));
    return touched;
}

static void clear_entered(larder_pool *pool)
{
    uint64_t before, number = larder_in_flight_begin(pool, larder_in_flight_clear());
    larder_own_move(pool, &pool->header->last_clear, LARDER_AT_CLEAR, &before);
    larder_own_move(pool, &pool->header->last_clear, LARDER_AT_CLEAR, &before); /* T3, as in invalidate_entered() */
    larder_in_flight_end(pool, number);
    /* So that what is stored from now on does not lie among the dead, and whole segments can be known as such. */
    if (larder_lock(pool)) {
        for (uint32_t queue = 0; queue < LARDER_QUEUES; queue++) {
            uint32_t open = larder_open_of(pool, (enum larder_list)queue);
            if (open < pool->geometry.segment_count) {
                larder_seal_segment(pool, open);
            }
        }
        larder_unlock(pool);
    }
}

void larder_clear(larder_pool *pool)
{
    do {
        if (!larder_pool_enter_surely(pool)) {
            return;
        }
        clear_entered(pool);
    } while (larder_pool_was_closed(pool));
    larder_formats_clear(pool);
}

/* ---- invalidating tags; the rule is in tag.h --------------------------------------------------------------- */

/* Strictly forward, as in larder_own_move(): where a younger process was first, we take another tick. With the tick of
 * that process it would look through our version, as its own, at what was there before both.
 * model/token.pml: raise() */
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
    uint64_t its = *tick; /* none of its cells is older: a fill let past them is let past the entry */
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

/* Ticks; then all their versions have reached that tick, or one that was taken later, and the change is counted. Where
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
    /* seq_cst, after the table: a reader that sees the new count sees it. T2: a look that missed it says an older
       count. */
    atomic_fetch_add_explicit(&pool->header->invalidations, 1, memory_order_seq_cst);
}

/* Until then the windows of the tags, which are carried, are open. */
static void open_windows(larder_pool *pool, const uint64_t *tags, size_t count, uint64_t until)
{
    for (size_t i = 0; until > 0 && i < count; i++) {
        if (larder_is_carried(pool, tags[i])) {
            larder_window_open(pool, tags[i], until);
        }
    }
}

/* ... or end; at once, if nothing is to be served. Of a tag that no item carried nothing was entered. */
static void limit_windows(larder_pool *pool, const uint64_t *tags, size_t count, uint64_t until)
{
    for (size_t i = 0; i < count; i++) {
        if (larder_is_carried(pool, tags[i])) {
            larder_window_limit(pool, tags[i], until);
        }
    }
}

/* model/token.pml: invalidator() */
static void invalidate_entered(larder_pool *pool, const uint64_t *tags, size_t count, uint64_t until)
{
    open_windows(pool, tags, count, until);
    uint64_t number = larder_in_flight_begin(pool, larder_in_flight_tags(pool, tags, count));
    raise_tags(pool, tags, count);
    /* T3: from here on no process reads anything older. A process that did has an older token than this tick. */
    raise_tags(pool, tags, count);
    limit_windows(pool, tags, count, until);
    larder_in_flight_end(pool, number);
}

/* model/save.pml: operation() */
void larder_invalidate_softly(larder_pool *pool, const uint64_t *tags, size_t count, uint64_t serve_ms)
{
    uint64_t now = larder_pool_now(pool), until = serve_ms == 0                 ? 0
                                                  : serve_ms < UINT64_MAX - now ? now + serve_ms
                                                                                : UINT64_MAX;
    do {
        if (!larder_pool_enter_surely(pool)) {
            return;
        }
        invalidate_entered(pool, tags, count, until);
    } while (larder_pool_was_closed(pool));
}

void larder_invalidate(larder_pool *pool, const uint64_t *tags, size_t count)
{
    larder_invalidate_softly(pool, tags, count, 0);
}

/* ---- listing -------------------------------------------------------------------------------------------------- */

void larder_each_key(larder_pool *pool, const char *prefix, size_t length,
                     bool (*visit)(void *context, const char *key, size_t key_length), void *context)
{
    if (!larder_pool_enter(pool)) {
        return;
    }
    for (uint32_t b = 0; b < pool->geometry.bucket_count; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            uint64_t word = atomic_load_explicit(&pool->buckets[b].word[i], memory_order_acquire);
            uint32_t segment = larder_word_segment(pool, word);
            uint32_t generation = larder_word_generation(word);
            if (word == 0 || segment >= pool->geometry.segment_count) {
                continue;
            }
            bool held = larder_pin_holds(pool, segment, generation);
            if (!held && (larder_pinned(pool, segment) != 0 || !larder_pin_set(pool, segment, generation))) {
                continue;
            }
            const larder_item *item = (const larder_item *)(pool->rw + larder_word_offset(pool, word));
            bool go_on = true;
            if (larder_is_readable(pool, item) && larder_is_alive(pool, item) && item->key_length >= length &&
                memcmp(larder_item_key(item), prefix, length) == 0) {
                go_on = visit(context, larder_item_key(item), item->key_length);
            }
            if (!held) {
                larder_pin_drop(pool, segment);
            }
            if (!go_on) {
                return;
            }
        }
    }
}
