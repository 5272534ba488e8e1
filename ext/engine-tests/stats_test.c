#include "fixture.h"

#include <sys/stat.h>
#include <unistd.h>

static larder_stats read_stats(larder_pool *pool)
{
    larder_stats stats;
    larder_stats_read(pool, &stats);
    return stats;
}

TEST(added_up, "hits, misses, sets, deletes and items add up over all processes, also those that are gone")
{
    larder_pool *first = pool_open("p", 4 * MIB), *second = pool_open("p", 4 * MIB);
    char byte;
    size_t size;
    for (uint64_t i = 0; i < 100; i++) {
        put_bytes(i % 2 == 0 ? first : second, key_number(i), "x", 1);
    }
    for (uint64_t i = 50; i < 150; i++) {
        take(i % 3 == 0 ? first : second, key_number(i), &byte, 1, &size);
    }
    for (uint64_t i = 90; i < 110; i++) {
        const larder_key key = key_number(i);
        larder_delete(second, &key);
    }
    larder_pool_close(second);
    larder_stats stats = read_stats(first);
    EQUAL(stats.counters[LARDER_SETS], 100);
    EQUAL(stats.counters[LARDER_HITS], 50);
    EQUAL(stats.counters[LARDER_MISSES], 50);
    EQUAL(stats.counters[LARDER_DELETES], 10);
    EQUAL(stats.items, 90);
    EQUAL(stats.bytes, 90 * 40);
    EQUAL(stats.processes, 1);
    larder_pool_close(first);
}

TEST(out_of_reach, "of a pool that cannot be reached there are no figures, and that is said")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_stats stats;
    put_text(pool, "k", "v");
    CHECK(larder_stats_read(pool, &stats) && stats.items == 1);
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    REQUIRE(mkdir(pool_path_of("p"), 0700) == 0);
    CHECK(!larder_stats_read(pool, &stats) && stats.items == 0);
    REQUIRE(rmdir(pool_path_of("p")) == 0);
    larder_pool_close(pool);
}

TEST(segments_add_up, "the segments of all states add up to the pool, and bytes never exceed the capacity")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    static char bytes[90000];
    for (uint64_t i = 0; i < 2000; i++) {
        put_bytes(pool, key_number(i), bytes, i % 37 == 0 ? sizeof bytes : 3000);
        larder_stats stats = read_stats(pool);
        uint64_t sum = 0;
        for (int s = 0; s < (int)LARDER_SEGMENT_STATES; s++) {
            sum += stats.segments[s];
        }
        EQUAL(sum, pool->geometry.segment_count);
        COMPARE(stats.bytes, <=, stats.capacity);
        EQUAL(stats.capacity, (uint64_t)pool->geometry.segment_count * stats.segment_bytes);
    }
    larder_pool_close(pool);
}

TEST(evictions_add_up, "what was stored is there, or was replaced, deleted, evicted or expired: each counted once")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    static char bytes[2000];
    for (uint64_t i = 0; i < 20000; i++) { /* each key once */
        put_with(pool, key_number(i), bytes, sizeof bytes - i % 500, LARDER_SET,
                 i % 5 == 0 ? clock_ms + 500 : LARDER_NO_EXPIRY);
        if (i % 7 == 0) {
            const larder_key key = key_number(i);
            larder_delete(pool, &key);
        }
        clock_ms++;
    }
    larder_stats stats = read_stats(pool);
    EQUAL(stats.counters[LARDER_SETS], stats.items + stats.counters[LARDER_DELETES] + stats.counters[LARDER_EVICTIONS] +
                                           stats.counters[LARDER_EXPIRED]);
    COMPARE(stats.counters[LARDER_EXPIRED], >, 0);
    COMPARE(stats.counters[LARDER_EVICTIONS], >, 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(oldest_pin, "the oldest pin and its owner are found")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    described what = {.key = 1, .block = true};
    larder_hit hit;
    put_described(pool, key_number(1), &what, 1000, LARDER_SET, LARDER_NO_EXPIRY);
    EQUAL(read_stats(pool).oldest_pin_ms, 0);
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_WHOLE);
    clock_ms += 1234;
    EQUAL(read_stats(pool).oldest_pin_ms, 1234);
    EQUAL(read_stats(pool).oldest_pin_process, getpid());
    larder_pool_leave(pool);
    EQUAL(read_stats(pool).oldest_pin_ms, 0);
    larder_pool_close(pool);
}
