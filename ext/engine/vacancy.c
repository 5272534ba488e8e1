#include "vacancy.h"
#include "segment.h"
#include "slot.h"

/* What would be lost with a word. A pending one is another writer's, who finds out and starts over; but he may be dead,
 * and then nobody else clears it. */
enum worth { NOTHING, DEAD, UNUSED, USED, BEING_WRITTEN };

/* Is this the pending word of somebody who will not come back? */
static bool writer_is_dead(larder_pool *pool, uint64_t word)
{
    uint32_t slot = (uint32_t)word;
    return slot >= pool->geometry.slot_count ||
           (atomic_load_explicit(&pool->slots[slot].incarnation, memory_order_acquire) & 0xff) != (word >> 39 & 0xff) ||
           larder_slot_bury(pool, slot);
}

/* Only a hint is read from the item, without a pin. */
static enum worth worth_of(larder_pool *pool, uint64_t word)
{
    if ((word & LARDER_PENDING) != 0) {
        return writer_is_dead(pool, word) ? NOTHING : BEING_WRITTEN;
    }
    if (larder_is_vacant(pool, word)) {
        return NOTHING;
    }
    const larder_item *item = (const larder_item *)(pool->rw + larder_word_offset(pool, word));
    if (!larder_is_alive(pool, item)) {
        return DEAD;
    }
    return atomic_load_explicit(&item->visited, memory_order_relaxed) != 0 ? USED : UNUSED;
}

/* Of two full buckets' words, the one to give up, looking at all of them from another start each time. */
static enum worth find_least_useful(larder_pool *pool, const larder_place *place, larder_vacancy *least)
{
    uint64_t turn = atomic_load_explicit(&pool->header->clock, memory_order_relaxed);
    enum worth worth = BEING_WRITTEN;
    least->at = NULL;
    for (uint32_t i = 0; i < 2 * LARDER_BUCKET_WORDS; i++) {
        larder_bucket *bucket = (turn + i) % 2 == 0 ? place->first : place->second;
        _Atomic uint64_t *at = &bucket->word[(turn / 2 + i / 2) % LARDER_BUCKET_WORDS];
        uint64_t seen = atomic_load_explicit(at, memory_order_relaxed);
        enum worth its = worth_of(pool, seen);
        if (least->at == NULL || its < worth) {
            least->at = at;
            least->word = seen;
            worth = its;
        }
    }
    return worth;
}

/* How many words of the bucket are vacant; the first of them, where readers find it soonest. */
static uint32_t count_vacant(const larder_pool *pool, larder_bucket *bucket, larder_vacancy *first)
{
    uint32_t count = 0;
    *first = (larder_vacancy){.at = NULL};
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        uint64_t seen = atomic_load_explicit(&bucket->word[i], memory_order_relaxed);
        if (!larder_is_vacant(pool, seen)) {
            continue;
        }
        /* A void word must not last until its segment has that generation again. */
        if (seen != 0 && larder_exchange_word(LARDER_AT_VACATE, &bucket->word[i], seen, 0)) {
            seen = 0;
        }
        if (count++ == 0) {
            *first = (larder_vacancy){.at = &bucket->word[i], .word = seen};
        }
    }
    return count;
}

bool larder_find_vacancy(larder_pool *pool, const larder_place *place, larder_vacancy *found)
{
    larder_vacancy first, second;
    uint32_t in_first = count_vacant(pool, place->first, &first);
    uint32_t in_second = count_vacant(pool, place->second, &second);
    if (in_first + in_second > 0) {
        *found = in_second > in_first ? second : first;
        return true;
    }
    enum worth worth = find_least_useful(pool, place, found);
    found->is_taken = worth != NOTHING && worth != BEING_WRITTEN;
    return worth == NOTHING || worth == DEAD || worth == BEING_WRITTEN || pool->geometry.evict != 0;
}

bool larder_take_vacancy(larder_pool *pool, const larder_vacancy *vacancy, uint64_t pending)
{
    uint32_t segment = larder_word_segment(pool, vacancy->word);
    uint32_t generation = larder_word_generation(vacancy->word);
    bool held = vacancy->is_taken && larder_pin_holds(pool, segment, generation);
    if (!vacancy->is_taken ||
        (!held && (larder_pinned(pool, segment) != 0 || !larder_pin_set(pool, segment, generation)))) {
        /* Nothing is there; or nothing any more, if its segment was recycled meanwhile. */
        return larder_exchange_word(LARDER_AT_PENDING, vacancy->at, vacancy->word, pending);
    }
    larder_item *item = (larder_item *)(pool->rw + larder_word_offset(pool, vacancy->word));
    bool alive = larder_is_alive(pool, item) || !larder_stays_dead(pool, item);
    bool may_go = !alive || pool->geometry.evict != 0; /* it was dead when it was chosen */
    bool taken = may_go && larder_exchange_word(LARDER_AT_PENDING, vacancy->at, vacancy->word, pending);
    if (taken) {
        larder_segment_account(pool, segment, -1, item->units);
        larder_count(pool, alive ? LARDER_EVICTIONS : LARDER_EXPIRED);
    }
    if (!held) {
        larder_pin_drop(pool, segment);
    }
    return taken;
}
