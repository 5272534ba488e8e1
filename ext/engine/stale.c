#include "stale.h"
#include "recent.h"
#include "token.h"

/* A window: a part of its tag's hash (21 bits) | open (1) | when it ends (42). Being opened: the same | 0 | a tick. */
#define PART_SHIFT 43u
#define OPEN       (UINT64_C(1) << 42)
#define END        (OPEN - 1)

#define OPENINGS 8 /* tries, each in vain because of another invalidation of the tag; then it just kills */

static larder_window *place_of(const larder_pool *pool, uint64_t mixed)
{
    return pool->windows + ((mixed >> 32) * pool->geometry.window_count >> 32);
}

static uint64_t part_of(uint64_t mixed)
{
    return mixed << PART_SHIFT; /* the place comes of the other end */
}

static bool is_of(uint64_t window, uint64_t part)
{
    return window != 0 && window >> PART_SHIFT == part >> PART_SHIFT;
}

static uint64_t end_of(uint64_t window)
{
    return (window & OPEN) != 0 ? window & END : 0;
}

/* model/stale.pml: exchange() */
static bool exchange(larder_window *place, uint64_t from, uint64_t to)
{
    LARDER_FAULT(LARDER_AT_WINDOW);
    /* seq_cst: one side of open/limit, whose other is the table of recent invalidations. */
    return atomic_compare_exchange_strong_explicit(&place->window, &from, to, memory_order_seq_cst,
                                                   memory_order_relaxed);
}

static uint64_t window_of(const larder_window *place)
{
    /* seq_cst: one side of open/limit. */
    return atomic_load_explicit(&place->window, memory_order_seq_cst);
}

static bool is_named(const larder_window *place, uint64_t tag)
{
    /* relaxed: it only takes a window from others that share a part of its hash; the one named last has it. */
    return atomic_load_explicit(&place->tag, memory_order_relaxed) == tag;
}

/* One try. False: something was invalidated, or another process changed the window,
 * meanwhile. model/stale.pml: open() */
static bool open_once(larder_pool *pool, larder_window *place, uint64_t tag, uint64_t part, uint64_t until)
{
    uint64_t found = window_of(place);
    if (is_of(found, part) && is_named(place, tag) && end_of(found) > larder_pool_now(pool)) {
        return true; /* W2: larder_window_limit() lets it end earlier */
    }
    uint64_t version = larder_recent_version(pool, tag), opening = part | (larder_own_tick(pool) & END);
    LARDER_FAULT(LARDER_AT_WINDOW);
    larder_raise(&place->dead, version);
    LARDER_FAULT(LARDER_AT_WINDOW);
    atomic_store_explicit(&place->tag, tag, memory_order_relaxed); /* as for is_named() */
    if (!exchange(place, found, opening)) {
        return false;
    }
    /* seq_cst: a process that enters the tag from here on sees that the window is being opened. */
    atomic_thread_fence(memory_order_seq_cst);
    bool same = larder_recent_version(pool, tag) == version;
    return exchange(place, opening, same ? part | OPEN | until : 0) && same;
}

void larder_window_open(larder_pool *pool, uint64_t tag, uint64_t until)
{
    uint64_t mixed = larder_mix(pool, tag), end = until < END ? until : END;
    larder_window *place = place_of(pool, mixed);
    for (int tries = 0; tries < OPENINGS; tries++) {
        if (open_once(pool, place, tag, part_of(mixed), end)) {
            break;
        }
    }
}

/* model/stale.pml: limit() */
void larder_window_limit(larder_pool *pool, uint64_t tag, uint64_t until)
{
    uint64_t mixed = larder_mix(pool, tag), part = part_of(mixed);
    larder_window *place = place_of(pool, mixed);
    /* seq_cst: after the tag was entered; the other side of open_once(). */
    atomic_thread_fence(memory_order_seq_cst);
    for (uint64_t found = window_of(place); is_of(found, part); found = window_of(place)) {
        bool is_open = (found & OPEN) != 0;
        if ((is_open && end_of(found) <= until) ||
            exchange(place, found, is_open && until > 0 ? part | OPEN | until : 0)) {
            break;
        }
    }
}

/* Until when what the tag has killed may be served, of those items that have that version. model/stale.pml: reader() */
static uint64_t window_for(const larder_pool *pool, uint64_t tag, uint64_t version)
{
    uint64_t mixed = larder_mix(pool, tag);
    const larder_window *place = place_of(pool, mixed);
    /* acquire: `dead` was raised before the window was opened. */
    uint64_t found = atomic_load_explicit(&place->window, memory_order_acquire);
    return is_of(found, part_of(mixed)) && is_named(place, tag) &&
                   /* relaxed: it only rises. */
                   atomic_load_explicit(&place->dead, memory_order_relaxed) <= version
               ? end_of(found)
               : 0;
}

uint64_t larder_stale_until(const larder_pool *pool, const larder_item *item)
{
    uint64_t until = UINT64_MAX;
    /* relaxed: an item is as dead by an earlier clear as by the last. */
    if (item->version < atomic_load_explicit(&pool->header->last_clear, memory_order_relaxed) ||
        item->tags > LARDER_TAGS_MAX) {
        return 0;
    }
    const uint64_t *tags = larder_item_tags(item);
    for (uint32_t i = 0; until > 0 && i < item->tags; i++) {
        if (larder_recent_version(pool, tags[i]) > item->version) {
            uint64_t its = window_for(pool, tags[i], item->version);
            until = its < until ? its : until;
        }
    }
    return until;
}
