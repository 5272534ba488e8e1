#include "publish.h"
#include "segment.h"
#include "slot.h"
#include "token.h"

#include <sched.h>

#define TRIES 64 /* before a store gives up; half of them giving way to others */

/* ---- free slots: where a new key's word goes ---------------------------------------------------------------
 *
 * Both of a key's buckets fill up evenly. Where both are full, the least useful item gives its place up.
 */

typedef struct free_slot {
    _Atomic uint64_t *at;
    uint64_t word; /* the word seen there */
    bool is_taken; /* by an item, which goes */
} free_slot;

/* What would be lost with a word. The writer of a pending one finds out that it was taken, and starts over. But it may
 * be dead, and then its word is free for any writer. */
enum worth { NOTHING, DEAD, UNUSED, USED, BEING_WRITTEN };

/* Is this the pending word of a process that has died? */
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
    if (larder_is_free(pool, word)) {
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

/* How many words of the bucket are free, and the first of them, where readers find it soonest. */
static uint32_t count_free(const larder_pool *pool, larder_bucket *bucket, free_slot *first)
{
    uint32_t count = 0;
    *first = (free_slot){.at = NULL};
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        uint64_t seen = atomic_load_explicit(&bucket->word[i], memory_order_relaxed);
        if (!larder_is_free(pool, seen)) {
            continue;
        }
        /* A void word must not last until its segment has that generation again. */
        if (seen != 0 && larder_exchange_word(LARDER_AT_FREE_WORD, &bucket->word[i], seen, 0)) {
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
    uint32_t in_first = count_free(pool, place->first, &first);
    uint32_t in_second = count_free(pool, place->second, &second);
    if (in_first + in_second > 0) {
        *found = in_second > in_first ? second : first;
        return true;
    }
    enum worth worth = find_least_useful(pool, place, found);
    found->is_taken = worth != NOTHING && worth != BEING_WRITTEN;
    return worth == NOTHING || worth == DEAD || worth == BEING_WRITTEN || pool->geometry.evict != 0;
}

/* Puts the pending word there, and so takes the place of any item. False: another process was faster. */
static bool take_free_slot(larder_pool *pool, const free_slot *slot, uint64_t pending)
{
    uint32_t segment = larder_word_segment(pool, slot->word);
    uint32_t generation = larder_word_generation(slot->word);
    bool held = slot->is_taken && larder_pin_holds(pool, segment, generation);
    if (!slot->is_taken ||
        (!held && (larder_pinned(pool, segment) != 0 || !larder_pin_set(pool, segment, generation)))) {
        /* No item is there, or none any more: its segment was recycled meanwhile. */
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

/* What a store publishes. */
typedef struct publication {
    const larder_place *place;
    const larder_key *key;
    const larder_reserved *reserved;
    const larder_order *order;
    enum larder_mode mode;
    uint64_t expected; /* as of larder_publish() */
    uint64_t word;     /* the item's, when it is final */
    bool patient;      /* gives way to writers in lower slots; later it does not, as one of them may have stopped */
} publication;

static uint64_t pending_word(larder_pool *pool, uint64_t fingerprint)
{
    uint64_t sequence = (uint64_t)(pool->writer.incarnation & 0xff) << 7 | (pool->writer.pending_sequence++ & 0x7f);
    return fingerprint << 48 | LARDER_PENDING | sequence << 32 | pool->writer.slot_index;
}

/* model/token.pml: storer(), overtaken */
static bool was_overtaken(const larder_pool *pool, const larder_place *place, const larder_order *order)
{
    return (order->token != LARDER_NO_TOKEN && larder_key_changed(pool, place, order->token)) ||
           (!order->fill && atomic_load_explicit(place->deletion, memory_order_seq_cst) > order->tick);
}

static bool is_for_all(const larder_item *item)
{
    return (item->traits & LARDER_ABI_MASK) == 0;
}

/* With our pending word in place: is no other writer's there for the same key? Two writers that insert one key at the
 * same time each place a pending word and then look, so at least one sees the other's. The one with the lower slot
 * goes on and the other starts over. No writer waits long for a stopped one. model/publish.pml: writer(), alone */
static bool is_alone(larder_pool *pool, const publication *ours, const _Atomic uint64_t *own)
{
    larder_bucket *buckets[2] = {ours->place->first, ours->place->second};
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            _Atomic uint64_t *at = &buckets[b]->word[i];
            uint64_t word = atomic_load_explicit(at, memory_order_seq_cst);
            larder_found found;
            if (at == own || word >> 48 != ours->place->fingerprint) {
                continue;
            }
            if ((word & LARDER_PENDING) != 0) {
                /* Clearing the word makes its owner start over. If it cannot be cleared it is final by now, and we
                 * start over. */
                if ((ours->patient && (uint32_t)word < pool->writer.slot_index) ||
                    !larder_exchange_word(LARDER_AT_OUST, at, word, 0)) {
                    return false;
                }
            } else if (larder_matches(pool, word, ours->key, &found)) {
                bool same = is_for_all(ours->reserved->item) || larder_is_readable(pool, found.item);
                larder_found_drop(pool, &found);
                if (same) {
                    return false;
                }
            } else if (atomic_load_explicit(at, memory_order_seq_cst) != word) {
                return false; /* moved or replaced while we looked */
            }
        }
    }
    return true;
}

/* Removes the items that other kinds of PHP have under the key, if this one stands for theirs: it is a write, or all
 * kinds can read it. A fill that only our kind can read leaves theirs alone. */
static void clear_others(larder_pool *pool, const publication *ours)
{
    const larder_order *order = ours->order;
    /* After the key version has moved: a kind of PHP that comes later has younger tokens only. */
    if ((order->moved || is_for_all(ours->reserved->item)) && larder_has_other_abis(pool)) {
        larder_clear_others(pool, ours->place, ours->key, order->moved ? order->tick : UINT64_MAX);
    }
}

/* The live bytes of the item's segment grow before its word is final: the process that clears the word subtracts what
 * was added. `sign` is -1 where the word did not become final. */
static void account(larder_pool *pool, const publication *ours, int sign)
{
    larder_segment_account(pool, ours->reserved->segment, sign, ours->reserved->item->units);
}

/* The key has no item. model/publish.pml: writer(), pending, alone, deletion, final */
static enum larder_result insert(larder_pool *pool, const publication *ours, bool *again)
{
    uint64_t pending = pending_word(pool, ours->place->fingerprint);
    free_slot own = {.at = NULL};
    *again = find_free_slot(pool, ours->place, &own);
    if (!*again) {
        return LARDER_FULL;
    }
    if (!take_free_slot(pool, &own, pending)) {
        return LARDER_BUSY;
    }
    if (!is_alone(pool, ours, own.at)) {
        larder_exchange_word(LARDER_AT_WITHDRAW, own.at, pending, 0);
        return LARDER_BUSY;
    }
    *again = false;
    if (was_overtaken(pool, ours->place, ours->order)) {
        larder_exchange_word(LARDER_AT_WITHDRAW, own.at, pending, 0);
        return LARDER_OVERTAKEN;
    }
    account(pool, ours, 1);
    if (!larder_exchange_word(LARDER_AT_PUBLISH, own.at, pending, ours->word)) {
        account(pool, ours, -1);
        *again = !was_overtaken(pool, ours->place, ours->order); /* else a delete cleared it */
        return LARDER_OVERTAKEN;
    }
    return LARDER_OK;
}

/* The key has an item, whose word becomes ours. model/publish.pml: writer(), replace */
static enum larder_result replace(larder_pool *pool, const publication *ours, const larder_found *found, bool *again)
{
    *again = false;
    if (was_overtaken(pool, ours->place, ours->order)) {
        return LARDER_OVERTAKEN;
    }
    account(pool, ours, 1);
    if (!larder_exchange_word(LARDER_AT_REPLACE, found->at, found->word, ours->word)) {
        account(pool, ours, -1);
        *again = true;
        return LARDER_BUSY;
    }
    larder_segment_account(pool, found->segment, -1, found->item->units);
    return LARDER_OK;
}

/* The key has an item: the mode, and which of the two is younger, decide what becomes of it. */
static enum larder_result publish_over(larder_pool *pool, const publication *ours, const larder_found *found,
                                       bool *again)
{
    const larder_order *order = ours->order;
    enum larder_mode mode = ours->mode;
    bool alive = larder_is_alive(pool, found->item), younger = found->item->version > order->tick;
    bool judged_younger = order->token != LARDER_NO_TOKEN && found->item->version > order->token;
    if (mode == LARDER_ADD && !alive) {
        alive = !larder_stays_dead(pool, found->item);
    }
    if (mode == LARDER_ADD && alive && found->word != ours->expected) {
        return LARDER_EXISTS;
    }
    if (mode == LARDER_REPLACE && !alive) {
        return LARDER_ABSENT;
    }
    if (mode == LARDER_SET && ours->expected != 0 && found->word != ours->expected) {
        return LARDER_ABSENT;
    }
    if (younger && order->fill) {
        /* The key has a younger item, which serves a set as well, but not an add. If it is dead, a delete may have
         * ticked before it and not moved the key version yet. That delete would leave ours in its place, though ours
         * may be older. */
        return alive && mode != LARDER_ADD ? LARDER_OK : LARDER_OVERTAKEN;
    }
    if (younger) {
        /* Ours came first, and was overwritten at once. But an add that succeeds promises its caller the key until the
         * item goes, and an item that may be older than its version says must not stay. */
        return mode == LARDER_ADD || !larder_is_since(found->item, order->tick) ? LARDER_OVERTAKEN : LARDER_OK;
    }
    if (judged_younger) {
        /* It may be of the writer that has overtaken us, and whose token was our tick. That writer was told that it is
         * stored. */
        if (was_overtaken(pool, ours->place, order)) {
            return LARDER_OVERTAKEN;
        }
        /* The same delete would leave ours if ours took the younger item's word. So that item goes first, and ours is
         * inserted: a delete clears a pending word whatever its age. */
        *again = !larder_clear_found(pool, found);
        return *again ? LARDER_BUSY : insert(pool, ours, again);
    }
    return replace(pool, ours, found, again);
}

/* One attempt; `again` if another process changed the word under us. */
static enum larder_result attempt(larder_pool *pool, const publication *ours, bool *again)
{
    larder_found found;
    *again = false;
    clear_others(pool, ours);
    if (!larder_find(pool, ours->place, ours->key, &found)) {
        bool needs_one = ours->mode == LARDER_REPLACE || (ours->mode == LARDER_SET && ours->expected != 0);
        return needs_one ? LARDER_ABSENT : insert(pool, ours, again);
    }
    enum larder_result result = publish_over(pool, ours, &found, again);
    larder_found_drop(pool, &found);
    return result;
}

enum larder_result larder_publish(larder_pool *pool, const larder_place *place, const larder_key *key,
                                  const larder_reserved *reserved, enum larder_mode mode, uint64_t expected,
                                  const larder_order *order)
{
    publication ours = {
        .place = place,
        .key = key,
        .reserved = reserved,
        .order = order,
        .mode = mode,
        .expected = expected,
        .word = larder_word(place->fingerprint, reserved->generation, reserved->offset >> pool->unit_shift)};
    bool again = true;
    enum larder_result result = LARDER_BUSY;
    larder_segment_note(&pool->segments[reserved->segment], reserved->item->version,
                        atomic_load_explicit(&reserved->item->expiry, memory_order_relaxed));
    larder_segment_mark(pool, reserved->offset);
    for (int tries = 0; again && tries < TRIES; tries++) {
        ours.patient = tries < TRIES / 2;
        result = attempt(pool, &ours, &again);
        if (again && tries > 4) {
            sched_yield();
        }
    }
    /* Our segment may have been emptied meanwhile (it is pinned, so no process writes there). If the generation was
     * raised before this look, the word is void. If it is raised later, the item was evicted right away, which may
     * always happen in a pool that evicts; in others only dead segments without pins are emptied. */
    atomic_thread_fence(memory_order_seq_cst);
    if (result == LARDER_OK &&
        atomic_load_explicit(&pool->generations[reserved->segment], memory_order_relaxed) != reserved->generation) {
        return LARDER_LOST;
    }
    return again ? LARDER_BUSY : result;
}
