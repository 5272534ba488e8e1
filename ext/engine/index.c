#include "index.h"
#include "segment.h"
#include "slot.h"
#include "token.h"

#include <sched.h>

#define TRIES 64 /* before a store gives up; half of them giving way to others */

uint64_t larder_begin_write(larder_pool *pool, const larder_place *place, uint64_t *before)
{
    return larder_own_move(pool, &place->first->guard, LARDER_AT_GUARD, before);
}

bool larder_guard_moved(const larder_pool *pool, const larder_place *place, uint64_t token)
{
    /* seq_cst: after our pending word was placed, or the old one loaded; the other side moves the guard first. */
    uint64_t guard = atomic_load_explicit(&place->first->guard, memory_order_seq_cst);
    return guard > token && larder_own_see_through(pool, &place->first->guard, guard) > token &&
           !larder_own_are_all(pool, token);
}

/* Every change of a word by a writer or a deleter. seq_cst: the publishing side of the protocol in index.h. */
static bool exchange(enum larder_fault_point point, _Atomic uint64_t *at, uint64_t from, uint64_t to)
{
    (void)point; /* where there are no fault points */
    LARDER_FAULT(point);
    return atomic_compare_exchange_strong_explicit(at, &from, to, memory_order_seq_cst, memory_order_relaxed);
}

bool larder_clear_found(larder_pool *pool, const larder_found *found)
{
    if (!exchange(LARDER_AT_CLEAR_WORD, found->at, found->word, 0)) {
        return false;
    }
    larder_segment_account(pool, found->segment, -1, found->item->units);
    return true;
}

/* A word that may be used for a new item: empty, or of a generation that its segment no longer has. */
static bool is_vacant(const larder_pool *pool, uint64_t word)
{
    if (word == 0) {
        return true;
    }
    if ((word & LARDER_PENDING) != 0) {
        return false;
    }
    uint32_t segment = larder_word_segment(pool, word);
    return segment >= pool->geometry.segment_count || larder_is_void(pool, segment, larder_word_generation(word));
}

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
    if (is_vacant(pool, word)) {
        return NOTHING;
    }
    const larder_item *item = (const larder_item *)(pool->rw + larder_word_offset(pool, word));
    if (!larder_is_alive(pool, item)) {
        return DEAD;
    }
    return atomic_load_explicit(&item->visited, memory_order_relaxed) != 0 ? USED : UNUSED;
}

/* Of two full buckets' words, the one to give up, looking at all of them from another start each time. */
static _Atomic uint64_t *least_useful(larder_pool *pool, const larder_place *place, uint64_t *word, enum worth *worth)
{
    uint64_t turn = atomic_load_explicit(&pool->header->clock, memory_order_relaxed);
    _Atomic uint64_t *least = NULL;
    *worth = BEING_WRITTEN;
    for (uint32_t i = 0; i < 2 * LARDER_BUCKET_WORDS; i++) {
        larder_bucket *bucket = (turn + i) % 2 == 0 ? place->first : place->second;
        _Atomic uint64_t *at = &bucket->word[(turn / 2 + i / 2) % LARDER_BUCKET_WORDS];
        uint64_t seen = atomic_load_explicit(at, memory_order_relaxed);
        enum worth its = worth_of(pool, seen);
        if (least == NULL || its < *worth) {
            least = at;
            *word = seen;
            *worth = its;
        }
    }
    return least;
}

static uint32_t vacancies(const larder_pool *pool, larder_bucket *bucket, _Atomic uint64_t **at, uint64_t *word)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        uint64_t seen = atomic_load_explicit(&bucket->word[i], memory_order_relaxed);
        if (!is_vacant(pool, seen)) {
            continue;
        }
        /* A void word must not last until its segment has that generation again. */
        if (seen != 0 && exchange(LARDER_AT_VACATE, &bucket->word[i], seen, 0)) {
            seen = 0;
        }
        if (count++ == 0) {
            *at = &bucket->word[i]; /* the first: readers find it sooner */
            *word = seen;
        }
    }
    return count;
}

/* A word for a new key: in the emptier bucket, so that both fill up evenly; in full ones, somebody's place. */
static _Atomic uint64_t *choose_word(larder_pool *pool, const larder_place *place, uint64_t *word, enum worth *worth)
{
    _Atomic uint64_t *at[2] = {NULL, NULL};
    uint64_t seen[2] = {0, 0};
    uint32_t first = vacancies(pool, place->first, &at[0], &seen[0]);
    uint32_t second = vacancies(pool, place->second, &at[1], &seen[1]);
    if (first + second == 0) {
        return least_useful(pool, place, word, worth);
    }
    int better = second > first;
    *word = seen[better];
    *worth = NOTHING;
    return at[better];
}

static uint64_t pending_word(larder_pool *pool, uint64_t fingerprint)
{
    uint64_t sequence = (uint64_t)(pool->incarnation & 0xff) << 7 | (pool->pending_sequence++ & 0x7f);
    return fingerprint << 48 | LARDER_PENDING | sequence << 32 | pool->slot_index;
}

/* model/token.pml: storer(), overtaken */
static bool was_overtaken(const larder_pool *pool, const larder_place *place, const larder_order *order)
{
    return (order->token != LARDER_NO_TOKEN && larder_guard_moved(pool, place, order->token)) ||
           (!order->fill && atomic_load_explicit(place->deletion, memory_order_seq_cst) > order->tick);
}

/* The item whose place a new key takes, if both of its buckets are full. */
static bool make_place(larder_pool *pool, _Atomic uint64_t *at, uint64_t seen, uint64_t pending)
{
    uint32_t segment = larder_word_segment(pool, seen);
    uint32_t generation = larder_word_generation(seen);
    bool held = larder_pin_holds(pool, segment, generation);
    if (!held && (pool->pinned[segment] != 0 || !larder_pin_set(pool, segment, generation))) {
        return exchange(LARDER_AT_PENDING, at, seen, pending); /* recycled meanwhile: the word is vacant */
    }
    const larder_item *item = (const larder_item *)(pool->rw + larder_word_offset(pool, seen));
    bool alive = larder_is_alive(pool, item), made = exchange(LARDER_AT_PENDING, at, seen, pending);
    if (made) {
        larder_segment_account(pool, segment, -1, item->units);
        larder_count(pool, alive ? LARDER_EVICTIONS : LARDER_EXPIRED);
    }
    if (!held) {
        larder_pin_drop(pool, segment);
    }
    return made;
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
                if ((patient && (uint32_t)word < pool->slot_index) || !exchange(LARDER_AT_OUST, at, word, 0)) {
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

/* Which words of a key are cleared. */
enum which {
    ALL,    /* for a delete: pending ones included */
    OTHERS, /* for a write: those of other kinds of PHP, and pending ones, whose writers start over */
    FINAL,  /* for an eviction */
};

/* Clears one word for as long as it leads to the key. Was there a living item? */
static bool clear_word(larder_pool *pool, _Atomic uint64_t *at, uint64_t fingerprint, const larder_key *key,
                       uint64_t tick, enum which which)
{
    bool existed = false;
    /* seq_cst: after the deletion or the guard has moved. A store that replaces the word now has seen it. */
    uint64_t word = atomic_load_explicit(at, memory_order_seq_cst);
    while (word != 0 && word >> 48 == fingerprint) {
        larder_found found = {.at = at};
        bool done = false;
        if ((word & LARDER_PENDING) != 0) {
            done = which == FINAL || exchange(LARDER_AT_OUST, at, word, 0);
        } else if (larder_matches(pool, word, key, &found)) {
            /* What was stored after the tick is not its business: who waited for it to take the key's place may be here
             * already. A fill whose token is the very tick began after it. */
            done = larder_is_since(found.item, tick) || (which == OTHERS && larder_is_readable(pool, found.item));
            existed |= !done && larder_is_alive(pool, found.item);
            done = done || larder_clear_found(pool, &found);
            larder_found_drop(pool, &found);
        } else {
            done = is_vacant(pool, word) && exchange(LARDER_AT_VACATE, at, word, 0);
        }
        uint64_t again = atomic_load_explicit(at, memory_order_seq_cst);
        if (done || again == word) {
            break; /* gone, or another key's */
        }
        word = again; /* moved or replaced while we looked */
    }
    return existed;
}

static bool clear_words(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t tick,
                        enum which which)
{
    larder_bucket *buckets[2] = {place->first, place->second};
    bool existed = false;
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            existed |= clear_word(pool, &buckets[b]->word[i], place->fingerprint, key, tick, which);
        }
    }
    return existed;
}

/* What everybody can read takes the place of everybody's copies, and so does a write; a fill leaves others' alone. */
static void clear_others(larder_pool *pool, const larder_place *place, const larder_key *key, const larder_draft *draft,
                         const larder_order *order)
{
    /* After the guard has moved: a kind of PHP that comes later has younger tokens only. */
    if ((order->moved || is_for_all(draft->item)) && larder_has_other_layouts(pool)) {
        clear_words(pool, place, key, order->moved ? order->tick : UINT64_MAX, OTHERS);
    }
}

/* model/publish.pml: writer(), pending, alone, deletion, final */
static enum larder_result insert(larder_pool *pool, const larder_place *place, const larder_key *key,
                                 const larder_draft *draft, uint64_t word, const larder_order *order, bool patient,
                                 bool *again)
{
    uint64_t seen = 0;
    enum worth worth;
    _Atomic uint64_t *at = choose_word(pool, place, &seen, &worth);
    uint64_t pending = pending_word(pool, place->fingerprint);
    bool takes_place = worth != NOTHING && worth != BEING_WRITTEN;
    *again = worth == NOTHING || worth == DEAD || worth == BEING_WRITTEN || pool->geometry.evict != 0;
    if (!*again) {
        return LARDER_FULL;
    }
    if (!(takes_place ? make_place(pool, at, seen, pending) : exchange(LARDER_AT_PENDING, at, seen, pending))) {
        return LARDER_BUSY;
    }
    if (!is_alone(pool, place, key, draft, at, patient)) {
        exchange(LARDER_AT_WITHDRAW, at, pending, 0);
        return LARDER_BUSY;
    }
    *again = false;
    if (was_overtaken(pool, place, order)) {
        exchange(LARDER_AT_WITHDRAW, at, pending, 0);
        return LARDER_OVERTAKEN;
    }
    /* Before the word is final: whoever clears it subtracts what was added here. */
    larder_segment_account(pool, draft->segment, 1, draft->item->units);
    if (!exchange(LARDER_AT_PUBLISH, at, pending, word)) {
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
    if (!exchange(LARDER_AT_REPLACE, found->at, found->word, word)) {
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
    bool alive = larder_is_alive(pool, found.item), younger = found.item->stamp > order->tick;
    bool judged_younger = order->token != LARDER_NO_TOKEN && found.item->stamp > order->token;
    enum larder_result result;
    if (mode == LARDER_ADD && alive && found.word != expected) {
        result = LARDER_EXISTS;
    } else if ((mode == LARDER_REPLACE && !alive) || (mode == LARDER_SET && expected != 0 && found.word != expected)) {
        result = LARDER_ABSENT;
    } else if (order->fill && younger) {
        /* A delete that has ticked before it and not moved the guard yet leaves it there, and would leave ours, which
         * may be older, in its place. Nobody who adds is content with what is there. */
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
    larder_segment_note(&pool->segments[draft->segment], draft->item->stamp,
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

/* model/publish.pml: deleter(); model/token.pml: deleter() */
bool larder_erase(larder_pool *pool, const larder_place *place, const larder_key *key)
{
    uint64_t before, tick = larder_begin_write(pool, place, &before);
    LARDER_FAULT(LARDER_AT_DELETION);
    larder_raise(place->deletion, tick);
    return clear_words(pool, place, key, tick, ALL);
}

void larder_drop(larder_pool *pool, const larder_place *place, const larder_key *key)
{
    clear_words(pool, place, key, UINT64_MAX, FINAL);
}
