#include "store.h"
#include "carried.h"
#include "evict.h"
#include "ghost.h"
#include "reserve.h"
#include "segment.h"
#include "slot.h"
#include "tag.h"
#include "token.h"

#include <string.h>

static size_t item_bytes(const larder_pool *pool, const larder_key *key, const larder_value *value, uint32_t tags,
                         uint8_t *spare)
{
    size_t unit = (size_t)1 << pool->unit_shift;
    size_t exact = larder_item_value_at(tags, key->length, value->kind) + value->size;
    size_t bytes = (exact + unit - 1) / unit * unit;
    *spare = (uint8_t)(bytes - exact);
    return bytes;
}

/* What a key's old item hands down to the new one: a rewritten item must not look new to eviction. */
typedef struct standing {
    enum larder_list queue;
    uint8_t visited, level;
} standing;

/* A fill leaves the key version alone. But while a snapshot is being loaded, what a set after a miss replaces may not
 * be here yet, and must not come after it. And if the miss was while it was being loaded, that may have come since. */
static bool may_leave_key_version(larder_pool *pool, const larder_claim *claim)
{
    return !claim->replaces ||
           (!larder_pool_is_loading(pool) && !(claim->missed && larder_missed_in_doubt(pool, claim->token)));
}

/* An add that says nothing about an old value. One that was made from nothing (terms.h) says that there is none. */
static bool is_plain_add(const larder_terms *terms)
{
    return terms->mode == LARDER_ADD && terms->made_of != LARDER_OF_NOTHING;
}

/* Says by its terms how a store is judged: by the token in them, by the miss of its key in this request, or not at all.
 * Every store uses the miss up, but for one out of a snapshot, which is not this request's. Three kinds of stores are
 * fills: one that a miss judges, one that says so, and an add that its own token judges. */
static larder_claim claim_of(larder_pool *pool, const larder_key *key, const larder_terms *terms)
{
    uint64_t missed = terms->past == NULL ? larder_missed_take(pool, key) : LARDER_NO_TOKEN;
    larder_claim claim = {.token = LARDER_NO_TOKEN,
                          .replaces = terms->mode != LARDER_ADD && terms->verb != LARDER_FILL};
    if (terms->verb == LARDER_JUDGED || terms->verb == LARDER_FILL) {
        claim.token = terms->token;
    } else if (terms->verb == LARDER_AS_MISSED && terms->mode != LARDER_REPLACE) {
        claim.token = missed;
    }
    claim.expected = terms->mode != LARDER_ADD || terms->attachment == pool->attached.number ? terms->expected : 0;
    claim.judged = claim.token != LARDER_NO_TOKEN;
    claim.missed = claim.judged && terms->verb == LARDER_AS_MISSED && claim.token != LARDER_FOREIGN_TOKEN;
    claim.fill =
        claim.judged && (terms->verb != LARDER_JUDGED || is_plain_add(terms)) && may_leave_key_version(pool, &claim);
    return claim;
}

/* Ticks, if it is a write, and judges it. False: it came too late. model/token.pml: storer(), judge */
static bool judge(larder_pool *pool, const larder_place *place, const larder_terms *terms, larder_claim *claim)
{
    uint64_t key_version = 0;
    larder_carry(pool, terms->tags, terms->tags_count); /* before anything is judged, and the tick: T4 of tag.h */
    claim->looked_at = larder_invalidations(pool);      /* before anything is judged: T2 of tag.h */
    claim->order = (larder_order){.fill = claim->fill, .moved = false, .tick = claim->token, .token = claim->token};
    if (claim->fill) {
        return !larder_key_changed(pool, place, claim->token) &&
               !larder_is_dead_by_now(pool, terms->tags, terms->tags_count, claim->token, &claim->version);
    }
    if (claim->judged && terms->verb == LARDER_JUDGED && larder_key_changed(pool, place, claim->token)) {
        /* Before it moves the key version: refused writes that moved it would refuse all others in flight, for ever. */
        return false;
    }
    if (is_plain_add(terms)) {
        /* It replaces no value, so no fill of its key, or of one that shares its key version, has to be refused. */
        claim->order.tick = larder_own_tick(pool);
    } else {
        claim->order.tick = larder_begin_write(pool, place, &key_version);
        claim->order.moved = true;
    }
    claim->version = claim->order.tick;
    return !claim->judged ||
           ((key_version <= claim->token || larder_own_are_all(pool, claim->token)) &&
            !larder_is_dead_by_now(pool, terms->tags, terms->tags_count, claim->token, &claim->version));
}

/* An item with a past keeps its version. Its tags are then known to be older only if they were judged, and are older
 * than its token, too: T2 of tag.h. */
static void settle_version(const larder_past *past, larder_claim *claim)
{
    claim->raised = claim->judged && claim->version > claim->token;
    if (past != NULL) {
        claim->looked_at = claim->judged && !claim->raised ? claim->looked_at : UINT64_MAX;
        claim->version = past->version;
        claim->raised = past->raised;
    }
}

static void write_item(larder_pool *pool, const larder_key *key, const larder_value *value, const larder_terms *terms,
                       const larder_reserved *reserved, const standing *old, const larder_claim *claim)
{
    uint8_t spare;
    size_t bytes = item_bytes(pool, key, value, terms->tags_count, &spare);
    larder_item *item = reserved->item;
    size_t value_at = larder_item_value_at(terms->tags_count, key->length, value->kind);
    uint8_t *to = (uint8_t *)item + value_at;
    item->units = (uint32_t)(bytes >> pool->unit_shift);
    item->key_length = (uint16_t)key->length;
    item->kind = value->kind;
    item->traits = (uint8_t)((value->has_abi ? pool->abi : 0u) | (uint32_t)old->level << LARDER_LEVEL_SHIFT |
                             (claim->raised ? LARDER_VERSION_RAISED : 0u));
    item->version = claim->version;
    item->cost = terms->cost;
    item->tags = (uint16_t)terms->tags_count;
    item->spare = spare;
    atomic_store_explicit(&item->expiry, terms->expiry, memory_order_relaxed);
    atomic_store_explicit(&item->visited, old->visited, memory_order_relaxed);
    if (terms->tags_count > 0) {
        atomic_store_explicit(larder_item_looked_at(item), claim->looked_at, memory_order_relaxed);
        memcpy((uint64_t *)(item + 1) + 1, terms->tags, terms->tags_count * sizeof *terms->tags);
    }
    memcpy((uint8_t *)item + larder_item_key_at(terms->tags_count), key->bytes, key->length);
    if (value->kind == LARDER_COUNTER_KIND) {
        uint64_t counter = (uint64_t)value->counter << 1;
        memcpy(to, &counter, sizeof counter);
    } else {
        value->write(value->context, to, pool->geometry.base + reserved->offset + value_at);
    }
}

static void count_refusal(larder_pool *pool, enum larder_result result)
{
    switch (result) {
    case LARDER_FULL:
        larder_count(pool, LARDER_REFUSED_FULL);
        break;
    case LARDER_PINNED:
        larder_count(pool, LARDER_REFUSED_PINNED);
        break;
    case LARDER_LARGE:
        larder_count(pool, LARDER_REFUSED_LARGE);
        break;
    case LARDER_BUSY:
    case LARDER_LOST:
        larder_count(pool, LARDER_REFUSED_BUSY);
        break;
    case LARDER_OVERTAKEN:
        larder_count(pool, LARDER_CONFLICTS);
        break;
    case LARDER_OK:
    case LARDER_EXISTS:
    case LARDER_ABSENT:
    case LARDER_UNREACHED:
        break;
    }
}

static bool is_refusal(enum larder_result result)
{
    return result == LARDER_FULL || result == LARDER_PINNED || result == LARDER_LARGE || result == LARDER_BUSY ||
           result == LARDER_LOST;
}

/* Looks at the key's item without a pin, which would cost as much as half of the store. So the look counts only if the
 * item's segment has not moved on meanwhile. */
static bool glance(larder_pool *pool, const larder_bucket *bucket, uint64_t fingerprint, const larder_key *key,
                   enum larder_mode mode, standing *old, bool *alive)
{
    for (uint32_t mask = larder_candidates(bucket, fingerprint); mask != 0; mask &= mask - 1) {
        /* acquire: the item was complete before its word was placed. */
        uint64_t word = atomic_load_explicit(&bucket->word[__builtin_ctz(mask)], memory_order_acquire);
        larder_found found;
        uint32_t segment = larder_word_segment(pool, word);
        if (segment >= pool->segment_count || !larder_confirm(pool, segment, word)) {
            continue;
        }
        if (mode == LARDER_SET) {
            larder_line_to_write(&pool->segments[segment]);
        }
        const larder_item *item = (const larder_item *)(pool->rw + larder_word_offset(pool, word));
        if (!LARDER_READS_UNPINNED && !larder_matches(pool, word, key, &found)) {
            continue;
        }
        bool same = larder_has_key(item, key) && larder_is_readable(pool, item);
        *alive = same && larder_is_alive(pool, item);
        old->queue = (enum larder_list)(pool->segments[segment].queue % LARDER_QUEUES);
        old->visited = atomic_load_explicit(&item->visited, memory_order_relaxed);
        old->level = larder_item_level(item);
        if (!LARDER_READS_UNPINNED) {
            larder_found_drop(pool, &found);
        }
        if (same && larder_confirm(pool, segment, word)) {
            return true;
        }
        *alive = false;
        *old = (standing){.queue = LARDER_SMALL, .visited = 0, .level = 0};
    }
    return false;
}

/* Does the mode allow the store as things stand? Publishing decides; this saves writing a value in vain. And learns
 * what the key's item hands down. */
static enum larder_result look_first(larder_pool *pool, const larder_place *place, const larder_key *key,
                                     enum larder_mode mode, bool *found_one, standing *old)
{
    bool alive = false;
    *found_one = glance(pool, place->first, place->fingerprint, key, mode, old, &alive) ||
                 glance(pool, place->second, place->fingerprint, key, mode, old, &alive);
    if (mode == LARDER_ADD && alive) {
        return LARDER_EXISTS;
    }
    return mode == LARDER_REPLACE && !alive ? LARDER_ABSENT : LARDER_OK;
}

/* Drops the key's item if it is older than a write that was overtaken. The overtaker may have been a delete of another
 * key that shares the key version, and the old value is untrue all the same. Not for an add, which would drop the item
 * of another process that has added the key meanwhile and was told so. */
static void drop_older(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t version)
{
    larder_found found;
    bool done = false;
    while (!done && larder_find(pool, place, key, &found)) {
        done = larder_is_since(found.item, version) || larder_clear_found(pool, &found);
        larder_found_drop(pool, &found);
    }
}

static enum larder_result store_once(larder_pool *pool, const larder_place *place, const larder_key *key,
                                     const larder_value *value, const larder_terms *terms, const standing *old,
                                     larder_claim *claim)
{
    uint8_t spare;
    size_t bytes = item_bytes(pool, key, value, terms->tags_count, &spare);
    larder_reserved reserved;
    enum larder_result result = larder_reserve(pool, old->queue, bytes, &reserved);
    if (result != LARDER_OK) {
        return result;
    }
    result = LARDER_OVERTAKEN;
    if (judge(pool, place, terms, claim)) {
        settle_version(terms->past, claim);
        write_item(pool, key, value, terms, &reserved, old, claim);
        if (terms->grace_ms != 0 && terms->expiry != LARDER_NO_EXPIRY) {
            /* Its segment is not worthless as soon as it has expired. */
            larder_segment_note_expiry(&pool->segments[reserved.segment], terms->expiry + terms->grace_ms);
        }
        result = larder_publish(pool, place, key, &reserved, terms->mode, claim->expected, &claim->order);
    }
    if (result == LARDER_OVERTAKEN && claim->order.moved && !claim->judged && terms->expected == 0) {
        drop_older(pool, place, key, claim->order.tick);
    }
    larder_reserved_drop(pool, &reserved);
    /* A run has made room for itself already, and would be the next to go if it made as much again. */
    uint64_t end = reserved.offset + (bytes <= larder_segment_bytes(pool) ? bytes : LARDER_STRIDE);
    uint64_t strides = end / LARDER_STRIDE - reserved.offset / LARDER_STRIDE;
    if (strides > 0) {
        larder_make_room_ahead(pool, strides);
    }
    return result;
}

/* What becomes of the key's old item when a store is refused:
 *
 *   - A write drops it: its caller has said that it is not true any more.
 *   - A fill after a miss leaves it: it is not older than the miss. But after a miss in a pool that could not be
 *     reached its age is unknown, and the fill drops it, without moving the key version, as it must not refuse others'
 *     fills.
 *   - While a snapshot is loaded, and if the miss was then, a set after a miss is a write (may_leave_key_version()). It
 *     drops only an item that is not younger than its miss, and moves the key version against one that the snapshot has
 *     yet to bring.
 */
static void settle_refusal(larder_pool *pool, const larder_place *place, const larder_key *key,
                           enum larder_result result, const larder_claim *claim)
{
    bool refused = is_refusal(result) || (result == LARDER_OVERTAKEN && claim->judged);
    if (!refused || !claim->replaces || (claim->fill && claim->missed)) {
        return;
    }
    if (claim->fill) {
        larder_drop(pool, place, key);
    } else if (claim->missed) {
        uint64_t before;
        larder_begin_write(pool, place, &before);
        drop_older(pool, place, key, claim->token + 1);
    } else {
        larder_erase(pool, place, key);
    }
}

/* Does the refused store leave everything as it was? So it does if its terms, or a pool that does not evict, keep the
 * old item: an old session is better than none. And what refused a judged store is newer than its value. The key
 * version has moved all the same, which at worst refuses a fill. */
static bool leaves_all(const larder_pool *pool, enum larder_result result, const larder_terms *terms)
{
    if (result == LARDER_OVERTAKEN && terms->verb == LARDER_JUDGED) {
        return true;
    }
    bool leaves_old =
        terms->leaves == LARDER_LEAVES_BY_POOL ? pool->geometry.evict == 0 : terms->leaves == LARDER_LEAVES_OLD;
    return leaves_old && is_refusal(result);
}

static enum larder_result refused(larder_pool *pool, const larder_place *place, const larder_key *key,
                                  enum larder_result result, const larder_terms *terms, const larder_claim *claim)
{
    count_refusal(pool, result);
    if (terms->expected == 0 && !leaves_all(pool, result, terms)) {
        settle_refusal(pool, place, key, result, claim);
    }
    return result;
}

/* Was the token taken in another pool of the name? The pool may have been replaced since, even by this very call. */
static bool is_of_another_pool(const larder_pool *pool, const larder_terms *terms, const larder_claim *claim)
{
    return claim->token == LARDER_FOREIGN_TOKEN ||
           ((terms->verb == LARDER_JUDGED || terms->verb == LARDER_FILL) && terms->attachment != pool->attached.number);
}

/* The word of the living item with that version. 0: it is not there. */
static uint64_t word_of(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t version)
{
    larder_found found;
    uint64_t word = 0;
    if (larder_find(pool, place, key, &found)) {
        word = found.item->version == version && larder_is_alive(pool, found.item) ? found.word : 0;
        larder_found_drop(pool, &found);
    }
    return word;
}

/* In the middle of an operation: the pool must not be entered again, it could be replaced under our pins. `claim` is
 * what the store was found to be. */
enum larder_result larder_store_entered(larder_pool *pool, const larder_key *key, const larder_value *value,
                                        const larder_terms *terms, larder_claim *claim)
{
    larder_place place = larder_place_of(pool, key->hash);
    standing old = {.queue = LARDER_SMALL, .visited = 0, .level = 0};
    bool found;
    *claim = claim_of(pool, key, terms);
    if (value->has_abi && pool->abi == 0) {
        /* Too many kinds of PHP use this pool: there is no number left that says which of them can read the item. */
        return refused(pool, &place, key, LARDER_FULL, terms, claim);
    }
    if (is_of_another_pool(pool, terms, claim)) {
        /* Changes since then are unknown: as if the key had been written. */
        return refused(pool, &place, key, LARDER_OVERTAKEN, terms, claim);
    }
    if (terms->made_of != LARDER_OF_ANY && terms->made_of != LARDER_OF_NOTHING) {
        claim->expected = word_of(pool, &place, key, terms->made_of);
        if (claim->expected == 0) {
            return refused(pool, &place, key, LARDER_OVERTAKEN, terms, claim);
        }
    }
    if (terms->mode == LARDER_SET) { /* the others may find that there is nothing to be done */
        larder_line_to_write(place.first);
        if (!claim->fill) {
            larder_line_to_write(&pool->header->clock);
        }
    }
    enum larder_result result = look_first(pool, &place, key, terms->mode, &found, &old);
    if (result != LARDER_OK && claim->expected == 0) {
        return result;
    }
    if (terms->past != NULL) {
        old = (standing){terms->past->queue, terms->past->visited, terms->past->level};
    } else if (!found && larder_ghost_take(pool, key->hash, value->size)) {
        old.queue = LARDER_MAIN;
    }
    result = LARDER_LOST;
    for (int tries = 0; tries < 3 && result == LARDER_LOST; tries++) {
        result = store_once(pool, &place, key, value, terms, &old, claim);
    }
    if (result != LARDER_OK) {
        return refused(pool, &place, key, result, terms, claim);
    }
    larder_count(pool, LARDER_SETS);
    claim->stored = true;
    return LARDER_OK;
}

/* An item was stored in a pool that was closed meanwhile: has it come to this one with the snapshot? If not, it does
 * not come any more: a loader that is about to publish it starts over, and is refused. In a pool that began with
 * nothing, an item may have that version by chance. model/save.pml: operation() */
static bool has_come(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t version)
{
    /* acquire: the account of the loading is complete. */
    if (atomic_load_explicit(&pool->header->began, memory_order_acquire) == LARDER_BEGAN_EMPTY) {
        return false;
    }
    if (larder_pool_is_loading(pool)) {
        uint64_t before;
        larder_begin_write(pool, place, &before);
        larder_oust(pool, place, key);
    }
    return word_of(pool, place, key, version) != 0;
}

enum larder_result larder_store_too_late(larder_pool *pool, const larder_key *key, const larder_terms *terms,
                                         larder_claim *claim)
{
    larder_place place = larder_place_of(pool, key->hash);
    if (claim->stored && has_come(pool, &place, key, claim->version)) {
        return LARDER_OK;
    }
    claim->fill = claim->fill && may_leave_key_version(pool, claim);
    return refused(pool, &place, key, LARDER_BUSY, terms, claim);
}
