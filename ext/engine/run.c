#include "run.h"
#include "evict.h"
#include "pin.h"
#include "publish.h"
#include "slot.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#define LONG_RUN      8u     /* segments: longer runs are made without looking at what is worth keeping */
#define LOOKS_CLOSELY 16384u /* items: one or two milliseconds, for which the lock is held */

/* How hard a window is looked for. A pool that evicts finds one at once, or never. */
enum effort {
    TAKES, /* windows that are told to be free or of no worth */
    LOOKS, /* where the account does not tell, whether anything is of worth */
    MOVES, /* items of worth are moved out of the way */
};

/* The bits of all segments that any living process pins. */
static void gather_pins(larder_pool *pool, uint64_t *pins)
{
    uint32_t words = pool->geometry.pin_words;
    memset(pins, 0, words * sizeof *pins);
    /* Pins of processes that found a segment open, before it was sealed, come before our look. */
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < larder_slots_used(pool); i++) {
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

/* Where nothing is evicted: is there anything of worth? To look closely takes time; then a few items do not count that
 * have all expired, or that no word leads to, as far as so many looks tell. */
static bool has_worth(const larder_pool *pool, uint32_t head, uint32_t *looks)
{
    const larder_segment *segment = &pool->segments[head];
    uint32_t items = larder_segment_live_items(segment);
    return items > LARDER_LEFT_AT_MOST ||
           (items > 0 && !(looks != NULL && larder_segment_state_of(segment) == LARDER_SEALED &&
                           larder_is_all_dead(pool, head, larder_pool_now(pool), looks)));
}

/* Can all that lives there be moved elsewhere? */
static bool can_be_moved(const larder_pool *pool, uint32_t head)
{
    return larder_run_of(pool, head) == 1 && larder_segment_state_of(&pool->segments[head]) == LARDER_SEALED &&
           larder_walk_can_move_all(pool, head);
}

/* May the segments of the run that begins here (one, usually) not become part of another? */
static bool is_blocked(const larder_pool *pool, const uint64_t *pins, uint32_t head, enum effort effort,
                       uint32_t *looks)
{
    enum larder_segment_state state = larder_segment_state_of(&pool->segments[head]);
    bool pinned = (pins[head / 64] >> head % 64 & 1) != 0;
    return state != LARDER_FREE &&
           (state == LARDER_LIMBO || pinned ||
            (pool->geometry.evict == 0 && has_worth(pool, head, effort == TAKES ? NULL : looks) &&
             !(effort == MOVES && can_be_moved(pool, head))));
}

/* Sets a bit for each segment that stands in the way of a new run; only heads are pinned, but all of a run is used. */
static void gather_blocked(larder_pool *pool, uint64_t *blocked, enum effort effort)
{
    uint32_t looks = LOOKS_CLOSELY;
    gather_pins(pool, blocked);
    for (uint32_t head = 0; head < pool->segment_count; head += larder_run_of(pool, head)) {
        bool is = is_blocked(pool, blocked, head, effort, &looks);
        for (uint32_t i = head; i < head + larder_run_of(pool, head); i++) {
            uint64_t bit = UINT64_C(1) << i % 64;
            blocked[i / 64] = is ? blocked[i / 64] | bit : blocked[i / 64] & ~bit;
        }
    }
}

/* What would be lost with the run that begins here (one segment, usually). A run with a value in it counts as if it was
 * full. Else one that is half empty would always be the least, and each large value would take the place of the last
 * one: of twenty in a full pool two stayed. */
static uint64_t loss(const larder_pool *pool, uint32_t head)
{
    const larder_segment *segment = &pool->segments[head];
    enum larder_segment_state state = larder_segment_state_of(segment);
    uint64_t units = state == LARDER_SEALED || state == LARDER_OPEN ? larder_segment_live_units(segment) : 0;
    return units == 0 || larder_run_of(pool, head) == 1 ? units : larder_run_bytes(pool, head) >> pool->unit_shift;
}

static bool is_head(const larder_pool *pool, uint32_t index)
{
    return index >= pool->segment_count || larder_segment_state_of(&pool->segments[index]) != LARDER_TAIL;
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
            uint64_t left = is_head(pool, gone + 1) ? loss(pool, head_of(pool, gone)) : 0;
            sum -= left < sum ? left : sum; /* writers may have added to it since it was counted */
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
    larder_segment_set_state(&pool->segments[index], LARDER_TAIL);
}

static bool is_claimed(const larder_segment *segment)
{
    return larder_segment_state_of(segment) == LARDER_TAIL && segment->run != 0;
}

static bool is_free(const larder_segment *segment)
{
    return larder_segment_state_of(segment) == LARDER_FREE;
}

static void give_back(larder_pool *pool, uint32_t begin, uint32_t count)
{
    for (uint32_t i = begin; i < begin + count; i++) {
        larder_segment *segment = &pool->segments[i];
        if (is_claimed(segment)) {
            segment->run = 1;
            larder_segment_set_state(segment, LARDER_FREE);
            larder_list_push(pool, LARDER_LIST_FREE, i);
        }
    }
}

/* For a long run, all words of the segment are made void at once: looking at each would hold the lock for too long. But
 * where nothing is evicted nothing is dropped: what lives is moved, and one of the dead may just have been given
 * another expiry. */
static void clear_out(larder_pool *pool, uint32_t segment, uint32_t count)
{
    bool evicts = pool->geometry.evict != 0;
    if (count <= LONG_RUN || !evicts) {
        larder_walk_begin(pool, segment, evicts ? LARDER_EVICT : LARDER_COMPACT);
        uint64_t most = larder_segment_bytes(pool) / (evicts ? 2 : 1);
        larder_walk_to_the_end(pool, &most);
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

/* Where nothing is evicted a run must not take what items are moved to: without that, what is deleted beside what lives
 * could not be used again. */
static bool leaves_enough(larder_pool *pool)
{
    const larder_list_ends *available = &pool->header->lists[LARDER_LIST_FREE];
    if (pool->geometry.evict == 0 && available->count < LARDER_KEPT_SEGMENTS) {
        larder_make_room_now(pool);
    }
    return pool->geometry.evict != 0 || available->count >= LARDER_KEPT_SEGMENTS;
}

/* Empties all segments of the window and keeps them. Free segments are claimed first, so that nothing is moved
 * into the window meanwhile. */
static bool claim_window(larder_pool *pool, uint32_t begin, uint32_t count)
{
    for (uint32_t i = begin; i < begin + count; i++) {
        if (is_free(&pool->segments[i])) {
            claim(pool, i, count);
        }
    }
    uint32_t first = begin;
    while (first > 0 && larder_segment_state_of(&pool->segments[first]) == LARDER_TAIL &&
           !is_claimed(&pool->segments[first])) {
        first--; /* the window begins in the middle of a run, which goes as a whole */
    }
    if (first < begin) {
        clear_out(pool, first, count);
    }
    for (uint32_t i = begin; i < begin + count; i++) {
        const larder_segment *segment = &pool->segments[i];
        if (larder_segment_state_of(segment) == LARDER_OPEN) {
            /* When the window was chosen nothing may have lived there, but writers need no lock to come; from now on
             * none does, and items that have come are moved. */
            larder_seal_segment(pool, i);
        }
        if (larder_segment_state_of(segment) == LARDER_SEALED) {
            clear_out(pool, i, count);
        }
        if (is_free(segment)) {
            claim(pool, i, count);
        } else if (!is_claimed(segment)) {
            give_back(pool, begin, count);
            return false; /* pinned in the last moment, or taken to move items to */
        }
    }
    if (!leaves_enough(pool)) {
        give_back(pool, begin, count);
        return false;
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

/* There is no window. Is it worth looking again, and how? */
static bool try_harder(larder_pool *pool, bool first, enum effort *effort)
{
    bool sealed = first && seal_open(pool);
    if (pool->geometry.evict != 0 || *effort == MOVES) {
        return sealed;
    }
    *effort = *effort == TAKES ? LOOKS : MOVES;
    return true;
}

enum larder_result larder_make_run(larder_pool *pool, uint32_t count, uint32_t *head)
{
    bool evicts = pool->geometry.evict != 0;
    enum larder_result result = evicts ? LARDER_PINNED : LARDER_FULL;
    enum effort effort = TAKES;
    uint64_t *blocked = malloc(pool->geometry.pin_words * sizeof *blocked);
    if (blocked == NULL) {
        return LARDER_BUSY;
    }
    larder_drain_limbo(pool);
    for (int tries = 0; tries < (evicts ? 3 : 5); tries++) {
        if (effort == MOVES && !larder_make_room_for_run(pool, count)) {
            break;
        }
        gather_blocked(pool, blocked, effort);
        uint32_t begin = find_window(pool, blocked, count);
        if (begin == LARDER_NO_SEGMENT) {
            if (!try_harder(pool, tries == 0, &effort)) {
                break;
            }
        } else if (claim_window(pool, begin, count)) {
            *head = begin;
            result = LARDER_OK;
            break;
        }
    }
    free(blocked);
    return result;
}
