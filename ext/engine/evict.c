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
 * queue is walked, item by item; an item that was read since it came here is copied to main's open segment, the rest is
 * unlinked, and the segment is free as soon as no process pins it.
 *
 * A mark of one bit, set by the first reader, is all that reading costs; an LRU's list would have to be written by
 * every read. The walk adds to it: an item of main carries a level, raised by each walk that finds it used and lowered
 * by each that does not, and goes when it has none left.
 *
 * Three things were learnt by simulation on real traces, and matter more than the choice of policy:
 *   - The walk stops and goes on, just ahead of the writers, at the pace of their bytes. Walking whole segments at once
 *     leaves the pool emptier than it has to be, and makes one store in a thousand slow.
 *   - Moving is bounded per call. At the bound it is deferred, and the reserve shrinks for a while. Dropping at the
 *     bound raised the miss ratio by up to 18 % of itself. Where processors are busy, a process that makes room may
 *     wait for one while others fill the reserve. A process that then finds nothing free walks until something is, and
 *     only if it has moved a MiB on its way does what was used go, too.
 *   - Where segments wait in limbo for readers, walking on would send the rest of the pool there, too. So from the
 *     first that waits only unpinned segments are walked, and what lately waited there is kept as extra reserve. To
 *     walk none until nothing is free left it all to one store in a thousand, and a quarter of the pool in limbo.
 *
 * Before the oldest come segments from which nothing, or little, would be lost: those whose items are all dead or
 * expired, and those that are a fifth dead or more, whose rest is moved together.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "evict.h"
#include "larder.h"
#include "lock.h"
#include "pin.h"
#include "publish.h"
#include "walk.h"

#include <time.h>

#define WINDOW                  32u /* segments looked at for dead ones, per victim */
#define WINDOW_WITHOUT_EVICTION 1024u
#define LOOKS_FOR_EXPIRED       4096u /* items, in a store that would otherwise be refused */
#define LOOK_AGAIN_MS           1000u
#define MOVES_PER_STRIDE        32u
#define VISITS_PER_STRIDE       96u
#define STRIDES_AT_ONCE         64u /* a larger value leaves the rest to the next: the lock is held meanwhile */
#define HOUSE_STEPS             64u
#define RESERVE                 3u   /* segments of room to keep: an open one each, and what writers leave alone */
#define LOOKS_AHEAD             128u /* segments of a queue looked at for an unpinned one, before there is need */
#define WALKS_AT_ONCE           32u
#define ANY_AGE                 UINT64_MAX
#define MOVED_AT_ONCE           (UINT64_C(1) << 20)  /* bytes, when nothing is free */
#define WALKS_FOR_EACH          6u                   /* segments that are to be free: each gives a part of itself */
#define MOVED_FOR_RUN           (UINT64_C(16) << 20) /* bytes, at most */
#define WITHOUT_EVICTION(bytes) ((bytes) / 16 * 15)  /* of a segment: with less alive it is worth compacting */

/* ---- choosing ------------------------------------------------------------------------------------------ */

/* By its account. */
static bool is_told_dead(const larder_pool *pool, uint32_t index, uint64_t now)
{
    const larder_segment *segment = &pool->segments[index];
    return larder_segment_live_items(segment) == 0 ||
           atomic_load_explicit(&segment->latest_expiry, memory_order_relaxed) <= now ||
           atomic_load_explicit(&segment->latest_version, memory_order_relaxed) <
               atomic_load_explicit(&pool->header->last_clear, memory_order_relaxed);
}

static bool is_sparse(const larder_pool *pool, uint32_t index)
{
    return pool->segments[index].run == 1 && larder_segment_live_units(&pool->segments[index]) << pool->unit_shift <
                                                 WITHOUT_EVICTION(larder_segment_bytes(pool));
}

/* A process that was killed between a word and the segment's account of it has left an item that is counted and that no
 * word leads to. It goes with its segment when that is evicted or compacted; where nothing is evicted, what fills a
 * segment without others would stay for ever. Of each the word has to be looked for, so a few are told from what lives,
 * and more than one only where little else is dead; otherwise the segment is compacted anyway.
 */
static bool may_be_left_by_the_dead(const larder_pool *pool, uint32_t index)
{
    uint32_t items = larder_segment_live_items(&pool->segments[index]);
    return pool->geometry.evict == 0 && (items == 1 || (items <= LARDER_LEFT_AT_MOST && !is_sparse(pool, index)));
}

bool larder_is_all_dead(const larder_pool *pool, uint32_t index, uint64_t now, uint32_t *left)
{
    return is_told_dead(pool, index, now) ||
           (may_be_left_by_the_dead(pool, index) && !larder_walk_finds_any(pool, index, left));
}

/* Where nothing is evicted, what is sparse is compacted, whether anything lives there or not. To look for the one that
 * may, among thousands that were deleted, and in a thousand segments, would hold the lock for seconds. */
static bool is_dead(const larder_pool *pool, uint32_t index, uint64_t now)
{
    uint32_t left = UINT32_MAX; /* at most those of a sixteenth of the segment, and eight */
    return is_sparse(pool, index) ? is_told_dead(pool, index, now) : larder_is_all_dead(pool, index, now, &left);
}

/* With less alive than that a segment is compacted: it has to be worth it, and all of it has to fit where it goes.
 */
static uint64_t least_without_eviction(const larder_pool *pool)
{
    uint64_t worth = WITHOUT_EVICTION(larder_segment_bytes(pool)), room = larder_room_to_move(pool);
    return worth <= room ? worth : room + 1;
}

/* Looks at the next few segments for one that is all dead, else for the one with the most dead bytes. Pinned ones are
 * left alone: they would only wait in limbo, and a writer may be about to publish there. A pool that may not evict has
 * only this way to make room: it looks at more, and takes a little for enough; but nothing in which something lives
 * that another PHP alone can move, because what was moved of it would only lie elsewhere. None that was opened after
 * `newest`. model/reserve.pml: emptier()
 */
static uint32_t find_mostly_dead(larder_pool *pool, uint64_t newest, enum larder_purpose *purpose)
{
    uint32_t best = LARDER_NO_SEGMENT, count = pool->geometry.segment_count;
    bool evicts = pool->geometry.evict != 0;
    uint64_t now = larder_pool_now(pool), bytes = larder_segment_bytes(pool);
    uint64_t least = evicts ? bytes / 5 * 4 : least_without_eviction(pool);
    uint32_t most = evicts ? WINDOW : WINDOW_WITHOUT_EVICTION;
    for (uint32_t looks = count > most ? most : count; looks > 0; looks--) {
        uint32_t index = pool->header->cursor++ % count;
        const larder_segment *segment = &pool->segments[index];
        if (larder_segment_state_of(segment) != LARDER_SEALED || segment->sequence > newest) {
            continue;
        }
        bool dead = is_dead(pool, index, now);
        bool movable = segment->run == 1 && (segment->queue == LARDER_MAIN || !evicts);
        uint64_t live = larder_segment_live_units(segment) << pool->unit_shift;
        bool mostly = movable && live < least;
        if ((!dead && !mostly) || larder_pinned_by_any(pool, index) ||
            (!evicts && !larder_walk_can_move_all(pool, index))) {
            continue;
        }
        /* A writer that was slow may have published something alive among the dead; now that no process pins it, no
         * process will any more. */
        dead = dead && is_dead(pool, index, now);
        if (!dead && !mostly) {
            continue;
        }
        best = index;
        least = live;
        *purpose = dead && evicts ? LARDER_DISCARD : LARDER_COMPACT;
        if (dead) {
            break;
        }
    }
    return best;
}

/* A segment's account knows what was deleted or replaced, and when the last of its items expires. Where nothing is
 * evicted, and things of different lives lie beside each other, what has expired has to be looked for: once a second in
 * the whole pool, a bounded number of items at a time. */
static uint32_t find_partly_expired(larder_pool *pool)
{
    uint64_t now = larder_pool_now(pool);
    uint32_t left = LOOKS_FOR_EXPIRED;
    while (left > 0) {
        uint32_t index = pool->upkeep.looked_into % pool->geometry.segment_count;
        if (index == 0 && now - pool->upkeep.looked_at < LOOK_AGAIN_MS) {
            break;
        }
        pool->upkeep.looked_at = index == 0 ? now : pool->upkeep.looked_at;
        pool->upkeep.looked_into = index + 1;
        const larder_segment *segment = &pool->segments[index];
        if (larder_segment_state_of(segment) == LARDER_SEALED && segment->run == 1 &&
            larder_walk_dead_bytes(pool, index, &left) >= larder_segment_bytes(pool) / 16 &&
            !larder_pinned_by_any(pool, index) && larder_walk_can_move_all(pool, index)) {
            return index;
        }
    }
    return LARDER_NO_SEGMENT;
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

/* The oldest of a queue's first `looks` that no process pins; failing that, the oldest, if any will do. */
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

/* The oldest of a queue that no process pins; ahead of need, of its older half: an item that was just stored is not to
 * go because all that is older is being read. And of a bounded number: where all of these are, each store looks at
 * them. */
static uint32_t find_oldest_free(larder_pool *pool, enum larder_list queue, bool ahead)
{
    uint32_t half = pool->header->lists[queue].count / 2;
    return find_oldest(pool, queue, !ahead ? UINT32_MAX : half < LOOKS_AHEAD ? half : LOOKS_AHEAD, false);
}

/* Chooses a victim that will be free at once; the current one, if it is. */
static bool choose_free_victim(larder_pool *pool, uint64_t newest, bool ahead)
{
    enum larder_purpose purpose = LARDER_EVICT;
    if (pool->header->victim != 0 && !larder_pinned_by_any(pool, pool->header->victim - 1)) {
        return true;
    }
    uint32_t victim = find_mostly_dead(pool, newest, &purpose);
    if (purpose == LARDER_COMPACT && pool->geometry.evict != 0 &&
        pool->header->lists[LARDER_LIST_FREE].count <= LARDER_KEPT_SEGMENTS) {
        victim = LARDER_NO_SEGMENT; /* where nothing is free there is nowhere to move it */
        purpose = LARDER_EVICT;
    }
    if (victim == LARDER_NO_SEGMENT && pool->geometry.evict == 0) {
        victim = find_partly_expired(pool);
        purpose = LARDER_COMPACT;
    } else if (victim == LARDER_NO_SEGMENT) {
        enum larder_list queue = queue_in_turn(pool), other = queue == LARDER_SMALL ? LARDER_MAIN : LARDER_SMALL;
        victim = find_oldest_free(pool, queue, ahead);
        if (victim == LARDER_NO_SEGMENT) {
            victim = find_oldest_free(pool, other, ahead);
        }
    }
    if (victim != LARDER_NO_SEGMENT) {
        larder_walk_begin(pool, victim, purpose);
    }
    return victim != LARDER_NO_SEGMENT;
}

static bool make_room_step(larder_pool *pool, larder_budget *left)
{
    enum larder_purpose purpose = LARDER_EVICT;
    if (pool->header->victim != 0) {
        return larder_walk_on(pool, left, false);
    }
    if (pool->header->lists[LARDER_LIST_LIMBO].count > 0) {
        return choose_free_victim(pool, ANY_AGE, true);
    }
    uint32_t victim = find_mostly_dead(pool, ANY_AGE, &purpose);
    if (victim == LARDER_NO_SEGMENT && pool->geometry.evict != 0) {
        victim = find_oldest(pool, queue_in_turn(pool), 4, true);
    }
    if (victim >= pool->geometry.segment_count) {
        return false;
    }
    larder_walk_begin(pool, victim, purpose);
    return true;
}

static uint64_t wanted_room(const larder_pool *pool)
{
    return ((uint64_t)RESERVE << pool->segment_shift) + pool->header->limbo_peak;
}

/* False: there was nothing to do, or another process is at it. */
static bool make_room(larder_pool *pool, uint64_t more, larder_budget left)
{
    const larder_list_ends *lists = pool->header->lists;
    if (room(pool) >= wanted_room(pool) + more || pool->geometry.evict == 0 || !larder_try_lock(pool)) {
        return false;
    }
    if (lists[LARDER_LIST_LIMBO].count > 0) {
        larder_drain_limbo(pool);
    }
    /* Whether the victim is still free is asked once, and not at each item: it looks at the pins of all processes. */
    bool goes_on = lists[LARDER_LIST_LIMBO].count == 0 || choose_free_victim(pool, ANY_AGE, true);
    while (goes_on && room(pool) < wanted_room(pool) + more && left.visits > 0) {
        goes_on = make_room_step(pool, &left);
    }
    larder_unlock(pool);
    return true;
}

void larder_make_room_ahead(larder_pool *pool, uint64_t strides)
{
    uint32_t times = strides < STRIDES_AT_ONCE ? (uint32_t)strides : STRIDES_AT_ONCE;
    const larder_budget left = {
        .moves = MOVES_PER_STRIDE * times, .visits = VISITS_PER_STRIDE * times, .bytes = larder_segment_bytes(pool)};
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
    const larder_budget step = {.moves = 4, .visits = 16, .bytes = more};
    for (uint32_t steps = 0; steps < HOUSE_STEPS && make_room(pool, more, step) && microseconds_now() < end; steps++) {
    }
}

/* Frees segments until there are so many, or until so many were walked. */
static void free_segments(larder_pool *pool, uint32_t wanted, uint32_t walks)
{
    const larder_list_ends *available = &pool->header->lists[LARDER_LIST_FREE];
    bool evicts = pool->geometry.evict != 0;
    /* An item that is moved in one call is not moved again in it. Else two segments with the least in them, which do
     * not fit into one, would take turns. */
    uint64_t left = MOVED_AT_ONCE, newest = evicts ? ANY_AGE : pool->header->sequence;
    larder_drain_limbo(pool);
    for (uint32_t walked = 0; available->count < wanted && walked < walks; walked++) {
        if (!evicts && walked > 0) {
            /* A reader may have pinned the last victim for a moment, and its items have taken the segment that was
             * free. */
            larder_drain_limbo(pool);
        }
        bool is_anothers = pool->header->victim != 0; /* perhaps of another PHP's choosing, which alone can end it */
        if (!choose_free_victim(pool, newest, false)) {
            break;
        }
        uint64_t whole = larder_segment_bytes(pool); /* compacting drops nothing, and has to come to its end */
        bool compacts = pool->header->victim_purpose == LARDER_COMPACT;
        if (!larder_walk_to_the_end(pool, compacts ? &whole : &left) && !evicts && !is_anothers) {
            break;
        }
    }
}

enum larder_result larder_make_room_now(larder_pool *pool)
{
    free_segments(pool, LARDER_KEPT_SEGMENTS + 1, WALKS_AT_ONCE);
    return pool->header->lists[LARDER_LIST_FREE].count > LARDER_KEPT_SEGMENTS ? LARDER_OK
           : pool->geometry.evict != 0                                        ? LARDER_PINNED
                                                                              : LARDER_FULL;
}

bool larder_make_room_for_run(larder_pool *pool, uint32_t count)
{
    /* The run's; an item that is moved out of its way has as much room as it had; and it does not end where a segment
     * does. */
    uint32_t wanted = count + 1 + LARDER_KEPT_SEGMENTS;
    uint32_t most = (uint32_t)(MOVED_FOR_RUN >> pool->segment_shift), walks = wanted * WALKS_FOR_EACH;
    free_segments(pool, wanted, walks < most ? walks : most);
    return pool->header->lists[LARDER_LIST_FREE].count >= wanted;
}
