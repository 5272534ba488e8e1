/* Making room: what goes, what stays, and what happens to an item on its way to another segment. */
#include "fixture.h"

#include "engine/evict.h"
#include "engine/ghost.h"
#include "engine/pin.h"
#include "engine/token.h"

static larder_pool *open_with(const char *name, uint64_t size, bool evict)
{
    larder_pool_config config = pool_config(name, size);
    config.evict = evict;
    config.now = clock_now;
    return pool_open_as(&config);
}

static enum larder_result put_block(larder_pool *pool, uint64_t number, size_t size)
{
    described what = {.key = number, .version = number, .block = true};
    return put_described(pool, key_number(number), &what, size, LARDER_SET, LARDER_NO_EXPIRY);
}

static bool has_block(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    CHECK(seen != READ_TORN);
    return seen == READ_WHOLE;
}

static void keeps_serving(uint64_t size, size_t least, size_t most)
{
    larder_pool *pool = open_with("p", size, true);
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
    larder_pool *pool = open_with("p", 8 * MIB, true);
    rng r = {test_seed()};
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
 * of a hundred do is left out: they make room for the others at once. */
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
    for (unsigned more = 0; most > 0 && (more += counts[most]) * 100 < stores;) {
        most--;
    }
    return most;
}

TEST(looks_in_limbo,
     "where segments wait in limbo a store looks at the pins of a few, however many small items it walks over")
{
    larder_pool *pool = open_with("p", 8 * MIB, true), *reader = open_with("p", 8 * MIB, true);
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
    larder_pool *pool = open_with("p", 64 * MIB, true), *reader = open_with("p", 64 * MIB, true);
    uint64_t next = 0;
    COMPARE(pool->segment_count, >, 800);
    while (pool->header->lists[LARDER_LIST_FREE].count > 8) {
        EQUAL(put_block(pool, next++, 9000), LARDER_OK);
    }
    for (uint32_t segment = 0; segment < pool->segment_count; segment++) {
        if (larder_segment_state_of(&pool->segments[segment]) == LARDER_SEALED) {
            CHECK(larder_pin_set(reader, segment, atomic_load(&pool->generations[segment])));
        }
    }
    COMPARE(looks_of_most(pool, next, 1000, 300), <=, 320);
    COMPARE(pool->header->lists[LARDER_LIST_LIMBO].count, >, 0);
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

TEST(large_among_small, "a large value makes room for as much as it takes, of however small items, and not for more")
{
    COMPARE(most_dropped_at_once(8 * MIB, 4000), <=, 2 * 4000 / 64);
    COMPARE(most_dropped_at_once(8 * MIB, 20000), <=, 2 * 20000 / 64);
    COMPARE(most_dropped_at_once(8 * MIB, 60000), <=, 2 * 60000 / 64);
}

TEST(used_survive, "what is used again and again survives any number of items that are used once")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
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
    larder_pool *pool = open_with("p", 4 * MIB, true);
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
    larder_pool *pool = open_with("p", 4 * MIB, true);
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
    larder_pool *pool = open_with("p", 4 * MIB, true);
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

/* ---- items that move ------------------------------------------------------------------------------------- */

static larder_pool *beside;
static larder_key moved_key;
static unsigned meddled;
static uint64_t storing; /* comes after the meddling if it makes room first */

/* Fills the pool with items that are all used, so that they are moved, until `meddle` has come in between. */
static void move_items(larder_pool *pool, unsigned point, void (*meddle)(void))
{
    char bytes[500] = "";
    size_t size;
    meddled = 0;
    for (uint64_t i = 0; i < 60000 && meddled == 0; i++) {
        storing = i;
        put_bytes(pool, key_number(i), bytes, sizeof bytes);
        take(pool, key_number(i), bytes, sizeof bytes, &size);
        take(pool, moved_key, bytes, sizeof bytes, &size);
        if (i % 50 == 0) {
            larder_pool_leave(pool);
        }
        fault_arm(point, 0, meddle);
    }
    fault_disarm();
    EQUAL(meddled, 1);
}

static uint64_t victim_number;

static void delete_all(void)
{
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        if (larder_delete(beside, &key)) {
            victim_number++;
        }
    }
    meddled = 1;
}

TEST(delete_while_moving, "an item that is deleted while it is being moved stays deleted")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
    beside = open_with("p", 4 * MIB, true);
    moved_key = key_of("moved");
    move_items(pool, LARDER_AT_MOVE, delete_all);
    COMPARE(victim_number, >, 1000);
    unsigned alive = 0;
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        alive += i != storing && larder_exists(pool, &key);
    }
    EQUAL(alive, 0);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

static void touch_all(void)
{
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        larder_touch(beside, &key, clock_ms + 1000);
    }
    meddled = 1;
}

TEST(touch_while_moving, "a touch that comes while an item is being moved is not lost")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
    beside = open_with("p", 4 * MIB, true);
    moved_key = key_of("moved");
    move_items(pool, LARDER_AT_MOVE, touch_all);
    clock_ms += 1000;
    unsigned alive = 0;
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        alive += i != storing && larder_exists(pool, &key);
    }
    EQUAL(alive, 0);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

/* The first touch writes to an item that has been copied already. The second gives the copy the old expiry again,
 * before the mover has looked what came of the first. */
static void touch_again(void)
{
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        larder_touch(beside, &key, LARDER_NO_EXPIRY);
    }
    meddled = 1;
}

static void touch_first(void)
{
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        larder_touch(beside, &key, clock_ms + 1000);
    }
    fault_arm(LARDER_AT_SETTLE, 0, touch_again);
}

TEST(touches_while_moving, "of two touches that come while an item is being moved the later one is kept")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
    beside = open_with("p", 4 * MIB, true);
    moved_key = key_of("moved");
    move_items(pool, LARDER_AT_MOVE, touch_first);
    unsigned before = 0, after = 0;
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        before += larder_exists(pool, &key);
    }
    clock_ms += 1000;
    for (uint64_t i = 0; i < 60000; i++) {
        const larder_key key = key_number(i);
        after += larder_exists(pool, &key);
    }
    COMPARE(before, >, 1000);
    EQUAL(after, before);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

static void replace_all(void)
{
    for (uint64_t i = 0; i < 60000; i++) {
        put_with(beside, key_number(i), "newer", 5, LARDER_REPLACE, LARDER_NO_EXPIRY);
    }
    meddled = 1;
}

TEST(replace_while_moving, "an item that is replaced while it is being moved keeps the newer value")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
    beside = open_with("p", 4 * MIB, true);
    moved_key = key_of("moved");
    move_items(pool, LARDER_AT_MOVE, replace_all);
    unsigned newer = 0, older = 0;
    char bytes[500];
    size_t size;
    for (uint64_t i = 0; i < 60000; i++) {
        if (take(pool, key_number(i), bytes, sizeof bytes, &size)) {
            newer += size == 5;
            older += i != storing && size != 5;
        }
    }
    COMPARE(newer, >, 500);
    EQUAL(older, 0); /* those that were refused for want of the lock were deleted */
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

static uint64_t written_beside;

/* As many writers do while the one that makes room is not given the processor. */
static void write_until_refused(void)
{
    while (put_block(beside, 1000000 + written_beside, 2000) == LARDER_OK) {
        written_beside++;
    }
    meddled++;
}

TEST(used_survive_others, "what is used survives although others write faster than room is made for them")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
    beside = open_with("p", 4 * MIB, true);
    unsigned lost = 0;
    enum { ROUNDS = 30, HOT = 150, COLD = 2500 };
    meddled = 0;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t hot = round * (HOT + COLD), cold = hot + HOT;
        for (uint64_t i = hot; i < cold; i++) {
            put_block(pool, i, 2000);
            has_block(pool, i);
        }
        fault_arm(LARDER_AT_MOVE, round % 12, write_until_refused);
        for (uint64_t i = cold; i < cold + COLD; i++) {
            put_block(pool, i, 2000);
            larder_pool_leave(pool);
            larder_pool_leave(beside);
        }
        for (uint64_t i = hot; i < cold; i++) {
            const larder_key key = key_number(i);
            lost += !larder_delete(pool, &key);
        }
    }
    fault_disarm();
    EQUAL(meddled, ROUNDS);
    COMPARE(written_beside, >=, 500);
    EQUAL(lost, 0);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

enum { COUNTERS = 150 };

static int64_t expected_count[COUNTERS];

static void count_all(void)
{
    for (uint64_t i = 0; i < COUNTERS; i++) {
        const larder_key key = key_number(i);
        int64_t now;
        if (larder_exists(beside, &key)) {
            EQUAL(larder_increment(beside, &key, 1, -1000000, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
            expected_count[i]++;
            EQUAL(now, expected_count[i]);
        }
    }
    meddled++;
}

TEST(count_while_moving, "increments that come while counters are being moved are not lost")
{
    static const unsigned points[] = {LARDER_AT_FREEZE, LARDER_AT_MOVE};
    larder_pool *pool = open_with("p", 4 * MIB, true);
    beside = open_with("p", 4 * MIB, true);
    char filler[1000] = "";
    uint64_t checked = 0;
    meddled = 0;
    for (uint64_t i = 0; i < 40000; i++) {
        const larder_key key = key_number(i % COUNTERS);
        int64_t now;
        bool alive = larder_exists(pool, &key);
        expected_count[i % COUNTERS] = alive ? expected_count[i % COUNTERS] + 1 : 1;
        if (i / 300 > meddled) { /* stays armed until a counter is moved */
            fault_arm(points[meddled % 2], i % 7, count_all);
        }
        REQUIRE(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &now) == LARDER_COUNTED);
        checked += alive;
        if (now != expected_count[i % COUNTERS]) { /* evicted in between is all that may have happened */
            EQUAL(now, 1);
            expected_count[i % COUNTERS] = now;
        }
        put_bytes(pool, key_number(COUNTERS + i % 20000), filler, sizeof filler);
    }
    fault_disarm();
    COMPARE(meddled, >=, 5);
    COMPARE(checked, >, 10000);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

TEST(blocks_move, "blocks that are moved still know their own address")
{
    larder_pool *pool = open_with("p", 4 * MIB, true);
    larder_stats stats;
    for (uint64_t i = 0; i < 30000; i++) {
        put_block(pool, i, 300 + i % 700);
        has_block(pool, i);
        has_block(pool, i - i % 1000); /* used again and again: moved */
        if (i % 100 == 0) {
            larder_pool_leave(pool);
        }
    }
    larder_stats_read(pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >, 1000);
    for (uint64_t i = 0; i < 30000; i++) {
        has_block(pool, i); /* checks every byte, the address too */
        larder_pool_leave(pool);
    }
    larder_pool_close(pool);
}

/* ---- pools that do not evict ------------------------------------------------------------------------------ */

TEST(never_drops, "a pool that does not evict refuses when it is full, and everything it took is still there")
{
    static const size_t sizes[] = {40, 100, 1000, 9000, 50000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        larder_pool *pool = open_with("p", 4 * MIB, false);
        uint64_t stored = 0;
        while (put_block(pool, stored, sizes[s]) == LARDER_OK) {
            stored++;
        }
        COMPARE(stored * (sizes[s] + 100), >, 2 * MIB);
        EQUAL(put_block(pool, stored, sizes[s]), LARDER_FULL);
        EQUAL(put_block(pool, stored + 1, 200000), LARDER_FULL);
        for (uint64_t i = 0; i < stored; i++) {
            CHECK(has_block(pool, i));
            larder_pool_leave(pool);
        }
        larder_stats stats;
        larder_stats_read(pool, &stats);
        EQUAL(stats.items, stored);
        EQUAL(stats.counters[LARDER_EVICTIONS], 0);
        EQUAL(stats.counters[LARDER_REFUSED_FULL], 3);
        CHECK_POOL(pool);
        larder_pool_close(pool);
        pool_remove("p", &(larder_error){.message = ""});
    }
}

TEST(smallest_never_dropped, "not even the smallest items, which fill the index first, are dropped without eviction")
{
    larder_pool *pool = open_with("p", 4 * MIB, false);
    uint8_t *stored = calloc(100000, 1);
    uint64_t count = 0, full = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        enum larder_result result = put_bytes(pool, key_number(i), "", 0);
        stored[i] = result == LARDER_OK;
        count += stored[i];
        full += result == LARDER_FULL;
    }
    EQUAL(count + full, 100000);
    COMPARE(full, >, 0);
    for (uint64_t i = 0; i < 100000; i++) {
        const larder_key key = key_number(i);
        EQUAL(larder_exists(pool, &key), stored[i]);
    }
    free(stored);
    larder_pool_close(pool);
}

TEST(filled_again,
     "after deletes, all over the pool, one that does not evict can be filled again, without losing the rest")
{
    larder_pool *pool = open_with("p", 4 * MIB, false);
    rng r = {test_seed()};
    enum { KEYS = 9000 };
    static bool there[KEYS];
    uint64_t count = 0, most = 0;
    for (int round = 0; round < 6; round++) {
        for (uint64_t i = 0; i < KEYS; i++) {
            if (!there[i] && put_block(pool, i, 500) == LARDER_OK) {
                there[i] = true;
                count++;
            }
        }
        most = count > most ? count : most;
        COMPARE(count * 100, >=, most * 93);
        for (uint64_t i = 0; i < KEYS; i++) {
            const larder_key key = key_number(i);
            EQUAL(larder_exists(pool, &key), there[i]);
            if (there[i] && rng_below(&r, 10) < (unsigned)round + 2) {
                CHECK(larder_delete(pool, &key));
                there[i] = false;
                count--;
            }
        }
        CHECK_POOL(pool);
    }
    larder_pool_close(pool);
}

static enum larder_result publish_draft(larder_pool *pool, larder_draft *draft, const char *name)
{
    const larder_key key = key_of(name);
    larder_place place = larder_place_of(pool, key.hash);
    memset(draft->item, 0, 64);
    draft->item->units = 8;
    draft->item->key_length = (uint16_t)key.length;
    draft->item->expiry = LARDER_NO_EXPIRY;
    memcpy((char *)draft->item + sizeof *draft->item, key.bytes, key.length);
    larder_order order = {.moved = true, .token = LARDER_NO_TOKEN};
    uint64_t before;
    draft->item->stamp = order.tick = larder_begin_write(pool, &place, &before);
    enum larder_result result = larder_publish(pool, &place, &key, draft, LARDER_SET, 0, &order);
    larder_draft_drop(pool, draft);
    return result;
}

TEST(slow_writer_and_clear,
     "what a slow writer publishes after a clear, in a segment filled before it, is not dropped without eviction")
{
    larder_pool *writer = open_with("p", 4 * MIB, false), *other = open_with("p", 4 * MIB, false);
    larder_draft draft;
    EQUAL(larder_reserve(writer, LARDER_SMALL, 64, &draft), LARDER_OK);
    for (uint64_t i = 0; i < 100; i++) {
        put_block(other, i, 5000);
    }
    larder_clear(other);
    EQUAL(publish_draft(writer, &draft, "slow"), LARDER_OK);
    uint64_t i = 1000;
    while (put_block(other, i, 5000) == LARDER_OK) {
        i++;
    }
    const larder_key key = key_of("slow");
    CHECK(larder_exists(other, &key));
    COMPARE(i, >, 1500); /* and what was cleared made room */
    larder_stats stats;
    larder_stats_read(other, &stats);
    EQUAL(stats.counters[LARDER_EVICTIONS], 0);
    CHECK_POOL(other);
    larder_pool_close(writer);
    larder_pool_close(other);
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
