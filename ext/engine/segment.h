/* Segments: where items lie, and the lists of them, under the lock of lock.h. Room in the open ones: reserve.h.
 *
 * States of a segment:
 *
 *     FREE ---> OPEN ---> SEALED ---> LIMBO ---> FREE
 *          taken    full       emptied     no process pins it
 *
 * The generation is raised when it enters limbo: from that moment every word that still points into it is void. Only
 * then are the pins looked at (see pin.h).
 *
 * Invariants:
 *   S1  Room is reserved only in a segment that the writer has pinned under its generation while it was open, so that
 *       a slow writer never writes into a segment's next generation.
 *   S2  A bit in the starts is set only when the item there is complete; walks follow the bits.
 *   S3  The lists can be made from the table alone; a process that takes the lock from a dead process does so.
 *   S4  In a pool that does not evict, only the owner of the segment lock reserves in main's open segment. So while a
 *       victim is chosen and walked, the room that its items are moved to is reserved for it, and a victim whose living
 *       bytes fit in there (larder_room_to_move()) is emptied.
 */
#ifndef LARDER_SEGMENT_H
#define LARDER_SEGMENT_H

#include "pool.h"

/* The word of the starts with the bit of that offset. */
static inline _Atomic uint64_t *larder_start_word(const larder_pool *pool, uint64_t offset)
{
    return &pool->starts[(offset - pool->segments_at) / 8 / 64];
}

/* Marks that a complete item begins at this offset of the file. */
void larder_segment_mark(larder_pool *pool, uint64_t offset);

/* An item became alive (+1) or died (-1) in a segment that the caller pins. model/reserve.pml: writer(), live */
static inline void larder_segment_account(larder_pool *pool, uint32_t segment, int sign, uint32_t units)
{
    LARDER_FAULT(LARDER_AT_ACCOUNT);
    uint64_t change = UINT64_C(1) << 40 | units;
    /* relaxed: a figure for choosing victims and for statistics. */
    atomic_fetch_add_explicit(&pool->segments[segment].live, sign > 0 ? change : 0 - change, memory_order_relaxed);
}

/* Before an item there lives that long. */
static inline void larder_segment_note_expiry(larder_segment *segment, uint64_t expiry)
{
    LARDER_FAULT(LARDER_AT_NOTE);
    larder_raise(&segment->latest_expiry, expiry);
}

/* Before an item is published in the segment: it is as young as that, and lives as long.
 * model/reserve.pml: writer(), latest */
static inline void larder_segment_note(larder_segment *segment, uint64_t version, uint64_t expiry)
{
    larder_segment_note_expiry(segment, expiry);
    LARDER_FAULT(LARDER_AT_NOTE);
    larder_raise(&segment->latest_version, version);
}

static inline uint32_t larder_segment_live_items(const larder_segment *segment)
{
    return (uint32_t)(atomic_load_explicit(&segment->live, memory_order_relaxed) >> 40);
}

static inline uint64_t larder_segment_live_units(const larder_segment *segment)
{
    return atomic_load_explicit(&segment->live, memory_order_relaxed) & ((UINT64_C(1) << 40) - 1);
}

static inline void larder_segment_set_state(larder_segment *segment, enum larder_segment_state state)
{
    LARDER_FAULT(LARDER_AT_STATE);
    /* release: a process that finds a segment open finds it emptied before. */
    atomic_store_explicit(&segment->state, state, memory_order_release);
}

static inline enum larder_segment_state larder_segment_state_of(const larder_segment *segment)
{
    return (enum larder_segment_state)atomic_load_explicit(&segment->state, memory_order_acquire);
}

static inline uint64_t larder_segment_bytes(const larder_pool *pool)
{
    return UINT64_C(1) << pool->segment_shift;
}

static inline uint64_t larder_segment_offset(const larder_pool *pool, uint32_t segment)
{
    return pool->segments_at + ((uint64_t)segment << pool->segment_shift);
}

/* How many segments the one at that index stands for: itself, and those behind it that continue it. No more than there
 * are, whatever a damaged pool says. */
static inline uint32_t larder_run_of(const larder_pool *pool, uint32_t segment)
{
    uint32_t run = pool->segments[segment].run, rest = pool->segment_count - segment;
    return run == 0 ? 1 : run < rest ? run : rest;
}

static inline uint64_t larder_run_bytes(const larder_pool *pool, uint32_t segment)
{
    return (uint64_t)larder_run_of(pool, segment) << pool->segment_shift;
}

/* Is every segment one? Others may be working on it meanwhile: an odd state that lasts a moment is no damage. */
bool larder_segments_are_sound(const larder_pool *pool);

/* ---- under the segment lock (for evict.c, walk.c, run.c, lock.c) ----------------------------------------- */

void larder_list_push(larder_pool *pool, enum larder_list list, uint32_t segment);
void larder_list_remove(larder_pool *pool, uint32_t segment);

/* Free segments that writers leave alone: without one there would be nowhere to move to, when nothing else is free,
 * what is worth keeping. */
#define LARDER_KEPT_SEGMENTS 1u

/* No other process sees it yet: makes it one of that queue, with so many behind it, of which so much is filled. */
void larder_prepare_segment(larder_pool *pool, uint32_t segment, enum larder_list queue, uint32_t run, uint64_t fill);

/* Frees it and those that continue it, in which nothing lives and which no process pins. */
void larder_free_segment(larder_pool *pool, uint32_t segment);

/* Takes a free segment, if more than `reserve` are left, and opens it for that queue. */
uint32_t larder_open_segment(larder_pool *pool, enum larder_list queue, uint32_t reserve);
void larder_seal_segment(larder_pool *pool, uint32_t segment);

/* Its items are unlinked or worthless: raises the generation and frees it, now or when its pins have fallen. */
void larder_empty_segment(larder_pool *pool, uint32_t segment);

/* Frees what waits in limbo without pins. How many segments became free? */
uint32_t larder_drain_limbo(larder_pool *pool);

/* The open segment of a queue; LARDER_NO_SEGMENT if there is none. */
uint32_t larder_open_of(const larder_pool *pool, enum larder_list queue);

/* Bytes that items can be moved to: the rest of main's open segment, and all free ones. Of a pool that evicts it
 * is a guess, for writers store there, too. */
uint64_t larder_room_to_move(const larder_pool *pool);

#endif
