/*                       used again                 used, or used in walks before
 *   new --> [ small: a tenth ]------------>[ main: the rest ]---+
 *                  |                         ^         |  ^      |
 *                  | not used                |         |  +------+
 *                  v                         |         | neither
 *               ghosts ----------------------+         v
 *                        came back                   ghosts (these only teach)
 *
 * Most items are used once. A short queue in front lets them go early, so that the rest of the pool belongs to what
 * was used again; a key that comes back soon after it went skips that queue. On segments: the oldest segment of a
 * queue is walked, item by item; what was read since it came here is copied to main's open segment, the rest is
 * unlinked, and the segment is free as soon as nobody pins it.
 *
 * A mark of one bit, set by the first reader, is all that reading costs; an LRU's list would have to be written by
 * every read. The walk adds to it: an item of main carries a level, raised by each walk that finds it used and lowered
 * by each that does not, and goes when it has none left.
 *
 * Three things were learnt by simulation on real traces, and matter more than the choice of policy:
 *   - The walk stops and goes on, just ahead of the writers, at the pace of their bytes. Walking whole segments at once
 *     leaves the pool emptier than it has to be, and makes one store in a thousand slow.
 *   - Moving is bounded per call. At the bound it is put off, and the reserve shrinks for a while. Dropping at the
 *     bound raised the miss ratio by up to 18 % of itself. Where processors are busy, a process that makes room may
 *     wait for one while others fill the reserve. Who then finds nothing free walks until something is, and only if
 *     it has moved a MiB on its way does what was used go, too.
 *   - Where segments wait in limbo for readers, walking on would send the rest of the pool there, too. What lately
 *     waited there is kept as extra reserve instead, and if nothing at all is free, only unpinned segments are walked.
 *
 * Before the oldest come segments from which nothing, or little, would be lost: those whose items are all dead or
 * expired, and those that are a fifth dead or more, whose rest is moved together.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "evict.h"
#include "ghost.h"
#include "slot.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW                  32u /* segments looked at for dead ones, per victim */
#define WINDOW_WITHOUT_EVICTION 1024u
#define LONG_RUN                8u /* segments: longer runs are made without looking at what is worth keeping */
#define MOVES_PER_CALL          32u
#define VISITS_PER_CALL         96u
#define HOUSE_STEPS             64u
#define RESERVE                 3u /* segments of room to keep: an open one each, and what writers leave alone */
#define WALKS_AT_ONCE           32u
#define MOVED_AT_ONCE           (UINT64_C(1) << 20) /* bytes, when nothing is free */

enum purpose {
    EVICT,   /* what was used is kept, the rest goes */
    COMPACT, /* everything alive is kept */
    DISCARD, /* everything goes */
};

/* What one call may still do. */
typedef struct budget {
    uint32_t moves, visits;
    uint64_t bytes; /* to move */
} budget;

typedef struct walk {
    larder_pool *pool;
    uint32_t segment, generation;
    enum purpose purpose;
    bool to_the_end; /* now, with nothing put off */
    budget *left;
} walk;

static uint64_t total_bytes(const larder_pool *pool, uint32_t segment)
{
    return (uint64_t)pool->segments[segment].run << pool->segment_shift;
}

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
            while (fill + bytes <= larder_segment_bytes(pool)) {
                /* relaxed: as in take_room(). Writers reserve there at the same time. */
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

/* From here on nobody counts in this copy; who tries waits for the word to change. model/count.pml: mover() */
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
    } else if ((to->traits & LARDER_LAYOUT_MASK) != 0) {
        pool->config.ops.moved((uint8_t *)to + value_at, bytes - value_at - to->spare, to->kind,
                               (intptr_t)((uintptr_t)to - (uintptr_t)from));
    }
}

static bool can_move(const walk *w, const larder_item *item)
{
    uint8_t layout = item->traits & LARDER_LAYOUT_MASK;
    return larder_item_bytes(w->pool, item) <= larder_segment_bytes(w->pool) &&
           (layout == 0 || layout == w->pool->layout);
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
    if (w->purpose != COMPACT) {
        atomic_store_explicit(&copy->visited, 0, memory_order_relaxed);
    }
    larder_segment_note(&pool->segments[to], copy->stamp, expiry | 1);
    larder_segment_mark(pool, offset);
    larder_segment_account(pool, to, 1, copy->units);
    uint64_t generation = atomic_load_explicit(&pool->generations[to], memory_order_relaxed);
    uint64_t moved = larder_word(word >> 48, (uint32_t)generation, offset >> pool->unit_shift);
    LARDER_FAULT(LARDER_AT_MOVE);
    /* seq_cst: as all changes of words. It fails if the item was deleted or overwritten, and then so be it. */
    if (!atomic_compare_exchange_strong_explicit(at, &word, moved, memory_order_seq_cst, memory_order_relaxed)) {
        larder_segment_account(pool, to, -1, copy->units);
        return true;
    }
    /* A touch that came while we copied wrote to the old item; one that comes later finds the new, and then this fails.
     */
    uint64_t now = atomic_load_explicit(&item->expiry, memory_order_seq_cst);
    uint64_t provisional = larder_provisional_expiry(expiry);
    larder_raise(&pool->segments[to].latest_expiry, now);
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

/* Is a living item kept, and at which level? */
static bool is_worth_keeping(const walk *w, const larder_item *item, uint8_t *level)
{
    bool used = atomic_load_explicit(&item->visited, memory_order_relaxed) != 0;
    *level = larder_item_level(item);
    if (w->purpose == COMPACT) {
        return true;
    }
    if (w->purpose == DISCARD) {
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

/* Keeps, drops or skips one item. False: it is to be kept, which must wait for another call. */
static bool visit_item(walk *w, uint64_t offset)
{
    larder_pool *pool = w->pool;
    larder_item *item = (larder_item *)(pool->rw + offset);
    enum larder_list queue = (enum larder_list)pool->segments[w->segment].queue;
    uint8_t level;
    if (larder_item_bytes(pool, item) > total_bytes(pool, w->segment) ||
        larder_item_key_at(item->tags) + item->key_length > total_bytes(pool, w->segment)) {
        return true; /* damaged */
    }
    uint64_t hash = larder_hash(larder_item_key(item), item->key_length);
    larder_place place = larder_place_of(pool, hash);
    uint64_t word = larder_word(place.fingerprint, w->generation, offset >> pool->unit_shift);
    _Atomic uint64_t *at = find_word(&place, word);
    if (at == NULL) {
        return true; /* replaced or deleted */
    }
    bool alive = larder_is_alive(pool, item);
    if (alive && is_worth_keeping(w, item, &level)) {
        bool movable = can_move(w, item);
        if (movable && may_move(w) && move_item(w, item, at, word, level)) {
            return true;
        }
        if (w->purpose == COMPACT || (movable && !w->to_the_end)) {
            return false; /* compacting never drops anything */
        }
    }
    LARDER_FAULT(LARDER_AT_CLEAR_WORD);
    if (atomic_compare_exchange_strong_explicit(at, &word, 0, memory_order_seq_cst, memory_order_relaxed)) {
        larder_segment_account(pool, w->segment, -1, item->units);
        larder_count(pool, alive ? LARDER_EVICTIONS : LARDER_EXPIRED);
        if (alive && w->purpose == EVICT) {
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

/* ---- the victim ---------------------------------------------------------------------------------------- */

static uint64_t room(const larder_pool *pool)
{
    const larder_header *header = pool->header;
    uint64_t bytes = (uint64_t)header->lists[LARDER_LIST_FREE].count << pool->segment_shift;
    bytes += header->victim != 0 ? header->victim_walked : 0;
    for (uint32_t queue = 0; queue < LARDER_QUEUES; queue++) {
        uint32_t open = larder_open_of(pool, (enum larder_list)queue);
        if (open < pool->geometry.segment_count) {
            uint64_t fill = atomic_load_explicit(&pool->segments[open].fill, memory_order_relaxed);
            bytes += fill < larder_segment_bytes(pool) ? larder_segment_bytes(pool) - fill : 0;
        }
    }
    return bytes + ((uint64_t)header->lists[LARDER_LIST_LIMBO].count << pool->segment_shift);
}

static void choose_victim(larder_pool *pool, uint32_t segment, enum purpose purpose)
{
    larder_pins_survey(pool);
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

/* Visits the victim's next item, or finishes with it. False: the item must wait, or could not be moved. */
static bool walk_on(larder_pool *pool, budget *left, bool to_the_end)
{
    uint32_t segment = pool->header->victim - 1;
    walk w = {.pool = pool,
              .segment = segment,
              .generation = atomic_load_explicit(&pool->generations[segment], memory_order_relaxed),
              .purpose = (enum purpose)pool->header->victim_purpose,
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

/* ---- choosing ------------------------------------------------------------------------------------------ */

static bool is_sealed(const larder_segment *segment)
{
    return atomic_load_explicit(&segment->state, memory_order_relaxed) == LARDER_SEALED;
}

static bool is_all_dead(const larder_pool *pool, const larder_segment *segment, uint64_t now)
{
    uint64_t expiry = atomic_load_explicit(&segment->latest_expiry, memory_order_relaxed);
    return larder_segment_live_items(segment) == 0 || expiry <= now ||
           atomic_load_explicit(&segment->latest_stamp, memory_order_relaxed) <
               atomic_load_explicit(&pool->header->last_clear, memory_order_relaxed);
}

/* Looks at the next few segments for one that is all dead, else for the one with the most dead bytes. Pinned ones are
 * left alone: they would only wait in limbo, and a writer may be about to publish there. A pool that may not evict has
 * only this way to make room: it looks at more, and takes a little for enough. model/reserve.pml: emptier() */
static uint32_t find_mostly_dead(larder_pool *pool, enum purpose *purpose)
{
    uint32_t best = LARDER_NO_SEGMENT, count = pool->geometry.segment_count;
    bool evicts = pool->geometry.evict != 0;
    uint64_t now = larder_pool_now(pool), bytes = larder_segment_bytes(pool);
    uint64_t least = evicts ? bytes / 5 * 4 : bytes / 16 * 15;
    uint32_t most = evicts ? WINDOW : WINDOW_WITHOUT_EVICTION;
    for (uint32_t looks = count > most ? most : count; looks > 0; looks--) {
        uint32_t index = pool->header->cursor++ % count;
        const larder_segment *segment = &pool->segments[index];
        if (!is_sealed(segment)) {
            continue;
        }
        bool dead = is_all_dead(pool, segment, now);
        bool movable = segment->run == 1 && (segment->queue == LARDER_MAIN || !evicts);
        uint64_t live = larder_segment_live_units(segment) << pool->unit_shift;
        if ((!dead && (!movable || live >= least)) || larder_pinned_by_any(pool, index)) {
            continue;
        }
        best = index;
        least = live;
        /* A writer that was slow may have published something alive among the dead; now that nobody pins it, nobody
         * will any more. */
        dead = dead && is_all_dead(pool, segment, now);
        *purpose = dead && evicts ? DISCARD : COMPACT;
        if (dead) {
            break;
        }
    }
    return best;
}

static uint64_t small_bytes(const larder_pool *pool)
{
    uint32_t open = larder_open_of(pool, LARDER_SMALL);
    uint64_t bytes = (uint64_t)pool->header->lists[LARDER_SMALL].count << pool->segment_shift;
    return open < pool->geometry.segment_count
               ? bytes + atomic_load_explicit(&pool->segments[open].fill, memory_order_relaxed)
               : bytes;
}

static enum larder_list queue_in_turn(const larder_pool *pool)
{
    const larder_list_ends *lists = pool->header->lists;
    uint64_t target = atomic_load_explicit(&pool->header->small_target, memory_order_relaxed);
    if (lists[LARDER_SMALL].count == 0) {
        return LARDER_MAIN;
    }
    return small_bytes(pool) > target || lists[LARDER_MAIN].count == 0 ? LARDER_SMALL : LARDER_MAIN;
}

/* The oldest of a queue's first `looks` that nobody pins; failing that, the oldest, if any will do. */
static uint32_t find_oldest(larder_pool *pool, enum larder_list queue, uint32_t looks, bool any_will_do)
{
    uint32_t first = pool->header->lists[queue].first, at = first;
    for (; looks > 0 && at < pool->geometry.segment_count; looks--) {
        if (!larder_pinned_by_any(pool, at)) {
            return at;
        }
        at = pool->segments[at].next;
    }
    return any_will_do ? first : LARDER_NO_SEGMENT;
}

/* ---- making room ----------------------------------------------------------------------------------------- */

static bool make_room_step(larder_pool *pool, budget *left)
{
    enum purpose purpose = EVICT;
    if (pool->header->victim != 0) {
        return walk_on(pool, left, false);
    }
    uint32_t victim = find_mostly_dead(pool, &purpose);
    if (victim == LARDER_NO_SEGMENT && pool->geometry.evict != 0) {
        victim = find_oldest(pool, queue_in_turn(pool), 4, true);
    }
    if (victim >= pool->geometry.segment_count) {
        return false;
    }
    choose_victim(pool, victim, purpose);
    return true;
}

static uint64_t wanted_room(const larder_pool *pool)
{
    return ((uint64_t)RESERVE << pool->segment_shift) + pool->header->limbo_peak;
}

/* False: there was nothing to do, or another process is at it. */
static bool make_room(larder_pool *pool, uint64_t more, budget left)
{
    const larder_list_ends *lists = pool->header->lists;
    if (room(pool) >= wanted_room(pool) + more || pool->geometry.evict == 0 || !larder_try_lock(pool)) {
        return false;
    }
    if (lists[LARDER_LIST_LIMBO].count > 0) {
        larder_drain_limbo(pool);
    }
    while (room(pool) < wanted_room(pool) + more && left.visits > 0) {
        if (lists[LARDER_LIST_LIMBO].count > 0 && lists[LARDER_LIST_FREE].count <= LARDER_KEPT_SEGMENTS) {
            break; /* nothing could be moved now, and what is emptied would wait with the others */
        }
        if (!make_room_step(pool, &left)) {
            break;
        }
    }
    larder_unlock(pool);
    return true;
}

void larder_make_room_ahead(larder_pool *pool)
{
    const budget left = {.moves = MOVES_PER_CALL, .visits = VISITS_PER_CALL, .bytes = larder_segment_bytes(pool)};
    make_room(pool, 0, left);
}

static uint64_t microseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

void larder_keep_house(larder_pool *pool, uint32_t microseconds)
{
    /* Not entered: a pool that is gone, and one that this process only inherited, are left alone. */
    if (pool->rw == NULL || pool->slot == NULL || pool->entered->known == 0 ||
        atomic_load_explicit(&pool->header->dead, memory_order_relaxed) != LARDER_LIVES) {
        return;
    }
    uint64_t end = microseconds_now() + microseconds, more = larder_segment_bytes(pool) / 4;
    const budget step = {.moves = 4, .visits = 16, .bytes = more};
    for (uint32_t steps = 0; steps < HOUSE_STEPS && make_room(pool, more, step) && microseconds_now() < end; steps++) {
    }
}

/* Chooses a victim that will be free at once; the current one, if it is. */
static bool choose_free_victim(larder_pool *pool)
{
    enum purpose purpose = EVICT;
    if (pool->header->victim != 0 && !larder_pinned_by_any(pool, pool->header->victim - 1)) {
        return true;
    }
    uint32_t victim = find_mostly_dead(pool, &purpose);
    if (purpose == COMPACT && pool->geometry.evict != 0) {
        victim = LARDER_NO_SEGMENT; /* where nothing is free there is nowhere to move it */
        purpose = EVICT;
    }
    if (victim == LARDER_NO_SEGMENT && pool->geometry.evict != 0) {
        enum larder_list queue = queue_in_turn(pool), other = queue == LARDER_SMALL ? LARDER_MAIN : LARDER_SMALL;
        victim = find_oldest(pool, queue, UINT32_MAX, false);
        if (victim == LARDER_NO_SEGMENT) {
            victim = find_oldest(pool, other, UINT32_MAX, false);
        }
    }
    if (victim != LARDER_NO_SEGMENT) {
        choose_victim(pool, victim, purpose);
    }
    return victim != LARDER_NO_SEGMENT;
}

/* Walks the victim to its end, moving so many bytes at most; gives it up if something in it can neither be moved nor
 * dropped. */
static bool walk_to_the_end(larder_pool *pool, uint64_t *bytes)
{
    budget left = {.moves = UINT32_MAX, .visits = UINT32_MAX, .bytes = *bytes};
    while (pool->header->victim != 0) {
        bool walked = walk_on(pool, &left, true);
        *bytes = left.bytes;
        if (!walked) {
            pool->header->victim = 0;
            return false;
        }
    }
    return true;
}

enum larder_result larder_make_room_now(larder_pool *pool)
{
    const larder_list_ends *available = &pool->header->lists[LARDER_LIST_FREE];
    bool evicts = pool->geometry.evict != 0;
    uint64_t left = MOVED_AT_ONCE;
    larder_drain_limbo(pool);
    for (uint32_t walked = 0; available->count <= LARDER_KEPT_SEGMENTS && walked < WALKS_AT_ONCE; walked++) {
        if (!choose_free_victim(pool)) {
            break;
        }
        uint64_t whole = larder_segment_bytes(pool); /* compacting drops nothing, and has to come to its end */
        if (!walk_to_the_end(pool, pool->header->victim_purpose == COMPACT ? &whole : &left) && !evicts) {
            break;
        }
    }
    return available->count > LARDER_KEPT_SEGMENTS ? LARDER_OK : evicts ? LARDER_PINNED : LARDER_FULL;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

/* The bits of all segments that any living process pins. */
static void gather_pins(larder_pool *pool, uint64_t *pins)
{
    uint32_t used = atomic_load_explicit(&pool->header->slots_used, memory_order_seq_cst);
    uint32_t words = pool->geometry.pin_words;
    memset(pins, 0, words * sizeof *pins);
    for (uint32_t i = 0; i < used && i < pool->geometry.slot_count; i++) {
        const _Atomic uint64_t *own = pool->pins + (size_t)i * words;
        bool any = false;
        for (uint32_t word = 0; word < words; word++) {
            any |= atomic_load_explicit(&own[word], memory_order_acquire) != 0;
        }
        for (uint32_t word = 0; any && word < words; word++) {
            any = word > 0 || !larder_slot_bury(pool, i); /* of the dead none are left */
            pins[word] |= any ? atomic_load_explicit(&own[word], memory_order_acquire) : 0;
        }
    }
}

static enum larder_segment_state state_of(const larder_segment *segment)
{
    return (enum larder_segment_state)atomic_load_explicit(&segment->state, memory_order_relaxed);
}

/* May the segments of the run that begins here (one, usually) not become part of another? */
static bool is_blocked(const larder_pool *pool, const uint64_t *pins, uint32_t head)
{
    enum larder_segment_state state = state_of(&pool->segments[head]);
    bool pinned = (pins[head / 64] >> head % 64 & 1) != 0;
    bool lives = pool->geometry.evict == 0 && larder_segment_live_items(&pool->segments[head]) > 0;
    return state != LARDER_FREE && (state == LARDER_LIMBO || pinned || lives);
}

static uint32_t run_of(const larder_pool *pool, uint32_t head)
{
    uint32_t run = pool->segments[head].run, rest = pool->segment_count - head;
    return run == 0 ? 1 : run < rest ? run : rest;
}

/* Sets a bit for each segment that stands in the way of a new run; only heads are pinned, but all of a run is used. */
static void gather_blocked(larder_pool *pool, uint64_t *blocked)
{
    gather_pins(pool, blocked);
    for (uint32_t head = 0; head < pool->segment_count; head += run_of(pool, head)) {
        bool is = is_blocked(pool, blocked, head);
        for (uint32_t i = head; i < head + run_of(pool, head); i++) {
            uint64_t bit = UINT64_C(1) << i % 64;
            blocked[i / 64] = is ? blocked[i / 64] | bit : blocked[i / 64] & ~bit;
        }
    }
}

/* What would be lost with the run that begins here (one segment, usually). */
static uint64_t loss(const larder_pool *pool, uint32_t head)
{
    enum larder_segment_state state = state_of(&pool->segments[head]);
    return state == LARDER_SEALED || state == LARDER_OPEN ? larder_segment_live_units(&pool->segments[head]) : 0;
}

static bool is_head(const larder_pool *pool, uint32_t index)
{
    return index >= pool->segment_count || state_of(&pool->segments[index]) != LARDER_TAIL;
}

static uint32_t head_of(const larder_pool *pool, uint32_t index)
{
    while (index > 0 && !is_head(pool, index)) {
        index--;
    }
    return index;
}

/* The window of `count` neighbours with which the least is lost. A run goes as a whole: it counts as soon as its first
 * segment is in the window, and until its last has left it. */
static uint32_t find_window(const larder_pool *pool, const uint64_t *blocked, uint32_t count)
{
    uint32_t best = LARDER_NO_SEGMENT, length = 0;
    uint64_t sum = 0, least = UINT64_MAX;
    for (uint32_t end = 0; end < pool->segment_count; end++) {
        if ((blocked[end / 64] >> end % 64 & 1) != 0) {
            length = 0; /* all of a run is blocked, or nothing of it */
            sum = 0;
            continue;
        }
        sum += is_head(pool, end) ? loss(pool, end) : 0;
        if (++length > count) {
            uint32_t gone = end - count;
            sum -= is_head(pool, gone + 1) ? loss(pool, head_of(pool, gone)) : 0;
            length = count;
        }
        if (length == count && sum < least) {
            least = sum;
            best = end + 1 - count;
        }
    }
    return best;
}

/* A claimed segment is a tail that says how long its run will be; the tails of a run that exists say 0. */
static void claim(larder_pool *pool, uint32_t index, uint32_t count)
{
    larder_list_remove(pool, index);
    pool->segments[index].run = count;
    atomic_store_explicit(&pool->segments[index].state, LARDER_TAIL, memory_order_release);
}

static bool is_claimed(const larder_segment *segment)
{
    return state_of(segment) == LARDER_TAIL && segment->run != 0;
}

static bool is_free(const larder_segment *segment)
{
    return state_of(segment) == LARDER_FREE;
}

static void give_back(larder_pool *pool, uint32_t begin, uint32_t count)
{
    for (uint32_t i = begin; i < begin + count; i++) {
        larder_segment *segment = &pool->segments[i];
        if (is_claimed(segment)) {
            segment->run = 1;
            atomic_store_explicit(&segment->state, LARDER_FREE, memory_order_release);
            larder_list_push(pool, LARDER_LIST_FREE, i);
        }
    }
}

/* For a long run, all words of the segment are made void at once: looking at each would hold the lock for too long. */
static void clear_out(larder_pool *pool, uint32_t segment, uint32_t count)
{
    if (count <= LONG_RUN) {
        choose_victim(pool, segment, EVICT);
        uint64_t half = larder_segment_bytes(pool) / 2;
        walk_to_the_end(pool, &half);
        return;
    }
    for (uint32_t items = larder_segment_live_items(&pool->segments[segment]); items > 0; items--) {
        larder_count(pool, LARDER_EVICTIONS);
    }
    if (pool->header->victim == segment + 1) {
        pool->header->victim = 0;
    }
    larder_empty_segment(pool, segment);
}

/* Empties all segments of the window and keeps them. What is free already is claimed first, so that nothing is moved
 * into the window meanwhile. */
static bool claim_window(larder_pool *pool, uint32_t begin, uint32_t count)
{
    for (uint32_t i = begin; i < begin + count; i++) {
        if (is_free(&pool->segments[i])) {
            claim(pool, i, count);
        }
    }
    uint32_t first = begin;
    while (first > 0 && state_of(&pool->segments[first]) == LARDER_TAIL && !is_claimed(&pool->segments[first])) {
        first--; /* the window begins in the middle of a run, which goes as a whole */
    }
    if (first < begin) {
        clear_out(pool, first, count);
    }
    for (uint32_t i = begin; i < begin + count; i++) {
        const larder_segment *segment = &pool->segments[i];
        if (state_of(segment) == LARDER_OPEN) {
            larder_seal_segment(pool, i);
        }
        if (is_sealed(segment)) {
            clear_out(pool, i, count);
        }
        if (is_free(segment)) {
            claim(pool, i, count);
        } else if (!is_claimed(segment)) {
            give_back(pool, begin, count);
            return false; /* pinned in the last moment, or taken to move items to */
        }
    }
    for (uint32_t i = begin; i < begin + count; i++) {
        pool->segments[i].run = 0;
    }
    return true;
}

/* An open segment in the middle of the pool may be all that is in the way. */
static bool seal_open(larder_pool *pool)
{
    bool sealed = false;
    for (uint32_t queue = 0; queue < LARDER_QUEUES; queue++) {
        uint32_t open = larder_open_of(pool, (enum larder_list)queue);
        if (open < pool->geometry.segment_count &&
            (pool->geometry.evict != 0 || larder_segment_live_items(&pool->segments[open]) == 0)) {
            larder_seal_segment(pool, open);
            sealed = true;
        }
    }
    return sealed;
}

enum larder_result larder_make_run(larder_pool *pool, uint32_t count, uint32_t *head)
{
    enum larder_result result = pool->geometry.evict != 0 ? LARDER_PINNED : LARDER_FULL;
    uint64_t *blocked = malloc(pool->geometry.pin_words * sizeof *blocked);
    if (blocked == NULL) {
        return LARDER_BUSY;
    }
    larder_drain_limbo(pool);
    for (int tries = 0; tries < 3; tries++) {
        gather_blocked(pool, blocked);
        uint32_t begin = find_window(pool, blocked, count);
        if (begin == LARDER_NO_SEGMENT && tries == 0 && seal_open(pool)) {
            continue;
        }
        if (begin == LARDER_NO_SEGMENT) {
            break;
        }
        if (claim_window(pool, begin, count)) {
            *head = begin;
            result = LARDER_OK;
            break;
        }
    }
    free(blocked);
    return result;
}
