/* Runs of segments, for large values: what they take, what they leave alone, and what their dead makers leave. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/lock.h"
#include "engine/recover.h"

TEST(up_to_half, "values up to half the pool are stored, whatever is there already; larger ones are refused")
{
    larder_pool *pool = pool_that(true);
    size_t largest = larder_largest_item(pool) - 100;
    COMPARE(largest, >=, 4 * MIB / 8 * 3);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 60000; size < largest; size += size / 3) {
            EQUAL(put_large(pool, size, size), LARDER_OK);
            CHECK(has_large(pool, size));
        }
        EQUAL(put_large(pool, 1, largest), LARDER_OK);
        CHECK(has_large(pool, 1));
        EQUAL(put_large(pool, 2, larder_largest_item(pool)), LARDER_LARGE);
        for (uint64_t i = 0; i < 3000; i++) {
            EQUAL(put_large(pool, 10000 + i, 700), LARDER_OK);
        }
        CHECK_POOL(pool);
    }
    larder_pool_close(pool);
}

TEST(run_edges, "values that just fill a segment or a run, and those a byte longer, come back whole")
{
    larder_pool *pool = pool_that(true);
    size_t segment = larder_segment_bytes(pool);
    for (size_t count = 1; count < 6; count++) {
        for (size_t size = count * segment - 64; size <= count * segment + 16; size++) {
            EQUAL(put_large(pool, size, size), LARDER_OK);
            CHECK(has_large(pool, size));
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
        EQUAL(put_large(pool, i, 100000 + i * 5000), LARDER_OK);
        const larder_key key = key_number(i);
        CHECK(larder_delete(pool, &key));
    }
    larder_stats_read(pool, &stats);
    EQUAL(stats.items, 0);
    EQUAL(stats.bytes, 0);
    EQUAL(put_large(pool, 1, larder_largest_item(pool) - 100), LARDER_OK);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(never_unpinned, "a large value is not written where its segment cannot be pinned")
{
    larder_pool *pool = pool_that(true);
    for (uint32_t i = 0; i < pool->segment_count; i++) {
        pool->pinned[i] = 7; /* what cannot be: as if it pinned earlier lives of all segments */
    }
    EQUAL(put_large(pool, 1, 300000), LARDER_PINNED);
    memset(pool->pinned, 0, pool->segment_count * sizeof *pool->pinned);
    EQUAL(put_large(pool, 1, 300000), LARDER_OK);
    CHECK(has_large(pool, 1));
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
            put_large(pool, i, 60000);
        }
        for (uint64_t skip = 0; skip < 30; skip += 3) {
            memcpy(id_seen, pool->geometry.id, sizeof id_seen);
            fault_arm(points[p], skip, open_beside);
            put_large(pool, 1000 + skip,
                      larder_largest_item(pool) - 100); /* wherever half the pool is free, its end too */
            fault_disarm();
            put_large(pool, 2000 + skip, larder_largest_item(pool) - 100);
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
    put_large(pool, 1, 300000);
    fault_disarm();
    CHECK(holds_text(pool, "login", "v"));
    EQUAL(put_large(pool, 2, 300000), LARDER_OK);
    CHECK(holds_text(pool, "login", "v"));
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}
