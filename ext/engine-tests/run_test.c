/* Runs of segments, for large values: what they take, what they leave alone, and what their dead makers leave. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/evict.h"
#include "engine/lock.h"

#include <signal.h>

TEST(up_to_half, "values up to half the pool are stored, whatever is there already; larger ones are refused")
{
    larder_pool *pool = pool_that(true);
    size_t largest = larder_largest_item(pool) - 100;
    COMPARE(largest, >=, 4 * MIB / 8 * 3);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 60000; size < largest; size += size / 3) {
            EQUAL(put_block(pool, size, size), LARDER_OK);
            CHECK(has_block(pool, size));
            larder_pool_leave(pool);
        }
        EQUAL(put_block(pool, 1, largest), LARDER_OK);
        CHECK(has_block(pool, 1));
        larder_pool_leave(pool);
        EQUAL(put_block(pool, 2, larder_largest_item(pool)), LARDER_LARGE);
        for (uint64_t i = 0; i < 3000; i++) {
            EQUAL(put_block(pool, 10000 + i, 700), LARDER_OK);
        }
        CHECK_POOL(pool);
    }
    larder_pool_close(pool);
}

/* Of blocks that were stored under `count` keys, that often in turn, each where it is missing: how many are there? */
static uint32_t kept_of(larder_pool *pool, uint64_t first, uint32_t count, size_t size)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < 3 * count; i++) {
        if (!has_block(pool, first + i % count)) {
            EQUAL(put_block(pool, first + i % count, size), LARDER_OK);
        }
        larder_pool_leave(pool);
    }
    for (uint32_t i = 0; i < count; i++) {
        kept += has_block(pool, first + i);
        larder_pool_leave(pool);
    }
    return kept;
}

TEST(runs_stay, "large values stay beside small ones in a full pool, however much of a run they leave empty")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    for (size_t percent = 102; percent <= 300; percent += 49) {
        for (uint64_t i = 0; i < 70000; i++) {
            EQUAL(put_block(pool, 10000 + i, 1000), LARDER_OK);
        }
        EQUAL(kept_of(pool, percent * 20, 20, larder_segment_bytes(pool) / 100 * percent), 20);
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(run_edges, "values that just fill a segment or a run, and those a byte longer, come back whole")
{
    larder_pool *pool = pool_that(true);
    size_t segment = larder_segment_bytes(pool);
    for (size_t count = 1; count < 6; count++) {
        for (size_t size = count * segment - 64; size <= count * segment + 16; size++) {
            EQUAL(put_block(pool, size, size), LARDER_OK);
            CHECK(has_block(pool, size));
            larder_pool_leave(pool);
        }
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(runs_do_not_leak, "runs that are deleted or evicted give all of their segments back")
{
    larder_pool *pool = pool_that(false);
    larder_stats stats;
    for (uint64_t i = 0; i < 200; i++) {
        EQUAL(put_block(pool, i, 100000 + i * 5000), LARDER_OK);
        const larder_key key = key_number(i);
        CHECK(larder_delete(pool, &key));
    }
    larder_stats_read(pool, &stats);
    EQUAL(stats.items, 0);
    EQUAL(stats.bytes, 0);
    EQUAL(put_block(pool, 1, larder_largest_item(pool) - 100), LARDER_OK);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(never_unpinned, "a large value is not written where its segment cannot be pinned")
{
    larder_pool *pool = pool_that(true);
    for (uint32_t i = 0; i < pool->segment_count; i++) {
        pool->pinned[i] = 7; /* what cannot be: as if it pinned earlier lives of all segments */
    }
    EQUAL(put_block(pool, 1, 300000), LARDER_PINNED);
    memset((void *)pool->pinned, 0, pool->segment_count * sizeof *pool->pinned);
    EQUAL(put_block(pool, 1, 300000), LARDER_OK);
    CHECK(has_block(pool, 1));
    larder_pool_leave(pool);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(dead_run_maker, "a run that its dead maker left half made is taken apart, and none of its segments lost")
{
    larder_pool *pool = pool_that(true);
    larder_stats before, after;
    larder_stats_read(pool, &before);
    for (uint32_t i = 10; i < 14; i++) { /* claimed, or freed in part */
        pool->segments[i].state = LARDER_TAIL;
        pool->segments[i].run = i < 12 ? 4 : 0;
        pool->segments[i].list = LARDER_LISTS;
    }
    REQUIRE(larder_lock(pool));
    larder_segments_recover(pool);
    larder_unlock(pool);
    larder_stats_read(pool, &after);
    EQUAL(after.segments[LARDER_FREE], before.segments[LARDER_FREE]);
    EQUAL(after.segments[LARDER_TAIL], 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

/* ---- opening in the middle of things ------------------------------------------------------------------------ */

static uint8_t id_seen[16];

static void open_beside(void)
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    memcpy(id_seen, pool->geometry.id, sizeof id_seen);
    larder_pool_close(pool);
}

TEST(opened_meanwhile,
     "a pool that is opened while another process makes a run or changes a list is not taken for damaged")
{
    static const unsigned points[] = {LARDER_AT_CLEAR_WORD, LARDER_AT_LIMBO,  LARDER_AT_FREE, LARDER_AT_LINK,
                                      LARDER_AT_UNLINK,     LARDER_AT_OPEN,   LARDER_AT_SEAL, LARDER_AT_ACCOUNT,
                                      LARDER_AT_MOVE,       LARDER_AT_PUBLISH};
    larder_pool *pool = pool_that(true);
    for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
        for (uint64_t i = 0; i < 60; i++) {
            put_block(pool, i, 60000);
        }
        for (uint64_t skip = 0; skip < 30; skip += 3) {
            memcpy(id_seen, pool->geometry.id, sizeof id_seen);
            fault_arm(points[p], skip, open_beside);
            put_block(pool, 1000 + skip,
                      larder_largest_item(pool) - 100); /* wherever half the pool is free, its end too */
            fault_disarm();
            put_block(pool, 2000 + skip, larder_largest_item(pool) - 100);
            EQUAL(memcmp(id_seen, pool->geometry.id, sizeof id_seen), 0);
        }
    }
    /* The last segment of a list is being taken off: its first is none already, its count still one. */
    REQUIRE(larder_lock(pool));
    larder_list_ends saved = pool->header->lists[LARDER_LIST_FREE];
    pool->header->lists[LARDER_LIST_FREE] = (larder_list_ends){LARDER_NO_SEGMENT, LARDER_NO_SEGMENT, 1, 0};
    pool->segments[pool->geometry.segment_count - 1].run += 20; /* as in a window that is being claimed */
    open_beside();
    EQUAL(memcmp(id_seen, pool->geometry.id, sizeof id_seen), 0);
    pool->segments[pool->geometry.segment_count - 1].run -= 20;
    pool->header->lists[LARDER_LIST_FREE] = saved;
    larder_unlock(pool);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

/* ---- where nothing may be dropped -------------------------------------------------------------------------- */

static larder_pool *beside;

static void log_in(void)
{
    EQUAL(put_text(beside, "login", "v"), LARDER_OK);
}

TEST(written_meanwhile,
     "what is stored in an open segment that a run is about to take stays, in a pool that does not evict")
{
    larder_pool *pool = pool_that(false);
    beside = pool_that(false);
    put_text(pool, "login", "v");
    const larder_key key = key_of("login");
    CHECK(larder_delete(pool, &key));
    fault_arm(LARDER_AT_SEAL, 0, log_in);
    put_block(pool, 1, 300000);
    fault_disarm();
    CHECK(holds_text(pool, "login", "v"));
    EQUAL(put_block(pool, 2, 300000), LARDER_OK);
    CHECK(holds_text(pool, "login", "v"));
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

/* Half full, and nowhere are two neighbours free: the values' places were given up at random. */
static void fill_half_of(larder_pool *pool, rng *random, uint64_t *count)
{
    larder_stats stats;
    larder_stats_read(pool, &stats);
    for (*count = 0; stats.bytes < stats.capacity / 2; ++*count) {
        EQUAL(put_block(pool, *count, 200 + rng_below(random, 3000)), LARDER_OK);
        larder_stats_read(pool, &stats);
    }
    for (uint64_t i = 0; i < 6 * *count; i++) {
        EQUAL(put_block(pool, rng_below(random, *count), 200 + rng_below(random, 3000)), LARDER_OK);
    }
    larder_pool_leave(pool);
}

TEST(moved_aside,
     "what lives in the way of a large value is moved, where nothing is evicted and half of the pool is free")
{
    larder_pool *pool = pool_that(false);
    rng random = {.state = 11};
    uint64_t count, large = 100000;
    fill_half_of(pool, &random, &count);
    for (uint64_t i = 0; i < 300; i++) {
        size_t size = larder_segment_bytes(pool) * (1 + rng_below(&random, 4)) + rng_below(&random, 2000);
        EQUAL(put_block(pool, large + i % 3, size), LARDER_OK);
        larder_pool_leave(pool);
        for (uint64_t n = 0; n < 20; n++) {
            EQUAL(put_block(pool, rng_below(&random, count), 200 + rng_below(&random, 3000)), LARDER_OK);
        }
        larder_pool_leave(pool);
    }
    for (uint64_t i = 0; i < count; i++) {
        CHECK(has_block(pool, i));
    }
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(has_block(pool, large + i));
    }
    larder_pool_leave(pool);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.counters[LARDER_EVICTIONS], 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

#define LASTS 10u /* seconds */

/* A pool that does not evict, with the clock of the tests. */
static larder_pool *open_lasting(void)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = false;
    config.now = clock_now;
    return pool_open_as(&config);
}

/* Tenths of it, from that number on, until it is full. How many? */
static uint64_t fill_with_runs(larder_pool *pool, uint64_t first)
{
    enum larder_result result = LARDER_OK;
    uint64_t count = 0;
    do {
        described what = {.key = first + count, .version = 1, .block = true};
        result = put_described(pool, key_number(what.key), &what, larder_largest_item(pool) / 5, LARDER_SET,
                               larder_expiry(clock_ms, LASTS));
        count += result == LARDER_OK;
    } while (result == LARDER_OK);
    EQUAL(result, LARDER_FULL);
    COMPARE(count, >=, 8);
    return count;
}

TEST(expired_runs, "large values that have expired make way for others, in a pool that does not evict, too")
{
    larder_pool *pool = open_lasting();
    for (uint64_t round = 0; round < 3; round++) {
        fill_with_runs(pool, round * 1000);
        clock_ms += (LASTS + 1) * 1000;
    }
    EQUAL(put_block(pool, 5000, larder_largest_item(pool) - 100), LARDER_OK);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.counters[LARDER_EVICTIONS], 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

static bool touched[100];

/* By a process whose clock is late. */
static void touch_all(void)
{
    clock_ms -= 2000;
    for (uint64_t i = 0; i < sizeof touched / sizeof touched[0]; i++) {
        const larder_key key = key_number(i);
        touched[i] = larder_touch(beside, &key, larder_expiry(clock_ms, 10 * LASTS));
    }
    clock_ms += 2000;
}

TEST(touched_meanwhile, "what is given a longer time to live while a run is about to take its place stays")
{
    larder_pool *pool = open_lasting();
    beside = open_lasting();
    uint64_t count = fill_with_runs(pool, 0), there = 0;
    clock_ms += (LASTS + 1) * 1000;
    fault_arm(LARDER_AT_VOID, 0, touch_all);
    EQUAL(put_block(pool, 5000, larder_largest_item(pool) - 100), LARDER_FULL);
    fault_disarm();
    for (uint64_t i = 0; i < count; i++) {
        const larder_key key = key_number(i);
        EQUAL(larder_exists(pool, &key), touched[i]);
        there += touched[i];
    }
    EQUAL(there, count - 1);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

/* ---- what cannot be found ------------------------------------------------------------------------------------- */

static void die(void)
{
    raise(SIGKILL);
}

/* A process that is killed between a word and the account of it. */
typedef struct death {
    unsigned point;
    bool existed, deletes;
    uint64_t skip;
    size_t size;
} death;

static void run_into(void *context)
{
    const death *its = context;
    const larder_key key = key_number(1);
    fault_arm(its->point, its->skip, die);
    if (its->deletes) {
        larder_delete(beside, &key);
    } else {
        put_block(beside, 1, its->size);
    }
}

static void die_so(death *its)
{
    const larder_key key = key_number(1);
    if (its->existed) {
        EQUAL(put_block(beside, 1, its->size), LARDER_OK);
    }
    EQUAL(child_wait(child_start(run_into, its)), 256 + SIGKILL);
    larder_delete(beside, &key);
}

TEST(killed_in_between,
     "a large value that its killed writer or deleter left without a word gives all of its segments back")
{
    beside = pool_that(false);
    size_t third = larder_largest_item(beside) * 2 / 3;
    death deaths[] = {{LARDER_AT_PUBLISH, false, false, 0, third},
                      {LARDER_AT_REPLACE, true, false, 0, third},
                      {LARDER_AT_ACCOUNT, true, false, 1, third},
                      {LARDER_AT_ACCOUNT, true, true, 0, third}};
    for (size_t i = 0; i < sizeof deaths / sizeof deaths[0]; i++) {
        for (int times = 0; times < 4; times++) {
            die_so(&deaths[i]);
        }
        EQUAL(put_block(beside, 2, larder_largest_item(beside) - 100), LARDER_OK);
        const larder_key key = key_number(2);
        CHECK(larder_delete(beside, &key));
        CHECK_POOL_AFTER_DEATHS(beside);
    }
    larder_pool_close(beside);
}

static uint64_t fill_up(size_t size)
{
    uint64_t count = 0;
    while (count < 1000 && put_block(beside, 10 + count, size) == LARDER_OK) {
        count++;
    }
    for (uint64_t i = 0; i < count; i++) {
        const larder_key key = key_number(10 + i);
        CHECK(larder_delete(beside, &key));
    }
    return count;
}

TEST(killed_in_a_segment, "so do up to eight that fill a segment without others")
{
    for (uint64_t each = 1; each <= LARDER_LEFT_AT_MOST; each = each == 1 ? 2 : each + 3) {
        beside = pool_that(false);
        death its = {LARDER_AT_PUBLISH, false, false, 0, larder_segment_bytes(beside) / each - 100};
        uint64_t count = fill_up(its.size);
        COMPARE(count, >, 20 * each);
        for (uint64_t times = 0; times < 10 * each; times++) {
            die_so(&its);
        }
        COMPARE(fill_up(its.size), >, count - each); /* one segment may have room for more of them */
        CHECK_POOL_AFTER_DEATHS(beside);
        larder_pool_close(beside);
        EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    }
}
