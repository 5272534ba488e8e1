/* The quotas of pins: what short requests pin for as long as they run is not to cover more than three eighths of the
 * pool, and what may stay for long no more than a sixteenth. Past that a read copies.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/lock.h"
#include "engine/pin.h"
#include "engine/quota.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum {
    BLOCK = 3000,
    LONG_MS = 1001, /* a request that has had its pins for so long is a long one */
    SURVEY_MS = 2   /* so long after a survey there may be another */
};

/* A pool that is full, and handles of it whose requests are short: two that hold much, and one that reads. */
typedef struct scene {
    larder_pool *holder[2], *reader, *writer;
    uint64_t next;                              /* number of the block that is stored next */
    uint32_t three_eighths, quarter, sixteenth; /* of the segments */
} scene;

static void divide(scene *s, const larder_pool *pool)
{
    s->three_eighths = pool->geometry.segment_count / 8 * 3;
    s->quarter = pool->geometry.segment_count / 4;
    s->sixteenth = pool->geometry.segment_count / 16;
}

static scene open_full(uint64_t size)
{
    scene s = {.next = 0};
    s.holder[0] = pool_timed(size, true);
    s.holder[1] = pool_timed(size, true);
    s.reader = pool_timed(size, true);
    s.writer = pool_timed(size, true);
    divide(&s, s.writer);
    while (s.next < size / BLOCK) {
        EQUAL(put_block(s.writer, s.next++, BLOCK), LARDER_OK);
    }
    larder_pool_leave(s.holder[0]);
    larder_pool_leave(s.holder[1]);
    larder_pool_leave(s.reader);
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

/* As what the block of that number is handed out. */
static enum larder_hold hold_of(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(number), number, &what, &hit), READ_WHOLE);
    return hit.hold;
}

static enum larder_hold hold_of_last(const scene *s, larder_pool *pool)
{
    return hold_of(pool, s->next - 1);
}

/* Reads blocks from that number on until so many segments are pinned, and passes by the rest of the last one: the next
 * reads begin in others. */
static void pin_segments(const scene *s, larder_pool *pool, uint32_t count, uint64_t *from)
{
    for (; pool->request.pinned_count < count; ++*from) {
        REQUIRE(*from < s->next);
        has_block(pool, *from);
    }
    *from += larder_segment_bytes(pool) / BLOCK + 1;
}

/* Reads all blocks from that number on. How many segments does the process pin then? */
static uint32_t pin_all(const scene *s, larder_pool *pool, uint64_t from)
{
    for (; from < s->next; from++) {
        has_block(pool, from);
    }
    return pool->request.pinned_count;
}

static uint32_t covered(const larder_pool *pool, enum larder_quota quota)
{
    return pool->header->covered[quota];
}

TEST(together, "all short requests together pin three eighths of the pool at most, and past that they copy")
{
    scene s = open_full(16 * MIB);
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.three_eighths / 2, &from);
    pin_segments(&s, s.holder[1], s.three_eighths / 2, &from);
    EQUAL(pin_all(&s, s.reader, from), s.three_eighths - s.three_eighths / 2 * 2);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    EQUAL(covered(s.reader, LARDER_QUOTA_OF_ALL), s.three_eighths);

    larder_pool_leave(s.holder[0]);
    clock_ms += SURVEY_MS;
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

TEST(shared, "readers of the same values share their place in the quota, until it is used up")
{
    scene s = open_full(16 * MIB);
    uint64_t from = s.next / 4, shared = s.next / 2, one = shared, two = shared;
    pin_segments(&s, s.holder[0], s.three_eighths / 2, &one);
    pin_segments(&s, s.holder[1], s.three_eighths / 2, &two);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), s.three_eighths / 2);
    while (!has_block(s.reader, shared)) {
        shared++;
    }
    EQUAL(hold_of(s.reader, shared), LARDER_HELD);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), s.three_eighths / 2);
    larder_pool_leave(s.reader);

    EQUAL(pin_all(&s, s.holder[1], from), s.three_eighths);
    EQUAL(hold_of(s.reader, shared), LARDER_BRIEFLY); /* else this would never be emptied */
    close_all(&s);
}

TEST(unknown, "processes that have not ended a short request pin a sixteenth of the pool together")
{
    scene s = open_full(16 * MIB);
    larder_pool *daemon[2] = {pool_timed(0, true), pool_timed(0, true)};
    uint64_t from = s.next / 4;
    pin_segments(&s, daemon[0], s.sixteenth / 2, &from);
    EQUAL(pin_all(&s, daemon[1], from), s.sixteenth - s.sixteenth / 2);
    EQUAL(hold_of_last(&s, daemon[1]), LARDER_BRIEFLY);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD); /* its request before was short */
    larder_pool_leave(s.reader);

    larder_pool_leave(daemon[1]); /* so was this */
    clock_ms += SURVEY_MS;
    COMPARE(pin_all(&s, daemon[1], from), >, s.sixteenth);
    clock_ms += LONG_MS;
    larder_pool_leave(daemon[1]); /* and this was not */
    clock_ms += SURVEY_MS;
    EQUAL(pin_all(&s, daemon[1], from), s.sixteenth - s.sixteenth / 2);
    larder_pool_close(daemon[0]);
    larder_pool_close(daemon[1]);
    close_all(&s);
}

TEST(expected, "a process that serves a site has the part of short requests from its first one on, until that is long")
{
    scene s = open_full(16 * MIB);
    larder_pool_config config = s.writer->config;
    config.short_requests = true;
    larder_pool *worker = pool_open_as(&config);
    COMPARE(pin_all(&s, worker, 0), >, s.sixteenth);
    clock_ms += LONG_MS;
    larder_pool_leave(worker);
    clock_ms += SURVEY_MS;
    EQUAL(pin_all(&s, worker, 0), s.sixteenth);
    larder_pool_close(worker);
    close_all(&s);
}

TEST(alone, "a process that is alone in the pool pins a quarter, however long its request is, until another comes")
{
    larder_pool *first = pool_timed(16 * MIB, true);
    scene s = {.next = 0};
    divide(&s, first);
    while (s.next < 16 * MIB / BLOCK) {
        EQUAL(put_block(first, s.next++, BLOCK), LARDER_OK);
    }
    EQUAL(pin_all(&s, first, s.next / 4), s.quarter);
    larder_pool_leave(first);

    uint64_t from = s.next / 4;
    pin_segments(&s, first, s.quarter / 2, &from);
    clock_ms += LONG_MS;
    EQUAL(hold_of_last(&s, first), LARDER_HELD);
    larder_pool *second = pool_timed(0, true);
    EQUAL(hold_of(first, s.next - larder_segment_bytes(first) / BLOCK * 3), LARDER_BRIEFLY);
    larder_pool_close(second);
    clock_ms += LONG_MS;
    EQUAL(hold_of(first, s.next - larder_segment_bytes(first) / BLOCK * 3), LARDER_HELD);
    larder_pool_close(first);
}

/* Reads from that block on until it copies, goes on for more than a second, and then another process comes. */
static larder_pool *pin_while_alone(scene *s, uint64_t from)
{
    larder_pool *first = pool_timed(16 * MIB, true);
    divide(s, first);
    while (s->next < 16 * MIB / BLOCK) {
        EQUAL(put_block(first, s->next++, BLOCK), LARDER_OK);
    }
    EQUAL(pin_all(s, first, from), s->quarter);
    clock_ms += LONG_MS;
    return first;
}

TEST(after_alone, "what a process has pinned while it was alone takes nothing from the short requests of others")
{
    scene s = {.next = 0};
    larder_pool *first = pin_while_alone(&s, 16 * MIB / BLOCK / 2), *page = pool_timed(0, true);
    uint64_t from = 16 * MIB / BLOCK / 8;
    larder_pool_leave(page);
    pin_segments(&s, page, s.three_eighths, &from);
    EQUAL(hold_of_last(&s, page), LARDER_BRIEFLY);
    COMPARE(covered(page, LARDER_QUOTA_OF_ALL), <=, s.quarter + s.three_eighths);

    larder_pool *daemon = pool_timed(0, true);
    EQUAL(hold_of(daemon, s.next - 1), LARDER_BRIEFLY);
    larder_pool_close(daemon);
    larder_pool_close(page);
    larder_pool_close(first);
}

TEST(one_after_the_other, "requests that become long one after the other never pin more than five eighths of the pool")
{
    scene s = open_full(16 * MIB);
    uint64_t from = s.next / 8;
    pin_segments(&s, s.holder[0], s.three_eighths, &from);
    clock_ms += LONG_MS;
    uint32_t more = pin_all(&s, s.holder[1], from);
    clock_ms += LONG_MS;
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    larder_quota_survey(s.reader);
    EQUAL(covered(s.reader, LARDER_QUOTA_OF_ALL), s.three_eighths + s.quarter);
    EQUAL(more, s.quarter);
    close_all(&s);
}

TEST(grown_long, "short requests that become long count as long ones, and pin no more than these")
{
    scene s = open_full(16 * MIB);
    larder_pool *daemon = pool_timed(0, true);
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.sixteenth + 1, &from);
    clock_ms += LONG_MS;
    EQUAL(hold_of_last(&s, daemon), LARDER_BRIEFLY);
    EQUAL(hold_of_last(&s, s.holder[0]), LARDER_BRIEFLY);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    EQUAL(s.holder[0]->request.pinned_count, s.sixteenth + 1);
    larder_pool_close(daemon);
    close_all(&s);
}

TEST(not_at_each_read, "the pins of all are surveyed once in some milliseconds, and not at each read")
{
    scene s = open_full(16 * MIB);
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.three_eighths, &from);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    larder_pool_leave(s.holder[0]);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    clock_ms += SURVEY_MS;
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

TEST(makes_way, "a request that the quota made copy gives it back as it ends")
{
    scene s = open_full(16 * MIB);
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.three_eighths, &from);
    EQUAL(hold_of_last(&s, s.holder[0]), LARDER_BRIEFLY);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);
    larder_pool_leave(s.holder[0]);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

TEST(whole_runs, "all segments of a large value count")
{
    enum { VALUES = 12, SEGMENTS_EACH = 10 };
    scene s = open_full(16 * MIB);
    size_t size = (SEGMENTS_EACH - 1) * (size_t)larder_segment_bytes(s.writer) + 100;
    uint64_t larger = s.next + VALUES;
    for (uint64_t i = s.next; i < s.next + VALUES; i++) {
        EQUAL(put_block(s.writer, i, size), LARDER_OK);
    }
    uint32_t held = 0;
    EQUAL(hold_of(s.holder[0], s.next), LARDER_HELD);
    EQUAL(hold_of(s.reader, s.next), LARDER_HELD); /* the same value */
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), SEGMENTS_EACH);
    for (uint64_t i = s.next; i < s.next + VALUES; i++) {
        held += hold_of(s.holder[0], i) == LARDER_HELD;
    }
    EQUAL(held, s.three_eighths / SEGMENTS_EACH);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), held * SEGMENTS_EACH);
    larder_quota_survey(s.writer);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), held * SEGMENTS_EACH);
    larder_pool_leave(s.holder[0]);
    larder_pool_leave(s.reader);
    larder_quota_survey(s.writer);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), 0);

    uint64_t from = s.next / 4; /* what is covered already needs no room for all of its segments */
    EQUAL(hold_of(s.holder[0], s.next), LARDER_HELD);
    pin_segments(&s, s.holder[1], s.three_eighths - SEGMENTS_EACH - 1, &from);
    EQUAL(hold_of(s.reader, s.next + 1), LARDER_BRIEFLY);
    EQUAL(hold_of(s.reader, s.next), LARDER_HELD);
    larder_pool_leave(s.holder[0]);
    larder_pool_leave(s.holder[1]);
    larder_pool_leave(s.reader);

    EQUAL(put_block(s.writer, larger, (s.three_eighths + 1) * (size_t)larder_segment_bytes(s.writer) - 100), LARDER_OK);
    EQUAL(hold_of(s.reader, larger), LARDER_BRIEFLY);
    close_all(&s);
}

TEST(left_covered, "where a smaller value has left its segment covered, a larger one in its place counts that once")
{
    scene s = open_full(16 * MIB);
    EQUAL(put_block(s.writer, s.next, 4 * (size_t)larder_segment_bytes(s.writer)), LARDER_OK);
    EQUAL(hold_of(s.holder[0], s.next), LARDER_HELD);
    uint32_t head = s.holder[0]->request.pinned_list[0], run = larder_run_of(s.holder[0], head);
    COMPARE(run, >, 1);
    larder_pool_leave(s.holder[0]);
    larder_quota_survey(s.writer);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), 0);
    /* As until the next survey after the end of a request. */
    atomic_fetch_or(&s.writer->covered[LARDER_QUOTA_OF_ALL][head / 64], UINT64_C(1) << head % 64);
    atomic_store(&s.writer->header->covered[LARDER_QUOTA_OF_ALL], 1);
    EQUAL(hold_of(s.reader, s.next), LARDER_HELD);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), run);
    close_all(&s);
}

TEST(limbo, "what waits in limbo counts once, and no longer than it is pinned")
{
    scene s = open_full(16 * MIB);
    uint32_t waiting = 0;
    uint64_t from = s.next / 4;
    pin_segments(&s, s.holder[0], s.three_eighths - 2, &from);
    REQUIRE(larder_lock(s.writer));
    for (uint32_t i = 0; i < s.writer->geometry.segment_count; i++) {
        if (larder_segment_state_of(&s.writer->segments[i]) == LARDER_SEALED && s.writer->header->victim != i + 1 &&
            larder_pinned_by_any(s.writer, i)) {
            larder_empty_segment(s.writer, i);
            waiting++;
        }
    }
    larder_unlock(s.writer);
    COMPARE(waiting, >, s.three_eighths / 2);
    larder_quota_survey(s.writer);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), s.three_eighths - 2);
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    larder_pool_leave(s.holder[0]);
    larder_quota_survey(s.writer);
    EQUAL(covered(s.writer, LARDER_QUOTA_OF_ALL), 1);
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
    larder_pool_leave(pool);
    pin_segments(d->s, pool, d->s->three_eighths, &d->from);
    gate_open(d->has_pinned, 1);
    for (;;) {
        pause();
    }
}

TEST(killed, "the pins of the dead use up a quota for a second at most, where nothing is stored, too")
{
    scene s = open_full(16 * MIB);
    doomed d = {.s = &s, .has_pinned = shared_memory(sizeof(gate)), .from = s.next / 4};
    pid_t child = child_start(hold_until_killed, &d);
    gate_wait(d.has_pinned, 1);
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY);

    kill(child, SIGKILL);
    EQUAL(child_wait(child), 256 + SIGKILL);
    clock_ms += LONG_MS / 2;
    EQUAL(hold_of_last(&s, s.reader), LARDER_BRIEFLY); /* not at each survey */
    clock_ms += LONG_MS;
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    larder_quota_survey(s.reader);
    EQUAL(covered(s.reader, LARDER_QUOTA_OF_ALL), 1);
    close_all(&s);
}

static void hold_what_was_inherited(void *context)
{
    doomed *d = context;
    gate_open(d->has_pinned, 1);
    for (;;) {
        pause();
    }
}

TEST(forked, "what a child holds of its parent's counts as long as the child does")
{
    scene s = open_full(16 * MIB);
    doomed d = {.s = &s, .has_pinned = shared_memory(sizeof(gate)), .from = s.next / 4};
    pin_segments(&s, s.holder[0], s.three_eighths / 2, &d.from);
    pid_t child = child_start(hold_what_was_inherited, &d);
    gate_wait(d.has_pinned, 1);
    larder_pool_leave(s.holder[0]);
    larder_quota_survey(s.reader);
    EQUAL(covered(s.reader, LARDER_QUOTA_OF_ALL), s.three_eighths / 2);
    EQUAL(covered(s.reader, LARDER_QUOTA_OF_LONG), s.three_eighths / 2); /* it has ended no request itself */
    kill(child, SIGKILL);
    EQUAL(child_wait(child), 256 + SIGKILL);
    clock_ms += LONG_MS;
    larder_quota_survey(s.reader);
    EQUAL(covered(s.reader, LARDER_QUOTA_OF_ALL), 0);
    close_all(&s);
}

TEST(a_new_owner, "the next process in a slot is not known for the short requests of the one before")
{
    scene s = open_full(4 * MIB);
    larder_pool *first = pool_timed(0, true);
    uint32_t slot = first->writer.slot_index;
    larder_pool_leave(first);
    larder_pool_close(first);
    larder_pool *second = pool_timed(0, true);
    EQUAL(second->writer.slot_index, slot);
    EQUAL(pin_all(&s, second, 0), s.sixteenth);
    larder_pool_close(second);
    close_all(&s);
}

TEST(own_share,
     "whatever the figures say, a process pins no more than three eighths of the pool, or a quarter for long")
{
    scene s = open_full(4 * MIB);
    for (uint64_t i = 0; i < s.next; i++) {
        s.reader->header->covered[LARDER_QUOTA_OF_ALL] = 0;
        has_block(s.reader, i);
    }
    EQUAL(s.reader->request.pinned_count, s.three_eighths);
    larder_pool *daemon = pool_timed(0, true);
    for (uint64_t i = 0; i < s.next; i++) {
        s.reader->header->covered[LARDER_QUOTA_OF_ALL] = s.reader->header->covered[LARDER_QUOTA_OF_LONG] = 0;
        s.reader->header->lonely = 1;
        has_block(daemon, i);
    }
    EQUAL(daemon->request.pinned_count, s.quarter);
    larder_pool_close(daemon);
    larder_pool_leave(s.reader);
    s.reader->header->covered[LARDER_QUOTA_OF_ALL] = UINT32_MAX / 2; /* nor do they keep it from pinning for long */
    clock_ms += SURVEY_MS;
    EQUAL(hold_of_last(&s, s.reader), LARDER_HELD);
    close_all(&s);
}

/* ---- figures and pins ---- */

enum { HANDLES = 6, STEPS = 3000 };

/* The segments that these handles keep, by what they have written down themselves. */
static uint32_t count_kept(larder_pool **pools, uint8_t *is_kept)
{
    uint32_t count = 0;
    memset(is_kept, 0, pools[0]->geometry.segment_count);
    for (int h = 0; h < HANDLES; h++) {
        for (uint32_t i = 0; i < pools[h]->request.pinned_count; i++) {
            uint32_t head = pools[h]->request.pinned_list[i];
            memset(is_kept + head, 1, larder_run_of(pools[h], head));
        }
    }
    for (uint32_t i = 0; i < pools[0]->geometry.segment_count; i++) {
        count += is_kept[i];
    }
    return count;
}

TEST(figures, "each segment that is kept has its bit, bits are counted, and a survey finds as many as are kept")
{
    larder_pool *pools[HANDLES];
    rng r = {test_seed()};
    for (int h = 0; h < HANDLES; h++) {
        pools[h] = pool_timed(16 * MIB, true);
        larder_pool_leave(pools[h]);
    }
    uint8_t *is_kept = calloc(pools[0]->geometry.segment_count, 1);
    uint32_t most = pools[0]->attached.most_short, peak = 0;
    for (int step = 0; step < STEPS; step++) {
        larder_pool *pool = pools[rng_below(&r, HANDLES)];
        uint64_t number = rng_below(&r, 3000);
        if (!has_block(pool, number)) {
            put_block(pool, number, rng_below(&r, 50) == 0 ? 100000 + rng_below(&r, 600000) : BLOCK);
        }
        if (rng_below(&r, 100) == 0) {
            larder_pool_leave(pool);
            clock_ms += SURVEY_MS;
        }
        uint32_t kept = count_kept(pools, is_kept);
        peak = kept > peak ? kept : peak;
        COMPARE(kept, <=, most);
        uint32_t bits = 0;
        for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
            bool has_bit = (pool->covered[LARDER_QUOTA_OF_ALL][i / 64] >> i % 64 & 1) != 0;
            CHECK(is_kept[i] == 0 || has_bit);
            bits += has_bit;
        }
        EQUAL(covered(pool, LARDER_QUOTA_OF_ALL), bits);
        if (step % 50 == 0) {
            larder_quota_survey(pool);
            EQUAL(covered(pool, LARDER_QUOTA_OF_ALL), kept);
            EQUAL(covered(pool, LARDER_QUOTA_OF_LONG), 0);
        }
    }
    COMPARE(peak, >=, most / 2);
    free(is_kept);
    for (int h = 0; h < HANDLES; h++) {
        larder_pool_close(pools[h]);
    }
}
