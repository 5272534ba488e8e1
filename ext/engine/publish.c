#include "publish.h"
#include "segment.h"
#include "slot.h"
#include "token.h"

#include <sched.h>

#define TRIES 64 /* before a store gives up; half of them giving way to others */

/* ---- free slots: where a new key's word goes ---------------------------------------------------------------
 *
 * Both of a key's buckets fill up evenly; where both are full, somebody's item gives its place up.
 */

typedef struct free_slot {
    _Atomic uint64_t *at;
    uint64_t word; /* what was seen there */
    bool is_taken; /* by an item, which goes */
} free_slot;

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
static enum worth find_least_useful(larder_pool *pool, const larder_place *place, free_slot *least)
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
static uint32_t count_vacant(const larder_pool *pool, larder_bucket *bucket, free_slot *first)
{
    uint32_t count = 0;
    *first = (free_slot){.at = NULL};
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
            *first = (free_slot){.at = &bucket->word[i], .word = seen};
        }
    }
    return count;
}

/* Finds a word for a new key: in the emptier bucket, or in full ones the least useful. False: nothing there may go,
 * because the pool does not evict. */
static bool find_free_slot(larder_pool *pool, const larder_place *place, free_slot *found)
{
    free_slot first, second;
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

/* Puts the pending word there; what was there is gone then. False: somebody else was faster. */
static bool take_free_slot(larder_pool *pool, const free_slot *slot, uint64_t pending)
{
    uint32_t segment = larder_word_segment(pool, slot->word);
    uint32_t generation = larder_word_generation(slot->word);
    bool held = slot->is_taken && larder_pin_holds(pool, segment, generation);
    if (!slot->is_taken ||
        (!held && (larder_pinned(pool, segment) != 0 || !larder_pin_set(pool, segment, generation)))) {
        /* Nothing is there; or nothing any more, if its segment was recycled meanwhile. */
        return larder_exchange_word(LARDER_AT_PENDING, slot->at, slot->word, pending);
    }
    larder_item *item = (larder_item *)(pool->rw + larder_word_offset(pool, slot->word));
    bool alive = larder_is_alive(pool, item) || !larder_stays_dead(pool, item);
    bool may_go = !alive || pool->geometry.evict != 0; /* it was dead when it was chosen */
    bool taken = may_go && larder_exchange_word(LARDER_AT_PENDING, slot->at, slot->word, pending);
    if (taken) {
        larder_segment_account(pool, segment, -1, item->units);
        larder_count(pool, alive ? LARDER_EVICTIONS : LARDER_EXPIRED);
    }
    if (!held) {
        larder_pin_drop(pool, segment);
    }
    return taken;
}

/* ---- publishing -------------------------------------------------------------------------------------------- */

static uint64_t pending_word(larder_pool *pool, uint64_t fingerprint)
{
    uint64_t sequence = (uint64_t)(pool->incarnation & 0xff) << 7 | (pool->pending_sequence++ & 0x7f);
    return fingerprint << 48 | LARDER_PENDING | sequence << 32 | pool->slot_index;
}

/* model/token.pml: storer(), overtaken */
static bool was_overtaken(const larder_pool *pool, const larder_place *place, const larder_order *order)
{
    return (order->token != LARDER_NO_TOKEN && larder_key_changed(pool, place, order->token)) ||
           (!order->fill && atomic_load_explicit(place->deletion, memory_order_seq_cst) > order->tick);
}

static bool is_for_all(const larder_item *item)
{
    return (item->traits & LARDER_LAYOUT_MASK) == 0;
}

/* With our pending word in place: is nobody else's there for the same key? Two writers that insert one key at the
 * same time each place a pending word and then look, so at least one sees the other's. The one with the lower slot
 * goes on and the other starts over; but nobody waits for a stopped one for long. model/publish.pml: writer(), alone */
static bool is_alone(larder_pool *pool, const larder_place *place, const larder_key *key, const larder_draft *draft,
                     const _Atomic uint64_t *own, bool patient)
{
    larder_bucket *buckets[2] = {place->first, place->second};
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            _Atomic uint64_t *at = &buckets[b]->word[i];
            uint64_t word = atomic_load_explicit(at, memory_order_seq_cst);
            larder_found found;
            if (at == own || word >> 48 != place->fingerprint) {
                continue;
            }
            if ((word & LARDER_PENDING) != 0) {
                /* If it can be cleared, its owner finds out, and starts over; else it is final by now, and we do. */
                if ((patient && (uint32_t)word < pool->slot_index) ||
                    !larder_exchange_word(LARDER_AT_OUST, at, word, 0)) {
                    return false;
                }
            } else if (larder_matches(pool, word, key, &found)) {
                bool ours = is_for_all(draft->item) || larder_is_readable(pool, found.item);
                larder_found_drop(pool, &found);
                if (ours) {
                    return false;
                }
            } else if (atomic_load_explicit(at, memory_order_seq_cst) != word) {
                return false; /* moved or replaced while we looked */
            }
        }
    }
    return true;
}

/* What everybody can read takes the place of everybody's copies, and so does a write; a fill leaves others' alone. */
static void clear_others(larder_pool *pool, const larder_place *place, const larder_key *key, const larder_draft *draft,
                         const larder_order *order)
{
    /* After the key version has moved: a kind of PHP that comes later has younger tokens only. */
    if ((order->moved || is_for_all(draft->item)) && larder_has_other_layouts(pool)) {
        larder_clear_others(pool, place, key, order->moved ? order->tick : UINT64_MAX);
    }
}

/* model/publish.pml: writer(), pending, alone, deletion, final */
static enum larder_result insert(larder_pool *pool, const larder_place *place, const larder_key *key,
                                 const larder_draft *draft, uint64_t word, const larder_order *order, bool patient,
                                 bool *again)
{
    uint64_t pending = pending_word(pool, place->fingerprint);
    free_slot own = {.at = NULL};
    *again = find_free_slot(pool, place, &own);
    if (!*again) {
        return LARDER_FULL;
    }
    if (!take_free_slot(pool, &own, pending)) {
        return LARDER_BUSY;
    }
    if (!is_alone(pool, place, key, draft, own.at, patient)) {
        larder_exchange_word(LARDER_AT_WITHDRAW, own.at, pending, 0);
        return LARDER_BUSY;
    }
    *again = false;
    if (was_overtaken(pool, place, order)) {
        larder_exchange_word(LARDER_AT_WITHDRAW, own.at, pending, 0);
        return LARDER_OVERTAKEN;
    }
    /* Before the word is final: whoever clears it subtracts what was added here. */
    larder_segment_account(pool, draft->segment, 1, draft->item->units);
    if (!larder_exchange_word(LARDER_AT_PUBLISH, own.at, pending, word)) {
        larder_segment_account(pool, draft->segment, -1, draft->item->units);
        *again = !was_overtaken(pool, place, order); /* else a delete cleared it */
        return LARDER_OVERTAKEN;
    }
    return LARDER_OK;
}

/* model/publish.pml: writer(), replace */
static enum larder_result replace(larder_pool *pool, const larder_place *place, const larder_draft *draft,
                                  const larder_found *found, uint64_t word, const larder_order *order, bool *again)
{
    *again = false;
    if (was_overtaken(pool, place, order)) {
        return LARDER_OVERTAKEN;
    }
    larder_segment_account(pool, draft->segment, 1, draft->item->units);
    if (!larder_exchange_word(LARDER_AT_REPLACE, found->at, found->word, word)) {
        larder_segment_account(pool, draft->segment, -1, draft->item->units);
        *again = true;
        return LARDER_BUSY;
    }
    larder_segment_account(pool, found->segment, -1, found->item->units);
    return LARDER_OK;
}

/* One attempt; `again` if another process changed the word under us. */
static enum larder_result attempt(larder_pool *pool, const larder_place *place, const larder_key *key,
                                  const larder_draft *draft, enum larder_mode mode, uint64_t expected,
                                  const larder_order *order, bool patient, bool *again)
{
    uint64_t word = larder_word(place->fingerprint, draft->generation, draft->offset >> pool->unit_shift);
    larder_found found;
    *again = false;
    clear_others(pool, place, key, draft, order);
    if (!larder_find(pool, place, key, &found)) {
        return mode == LARDER_REPLACE || (mode == LARDER_SET && expected != 0)
                   ? LARDER_ABSENT
                   : insert(pool, place, key, draft, word, order, patient, again);
    }
    bool alive = larder_is_alive(pool, found.item), younger = found.item->version > order->tick;
    bool judged_younger = order->token != LARDER_NO_TOKEN && found.item->version > order->token;
    if (mode == LARDER_ADD && !alive) {
        alive = !larder_stays_dead(pool, found.item);
    }
    enum larder_result result;
    if (mode == LARDER_ADD && alive && found.word != expected) {
        result = LARDER_EXISTS;
    } else if ((mode == LARDER_REPLACE && !alive) || (mode == LARDER_SET && expected != 0 && found.word != expected)) {
        result = LARDER_ABSENT;
    } else if (order->fill && younger) {
        /* A delete that has ticked before it and not moved the key version yet leaves it there, and would leave ours,
         * which may be older, in its place. Nobody who adds is content with what is there. */
        result = alive && mode != LARDER_ADD ? LARDER_OK : LARDER_OVERTAKEN;
    } else if (younger) {
        /* Ours came first, and was overwritten at once; but whoever adds is told that he owns the key until it goes,
         * and what may be older than it says must not stay. */
        result = mode == LARDER_ADD || !larder_is_since(found.item, order->tick) ? LARDER_OVERTAKEN : LARDER_OK;
    } else if (judged_younger) {
        /* For the same reason not in its place, but anew. */
        *again = !larder_clear_found(pool, &found);
        result = *again ? LARDER_BUSY : insert(pool, place, key, draft, word, order, patient, again);
    } else {
        result = replace(pool, place, draft, &found, word, order, again);
    }
    larder_found_drop(pool, &found);
    return result;
}

enum larder_result larder_publish(larder_pool *pool, const larder_place *place, const larder_key *key,
                                  const larder_draft *draft, enum larder_mode mode, uint64_t expected,
                                  const larder_order *order)
{
    bool again = true;
    enum larder_result result = LARDER_BUSY;
    larder_segment_note(&pool->segments[draft->segment], draft->item->version,
                        atomic_load_explicit(&draft->item->expiry, memory_order_relaxed));
    larder_segment_mark(pool, draft->offset);
    for (int tries = 0; again && tries < TRIES; tries++) {
        result = attempt(pool, place, key, draft, mode, expected, order, tries < TRIES / 2, &again);
        if (again && tries > 4) {
            sched_yield();
        }
    }
    /* Our segment may have been emptied meanwhile (it is pinned, so nobody writes there). If the generation was raised
     * before this look, the word is void. If it is raised later, the item was evicted right away, which may always
     * happen in a pool that evicts; in others only dead segments that nobody pins are emptied. */
    atomic_thread_fence(memory_order_seq_cst);
    if (result == LARDER_OK &&
        atomic_load_explicit(&pool->generations[draft->segment], memory_order_relaxed) != draft->generation) {
        return LARDER_LOST;
    }
    return again ? LARDER_BUSY : result;
}
