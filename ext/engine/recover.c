#include "recover.h"
#include "index.h"
#include "segment.h"

#include <stdlib.h>

/* Others may be working on it meanwhile: what is only odd for a moment is no damage. */
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

/* So many buckets and deletions are looked at, all over the index: what has overwritten it is seldom as small as what
 * is between two. To look at all would take as long as to read a sixteenth of the pool. */
#define SAMPLES 64u

/* No tick is younger than the clock. */
static bool is_past(const larder_pool *pool, const _Atomic uint64_t *tick)
{
    /* seq_cst: the clock has ticked before the tick was written anywhere, and is loaded after it. */
    uint64_t seen = atomic_load_explicit(tick, memory_order_seq_cst);
    return seen <= atomic_load_explicit(&pool->header->clock, memory_order_seq_cst);
}

static bool is_possible(const larder_pool *pool, uint64_t word)
{
    return (word & LARDER_PENDING) != 0 ? (uint32_t)word < pool->geometry.slot_count
                                        : larder_word_segment(pool, word) != LARDER_NO_SEGMENT;
}

/* False: a word is none. Counts those that there are. */
static bool are_possible(const larder_pool *pool, const larder_bucket *bucket, uint64_t *words)
{
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        /* relaxed: it is only looked at. */
        uint64_t word = atomic_load_explicit(&bucket->word[i], memory_order_relaxed);
        if (word != 0 && !is_possible(pool, word)) {
            return false;
        }
        *words += word != 0;
    }
    return true;
}

/* Where much lives and no word is left that leads to it, nothing of it can be deleted, and perhaps not evicted. */
static bool may_be_empty(const larder_pool *pool)
{
    uint64_t bytes = 0, words = 0;
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        enum larder_segment_state state = larder_segment_state_of(&pool->segments[i]);
        bool is_used = state == LARDER_OPEN || state == LARDER_SEALED;
        bytes += is_used ? larder_segment_live_units(&pool->segments[i]) << pool->unit_shift : 0;
    }
    for (uint32_t i = 0; bytes > pool->size / 4 && words == 0 && i < pool->bucket_count; i++) {
        if (!are_possible(pool, &pool->buckets[i], &words)) {
            return false;
        }
    }
    return bytes <= pool->size / 4 || words > 0;
}

bool larder_index_is_sound(const larder_pool *pool)
{
    uint64_t buckets = pool->bucket_count, deletions = pool->deletion_count, words = 0;
    uint64_t samples = buckets < SAMPLES ? buckets : SAMPLES;
    for (uint64_t i = 0; i < samples; i++) {
        const larder_bucket *bucket = &pool->buckets[buckets * i / samples];
        if (!is_past(pool, &bucket->guard) || !are_possible(pool, bucket, &words) ||
            !is_past(pool, &pool->deletions[deletions * i / samples])) {
            return false;
        }
    }
    return words > 0 || may_be_empty(pool);
}

/* Under the lock. False also for a new pool, in which all is zero. */
bool larder_lists_are_sound(const larder_pool *pool)
{
    uint32_t count = pool->geometry.segment_count;
    for (uint32_t list = 0; list < LARDER_LISTS; list++) {
        const larder_list_ends *ends = &pool->header->lists[list];
        bool empty = ends->first == LARDER_NO_SEGMENT && ends->last == LARDER_NO_SEGMENT && ends->count == 0;
        bool linked = ends->first < count && ends->last < count && ends->count > 0 && ends->count <= count &&
                      pool->segments[ends->first].prev == LARDER_NO_SEGMENT &&
                      pool->segments[ends->last].next == LARDER_NO_SEGMENT;
        if (!empty && !linked) {
            return false;
        }
    }
    return pool->header->victim <= count;
}

typedef struct aged {
    uint64_t sequence;
    uint32_t index;
} aged;

static int by_age(const void *a, const void *b)
{
    uint64_t x = ((const aged *)a)->sequence, y = ((const aged *)b)->sequence;
    return (x > y) - (x < y);
}

/* A dead owner may have left a run half made or half freed. What no head claims is free. */
static void repair_runs(larder_pool *pool)
{
    uint32_t covered = 0;
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        larder_segment *segment = &pool->segments[i];
        enum larder_segment_state state = larder_segment_state_of(segment);
        segment->list = LARDER_LISTS;
        if (i < covered) {
            segment->run = 0;
            larder_segment_set_state(segment, LARDER_TAIL);
        } else if (state == LARDER_TAIL || state == LARDER_FREE || segment->run == 0) {
            segment->run = 1;
            larder_segment_set_state(segment, LARDER_FREE);
        } else {
            covered = i + segment->run;
        }
    }
}

/* model/lock.pml: recover() */
void larder_segments_recover(larder_pool *pool)
{
    uint32_t count = pool->geometry.segment_count, found = 0;
    aged *order = malloc(count * sizeof *order);
    pool->header->victim = 0; /* what was unlinked of it is skipped the next time */
    repair_runs(pool);
    for (uint32_t list = 0; list < LARDER_LISTS; list++) {
        pool->header->lists[list] =
            (larder_list_ends){.first = LARDER_NO_SEGMENT, .last = LARDER_NO_SEGMENT, .count = 0, .unused = 0};
    }
    for (uint32_t i = 0; i < count; i++) {
        larder_segment *segment = &pool->segments[i];
        enum larder_segment_state state = larder_segment_state_of(segment);
        if (state == LARDER_FREE) {
            larder_list_push(pool, LARDER_LIST_FREE, i);
        } else if (state == LARDER_LIMBO) {
            larder_list_push(pool, LARDER_LIST_LIMBO, i);
        } else if (state == LARDER_OPEN && i != larder_open_of(pool, (enum larder_list)segment->queue)) {
            larder_segment_set_state(segment, LARDER_SEALED);
            state = LARDER_SEALED;
        }
        if (state == LARDER_SEALED && order != NULL) {
            order[found++] = (aged){segment->sequence, i};
        } else if (state == LARDER_SEALED) {
            larder_list_push(pool, (enum larder_list)segment->queue, i); /* no memory to sort: any order */
        }
    }
    if (order != NULL) {
        qsort(order, found, sizeof *order, by_age);
        for (uint32_t i = 0; i < found; i++) {
            larder_list_push(pool, (enum larder_list)pool->segments[order[i].index].queue, order[i].index);
        }
    }
    free(order);
}
