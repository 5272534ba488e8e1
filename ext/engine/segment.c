#include "segment.h"
#include "pin.h"

#include <string.h>

/* ---- lists --------------------------------------------------------------------------------------------- */

/* The one before a segment says which is next, and the one after it which was before: a neighbour, or the list. */
static void join(larder_pool *pool, larder_list_ends *ends, uint32_t prev, uint32_t next)
{
    *(prev == LARDER_NO_SEGMENT ? &ends->first : &pool->segments[prev].next) = next;
    *(next == LARDER_NO_SEGMENT ? &ends->last : &pool->segments[next].prev) = prev;
}

/* model/lock.pml: go_on(), listed */
static void link_between(larder_pool *pool, enum larder_list list, uint32_t prev, uint32_t index, uint32_t next)
{
    larder_list_ends *ends = &pool->header->lists[list];
    LARDER_FAULT(LARDER_AT_LINK);
    pool->segments[index].list = (uint8_t)list;
    join(pool, ends, prev, index);
    join(pool, ends, index, next);
    ends->count++;
}

void larder_list_push(larder_pool *pool, enum larder_list list, uint32_t index)
{
    link_between(pool, list, pool->header->lists[list].last, index, LARDER_NO_SEGMENT);
}

/* What became free last is taken first: it is still in the processor's cache. */
static void push_free(larder_pool *pool, uint32_t index)
{
    link_between(pool, LARDER_LIST_FREE, LARDER_NO_SEGMENT, index, pool->header->lists[LARDER_LIST_FREE].first);
}

/* model/lock.pml: go_on(), UNLISTED */
void larder_list_remove(larder_pool *pool, uint32_t index)
{
    larder_segment *segment = &pool->segments[index];
    if (segment->list >= LARDER_LISTS) {
        return;
    }
    LARDER_FAULT(LARDER_AT_UNLINK);
    larder_list_ends *ends = &pool->header->lists[segment->list];
    join(pool, ends, segment->prev, segment->next);
    ends->count--;
    segment->list = LARDER_LISTS;
}

/* ---- taking and giving back ------------------------------------------------------------------------------ */

static void clear_starts(larder_pool *pool, uint32_t segment, uint32_t count)
{
    size_t words = (size_t)1 << pool->segment_shift >> 9;
    memset((void *)(pool->starts + segment * words), 0, count * words * sizeof(uint64_t));
}

uint32_t larder_open_of(const larder_pool *pool, enum larder_list queue)
{
    uint64_t open = atomic_load_explicit(&pool->header->open[queue], memory_order_acquire);
    return (uint32_t)open - 1; /* 0 becomes LARDER_NO_SEGMENT */
}

uint64_t larder_room_to_move(const larder_pool *pool)
{
    uint32_t open = larder_open_of(pool, LARDER_MAIN);
    uint64_t room = (uint64_t)pool->header->lists[LARDER_LIST_FREE].count << pool->segment_shift;
    uint64_t fill = open < pool->geometry.segment_count
                        ? atomic_load_explicit(&pool->segments[open].fill, memory_order_relaxed)
                        : larder_segment_bytes(pool);
    return fill < larder_segment_bytes(pool) ? room + larder_segment_bytes(pool) - fill : room;
}

/* No other process sees it yet: it is on no list, and not open. relaxed: its state says when it is ready. */
void larder_prepare_segment(larder_pool *pool, uint32_t index, enum larder_list queue, uint32_t run, uint64_t fill)
{
    larder_segment *segment = &pool->segments[index];
    LARDER_FAULT(LARDER_AT_PREPARE);
    clear_starts(pool, index, run);
    atomic_store_explicit(&segment->fill, fill, memory_order_relaxed);
    atomic_store_explicit(&segment->live, 0, memory_order_relaxed);
    atomic_store_explicit(&segment->latest_expiry, 0, memory_order_relaxed);
    atomic_store_explicit(&segment->latest_version, 0, memory_order_relaxed);
    segment->sequence = ++pool->header->sequence;
    segment->run = run;
    segment->queue = (uint8_t)queue;
}

/* model/lock.pml: go_on(), OPEN */
uint32_t larder_open_segment(larder_pool *pool, enum larder_list queue, uint32_t reserve)
{
    larder_list_ends *available = &pool->header->lists[LARDER_LIST_FREE];
    uint32_t index = available->first;
    if (available->count <= reserve || index >= pool->geometry.segment_count) {
        return LARDER_NO_SEGMENT;
    }
    LARDER_FAULT(LARDER_AT_OPEN);
    larder_list_remove(pool, index);
    larder_prepare_segment(pool, index, queue, 1, 0);
    larder_segment_set_state(&pool->segments[index], LARDER_OPEN);
    uint64_t generation = atomic_load_explicit(&pool->generations[index], memory_order_relaxed);
    LARDER_FAULT(LARDER_AT_OFFER);
    /* release: the emptied segment. */
    atomic_store_explicit(&pool->header->open[queue], generation << 32 | (index + 1), memory_order_release);
    return index;
}

/* model/lock.pml: go_on(), SEALED */
void larder_seal_segment(larder_pool *pool, uint32_t index)
{
    larder_segment *segment = &pool->segments[index];
    LARDER_FAULT(LARDER_AT_SEAL);
    for (uint32_t queue = 0; queue < LARDER_QUEUES; queue++) {
        if (larder_open_of(pool, (enum larder_list)queue) == index) {
            atomic_store_explicit(&pool->header->open[queue], 0, memory_order_release);
        }
    }
    larder_segment_set_state(segment, LARDER_SEALED);
    larder_list_push(pool, (enum larder_list)segment->queue, index);
}

/* model/lock.pml: go_on(), LIMBO */
void larder_free_segment(larder_pool *pool, uint32_t index)
{
    uint32_t run = larder_run_of(pool, index);
    larder_list_remove(pool, index);
    for (uint32_t i = 0; i < run; i++) {
        larder_segment *part = &pool->segments[index + i];
        LARDER_FAULT(LARDER_AT_FREE);
        part->run = 1;
        larder_segment_set_state(part, LARDER_FREE);
        push_free(pool, index + i);
    }
}

/* model/pin.pml: raise_generation(); model/lock.pml: go_on(), SEALED */
void larder_empty_segment(larder_pool *pool, uint32_t index)
{
    uint32_t generation = atomic_load_explicit(&pool->generations[index], memory_order_relaxed);
    larder_list_remove(pool, index);
    LARDER_FAULT(LARDER_AT_VOID);
    /* seq_cst: before we look at the pins (pin.h). Before the state: a process that recovers from our death frees what
     * is in limbo, and then no word may lead there. */
    atomic_store_explicit(&pool->generations[index], (generation + 1) & LARDER_GENERATION_MASK, memory_order_seq_cst);
    LARDER_FAULT(LARDER_AT_LIMBO);
    larder_segment_set_state(&pool->segments[index], LARDER_LIMBO);
    if (larder_pinned_by_any(pool, index)) {
        larder_list_push(pool, LARDER_LIST_LIMBO, index);
    } else {
        larder_free_segment(pool, index);
    }
}

uint32_t larder_drain_limbo(larder_pool *pool)
{
    larder_list_ends *limbo = &pool->header->lists[LARDER_LIST_LIMBO];
    uint32_t freed = 0;
    for (uint32_t looks = limbo->count < 16 ? limbo->count : 16; looks > 0; looks--) {
        uint32_t index = limbo->first;
        if (index >= pool->geometry.segment_count) {
            break; /* damaged */
        }
        larder_list_remove(pool, index);
        if (larder_pinned_by_any(pool, index)) {
            larder_list_push(pool, LARDER_LIST_LIMBO, index); /* others have their turn next time */
        } else {
            larder_free_segment(pool, index);
            freed++;
        }
    }
    return freed;
}

/* ---- starts --------------------------------------------------------------------------------------------- */

/* model/reserve.pml: writer(), start */
void larder_segment_mark(larder_pool *pool, uint64_t offset)
{
    LARDER_FAULT(LARDER_AT_START_BIT);
    /* release: the item is complete. */
    atomic_fetch_or_explicit(larder_start_word(pool, offset), UINT64_C(1) << (offset - pool->segments_at) / 8 % 64,
                             memory_order_release);
}

/* ---- the table as it is found --------------------------------------------------------------------------- */

bool larder_segments_are_sound(const larder_pool *pool)
{
    const larder_geometry *g = &pool->geometry;
    for (uint32_t i = 0; i < g->segment_count; i++) {
        const larder_segment *segment = &pool->segments[i];
        uint32_t state = atomic_load_explicit(&segment->state, memory_order_relaxed);
        if (state >= LARDER_SEGMENT_STATES || segment->run > g->segment_count || segment->queue >= LARDER_QUEUES ||
            atomic_load_explicit(&pool->generations[i], memory_order_relaxed) > LARDER_GENERATION_MASK ||
            (segment->next >= g->segment_count && segment->next != LARDER_NO_SEGMENT && segment->next != 0) ||
            (segment->prev >= g->segment_count && segment->prev != LARDER_NO_SEGMENT && segment->prev != 0)) {
            return false;
        }
    }
    return true;
}
