#include "item.h"
#include "evict.h"
#include "formats.h"
#include "ghost.h"
#include "segment.h"
#include "snapshot.h"
#include "tag.h"
#include "token.h"

#include <sched.h>
#include <string.h>

/* ---- storing ------------------------------------------------------------------------------------------- */

static size_t item_bytes(const larder_pool *pool, const larder_key *key, const larder_value *value, uint32_t tags,
                         uint8_t *spare)
{
    size_t unit = (size_t)1 << pool->unit_shift;
    size_t exact = larder_item_value_at(tags, key->length, value->kind) + value->size;
    size_t bytes = (exact + unit - 1) / unit * unit;
    *spare = (uint8_t)(bytes - exact);
    return bytes;
}

/* What the key's old item hands down to the new one, so that rewriting something does not make it look new. */
typedef struct heritage {
    enum larder_list queue;
    uint8_t visited, level;
} heritage;

/* How a store stands to what happened since its computation began. */
typedef struct verdict {
    bool judged, fill, takes; /* takes: what it was refused to replace goes */
    uint64_t token;           /* if judged, or a fill */
    larder_order order;
    uint64_t stamp;     /* of the item */
    uint64_t looked_at; /* as of which invalidation its tags are known to be older */
} verdict;

/* A fill leaves the guard alone. But while a snapshot is being loaded, what a set after a miss replaces may not be here
 * yet, and must not come after it. */
static bool may_leave_guard(larder_pool *pool, const verdict *as)
{
    return !as->takes || !larder_snapshot_is_loading(pool);
}

/* What the store claims to be. Whatever it is, the key's miss is used up; but not by one out of a snapshot, of which
 * this request knows nothing. */
static verdict claim_of(larder_pool *pool, const larder_key *key, const larder_terms *terms)
{
    uint64_t missed = terms->past == NULL ? larder_missed_take(pool, key->hash) : LARDER_NO_TOKEN;
    verdict as = {.token = LARDER_NO_TOKEN, .takes = terms->mode != LARDER_ADD && terms->verb != LARDER_FILL};
    if (terms->verb == LARDER_JUDGED || terms->verb == LARDER_FILL) {
        as.token = terms->token;
    } else if (terms->verb == LARDER_AS_MISSED && terms->mode != LARDER_REPLACE) {
        as.token = missed;
    }
    as.judged = as.token != LARDER_NO_TOKEN;
    as.fill = as.judged && (terms->verb != LARDER_JUDGED || terms->mode == LARDER_ADD) && may_leave_guard(pool, &as);
    return as;
}

/* Ticks, if it is a write, and judges it. False: it came too late. model/token.pml: storer(), judge */
static bool judge(larder_pool *pool, const larder_place *place, const larder_terms *terms, verdict *as)
{
    uint64_t guard = 0;
    as->looked_at = larder_invalidations(pool); /* before anything is judged: T2 of tag.h */
    as->order = (larder_order){.fill = as->fill, .moved = false, .tick = as->token, .token = as->token};
    if (as->fill) {
        return !larder_guard_moved(pool, place, as->token) &&
               !larder_is_dead_by_now(pool, terms->tags, terms->tags_count, as->token, &as->stamp);
    }
    if (terms->mode == LARDER_ADD) {
        /* Nothing is there that it could make untrue, so its neighbours' fills need not know of it. */
        as->order.tick = larder_own_tick(pool);
    } else {
        as->order.tick = larder_begin_write(pool, place, &guard);
        as->order.moved = true;
    }
    as->stamp = as->order.tick;
    return !as->judged || ((larder_own_see_through(pool, &place->first->guard, guard) <= as->token ||
                            larder_own_are_all(pool, as->token)) &&
                           !larder_is_dead_by_now(pool, terms->tags, terms->tags_count, as->token, &as->stamp));
}

static void write_item(larder_pool *pool, const larder_key *key, const larder_value *value, const larder_terms *terms,
                       const larder_draft *draft, const heritage *old, const verdict *as)
{
    uint8_t spare;
    size_t bytes = item_bytes(pool, key, value, terms->tags_count, &spare);
    larder_item *item = draft->item;
    size_t value_at = larder_item_value_at(terms->tags_count, key->length, value->kind);
    uint8_t *to = (uint8_t *)item + value_at;
    item->units = (uint32_t)(bytes >> pool->unit_shift);
    item->key_length = (uint16_t)key->length;
    item->kind = value->kind;
    item->traits = (uint8_t)((value->has_layout ? pool->layout : 0u) | (uint32_t)old->level << LARDER_LEVEL_SHIFT |
                             (as->judged && as->stamp > as->token ? LARDER_STAMP_RAISED : 0u));
    item->stamp = as->stamp;
    item->cost = terms->cost;
    item->tags = (uint16_t)terms->tags_count;
    item->spare = spare;
    atomic_store_explicit(&item->expiry, terms->expiry, memory_order_relaxed);
    atomic_store_explicit(&item->visited, old->visited, memory_order_relaxed);
    if (terms->tags_count > 0) {
        atomic_store_explicit(larder_item_looked_at(item), as->looked_at, memory_order_relaxed);
        memcpy((uint64_t *)(item + 1) + 1, terms->tags, terms->tags_count * sizeof *terms->tags);
    }
    memcpy((uint8_t *)item + larder_item_key_at(terms->tags_count), key->bytes, key->length);
    if (value->kind == LARDER_COUNTER_KIND) {
        uint64_t counter = (uint64_t)value->counter << 1;
        memcpy(to, &counter, sizeof counter);
    } else {
        value->write(value->context, to, pool->geometry.base + draft->offset + value_at);
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

/* Looks at the key's item without a pin, which would cost as much as half of the store: what is seen is only acted on
 * if its segment has not moved on meanwhile. */
static bool glance(larder_pool *pool, const larder_bucket *bucket, uint64_t fingerprint, const larder_key *key,
                   heritage *old, bool *alive)
{
    for (uint32_t mask = larder_candidates(bucket, fingerprint); mask != 0; mask &= mask - 1) {
        /* acquire: the item was complete before its word was placed. */
        uint64_t word = atomic_load_explicit(&bucket->word[__builtin_ctz(mask)], memory_order_acquire);
        larder_found found;
        uint32_t segment = larder_word_segment(pool, word);
        if (segment >= pool->segment_count || !larder_confirm(pool, segment, word)) {
            continue;
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
        *old = (heritage){.queue = LARDER_SMALL, .visited = 0, .level = 0};
    }
    return false;
}

/* Does the mode allow it as things stand? Saves writing a value that nobody will see; publishing decides. And what is
 * there hands down. */
static enum larder_result look_first(larder_pool *pool, const larder_place *place, const larder_key *key,
                                     enum larder_mode mode, bool *found_one, heritage *old)
{
    bool alive = false;
    *found_one = glance(pool, place->first, place->fingerprint, key, old, &alive) ||
                 glance(pool, place->second, place->fingerprint, key, old, &alive);
    if (mode == LARDER_ADD && alive) {
        return LARDER_EXISTS;
    }
    return mode == LARDER_REPLACE && !alive ? LARDER_ABSENT : LARDER_OK;
}

/* A write that was overtaken, perhaps only by a neighbour's delete, still makes everything older untrue. An add says
 * nothing about what is there: it would drop the item of another, who added the key meanwhile and was told so. */
static void drop_older(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t stamp)
{
    larder_found found;
    bool done = false;
    while (!done && larder_find(pool, place, key, &found)) {
        done = larder_is_since(found.item, stamp) || larder_clear_found(pool, &found);
        larder_found_drop(pool, &found);
    }
}

static enum larder_result store_once(larder_pool *pool, const larder_place *place, const larder_key *key,
                                     const larder_value *value, const larder_terms *terms, const heritage *old,
                                     verdict *as)
{
    uint8_t spare;
    size_t bytes = item_bytes(pool, key, value, terms->tags_count, &spare);
    larder_draft draft;
    enum larder_result result = larder_reserve(pool, old->queue, bytes, &draft);
    if (result != LARDER_OK) {
        return result;
    }
    result = LARDER_OVERTAKEN;
    if (judge(pool, place, terms, as)) {
        as->stamp = terms->past != NULL ? terms->past->stamp : as->stamp;
        write_item(pool, key, value, terms, &draft, old, as);
        if (terms->grace_ms != 0 && terms->expiry != LARDER_NO_EXPIRY) {
            /* Its segment is not worthless as soon as it has expired. */
            larder_raise(&pool->segments[draft.segment].latest_expiry, terms->expiry + terms->grace_ms);
        }
        result = larder_publish(pool, place, key, &draft, terms->mode, terms->expected, &as->order);
    }
    if (result == LARDER_OVERTAKEN && as->order.moved && !as->judged && terms->expected == 0) {
        drop_older(pool, place, key, as->order.tick);
    }
    larder_draft_drop(pool, &draft);
    if (draft.offset / LARDER_STRIDE != (draft.offset + bytes) / LARDER_STRIDE) {
        larder_make_room_ahead(pool);
    }
    return result;
}

/* What was to be replaced by a write that did not come about is not true any more. A fill may have been one, too, after
 * a miss; but if it was not, it must not make others' fills untrue. */
static void settle_refusal(larder_pool *pool, const larder_place *place, const larder_key *key,
                           enum larder_result result, const verdict *as)
{
    bool refused = is_refusal(result) || (result == LARDER_OVERTAKEN && as->judged);
    if (!refused || !as->takes) {
        return;
    }
    if (as->fill) {
        larder_drop(pool, place, key);
    } else {
        larder_erase(pool, place, key);
    }
}

static enum larder_result refused(larder_pool *pool, const larder_place *place, const larder_key *key,
                                  enum larder_result result, const larder_terms *terms, const verdict *as)
{
    count_refusal(pool, result);
    if (terms->expected == 0) {
        settle_refusal(pool, place, key, result, as);
    }
    return result;
}

/* The pool may have been replaced since the token was taken, even by this very call. */
static bool is_of_another_life(const larder_pool *pool, const larder_terms *terms, const verdict *as)
{
    return as->token == LARDER_FOREIGN_TOKEN ||
           ((terms->verb == LARDER_JUDGED || terms->verb == LARDER_FILL) && terms->life != pool->life);
}

/* In the middle of an operation: the pool must not be entered again, it could be replaced under our pins. `as` is what
 * the store was found to be. */
static enum larder_result store_entered(larder_pool *pool, const larder_key *key, const larder_value *value,
                                        const larder_terms *terms, verdict *as)
{
    larder_place place = larder_place_of(pool, key->hash);
    heritage old = {.queue = LARDER_SMALL, .visited = 0, .level = 0};
    bool found;
    *as = claim_of(pool, key, terms);
    if (value->has_layout && pool->layout == 0) {
        larder_count(pool, LARDER_REFUSED_FULL); /* too many kinds of PHP: nobody could say who may read it */
        larder_erase(pool, &place, key);
        return LARDER_FULL;
    }
    if (is_of_another_life(pool, terms, as)) {
        /* Nobody knows what happened since: as if the key had been written. */
        return refused(pool, &place, key, LARDER_OVERTAKEN, terms, as);
    }
    enum larder_result result = look_first(pool, &place, key, terms->mode, &found, &old);
    if (result != LARDER_OK) {
        return result;
    }
    if (terms->past != NULL) {
        old = (heritage){terms->past->queue, terms->past->visited, terms->past->level};
    } else if (!found && larder_ghost_take(pool, key->hash, value->size)) {
        old.queue = LARDER_MAIN;
    }
    result = LARDER_LOST;
    for (int tries = 0; tries < 3 && result == LARDER_LOST; tries++) {
        result = store_once(pool, &place, key, value, terms, &old, as);
    }
    if (result != LARDER_OK) {
        return refused(pool, &place, key, result, terms, as);
    }
    larder_count(pool, LARDER_SETS);
    return LARDER_OK;
}

enum larder_result larder_restore(larder_pool *pool, const larder_key *key, const larder_value *value,
                                  const larder_terms *terms)
{
    verdict as = {.judged = false};
    return store_entered(pool, key, value, terms, &as);
}

/* model/save.pml: operation(). A store during which the pool was closed is refused, and what it was to replace goes in
 * the next pool, where it may have come to with the snapshot. To store there would be wrong: if we were stopped
 * meanwhile, what has been stored and deleted there is younger than our value. */
enum larder_result larder_store(larder_pool *pool, const larder_key *key, const larder_value *value,
                                const larder_terms *terms)
{
    enum larder_result result = LARDER_UNREACHED;
    verdict as = {.judged = false};
    bool closed = false;
    do {
        if (!larder_pool_enter_to_write(pool)) {
            return LARDER_UNREACHED;
        }
        if (closed) {
            larder_place place = larder_place_of(pool, key->hash);
            as.fill = as.fill && may_leave_guard(pool, &as); /* as found in the pool that was closed */
            result = refused(pool, &place, key, LARDER_BUSY, terms, &as);
        } else {
            result = store_entered(pool, key, value, terms, &as);
        }
        closed = larder_pool_was_closed(pool);
    } while (closed);
    return result;
}

/* Begins an operation that must not be lost silently, once more if the pool was closed under it. */
static bool enter_surely(larder_pool *pool)
{
    pool->undone = !larder_pool_enter_to_write(pool);
    return !pool->undone;
}

/* model/save.pml: operation() */
bool larder_delete(larder_pool *pool, const larder_key *key)
{
    bool existed = false;
    do {
        if (!enter_surely(pool)) {
            break;
        }
        larder_place place = larder_place_of(pool, key->hash);
        larder_missed_take(pool, key->hash);
        existed |= larder_erase(pool, &place, key);
    } while (larder_pool_was_closed(pool));
    if (existed && !pool->undone) {
        larder_count(pool, LARDER_DELETES);
    }
    return existed;
}

/* ---- counting ------------------------------------------------------------------------------------------ */

enum step { DONE, AGAIN, WRONG_KIND, RANGE, ANEW, FROZEN, REFUSED };

static _Atomic uint64_t *counter_of(const larder_pool *pool, const larder_item *item)
{
    size_t at = larder_item_value_at(item->tags, item->key_length, item->kind);
    return (_Atomic uint64_t *)((uint8_t *)larder_writable(pool, item) + at);
}

/* model/count.pml: counter(). Adds in place, unless the counter is frozen because it is being moved, or leaves a
 * counter's range. */
static enum step add_in_place(larder_pool *pool, const larder_found *found, int64_t by, int64_t *result)
{
    _Atomic uint64_t *counter = counter_of(pool, found->item);
    uint64_t seen = atomic_load_explicit(counter, memory_order_acquire), next;
    do {
        if ((seen & 1) != 0) {
            return FROZEN;
        }
        if (__builtin_add_overflow((int64_t)seen >> 1, by, result)) {
            return RANGE;
        }
        if (*result < LARDER_COUNTER_MIN || *result > LARDER_COUNTER_MAX) {
            return ANEW;
        }
        next = (uint64_t)*result << 1;
        LARDER_FAULT(LARDER_AT_COUNT);
        /* seq_cst: what was done before counting is seen by whoever reads the count, and after it we look whether the
         * pool is closed. */
    } while (!atomic_compare_exchange_weak_explicit(counter, &seen, next, memory_order_seq_cst, memory_order_acquire));
    return DONE;
}

static bool read_int(const larder_found *found, int64_t *value)
{
    const larder_item *item = found->item;
    const uint8_t *at = (const uint8_t *)item + larder_item_value_at(item->tags, item->key_length, item->kind);
    memcpy(value, at, sizeof *value);
    if (item->kind == LARDER_COUNTER_KIND) {
        *value >>= 1;
        return true;
    }
    return item->kind == LARDER_INT_KIND;
}

static void write_int(const void *context, void *to, uintptr_t address)
{
    (void)address;
    memcpy(to, context, sizeof(int64_t));
}

/* Stores the counter as a new item: an absent one, or one that cannot be changed in place (a stopped process may have
 * frozen it, or it is beyond a counter's range). */
static enum larder_result store_int(larder_pool *pool, const larder_key *key, int64_t number, uint64_t expiry,
                                    uint64_t expected)
{
    bool counter = number >= LARDER_COUNTER_MIN && number <= LARDER_COUNTER_MAX;
    const larder_value value = {.kind = counter ? LARDER_COUNTER_KIND : LARDER_INT_KIND,
                                .size = sizeof number,
                                .counter = number,
                                .write = write_int,
                                .context = &number};
    const larder_terms terms = {
        .mode = expected == 0 ? LARDER_ADD : LARDER_SET, .verb = LARDER_WRITE, .expiry = expiry, .expected = expected};
    verdict as = {.judged = false};
    return store_entered(pool, key, &value, &terms, &as);
}

typedef struct increment {
    int64_t by, initial;
    uint64_t expiry;
    int64_t *result;
} increment;

static enum step increment_absent(larder_pool *pool, const larder_key *key, const increment *add)
{
    if (__builtin_add_overflow(add->initial, add->by, add->result)) {
        return RANGE;
    }
    enum larder_result stored = store_int(pool, key, *add->result, add->expiry, 0);
    return stored == LARDER_OK ? DONE : stored == LARDER_EXISTS || stored == LARDER_OVERTAKEN ? AGAIN : REFUSED;
}

/* Replaces the number by a new item: one that is out of a counter's range, enters or leaves it, or was frozen by a
 * mover that died. A counter is frozen first, so that nobody adds to what is being replaced. model/count.pml: anew() */
static enum step increment_anew(larder_pool *pool, const larder_key *key, const increment *add,
                                const larder_found *found)
{
    bool counter = found->item->kind == LARDER_COUNTER_KIND;
    uint64_t expiry = larder_told_expiry(&found->item->expiry);
    int64_t number;
    if (counter) {
        /* acq_rel: the last number that anybody counted. */
        number = (int64_t)atomic_fetch_or_explicit(counter_of(pool, found->item), 1, memory_order_acq_rel) >> 1;
    } else {
        read_int(found, &number);
    }
    enum larder_result stored = LARDER_ABSENT;
    bool overflows = __builtin_add_overflow(number, add->by, add->result);
    if (!overflows) {
        stored = store_int(pool, key, *add->result, expiry, found->word);
    }
    if (stored == LARDER_OK) {
        return DONE;
    }
    /* It stays frozen: a mover may be copying it, too, and whoever counts next replaces it. */
    if (overflows) {
        return RANGE;
    }
    /* Else somebody changed it first. */
    return stored == LARDER_ABSENT || stored == LARDER_OVERTAKEN ? AGAIN : REFUSED;
}

static enum step increment_found(larder_pool *pool, const larder_key *key, const increment *add,
                                 const larder_found *found, bool patient)
{
    int64_t number;
    if (!read_int(found, &number)) {
        return WRONG_KIND;
    }
    enum step step = ANEW;
    if (found->item->kind == LARDER_COUNTER_KIND) {
        step = add_in_place(pool, found, add->by, add->result);
    }
    if (step == DONE) {
        atomic_store_explicit(&larder_writable(pool, found->item)->visited, 1, memory_order_relaxed);
    }
    return step == ANEW || (step == FROZEN && !patient) ? increment_anew(pool, key, add, found) : step;
}

static enum step increment_once(larder_pool *pool, const larder_key *key, const increment *add, bool patient)
{
    larder_place place = larder_place_of(pool, key->hash);
    larder_found found;
    if (!larder_find(pool, &place, key, &found)) {
        return increment_absent(pool, key, add);
    }
    bool alive = larder_is_alive(pool, found.item);
    enum step step = alive ? increment_found(pool, key, add, &found, patient) : AGAIN;
    larder_found_drop(pool, &found);
    return alive ? step : increment_absent(pool, key, add);
}

static enum larder_counted count_entered(larder_pool *pool, const larder_key *key, const increment *add)
{
    for (int tries = 0; tries < 10000; tries++) {
        switch (increment_once(pool, key, add, tries % 1000 != 999)) {
        case DONE:
            return LARDER_COUNTED;
        case WRONG_KIND:
            return LARDER_NOT_A_COUNTER;
        case RANGE:
            return LARDER_OUT_OF_RANGE;
        case REFUSED:
            return LARDER_NOT_COUNTED;
        case ANEW:
        case AGAIN:
        case FROZEN:
            sched_yield();
        }
    }
    return LARDER_NOT_COUNTED;
}

enum larder_counted larder_increment(larder_pool *pool, const larder_key *key, int64_t by, int64_t initial,
                                     uint64_t expiry, int64_t *result)
{
    const increment add = {.by = by, .initial = initial, .expiry = expiry, .result = result};
    if (!enter_surely(pool)) {
        return LARDER_NOT_COUNTED;
    }
    larder_place place = larder_place_of(pool, key->hash);
    uint64_t before;
    larder_missed_take(pool, key->hash);
    larder_begin_write(pool, &place, &before);
    enum larder_counted counted = count_entered(pool, key, &add);
    if ((counted == LARDER_COUNTED || counted == LARDER_NOT_COUNTED) && larder_pool_was_closed(pool)) {
        /* It may have been counted in the snapshot, or not, and must not be counted twice. */
        pool->undone = true;
        larder_fail(&pool->trouble, "it was saved and closed while something was counted in it; try again.");
        return LARDER_NOT_COUNTED;
    }
    return counted;
}

/* ---- touching, clearing, listing ------------------------------------------------------------------------- */

/* model/touch.pml: touch() */
static bool touch_entered(larder_pool *pool, const larder_key *key, uint64_t expiry)
{
    for (int tries = 0; tries < 64; tries++) {
        larder_place place = larder_place_of(pool, key->hash);
        larder_found found;
        if (!larder_find(pool, &place, key, &found)) {
            return false;
        }
        if (!larder_is_alive(pool, found.item)) {
            larder_found_drop(pool, &found);
            return false;
        }
        larder_raise(&pool->segments[found.segment].latest_expiry, expiry);
        LARDER_FAULT(LARDER_AT_TOUCH);
        /* seq_cst: a mover looks at the expiry again after it has turned the word; so one of us sees the other. */
        atomic_store_explicit(&larder_writable(pool, found.item)->expiry, expiry, memory_order_seq_cst);
        bool still = atomic_load_explicit(found.at, memory_order_seq_cst) == found.word;
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
        touched = enter_surely(pool) && touch_entered(pool, key, expiry);
    } while (!pool->undone && larder_pool_was_closed(pool));
    return touched;
}

static void clear_entered(larder_pool *pool)
{
    uint64_t before;
    larder_own_move(pool, &pool->header->last_clear, LARDER_AT_CLEAR, &before);
    if (larder_now_logical(pool->header) != atomic_load_explicit(&pool->header->last_clear, memory_order_seq_cst)) {
        larder_own_move(pool, &pool->header->last_clear, LARDER_AT_CLEAR, &before); /* as in larder_invalidate() */
    }
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
        if (!enter_surely(pool)) {
            return;
        }
        clear_entered(pool);
    } while (larder_pool_was_closed(pool));
    larder_formats_clear(pool);
}

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
            if (!held && (pool->pinned[segment] != 0 || !larder_pin_set(pool, segment, generation))) {
                continue;
            }
            const larder_item *item = (const larder_item *)(pool->ro + larder_word_offset(pool, word));
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
