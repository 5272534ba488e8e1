/* Counters: one word each, counted in place; frozen when they are moved, and written anew when they cannot be counted
 * where they are. An int beyond a counter's range is an ordinary item, and becomes a counter when it comes back. So
 * does an item that is no int, if the caller says as which number it counts.
 */
#include "enter.h"
#include "get.h"
#include "index.h"
#include "larder.h"
#include "segment.h"
#include "store.h"
#include "token.h"

#include <sched.h>
#include <string.h>

enum step { DONE, AGAIN, WRONG_KIND, RANGE, ANEW, FROZEN, BUSY, REFUSED, NOTHING };

/* False: the sum leaves the range of int. */
static bool sum_of(int64_t number, const larder_counting *add, int64_t *result)
{
    if (__builtin_add_overflow(number, add->by, result)) {
        *result = add->least;
        return add->by < 0 && add->least > INT64_MIN;
    }
    *result = *result < add->least ? add->least : *result;
    return true;
}

static _Atomic uint64_t *counter_of(larder_item *item)
{
    size_t at = larder_item_value_at(item->tags, item->key_length, item->kind);
    return (_Atomic uint64_t *)((uint8_t *)item + at);
}

/* model/count.pml: counter(). Adds in place, unless the counter is frozen because it is being moved, or leaves a
 * counter's range. */
static enum step add_in_place(const larder_found *found, const larder_counting *add, int64_t *result)
{
    _Atomic uint64_t *counter = counter_of(found->item);
    uint64_t seen = atomic_load_explicit(counter, memory_order_acquire), next;
    do {
        if ((seen & 1) != 0) {
            return FROZEN;
        }
        if (!sum_of((int64_t)seen >> 1, add, result)) {
            return RANGE;
        }
        if (*result < LARDER_COUNTER_MIN || *result > LARDER_COUNTER_MAX) {
            return ANEW;
        }
        next = (uint64_t)*result << 1;
        LARDER_FAULT(LARDER_AT_COUNT);
        /* seq_cst: all that was done before counting is seen by a process that reads the count, and after it we look
         * whether the pool is closed. */
    } while (!atomic_compare_exchange_weak_explicit(counter, &seen, next, memory_order_seq_cst, memory_order_acquire));
    return DONE;
}

/* The number that is counted up: an int, or what the caller takes this very item for. */
static bool read_number(const larder_found *found, const larder_counting *add, int64_t *value)
{
    const larder_item *item = found->item;
    const uint8_t *at = (const uint8_t *)item + larder_item_value_at(item->tags, item->key_length, item->kind);
    if (item->kind == LARDER_COUNTER_KIND) {
        *value = larder_counter_value(at);
        return true;
    }
    if (item->kind == LARDER_INT_KIND) {
        memcpy(value, at, sizeof *value);
        return true;
    }
    *value = add->taken_as;
    return add->taken_from != 0 && item->version == add->taken_from;
}

static void write_int(const void *context, void *to, uintptr_t address)
{
    (void)address;
    memcpy(to, context, sizeof(int64_t));
}

/* Stores the number as a new item under these terms: that of an absent counter, or of one that cannot be changed in
 * place. */
static enum larder_result store_int(larder_pool *pool, const larder_key *key, int64_t number, const larder_terms *terms)
{
    bool counter = number >= LARDER_COUNTER_MIN && number <= LARDER_COUNTER_MAX;
    const larder_value value = {.kind = counter ? LARDER_COUNTER_KIND : LARDER_INT_KIND,
                                .size = sizeof number,
                                .counter = number,
                                .write = write_int,
                                .context = &number};
    larder_claim as;
    return larder_store_entered(pool, key, &value, terms, &as);
}

/* After the new item has taken the old one's place: a touch that came before wrote to the old item; one that comes
 * later finds the new one, and then its expiry is not the provisional one any more. A mover may turn the word of the
 * new item meanwhile, with the provisional expiry in its copy. model/touch.pml: mover() */
static void settle_expiry(larder_pool *pool, const larder_key *key, const larder_item *old, uint64_t provisional)
{
    larder_place place = larder_place_of(pool, key->hash);
    larder_found found;
    bool settled = false;
    while (!settled && larder_find(pool, &place, key, &found)) {
        /* seq_cst: after the word has changed, as a mover's look. */
        uint64_t now = atomic_load_explicit(&old->expiry, memory_order_seq_cst), seen = provisional;
        settled = found.item->version != old->version;
        if (!settled) {
            larder_segment_note_expiry(&pool->segments[found.segment], now);
            LARDER_FAULT(LARDER_AT_SETTLE);
            /* seq_cst: as a touch's, which looks at the word afterwards, too. */
            settled = !atomic_compare_exchange_strong_explicit(&found.item->expiry, &seen, now, memory_order_seq_cst,
                                                               memory_order_relaxed) ||
                      atomic_load_explicit(found.at, memory_order_seq_cst) == found.word;
        }
        larder_found_drop(pool, &found);
    }
}

/* In the place of that item, which is pinned. The stored item is the same with another number, as if it had been
 * counted in place: as old, and with the same tags, so that what invalidates it meanwhile still does. It expires when
 * the old one does, also if that is touched meanwhile. */
static enum larder_result store_instead(larder_pool *pool, const larder_key *key, int64_t number,
                                        const larder_found *found)
{
    const larder_item *old = found->item;
    const larder_past past = {.version = old->version,
                              .raised = (old->traits & LARDER_VERSION_RAISED) != 0,
                              .queue = (enum larder_list)(pool->segments[found->segment].queue % LARDER_QUEUES),
                              .visited = 1,
                              .level = larder_item_level(old)};
    const uint64_t provisional = larder_provisional_expiry(larder_told_expiry(&old->expiry));
    const larder_terms terms = {.mode = LARDER_SET,
                                .verb = LARDER_WRITE,
                                .expiry = provisional,
                                .cost = old->cost,
                                .tags_count = old->tags,
                                .tags = larder_item_tags(old),
                                .expected = found->word,
                                .past = &past};
    enum larder_result stored = store_int(pool, key, number, &terms);
    if (stored == LARDER_OK) {
        settle_expiry(pool, key, old, provisional);
    }
    return stored;
}

/* Of a store that was neither done nor met by another change of the counter. */
static enum step refusal_of(enum larder_result stored)
{
    return stored == LARDER_BUSY || stored == LARDER_LOST ? BUSY : REFUSED;
}

static enum step increment_absent(larder_pool *pool, const larder_key *key, const larder_counting *add, int64_t *result)
{
    if (!add->creates) {
        return NOTHING;
    }
    if (!sum_of(add->initial, add, result)) {
        return RANGE;
    }
    const larder_terms terms = {.mode = LARDER_ADD,
                                .verb = LARDER_WRITE,
                                .expiry = add->expiry,
                                .tags_count = add->tags_count,
                                .tags = add->tags};
    enum larder_result stored = store_int(pool, key, *result, &terms);
    if (stored == LARDER_OK) {
        return DONE;
    }
    return stored == LARDER_EXISTS || stored == LARDER_OVERTAKEN ? AGAIN : refusal_of(stored);
}

/* Replaces the number by a new item: one that is out of a counter's range, enters or leaves it, or was frozen by a
 * mover that died. A counter is frozen first, so that no process adds to what is being replaced.
 * model/count.pml: anew() */
static enum step increment_anew(larder_pool *pool, const larder_key *key, const larder_counting *add,
                                const larder_found *found, int64_t *result)
{
    bool counter = found->item->kind == LARDER_COUNTER_KIND;
    int64_t number;
    if (counter) {
        LARDER_FAULT(LARDER_AT_FREEZE);
        /* acq_rel: the last number that any process counted. */
        number = (int64_t)atomic_fetch_or_explicit(counter_of(found->item), 1, memory_order_acq_rel) >> 1;
    } else {
        read_number(found, add, &number);
    }
    enum larder_result stored = LARDER_ABSENT;
    bool overflows = !sum_of(number, add, result);
    if (!overflows) {
        stored = store_instead(pool, key, *result, found);
    }
    if (stored == LARDER_OK) {
        return DONE;
    }
    /* It stays frozen: a mover may be copying it, too, and the next process that counts replaces it. */
    if (overflows) {
        return RANGE;
    }
    /* Else another process changed it first. */
    return stored == LARDER_ABSENT || stored == LARDER_OVERTAKEN ? AGAIN : refusal_of(stored);
}

static enum step increment_found(larder_pool *pool, const larder_key *key, const larder_counting *add,
                                 const larder_found *found, bool patient, int64_t *result)
{
    int64_t number;
    if (!read_number(found, add, &number)) {
        return WRONG_KIND;
    }
    enum step step = ANEW;
    if (found->item->kind == LARDER_COUNTER_KIND) {
        step = add_in_place(found, add, result);
    }
    if (step == DONE) {
        atomic_store_explicit(&found->item->visited, 1, memory_order_relaxed);
    }
    return step == ANEW || (step == FROZEN && !patient) ? increment_anew(pool, key, add, found, result) : step;
}

static enum step increment_once(larder_pool *pool, const larder_key *key, const larder_counting *add, bool patient,
                                int64_t *result)
{
    larder_place place = larder_place_of(pool, key->hash);
    larder_found found;
    if (!larder_find(pool, &place, key, &found)) {
        return increment_absent(pool, key, add, result);
    }
    bool alive = larder_is_alive(pool, found.item);
    enum step step = alive ? increment_found(pool, key, add, &found, patient, result) : AGAIN;
    larder_found_drop(pool, &found);
    return alive ? step : increment_absent(pool, key, add, result);
}

static enum larder_counted count_entered(larder_pool *pool, const larder_key *key, const larder_counting *add,
                                         int64_t *result)
{
    for (int tries = 0; tries < 10000; tries++) {
        switch (increment_once(pool, key, add, tries % 1000 != 999, result)) {
        case DONE:
            return LARDER_COUNTED;
        case WRONG_KIND:
            return LARDER_NOT_A_COUNTER;
        case RANGE:
            return LARDER_OUT_OF_RANGE;
        case BUSY:
            return LARDER_COUNT_BUSY;
        case REFUSED:
            return LARDER_NOT_COUNTED;
        case NOTHING:
            return LARDER_NO_COUNTER;
        case ANEW:
        case AGAIN:
        case FROZEN:
            sched_yield();
        }
    }
    return LARDER_COUNT_BUSY;
}

enum larder_counted larder_count_up(larder_pool *pool, const larder_key *key, const larder_counting *how,
                                    int64_t *result)
{
    if (!larder_pool_enter_surely(pool)) {
        return LARDER_NOT_COUNTED;
    }
    larder_place place = larder_place_of(pool, key->hash);
    uint64_t before;
    larder_missed_take(pool, key);
    larder_begin_write(pool, &place, &before);
    enum larder_counted counted = count_entered(pool, key, how, result);
    bool may_have_counted =
        counted != LARDER_NOT_A_COUNTER && counted != LARDER_OUT_OF_RANGE && counted != LARDER_NO_COUNTER;
    if (may_have_counted && larder_pool_was_closed(pool)) {
        /* It may have been counted in the snapshot, or not, and must not be counted twice. */
        pool->request.undone = true;
        larder_fail(&pool->request.trouble, "it was saved and closed while something was counted in it; try again.");
        return LARDER_NOT_COUNTED;
    }
    return counted;
}
