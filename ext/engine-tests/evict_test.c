/* Making room: what goes, and what stays, and what it costs. */
#include "fixture.h"

#include "engine/evict.h"
#include "engine/ghost.h"
#include "engine/pin.h"

static void keeps_serving(uint64_t size, size_t least, size_t most)
{
    larder_pool *pool = pool_timed(size, true);
    rng r = {test_seed()};
    larder_stats stats = {.capacity = 0};
    uint64_t bytes = 0, peak = 0, refused = 0, total = 10 * size, low = UINT64_MAX;
    for (uint64_t i = 0; bytes < total; i++) {
        size_t length = least + rng_below(&r, most - least + 1);
        refused += put_block(pool, i, length) != LARDER_OK;
        bytes += length;
        CHECK(has_block(pool, i));
        if (i > 50) {
            has_block(pool, i - rng_below(&r, 50));
        }
        if (i % 64 == 0) {
            larder_pool_leave(pool);
            larder_stats_read(pool, &stats);
            peak = stats.bytes > peak ? stats.bytes : peak;
            if (bytes > 2 * size) {
                low = stats.bytes < low ? stats.bytes : low;
            }
        }
    }
    EQUAL(refused, 0);
    COMPARE(low * 100, >=, peak * 85);
    COMPARE(low, >=, stats.capacity / 100 * 70);
    CHECK_POOL(pool);
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
}

TEST(filled_ten_times,
     "a pool filled to ten times its size stores every value, never wipes, and holds above 85 % of its most")
{
    keeps_serving(4 * MIB, 40, 400);
    keeps_serving(16 * MIB, 40, 40);
    keeps_serving(8 * MIB, 100, 10000);
    keeps_serving(16 * MIB, 40, 100000);
}

/* Reads what is popular and stores what is missing, in requests of so many reads. Of a thousand stores, how many moved
 * more than a store is to move at once? */
static uint64_t slow_stores(unsigned reads_of_a_request)
{
    larder_pool *pool = pool_timed(8 * MIB, true);
    rng r = {1}; /* the same each time: it is close, and one sequence in ten has 36 to 43 of 35,000 */
    const uint64_t size = 8000, most = larder_segment_bytes(pool) / size + 1;
    uint64_t stores = 0, slow = 0;
    for (unsigned reads = 0; reads < 60000; reads++) {
        uint64_t number = rng_below(&r, rng_below(&r, 4 * 8 * MIB / size) + 1);
        const larder_key key = key_number(number);
        larder_hit hit;
        clock_ms += reads % 50 == 0;
        if (reads % reads_of_a_request == 0) {
            larder_pool_leave(pool);
        }
        if (larder_get(pool, &key, &hit)) {
            if (hit.hold != LARDER_HELD) {
                larder_hit_drop(pool, &hit);
            }
            continue;
        }
        uint64_t before = atomic_load(&pool->slot->counter[LARDER_MOVES]);
        EQUAL(put_block(pool, number, size), LARDER_OK);
        stores++;
        slow += atomic_load(&pool->slot->counter[LARDER_MOVES]) - before > most;
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
    COMPARE(stores, >, 10000);
    return slow * 1000 / stores;
}

TEST(slow_stores_are_rare,
     "of a thousand stores in a full pool none makes room for the others, whether requests are long or short")
{
    EQUAL(slow_stores(1), 0);
    EQUAL(slow_stores(500), 0);
    EQUAL(slow_stores(UINT32_MAX), 0);
}

/* ---- what it costs to look ------------------------------------------------------------------------------- */

/* Stores items of that size, one after the other. How often did most of them look at a segment's pins? What the slowest
 * of twenty do is left out: they make room for the others at once. */
static uint64_t looks_of_most(larder_pool *pool, uint64_t first, size_t size, unsigned stores)
{
    static const char bytes[1000];
    unsigned counts[1024] = {0}, refused = 0;
    for (unsigned i = 0; i < stores; i++) {
        uint64_t before = fault_count(LARDER_AT_LOOK);
        refused += put_bytes(pool, key_number(first + i), bytes, size) != LARDER_OK;
        uint64_t looks = fault_count(LARDER_AT_LOOK) - before;
        counts[looks < 1023 ? looks : 1023]++;
    }
    EQUAL(refused, 0);
    uint64_t most = 1023;
    for (unsigned more = 0; most > 0 && (more += counts[most]) * 20 < stores;) {
        most--;
    }
    return most;
}

TEST(looks_in_limbo,
     "where segments wait in limbo a store looks at the pins of a few, however many small items it walks over")
{
    larder_pool *pool = pool_timed(8 * MIB, true), *reader = pool_timed(8 * MIB, true);
    uint64_t next = 0;
    while (pool->header->lists[LARDER_LIST_FREE].count > 8) {
        put_bytes(pool, key_number(next++), "", 0);
    }
    for (uint32_t segment = 0; segment < 4; segment++) { /* the oldest */
        CHECK(larder_pin_set(reader, segment, atomic_load(&pool->generations[segment])));
    }
    looks_of_most(pool, next, 0, 30000);
    COMPARE(pool->header->lists[LARDER_LIST_LIMBO].count, >, 0);
    COMPARE(looks_of_most(pool, next + 30000, 500, 5000), <=, 24);
    CHECK_POOL(pool);
    larder_pool_close(reader);
    larder_pool_close(pool);
}

TEST(looks_are_bounded, "where everything is being read a store looks for something else in a bounded part of the pool")
{
    larder_pool *pool = pool_timed(64 * MIB, true), *reader = pool_timed(64 * MIB, true);
    uint64_t next = 0;
    COMPARE(pool->segment_count, >, 400);
    while (pool->header->lists[LARDER_LIST_FREE].count > 3) {
        EQUAL(put_block(pool, next++, 9000), LARDER_OK);
    }
    for (uint32_t segment = 0; segment < pool->segment_count; segment++) {
        if (larder_segment_state_of(&pool->segments[segment]) == LARDER_SEALED) {
            CHECK(larder_pin_set(reader, segment, atomic_load(&pool->generations[segment])));
        }
    }
    looks_of_most(pool, next, 1000, 250);
    COMPARE(pool->header->lists[LARDER_LIST_LIMBO].count, >, 0);
    COMPARE(looks_of_most(pool, next + 250, 1000, 200), <=, 165);
    CHECK_POOL(pool);
    larder_pool_close(reader);
    larder_pool_close(pool);
}

/* How many items go at once at most while large values take the place of small ones? */
static uint64_t most_dropped_at_once(uint64_t pool_size, size_t size)
{
    static const char value[60000];
    larder_pool *pool = pool_open("p", pool_size);
    uint64_t most = 0;
    for (uint64_t i = 0; i < pool_size / 60; i++) { /* more than it holds */
        put_bytes(pool, key_number(i), value, 20);
    }
    for (uint64_t i = 0; i < pool_size / size / 2; i++) {
        uint64_t before = atomic_load(&pool->slot->counter[LARDER_EVICTIONS]);
        EQUAL(put_bytes(pool, key_number(UINT32_MAX + i), value, size), LARDER_OK);
        uint64_t dropped = atomic_load(&pool->slot->counter[LARDER_EVICTIONS]) - before;
        most = dropped > most ? dropped : most;
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
    return most;
}

/* A large value takes its own bytes, and leaves the end of a segment unused that is shorter than itself. */
static uint64_t twice_in_small_items(size_t size)
{
    const size_t head = larder_item_value_at(0, sizeof(uint64_t), LARDER_BYTES_KIND), small = (head + 20 + 7) / 8 * 8;
    return (2 * (head + size) + small - 1) / small;
}

TEST(large_among_small, "a large value makes room for as much as it takes, of however small items, and not for more")
{
    COMPARE(most_dropped_at_once(8 * MIB, 4000), <=, twice_in_small_items(4000));
    COMPARE(most_dropped_at_once(8 * MIB, 20000), <=, twice_in_small_items(20000));
    COMPARE(most_dropped_at_once(8 * MIB, 60000), <=, twice_in_small_items(60000));
}

TEST(used_survive, "what is used again and again survives any number of items that are used once")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    unsigned lost = 0;
    for (uint64_t i = 0; i < 200; i++) {
        put_block(pool, i, 2000);
        has_block(pool, i);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        put_block(pool, 1000 + i, 2000);
        uint64_t hot = i % 200;
        if (!has_block(pool, hot)) {
            lost++;
            put_block(pool, hot, 2000);
            has_block(pool, hot);
        }
        larder_pool_leave(pool);
    }
    COMPARE(lost, <=, 5);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >=, 190);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(ghosts_return,
     "a key that returns soon after its eviction goes to the main queue, and an unknown one to the small")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    uint64_t gone = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        put_block(pool, i, 2000);
    }
    larder_pool_leave(pool);
    for (uint64_t i = 2999; gone == 0; i--) {
        const larder_key key = key_number(i);
        gone = larder_exists(pool, &key) ? 0 : i;
    }
    const larder_key back = key_number(gone), fresh = key_number(999999);
    larder_place places[2] = {larder_place_of(pool, back.hash), larder_place_of(pool, fresh.hash)};
    larder_found found;
    put_block(pool, gone, 2000);
    put_block(pool, 999999, 2000);
    REQUIRE(larder_find(pool, &places[0], &back, &found));
    EQUAL(pool->segments[found.segment].queue, LARDER_MAIN);
    larder_found_drop(pool, &found);
    const larder_key again = key_number(999999);
    REQUIRE(larder_find(pool, &places[1], &again, &found));
    EQUAL(pool->segments[found.segment].queue, LARDER_SMALL);
    larder_found_drop(pool, &found);
    larder_pool_close(pool);
}

TEST(expired_first, "segments whose items have all expired are reclaimed before anything alive is")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    uint64_t live = 0;
    for (uint64_t i = 0; i < 200; i++) {
        put_block(pool, i, 2000);
    }
    for (uint64_t i = 1000; i < 1900; i++) {
        described what = {.key = i, .version = i, .block = true};
        put_described(pool, key_number(i), &what, 2000, LARDER_SET, clock_ms + 1000);
    }
    for (uint64_t i = 0; i < 200; i++) {
        const larder_key key = key_number(i);
        live += larder_exists(pool, &key);
    }
    EQUAL(live, 200);
    clock_ms += 2000;
    for (uint64_t i = 2000; i < 2800; i++) { /* as much as has expired */
        put_block(pool, i, 2000);
    }
    for (uint64_t i = 0; i < 200; i++) {
        const larder_key key = key_number(i);
        live -= larder_exists(pool, &key);
    }
    EQUAL(live, 0);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    COMPARE(stats.counters[LARDER_EXPIRED], >, 300);
    EQUAL(stats.counters[LARDER_EVICTIONS], 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(cleared_reclaimed, "what was cleared is reclaimed before anything that was stored after it")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    for (uint64_t i = 0; i < 1500; i++) {
        put_block(pool, i, 2000);
        for (uint64_t j = 0; j < 3; j++) {
            has_block(pool, i - i % 700); /* some are used much, and would stay */
            has_block(pool, i);
        }
        larder_pool_leave(pool);
    }
    larder_clear(pool);
    for (uint64_t i = 5000; i < 6400; i++) {
        put_block(pool, i, 2000);
    }
    unsigned alive = 0;
    for (uint64_t i = 5000; i < 6400; i++) {
        const larder_key key = key_number(i);
        alive += larder_exists(pool, &key);
    }
    EQUAL(alive, 1400);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(housekeeping,
     "after a request a little more room is made, so that the next one's first stores have nothing to walk")
{
    static const char bytes[1000];
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t number = 0, walked[2];
    for (unsigned kept = 0; kept < 2; kept++) {
        while (number < 8000u * (kept + 1u)) {
            EQUAL(put_bytes(pool, key_number(number++), bytes, sizeof bytes), LARDER_OK);
        }
        larder_pool_leave(pool);
        for (int i = 0; kept == 1 && i < 200; i++) {
            larder_keep_house(pool, 1000000);
        }
        larder_stats before, after;
        larder_stats_read(pool, &before);
        for (int i = 0; i < 8; i++) {
            EQUAL(put_bytes(pool, key_number(number++), bytes, sizeof bytes), LARDER_OK);
        }
        larder_stats_read(pool, &after);
        walked[kept] = after.counters[LARDER_EVICTIONS] - before.counters[LARDER_EVICTIONS];
    }
    COMPARE(walked[0], >, 0);
    EQUAL(walked[1], 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}
