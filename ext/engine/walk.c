#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "walk.h"
#include "ghost.h"
#include "index.h"
#include "key.h"

#include <string.h>

typedef struct walk {
    larder_pool *pool;
    uint32_t segment;
    enum larder_purpose purpose;
    bool to_the_end; /* now, with nothing deferred */
    larder_budget *left;
} walk;

/* ---- moving -------------------------------------------------------------------------------------------- */

/* Room in main's open segment; opens another if it must, and only to walk to the end that which writers leave alone:
 * before the walk went on they could fill it. */
static bool room_to_move(const walk *w, uint64_t bytes, uint64_t *offset, uint32_t *to)
{
    larder_pool *pool = w->pool;
    for (int tries = 0; tries < 2; tries++) {
        uint32_t open = larder_open_of(pool, LARDER_MAIN);
        if (open < pool->geometry.segment_count) {
            larder_segment *segment = &pool->segments[open];
            uint64_t fill = atomic_load_explicit(&segment->fill, memory_order_relaxed);
            LARDER_FAULT(LARDER_AT_RESERVE);
            while (fill + bytes <= larder_segment_bytes(pool)) {
                /* relaxed: as in take_room(). In a pool that evicts writers reserve there at the same time. */
                if (atomic_compare_exchange_weak_explicit(&segment->fill, &fill, fill + bytes, memory_order_relaxed,
                                                          memory_order_relaxed)) {
                    *offset = larder_segment_offset(pool, open) + fill;
                    *to = open;
                    return true;
                }
            }
            larder_seal_segment(pool, open);
        }
        if (larder_open_segment(pool, LARDER_MAIN, w->to_the_end ? 0 : LARDER_KEPT_SEGMENTS) == LARDER_NO_SEGMENT) {
            return false;
        }
    }
    return false;
}

/* From here on no process counts in this copy; a process that tries waits for the word to change.
 * model/count.pml: mover() */
static uint64_t freeze(larder_item *item)
{
    _Atomic uint64_t *counter =
        (_Atomic uint64_t *)((uint8_t *)item + larder_item_value_at(item->tags, item->key_length, item->kind));
    LARDER_FAULT(LARDER_AT_FREEZE);
    /* acq_rel: between the last increment and our copy. */
    return atomic_fetch_or_explicit(counter, 1, memory_order_acq_rel) & ~UINT64_C(1);
}

static void copy_item(larder_pool *pool, const larder_item *from, larder_item *to, uint64_t expiry, uint8_t level)
{
    size_t bytes = larder_item_bytes(pool, from);
    size_t value_at = larder_item_value_at(from->tags, from->key_length, from->kind);
    memcpy(to, from, bytes);
    atomic_store_explicit(&to->expiry, expiry, memory_order_relaxed);
    to->traits = (uint8_t)((from->traits & ~LARDER_LEVEL_MASK) | (uint32_t)level << LARDER_LEVEL_SHIFT);
    if (to->kind == LARDER_COUNTER_KIND) {
        uint64_t frozen = freeze((larder_item *)(uintptr_t)from);
        memcpy((uint8_t *)to + value_at, &frozen, sizeof frozen);
    } else if ((to->traits & LARDER_ABI_MASK) != 0) {
        pool->config.ops.moved((uint8_t *)to + value_at, bytes - value_at - to->spare, to->kind,
                               (intptr_t)((uintptr_t)to - (uintptr_t)from));
    }
}

static bool can_move(const larder_pool *pool, const larder_item *item)
{
    uint8_t abi = item->traits & LARDER_ABI_MASK;
    return larder_item_bytes(pool, item) <= larder_segment_bytes(pool) && (abi == 0 || abi == pool->abi);
}

/* Copies the item to main and turns its word to the copy. False: there is no room; the item is as it was.
 * model/publish.pml: mover(); model/touch.pml: mover() */
static bool move_item(walk *w, larder_item *item, _Atomic uint64_t *at, uint64_t word, uint8_t level)
{
    larder_pool *pool = w->pool;
    uint64_t offset, bytes = larder_item_bytes(pool, item);
    uint32_t to;
    if (!room_to_move(w, bytes, &offset, &to)) {
        return false;
    }
    larder_item *copy = (larder_item *)(pool->rw + offset);
    uint64_t expiry = atomic_load_explicit(&item->expiry, memory_order_relaxed);
    copy_item(pool, item, copy, larder_provisional_expiry(expiry), level);
    if (w->purpose != LARDER_COMPACT) {
        atomic_store_explicit(&copy->visited, 0, memory_order_relaxed);
    }
    larder_segment_note(&pool->segments[to], copy->version, expiry | 1);
    larder_segment_mark(pool, offset);
    larder_segment_account(pool, to, 1, copy->units);
    uint64_t generation = atomic_load_explicit(&pool->generations[to], memory_order_relaxed);
    uint64_t moved = larder_word(word >> 48, (uint32_t)generation, offset >> pool->unit_shift);
    /* It fails if the item was deleted or overwritten, and then so be it. */
    if (!larder_exchange_word(LARDER_AT_MOVE, at, word, moved)) {
        larder_segment_account(pool, to, -1, copy->units);
        return true;
    }
    /* A touch that came while we copied wrote to the old item; one that comes later finds the new, and then this fails.
     */
    uint64_t now = atomic_load_explicit(&item->expiry, memory_order_seq_cst);
    uint64_t provisional = larder_provisional_expiry(expiry);
    larder_segment_note_expiry(&pool->segments[to], now);
    LARDER_FAULT(LARDER_AT_SETTLE);
    atomic_compare_exchange_strong_explicit(&copy->expiry, &provisional, now, memory_order_seq_cst,
                                            memory_order_relaxed);
    larder_segment_account(pool, w->segment, -1, item->units);
    w->left->moves -= w->left->moves > 0;
    w->left->bytes -= w->left->bytes > bytes ? bytes : w->left->bytes;
    larder_count(pool, LARDER_MOVES);
    return true;
}

/* ---- walking ------------------------------------------------------------------------------------------- */

static _Atomic uint64_t *find_word(const larder_place *place, uint64_t word)
{
    larder_bucket *buckets[2] = {place->first, place->second};
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            if (atomic_load_explicit(&buckets[b]->word[i], memory_order_relaxed) == word) {
                return &buckets[b]->word[i];
            }
        }
    }
    return NULL;
}

/* The word that leads to the item at that offset. NULL: it was replaced or deleted, or is damaged. */
static _Atomic uint64_t *find_word_to(const larder_pool *pool, uint32_t segment, uint64_t offset, uint64_t *hash,
                                      uint64_t *word)
{
    const larder_item *item = (const larder_item *)(pool->rw + offset);
    uint64_t room = larder_run_bytes(pool, segment);
    if (larder_item_bytes(pool, item) > room || larder_item_key_at(item->tags) + item->key_length > room) {
        return NULL;
    }
    *hash = larder_hash(larder_item_key(item), item->key_length);
    uint64_t generation = atomic_load_explicit(&pool->generations[segment], memory_order_relaxed);
    larder_place place = larder_place_of(pool, *hash);
    *word = larder_word(place.fingerprint, (uint32_t)generation, offset >> pool->unit_shift);
    return find_word(&place, *word);
}

/* Is a living item kept, and at which level? */
static bool is_worth_keeping(const walk *w, const larder_item *item, uint8_t *level)
{
    bool used = atomic_load_explicit(&item->visited, memory_order_relaxed) != 0;
    *level = larder_item_level(item);
    if (w->purpose == LARDER_COMPACT) {
        return true;
    }
    if (w->purpose == LARDER_DISCARD) {
        return false;
    }
    if (w->pool->segments[w->segment].queue == LARDER_SMALL) {
        *level = 0;
        return used;
    }
    bool kept = used || *level > 0;
    *level = used ? (uint8_t)(*level + (*level < LARDER_LEVEL_MAX)) : (uint8_t)(*level - (*level > 0));
    return kept;
}

static bool may_move(const walk *w)
{
    return w->left->moves > 0 && w->left->bytes > 0;
}

/* Keeps, drops or skips one item. False: it is to be kept, which must wait for another call.
 * model/publish.pml: mover(), EVICTS */
static bool visit_item(walk *w, uint64_t offset)
{
    larder_pool *pool = w->pool;
    larder_item *item = (larder_item *)(pool->rw + offset);
    enum larder_list queue = (enum larder_list)pool->segments[w->segment].queue;
    uint8_t level;
    uint64_t hash, word;
    _Atomic uint64_t *at = find_word_to(pool, w->segment, offset, &hash, &word);
    if (at == NULL) {
        return true;
    }
    bool alive = larder_is_alive(pool, item) || !larder_stays_dead(pool, item);
    if (alive && is_worth_keeping(w, item, &level)) {
        bool movable = can_move(pool, item), may_drop = pool->geometry.evict != 0 && !movable;
        if (movable && may_move(w) && move_item(w, item, at, word, level)) {
            return true;
        }
        /* Compacting drops nothing that this PHP can move; and one that it cannot move would keep it here for ever. */
        if ((w->purpose == LARDER_COMPACT && !may_drop) || (movable && !w->to_the_end)) {
            return false;
        }
    }
    if (larder_exchange_word(LARDER_AT_CLEAR_WORD, at, word, 0)) {
        larder_segment_account(pool, w->segment, -1, item->units);
        larder_count(pool, alive ? LARDER_EVICTIONS : LARDER_EXPIRED);
        if (alive && w->purpose == LARDER_EVICT) {
            larder_ghost_add(pool, hash, queue, larder_item_bytes(pool, item));
        }
    }
    return true;
}

/* The offset in the segment of the first item at or behind `from`; UINT64_MAX: none. */
static uint64_t next_start(const larder_pool *pool, uint32_t segment, uint64_t from)
{
    size_t words = (size_t)1 << pool->segment_shift >> 9;
    const _Atomic uint64_t *starts = pool->starts + segment * words;
    uint64_t bit = from / 8;
    for (size_t i = bit / 64; i < words; i++) {
        /* acquire: the item is complete if its bit is there. */
        uint64_t bits = atomic_load_explicit(&starts[i], memory_order_acquire);
        if (i == bit / 64) {
            bits &= ~UINT64_C(0) << bit % 64;
        }
        if (bits != 0) {
            return (i * 64 + (uint64_t)__builtin_ctzll(bits)) * 8;
        }
    }
    return UINT64_MAX;
}

bool larder_walk_can_move_all(const larder_pool *pool, uint32_t segment)
{
    if (!larder_has_other_abis(pool)) {
        return true;
    }
    for (uint64_t at = next_start(pool, segment, 0); at != UINT64_MAX; at = next_start(pool, segment, at + 8)) {
        uint64_t offset = larder_segment_offset(pool, segment) + at, hash, word;
        const larder_item *item = (const larder_item *)(pool->rw + offset);
        if (!can_move(pool, item) && find_word_to(pool, segment, offset, &hash, &word) != NULL &&
            larder_is_alive(pool, item)) {
            return false;
        }
    }
    return true;
}

uint64_t larder_walk_dead_bytes(const larder_pool *pool, uint32_t segment, uint32_t *left)
{
    uint64_t dead = 0;
    for (uint64_t at = next_start(pool, segment, 0); at != UINT64_MAX && *left > 0;
         at = next_start(pool, segment, at + 8)) {
        uint64_t offset = larder_segment_offset(pool, segment) + at, hash, word;
        const larder_item *item = (const larder_item *)(pool->rw + offset);
        --*left;
        /* Most live, and need not be looked for in the index; but tags may be looked at only where a word leads. */
        if ((item->tags != 0 || !larder_is_alive(pool, item)) &&
            find_word_to(pool, segment, offset, &hash, &word) != NULL && !larder_is_alive(pool, item)) {
            dead += larder_item_bytes(pool, item);
        }
    }
    return dead;
}

bool larder_walk_finds_any(const larder_pool *pool, uint32_t segment, uint32_t *left)
{
    for (uint64_t at = next_start(pool, segment, 0); at != UINT64_MAX; at = next_start(pool, segment, at + 8)) {
        uint64_t hash, word;
        if (*left == 0) {
            return true;
        }
        --*left;
        if (find_word_to(pool, segment, larder_segment_offset(pool, segment) + at, &hash, &word) != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- from item to item ----------------------------------------------------------------------------------- */

void larder_walk_begin(larder_pool *pool, uint32_t segment, enum larder_purpose purpose)
{
    pool->header->victim_walked = 0;
    pool->header->victim_purpose = purpose;
    pool->header->victim = segment + 1;
}

static void finish_victim(larder_pool *pool)
{
    uint32_t segment = pool->header->victim - 1;
    pool->header->victim = 0;
    larder_empty_segment(pool, segment);
    uint64_t limbo = (uint64_t)pool->header->lists[LARDER_LIST_LIMBO].count << pool->segment_shift;
    pool->header->limbo_peak =
        limbo >= pool->header->limbo_peak ? limbo : pool->header->limbo_peak - (pool->header->limbo_peak - limbo) / 16;
}

bool larder_walk_on(larder_pool *pool, larder_budget *left, bool to_the_end)
{
    uint32_t segment = pool->header->victim - 1;
    walk w = {.pool = pool,
              .segment = segment,
              .purpose = (enum larder_purpose)pool->header->victim_purpose,
              .to_the_end = to_the_end,
              .left = left};
    uint64_t at = next_start(pool, segment, pool->header->victim_walked);
    left->visits -= left->visits > 0;
    if (at == UINT64_MAX || larder_segment_live_items(&pool->segments[segment]) == 0) {
        finish_victim(pool);
        return true;
    }
    if (!visit_item(&w, larder_segment_offset(pool, segment) + at)) {
        return false;
    }
    pool->header->victim_walked = at + 8;
    return true;
}

bool larder_walk_to_the_end(larder_pool *pool, uint64_t *bytes)
{
    larder_budget left = {.moves = UINT32_MAX, .visits = UINT32_MAX, .bytes = *bytes};
    while (pool->header->victim != 0) {
        bool walked = larder_walk_on(pool, &left, true);
        *bytes = left.bytes;
        if (!walked) {
            pool->header->victim = 0;
            return false;
        }
    }
    return true;
}
