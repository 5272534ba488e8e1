#include "check.h"
#include "carried.h"
#include "enter.h"
#include "get.h"
#include "index.h"
#include "key.h"
#include "lock.h"
#include "segment.h"

#include <stdlib.h>

typedef struct tally {
    uint64_t items, units;
} tally;

static bool has_start(const larder_pool *pool, uint64_t offset)
{
    uint64_t bit = (offset - pool->segments_at) / 8;
    return (atomic_load_explicit(&pool->starts[bit / 64], memory_order_relaxed) >> bit % 64 & 1) != 0;
}

/* A word of a living generation must point at a complete item whose key leads back to this bucket, and to no other
 * word. */
static bool check_word(larder_pool *pool, const larder_bucket *bucket, uint64_t word, tally *tallies,
                       larder_error *error)
{
    uint32_t segment = larder_word_segment(pool, word);
    uint64_t offset = larder_word_offset(pool, word);
    if (word == 0 || (word & LARDER_PENDING) != 0) {
        return true; /* pending: of a writer that died; the next insert or delete there clears it */
    }
    if (segment >= pool->geometry.segment_count) {
        return larder_fail(error, "word %016llx points outside the segments", (unsigned long long)word);
    }
    if (atomic_load_explicit(&pool->generations[segment], memory_order_relaxed) != larder_word_generation(word)) {
        return true; /* void */
    }
    const larder_item *item = (const larder_item *)(pool->rw + offset);
    larder_key key = {larder_item_key(item), item->key_length, 0};
    uint64_t end = offset + larder_item_bytes(pool, item);
    uint64_t limit =
        larder_segment_offset(pool, segment) + ((uint64_t)pool->segments[segment].run << pool->segment_shift);
    if (!has_start(pool, offset) || end > limit || item->key_length == 0) {
        return larder_fail(error, "word %016llx points at no complete item", (unsigned long long)word);
    }
    key.hash = larder_hash(key.bytes, key.length);
    larder_place place = larder_place_of(pool, key.hash);
    larder_found found;
    if ((place.first != bucket && place.second != bucket) || place.fingerprint != word >> 48) {
        return larder_fail(error, "the key %.40s is in a bucket that is not its own", key.bytes);
    }
    for (uint32_t i = 0; i < item->tags; i++) {
        if (!larder_is_carried(pool, larder_item_tags(item)[i])) {
            return larder_fail(error, "a tag of the key %.40s counts as carried by no item", key.bytes);
        }
    }
    if (larder_is_readable(pool, item)) {
        if (!larder_find(pool, &place, &key, &found) || found.word != word) {
            return larder_fail(error, "the key %.40s is in the index twice", key.bytes);
        }
        larder_found_drop(pool, &found);
    }
    tallies[segment].items++;
    tallies[segment].units += item->units;
    return true;
}

static bool check_lists(const larder_pool *pool, larder_error *error)
{
    static const enum larder_segment_state expected[LARDER_LISTS] = {LARDER_SEALED, LARDER_SEALED, LARDER_FREE,
                                                                     LARDER_LIMBO};
    uint32_t listed = 0, count = pool->geometry.segment_count;
    for (uint32_t list = 0; list < LARDER_LISTS; list++) {
        const larder_list_ends *ends = &pool->header->lists[list];
        uint32_t length = 0, at = ends->first, before = LARDER_NO_SEGMENT;
        for (; at != LARDER_NO_SEGMENT && length <= count; at = pool->segments[at].next, length++) {
            const larder_segment *segment = &pool->segments[at];
            if (at >= count || segment->prev != before || segment->list != list ||
                atomic_load_explicit(&segment->state, memory_order_relaxed) != expected[list]) {
                return larder_fail(error, "segment %u does not belong in list %u", at, list);
            }
            before = at;
            listed += segment->run;
        }
        if (length != ends->count || before != ends->last) {
            return larder_fail(error, "list %u has %u segments and says %u", list, length, ends->count);
        }
    }
    for (uint32_t queue = 0; queue < LARDER_QUEUES; queue++) {
        listed += larder_open_of(pool, (enum larder_list)queue) < count;
    }
    return listed == count || larder_fail(error, "%u of %u segments are on a list or open", listed, count);
}

static bool check_account(const larder_segment *segment, const tally *found, bool after_deaths)
{
    uint64_t items = larder_segment_live_items(segment), units = larder_segment_live_units(segment);
    return (items == found->items && units == found->units) ||
           (after_deaths && items >= found->items && units >= found->units);
}

static bool check_accounts(const larder_pool *pool, const tally *tallies, bool after_deaths, larder_error *error)
{
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        uint32_t state = atomic_load_explicit(&pool->segments[i].state, memory_order_relaxed);
        uint64_t live = larder_segment_live_units(&pool->segments[i]);
        if ((state == LARDER_OPEN || state == LARDER_SEALED) &&
            !check_account(&pool->segments[i], &tallies[i], after_deaths)) {
            return larder_fail(error, "segment %u says %llu live units, the index %llu", i, (unsigned long long)live,
                               (unsigned long long)tallies[i].units);
        }
    }
    return true;
}

static bool check_index(larder_pool *pool, tally *tallies, larder_error *error)
{
    for (uint32_t b = 0; b < pool->geometry.bucket_count; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            uint64_t word = atomic_load_explicit(&pool->buckets[b].word[i], memory_order_acquire);
            if (!check_word(pool, &pool->buckets[b], word, tallies, error)) {
                return false;
            }
        }
    }
    return true;
}

bool larder_check(larder_pool *pool, bool after_deaths, larder_error *error)
{
    if (!larder_pool_enter(pool)) {
        *error = pool->request.trouble;
        return false;
    }
    tally *tallies = calloc(pool->geometry.segment_count, sizeof *tallies);
    if (tallies == NULL) {
        return larder_fail(error, "no memory for the check");
    }
    bool sound = larder_lock(pool) || larder_fail(error, "the segment lock was held all the time");
    if (sound) {
        sound = check_lists(pool, error);
        larder_unlock(pool);
    }
    sound = sound && check_index(pool, tallies, error) && check_accounts(pool, tallies, after_deaths, error);
    free(tallies);
    return sound;
}
