/* The pool's own budget of pins: what requests have been holding for more than a second, and what waits in limbo for
 * readers, is not to be more than a quarter of it. Else nobody keeps a pin until it is less.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/lock.h"
#include "engine/pin.h"

#include <signal.h>
#include <unistd.h>

enum {
    BLOCK = 3000,
    LONG_MS = 1001 /* a request that has had its pins for so long is a long one */
};

/* A pool that is full, and handles of it: two requests that hold much, one that reads, one that writes. */
typedef struct scene {
    larder_pool *holder[2], *reader, *writer;
    uint64_t next;    /* number of the block that is stored next */
    uint32_t quarter; /* of the segments */
} scene;

static void store(scene *s, uint64_t blocks)
{
    for (; blocks > 0; blocks--) {
        EQUAL(put_block(s->writer, s->next++, BLOCK), LARDER_OK);
    }
}

static scene open_full(uint64_t size)
{
    scene s = {.next = 0};
    s.holder[0] = pool_timed(size, true);
    s.holder[1] = pool_timed(size, true);
    s.reader = pool_timed(size, true);
    s.writer = pool_timed(size, true);
    s.quarter = s.writer->geometry.segment_count / 4;
    store(&s, size / BLOCK);
    return s;
}

static void close_all(scene *s)
{
    CHECK_POOL(s->writer);
    larder_pool_close(s->holder[0]);
    larder_pool_close(s->holder[1]);
    larder_pool_close(s->reader);
    larder_pool_close(s->writer);
}

/* Reads blocks from that number on until so many segments are pinned, and passes by the rest of the last one: whoever
 * goes on from there meets others. */
static void pin_segments(const scene *s, larder_pool *pool, uint32_t count, uint64_t *from)
{
    for (; pool->pinned_count < count; ++*from) {
        REQUIRE(*from < s->next);
        has_block(pool, *from);
    }
    *from += larder_segment_bytes(pool) / BLOCK + 1;
}

/* As what the block that was stored last is handed out. */
static enum larder_hold hold_of_last(const scene *s, larder_pool *pool)
{
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(s->next - 1), s->next - 1, &what, &hit), READ_WHOLE);
    return hit.hold;
}

TEST(copies,
     "while requests that run for long pin more than a quarter of the pool others copy, and after one of them no more")
{
    scene s = open_full(4 * MIB);
    uint32_t each = s.quarter / 2 + 1; /* neither of them too much */
    uint64_t from = s.next / 2, two_segments = 2 * larder_segment_bytes(s.writer) / BLOCK;
    pin_segments(&s, s.holder[0], each, &from);
    clock_ms += LONG_MS;
    pin_segments(&s, s.holder[1], each, &from);
    store(&s, two_segments);                        /* who makes room looks at the pins now and then */
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD); /* the second has not had them for long */
    larder_pool_leave(s.reader);

    clock_ms += LONG_MS;
    store(&s, two_segments);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    EQUAL(s.reader->pinned_count, 0);
    EQUAL(hold_of_last(&s, s.holder[1]), LARDER_BRIEFLY);
    EQUAL(s.holder[1]->pinned_count, each);

    larder_pool_leave(s.holder[0]);
    store(&s, two_segments);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

TEST(nobody_stores, "where nobody stores, who reads much finds that the pool is crowded, and who leaves that it is not")
{
    scene s = open_full(16 * MIB);
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.quarter / 2 + 1, &from);
    pin_segments(&s, s.holder[1], s.quarter / 2 + 1, &from);
    clock_ms += LONG_MS;
    for (uint64_t i = from; i < s.next; i++) {
        has_block(s.reader, i);
    }
    COMPARE(s.reader->pinned_count, <, 16);
    larder_pool_leave(s.reader);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    larder_pool_leave(s.reader); /* it has no pins, and nothing changes */
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    larder_pool_leave(s.holder[0]);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

/* A process that reads until it pins so much, and waits for its end. */
typedef struct doomed {
    scene *s;
    gate *has_pinned;
    uint64_t from;
} doomed;

static void hold_until_killed(void *context)
{
    doomed *d = context;
    larder_pool *pool = pool_timed(0, true);
    pin_segments(d->s, pool, d->s->quarter / 2 + 1, &d->from);
    gate_open(d->has_pinned, 1);
    for (;;) {
        pause();
    }
}

TEST(killed,
     "who only reads finds that those are dead whose pins made the pool crowded, and uses values in place again")
{
    scene s = open_full(16 * MIB);
    doomed d = {.s = &s, .has_pinned = shared_memory(sizeof(gate)), .from = s.next / 4};
    pid_t child = child_start(hold_until_killed, &d);
    gate_wait(d.has_pinned, 1);
    uint64_t from = s.next / 2;
    pin_segments(&s, s.holder[0], s.quarter / 2 + 1, &from);
    clock_ms += LONG_MS;
    larder_pins_survey(s.reader);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);

    kill(child, SIGKILL);
    EQUAL(child_wait(child), 256 + SIGKILL);
    clock_ms += LONG_MS / 2;
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY); /* not at each read */
    clock_ms += LONG_MS;
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

TEST(limbo, "while more than a quarter of the pool waits in limbo readers copy, however short their requests are")
{
    scene s = open_full(4 * MIB);
    uint32_t waiting = 0;
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.quarter / 2 + 1, &from);
    pin_segments(&s, s.holder[1], s.quarter / 2 + 1, &from);
    REQUIRE(larder_lock(s.writer));
    for (uint32_t i = 0; i < s.writer->geometry.segment_count; i++) {
        if (larder_segment_state_of(&s.writer->segments[i]) == LARDER_SEALED && s.writer->header->victim != i + 1 &&
            larder_pinned_by_any(s.writer, i)) {
            larder_empty_segment(s.writer, i);
            waiting++;
        }
    }
    larder_unlock(s.writer);
    COMPARE(waiting, >, s.quarter);
    store(&s, s.next / 2);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    larder_pool_leave(s.holder[0]);
    larder_pool_leave(s.holder[1]);
    store(&s, s.next / 2);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}
