#include "reserve.h"
#include "evict.h"
#include "lock.h"
#include "pin.h"
#include "run.h"
#include "segment.h"

/* Segments sealed last that are looked at when another is opened. A thousand values of 1 KiB that are written in a
 * random order are all gone from a segment of 512 KiB when fourteen others were filled, on average. */
#define RECENT 32u

/* Bytes of an item that are asked for before they are written; of longer ones the processor asks by itself, as it sees
 * one line written after the other. */
#define ASKED_AHEAD 2048u

uint64_t larder_largest_item(const larder_pool *pool)
{
    return larder_segment_bytes(pool) * (pool->geometry.segment_count / 2);
}

/* Where the same keys are written over and over, the segments sealed lately are dead already. Taking them again keeps
 * such writing in the processor's cache. model/reserve.pml: emptier() */
static void reuse_recent(larder_pool *pool, enum larder_list queue)
{
    uint32_t index = pool->header->lists[queue].last;
    for (uint32_t looks = 0; looks < RECENT && index < pool->geometry.segment_count; looks++) {
        uint32_t before = pool->segments[index].prev;
        const larder_segment *segment = &pool->segments[index];
        /* Looked at again behind the pins: a writer that pinned it may have published something since the first look.
         * A reader that pins it from now on finds it sealed. */
        if (larder_segment_live_items(segment) == 0 && pool->header->victim != index + 1 &&
            !larder_pinned_by_any(pool, index) && larder_segment_live_items(segment) == 0) {
            larder_empty_segment(pool, index);
        }
        index = before;
    }
}

static bool is_open(const larder_pool *pool, uint64_t open)
{
    uint32_t index = (uint32_t)open - 1;
    return index < pool->geometry.segment_count && larder_segment_state_of(&pool->segments[index]) == LARDER_OPEN &&
           atomic_load_explicit(&pool->generations[index], memory_order_relaxed) == open >> 32;
}

/* The open segment is full (or there is none): opens another, making room for it. */
static enum larder_result roll(larder_pool *pool, enum larder_list queue, uint64_t expected)
{
    if (!larder_lock(pool)) {
        return LARDER_BUSY;
    }
    enum larder_result result = LARDER_OK;
    if (atomic_load_explicit(&pool->header->open[queue], memory_order_relaxed) == expected) {
        if (is_open(pool, expected)) {
            larder_seal_segment(pool, (uint32_t)expected - 1);
            reuse_recent(pool, queue);
        } else if (expected != 0) {
            /* The header names what is not open: it was damaged. */
            atomic_store_explicit(&pool->header->open[queue], 0, memory_order_relaxed);
            larder_segments_recover(pool);
        }
        if (pool->header->lists[LARDER_LIST_FREE].count <= LARDER_KEPT_SEGMENTS) {
            result = larder_make_room_now(pool);
        }
        /* Making room may have opened one, to move items to. */
        if (larder_open_of(pool, queue) == LARDER_NO_SEGMENT &&
            larder_open_segment(pool, queue, LARDER_KEPT_SEGMENTS) == LARDER_NO_SEGMENT) {
            result = result == LARDER_OK ? LARDER_PINNED : result;
        } else {
            result = LARDER_OK;
        }
    }
    larder_unlock(pool);
    return result;
}

/* Takes `bytes` of a segment that we have pinned, if it is open and has them. model/reserve.pml: writer() */
static bool take_room(larder_pool *pool, uint32_t index, uint64_t bytes, uint64_t *offset)
{
    larder_segment *segment = &pool->segments[index];
    if (larder_segment_state_of(segment) != LARDER_OPEN) {
        return false;
    }
    uint64_t fill = atomic_load_explicit(&segment->fill, memory_order_relaxed);
    LARDER_FAULT(LARDER_AT_RESERVE);
    do {
        if (fill + bytes > larder_segment_bytes(pool)) {
            return false;
        }
        /* relaxed: room is only divided up here; items that are written there are published by the index. */
    } while (!atomic_compare_exchange_weak_explicit(&segment->fill, &fill, fill + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    *offset = larder_segment_offset(pool, index) + fill;
    return true;
}

static void begin_reserved(larder_pool *pool, larder_reserved *reserved, uint32_t segment, uint32_t generation,
                           uint64_t offset, bool brief)
{
    *reserved = (larder_reserved){.item = (larder_item *)(pool->rw + offset),
                                  .offset = offset,
                                  .segment = segment,
                                  .generation = generation,
                                  .brief = brief};
}

static enum larder_result reserve_run(larder_pool *pool, enum larder_list queue, uint64_t bytes,
                                      larder_reserved *reserved)
{
    uint32_t count = (uint32_t)((bytes + larder_segment_bytes(pool) - 1) >> pool->segment_shift), head;
    if (!larder_lock(pool)) {
        return LARDER_BUSY;
    }
    enum larder_result result = larder_make_run(pool, count, &head);
    if (result == LARDER_OK) {
        uint32_t generation = atomic_load_explicit(&pool->generations[head], memory_order_relaxed);
        bool held = larder_pin_holds(pool, head, generation);
        larder_prepare_segment(pool, head, queue, count, bytes);
        if (larder_pin_set(pool, head, generation)) {
            larder_seal_segment(pool, head);
            begin_reserved(pool, reserved, head, generation, larder_segment_offset(pool, head), !held);
        } else {
            /* This process believes that it pins an earlier generation of it, which cannot be: nothing is written
             * unpinned. */
            larder_free_segment(pool, head);
            result = LARDER_PINNED;
        }
    }
    larder_unlock(pool);
    return result;
}

/* The bytes that are to be written may have been read by others in its last generation. */
static void ask_for_lines(const larder_pool *pool, uint64_t offset, uint64_t bytes)
{
    larder_line_to_write(larder_start_word(pool, offset));
    for (uint64_t at = 0; at < bytes && at < ASKED_AHEAD; at += LARDER_CACHE_LINE) {
        larder_line_to_write(pool->rw + offset + at);
    }
}

/* In the queue's open segment; no lock is needed. False, with what is open, if there is no room. */
static bool reserve_in_open(larder_pool *pool, enum larder_list queue, uint64_t bytes, larder_reserved *reserved,
                            uint64_t *open)
{
    /* acquire: pairs with the opening. */
    *open = atomic_load_explicit(&pool->header->open[queue], memory_order_acquire);
    uint32_t index = (uint32_t)*open - 1, generation = (uint32_t)(*open >> 32);
    uint64_t offset;
    if (index >= pool->geometry.segment_count) {
        return false;
    }
    larder_line_to_write(&pool->segments[index]);
    bool held = larder_pin_holds(pool, index, generation);
    bool pinned = held || larder_pin_set(pool, index, generation); /* else it has been recycled since */
    if (pinned && take_room(pool, index, bytes, &offset)) {
        ask_for_lines(pool, offset, bytes);
        begin_reserved(pool, reserved, index, generation, offset, !held);
        return true;
    }
    if (pinned && !held) {
        larder_pin_drop(pool, index);
    }
    return false;
}

/* S4: items that are not evicted need no queues. */
static enum larder_list queue_for(const larder_pool *pool, enum larder_list wanted)
{
    return pool->geometry.evict != 0 ? wanted : LARDER_SMALL;
}

/* Better in the wrong queue than nowhere, but not where movers alone may reserve. */
static bool reserve_in_other(larder_pool *pool, enum larder_list queue, uint64_t bytes, larder_reserved *reserved)
{
    enum larder_list other = queue_for(pool, queue == LARDER_SMALL ? LARDER_MAIN : LARDER_SMALL);
    uint64_t open;
    return other != queue && reserve_in_open(pool, other, bytes, reserved, &open);
}

enum larder_result larder_reserve(larder_pool *pool, enum larder_list wanted, uint64_t bytes, larder_reserved *reserved)
{
    enum larder_list queue = queue_for(pool, wanted);
    uint64_t open;
    if (bytes > larder_largest_item(pool)) {
        return LARDER_LARGE;
    }
    if (bytes > larder_segment_bytes(pool)) {
        return reserve_run(pool, queue, bytes, reserved);
    }
    for (int tries = 0; tries < 64; tries++) {
        if (reserve_in_open(pool, queue, bytes, reserved, &open)) {
            return LARDER_OK;
        }
        enum larder_result result = roll(pool, queue, open);
        if (result == LARDER_BUSY) {
            break;
        }
        if (result != LARDER_OK) {
            return result;
        }
    }
    return reserve_in_other(pool, queue, bytes, reserved) ? LARDER_OK : LARDER_BUSY;
}

void larder_reserved_drop(larder_pool *pool, const larder_reserved *reserved)
{
    if (reserved->brief) {
        larder_pin_drop(pool, reserved->segment);
    }
}
