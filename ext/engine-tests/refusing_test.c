/* Pools that do not evict: they refuse, and drop nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "fixture.h"
#include "waiting.h"

#include "engine/lock.h"
#include "engine/token.h"

#include <time.h>

TEST(never_drops, "a pool that does not evict refuses when it is full, and everything it took is still there")
{
    static const size_t sizes[] = {40, 100, 1000, 9000, 50000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        larder_pool *pool = pool_timed(4 * MIB, false);
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
    larder_pool *pool = pool_timed(4 * MIB, false);
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
    larder_pool *pool = pool_timed(4 * MIB, false);
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

/* Now and then about half a segment, of which two do not fit in one. */
static size_t some_size(const larder_pool *pool, rng *random)
{
    uint64_t segment = larder_segment_bytes(pool);
    return rng_below(random, 150) > 0 ? 50 + rng_below(random, segment / 16)
                                      : segment / 5 * 2 + rng_below(random, segment / 3);
}

TEST(ever_the_same, "what is too large to lie beside its like is not moved to and fro for ever while an eighth is free")
{
    static size_t sizes[10000];
    for (uint64_t seed = 1; seed < 3; seed++) {
        larder_pool *pool = pool_timed(16 * MIB, false);
        rng random = {.state = seed};
        larder_stats stats;
        larder_stats_read(pool, &stats);
        uint64_t count = 0;
        for (uint64_t bytes = 0; bytes < stats.capacity / 8 * 7; count++) {
            REQUIRE(count < sizeof sizes / sizeof sizes[0]);
            sizes[count] = some_size(pool, &random);
            EQUAL(put_block(pool, count, sizes[count]), LARDER_OK);
            bytes += sizes[count] + 100;
        }
        for (uint64_t i = 0; i < 4 * count; i++) {
            uint64_t number = rng_below(&random, count);
            REQUIRE(put_block(pool, number, sizes[number]) == LARDER_OK);
        }
        for (uint64_t i = 0; i < count; i++) {
            CHECK(has_block(pool, i));
        }
        CHECK_POOL(pool);
        larder_pool_close(pool);
        EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    }
}

static enum larder_result publish_reserved(larder_pool *pool, larder_reserved *reserved, const char *name)
{
    const larder_key key = key_of(name);
    larder_place place = larder_place_of(pool, key.hash);
    memset(reserved->item, 0, 64);
    reserved->item->units = 8;
    reserved->item->key_length = (uint16_t)key.length;
    reserved->item->expiry = LARDER_NO_EXPIRY;
    memcpy((char *)reserved->item + sizeof *reserved->item, key.bytes, key.length);
    larder_order order = {.moved = true, .token = LARDER_NO_TOKEN};
    uint64_t before;
    reserved->item->version = order.tick = larder_begin_write(pool, &place, &before);
    enum larder_result result = larder_publish(pool, &place, &key, reserved, LARDER_SET, 0, &order);
    larder_reserved_drop(pool, reserved);
    return result;
}

/* Every other item expires, so that something lives in each segment. */
TEST(partly_expired,
     "what expires beside what lives on makes room in a pool that does not evict, too, and the rest stays")
{
    larder_pool *pool = pool_timed(4 * MIB, false);
    char bytes[500] = "";
    uint64_t count = 0, stored = 0;
    while (put_with(pool, key_number(count), bytes, sizeof bytes, LARDER_SET,
                    count % 2 == 0 ? clock_ms + 1000 : LARDER_NO_EXPIRY) == LARDER_OK) {
        count++;
    }
    clock_ms += 1000;
    for (uint64_t i = 0; i < count / 2; i++) {
        stored += put_bytes(pool, key_number(count + i), bytes, sizeof bytes) == LARDER_OK;
    }
    COMPARE(stored, >, count / 2 / 10 * 9);
    for (uint64_t i = 1; i < count; i += 2) {
        const larder_key key = key_number(i);
        CHECK(larder_exists(pool, &key) || i == count);
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(slow_writer_and_clear,
     "what a slow writer publishes after a clear, in a segment filled before it, is not dropped without eviction")
{
    larder_pool *writer = pool_timed(4 * MIB, false), *other = pool_timed(4 * MIB, false);
    larder_reserved reserved;
    EQUAL(larder_reserve(writer, LARDER_SMALL, 64, &reserved), LARDER_OK);
    for (uint64_t i = 0; i < 100; i++) {
        put_block(other, i, 5000);
    }
    larder_clear(other);
    EQUAL(publish_reserved(writer, &reserved, "slow"), LARDER_OK);
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

/* ---- what a refused store leaves -----------------------------------------------------------------------------------
 */

/* A pool of 4 MiB with "k" in it, in whose open segment no 32 KB are left. */
static larder_pool *pool_with_old_value(bool evicts)
{
    static const char bytes[32000];
    larder_pool *pool = pool_timed(4 * MIB, evicts);
    EQUAL(put_text(pool, "k", "old"), LARDER_OK);
    EQUAL(put_bytes(pool, key_of("other"), bytes, sizeof bytes), LARDER_OK);
    return pool;
}

/* Stores 60 KB under "k". */
static enum larder_result put_much(larder_pool *pool, const larder_terms *terms)
{
    described what = {.key = 1, .version = 1};
    return put_described_under(pool, key_of("k"), &what, 60000, terms);
}

static uint64_t refused_so_far(larder_pool *pool)
{
    larder_stats stats;
    larder_stats_read(pool, &stats);
    return stats.counters[LARDER_REFUSED_FULL] + stats.counters[LARDER_REFUSED_BUSY] +
           stats.counters[LARDER_REFUSED_LARGE] + stats.counters[LARDER_REFUSED_PINNED];
}

/* As each kind of store that could take what is there. */
static void expect_old_value_after(larder_pool *pool, enum larder_result result)
{
    const larder_terms terms[] = {
        {.mode = LARDER_SET, .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY},
        {.mode = LARDER_SET, .verb = LARDER_AS_MISSED, .expiry = LARDER_NO_EXPIRY},
        {.mode = LARDER_REPLACE, .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY},
        {.mode = LARDER_SET,
         .verb = LARDER_JUDGED,
         .token = larder_now_logical(pool->header),
         .attachment = pool->attached.number,
         .expiry = LARDER_NO_EXPIRY},
    };
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        uint64_t refused = refused_so_far(pool);
        EQUAL(put_much(pool, &terms[i]), result);
        EQUAL(refused_so_far(pool), refused + 1);
        CHECK(holds_text(pool, "k", "old"));
    }
}

TEST(leaves_old_value, "a store that is refused where nothing is evicted leaves what was there, full or busy")
{
    larder_pool *pool = pool_with_old_value(false), *owner = pool_timed(4 * MIB, false);
    REQUIRE(larder_lock(owner));
    expect_old_value_after(pool, LARDER_BUSY);
    larder_unlock(owner);
    for (uint64_t i = 0; put_block(pool, i, 60000) == LARDER_OK; i++) {
    }
    expect_old_value_after(pool, LARDER_FULL);
    larder_pool_close(owner);
    larder_pool_close(pool);
}

TEST(too_large_leaves_old_value,
     "a value that a pool that does not evict can never hold, or that no PHP could read there, leaves the old one")
{
    static char bytes[4 * 1048576];
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = false;
    for (config.abi = 100; config.abi < 100 + LARDER_ABIS; config.abi++) {
        larder_pool_close(pool_open_as(&config));
    }
    larder_pool *pool = pool_open_as(&config);
    described what = {.key = 1, .block = true};
    put_text(pool, "k", "old");
    EQUAL(put_bytes(pool, key_of("k"), bytes, sizeof bytes), LARDER_LARGE);
    CHECK(holds_text(pool, "k", "old"));
    EQUAL(put_described(pool, key_of("k"), &what, 100, LARDER_SET, LARDER_NO_EXPIRY), LARDER_FULL);
    CHECK(holds_text(pool, "k", "old"));
    larder_pool_close(pool);
}

TEST(leaves_as_told, "the caller can say what a refused store leaves, whether the pool evicts or not")
{
    for (int evicts = 0; evicts < 2; evicts++) {
        larder_pool *pool = pool_with_old_value(evicts != 0), *owner = pool_timed(4 * MIB, evicts != 0);
        larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .leaves = LARDER_LEAVES_OLD};
        REQUIRE(larder_lock(owner));
        EQUAL(put_much(pool, &terms), LARDER_BUSY);
        CHECK(holds_text(pool, "k", "old"));
        terms.leaves = LARDER_LEAVES_NOTHING;
        EQUAL(put_much(pool, &terms), LARDER_BUSY);
        CHECK(!holds_text(pool, "k", "old"));
        larder_unlock(owner);
        larder_pool_close(owner);
        larder_pool_close(pool);
        pool_remove("p", &(larder_error){.message = ""});
    }
}

TEST(outdated_leaves_newer, "a write that is outdated leaves what is there where nothing is evicted, too")
{
    larder_pool *pool = pool_timed(4 * MIB, false), *other = pool_timed(4 * MIB, false);
    const larder_terms terms = {.verb = LARDER_JUDGED,
                                .token = larder_now_logical(pool->header),
                                .attachment = pool->attached.number,
                                .expiry = LARDER_NO_EXPIRY};
    put_text(other, "k", "newer");
    EQUAL(put_under(pool, "k", "outdated", &terms), LARDER_OVERTAKEN);
    CHECK(holds_text(other, "k", "newer"));
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(missed_nowhere, "a set after a miss in no pool takes what is there where nothing is evicted, too")
{
    larder_pool *pool = pool_timed(4 * MIB, false), *other = pool_timed(4 * MIB, false);
    const larder_terms terms = {.verb = LARDER_AS_MISSED, .expiry = LARDER_NO_EXPIRY, .leaves = LARDER_LEAVES_OLD};
    const larder_key key = key_of("k");
    CHECK(!holds_text(pool, "x", "there"));
    larder_missed_nowhere(pool, &key);
    put_text(other, "k", "there");
    EQUAL(put_under(pool, "k", "outdated", &terms), LARDER_OVERTAKEN);
    CHECK(!holds_text(other, "k", "there"));
    larder_pool_close(other);
    larder_pool_close(pool);
}

/* Until nothing fits in it, not even a counter. */
static void fill_up(larder_pool *pool)
{
    static const size_t sizes[] = {60000, 4000, 100};
    uint64_t number = 0;
    int64_t count;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        while (put_block(pool, number, sizes[s]) == LARDER_OK) {
            number++;
        }
    }
    for (int refused = 0; refused < 100;) { /* not only because both of its buckets are full */
        const larder_key key = key_number(number++);
        refused += larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &count) != LARDER_COUNTED;
    }
}

TEST(why_not_counted, "a counter that cannot be stored says whether the pool was full or busy, and stays")
{
    larder_pool *pool = pool_timed(4 * MIB, false), *owner = pool_timed(4 * MIB, false);
    const larder_key key = key_of("c"), absent = key_of("absent");
    int64_t count;
    EQUAL(larder_increment(pool, &key, 1, LARDER_COUNTER_MAX - 1, LARDER_NO_EXPIRY, &count), LARDER_COUNTED);
    fill_up(pool);
    REQUIRE(larder_lock(owner));
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_COUNT_BUSY);
    EQUAL(larder_increment(pool, &absent, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_COUNT_BUSY);
    larder_unlock(owner);
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_NOT_COUNTED);
    EQUAL(larder_increment(pool, &absent, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_NOT_COUNTED);
    for (uint64_t i = 0; i < 2; i++) { /* makes room: where to move to, and for more */
        const larder_key other = key_number(i);
        CHECK(larder_delete(pool, &other));
    }
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_COUNTED);
    EQUAL(count, LARDER_COUNTER_MAX + 1);
    larder_pool_close(owner);
    larder_pool_close(pool);
}

/* ---- waiting where nothing is evicted ------------------------------------------------------------------------------
 */

/* Another that holds the segment lock, and what it does while it is waited for. */
static struct {
    larder_pool *pool;
    uint64_t naps, until_ns; /* then it gives the lock back; 0: never */
} busy;

static void take_turns(void)
{
    busy.naps++;
    larder_unlock(busy.pool);
    if (busy.until_ns == 0 || waited_ns() < busy.until_ns) {
        CHECK(larder_lock(busy.pool));
    }
}

static uint64_t wait_for_the_busy(larder_pool *pool, uint64_t until_ns, enum larder_result expected)
{
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
    uint64_t before = waited_ns();
    busy.until_ns = until_ns == 0 ? 0 : before + until_ns;
    REQUIRE(larder_lock(busy.pool));
    waiting_meddle(take_turns);
    EQUAL(put_much(pool, &terms), expected);
    waiting_meddle(NULL);
    larder_unlock(busy.pool);
    return waited_ns() - before;
}

TEST(waits_while_others_work,
     "where nothing is evicted a store waits for the segment lock as long as others take turns, up to two seconds")
{
    larder_pool *pool = pool_with_old_value(false);
    busy.pool = pool_timed(4 * MIB, false);
    COMPARE(wait_for_the_busy(pool, 300000000, LARDER_OK), >=, 300000000);
    CHECK(larder_delete(pool, &(larder_key){"k", 1, larder_hash("k", 1)}));
    EQUAL(put_text(pool, "k", "old"), LARDER_OK);
    COMPARE(wait_for_the_busy(pool, 0, LARDER_BUSY), <, 2100000000);
    CHECK(holds_text(pool, "k", "old"));
    larder_pool_close(busy.pool);
    larder_pool_close(pool);
}

TEST(waits_where_items_are_evicted,
     "a store waits 70 ms for the segment lock, in few naps, where items are evicted, too")
{
    larder_pool *pool = pool_with_old_value(true);
    busy.pool = pool_timed(4 * MIB, true);
    busy.naps = 0;
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    COMPARE(wait_for_the_busy(pool, 0, LARDER_BUSY), <, 72000000); /* without what else took its time */
    clock_gettime(CLOCK_MONOTONIC, &end);
    COMPARE((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec, >=, 70000000);
    COMPARE(busy.naps, <, 80); /* else hundreds of waiting processes keep the owner from a processor */
    larder_pool_close(busy.pool);
    larder_pool_close(pool);
}

TEST(does_not_wait_for_the_stopped,
     "where nothing is evicted a store waits 70 ms for a stopped owner, and the next 10 ms")
{
    larder_pool *pool = pool_with_old_value(false), *owner = pool_timed(4 * MIB, false);
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
    REQUIRE(larder_lock(owner));
    uint64_t before = waited_ns();
    EQUAL(put_much(pool, &terms), LARDER_BUSY);
    COMPARE(waited_ns() - before, <, 72000000);
    before = waited_ns();
    EQUAL(put_much(pool, &terms), LARDER_BUSY);
    COMPARE(waited_ns() - before, <, 12000000);
    larder_unlock(owner);
    larder_pool_close(owner);
    larder_pool_close(pool);
}

/* ---- moving where nothing is evicted -------------------------------------------------------------------------------
 */

/* Fills the pool, and lets a quarter live, in each segment; then one store makes room. */
static void leave_a_quarter(larder_pool *pool)
{
    static const char value[3000];
    uint64_t stored = 0;
    while (put_bytes(pool, key_number(stored), value, sizeof value) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i++) {
        const larder_key key = key_number(i);
        CHECK(i % 4 == 0 || larder_delete(pool, &key));
    }
    EQUAL(put_bytes(pool, key_of("one more"), value, sizeof value), LARDER_OK);
}

TEST(movers_own_segment, "where nothing is evicted no writer stores in the segment that items are moved to")
{
    larder_pool *pool = pool_timed(4 * MIB, false), *other = pool_timed(4 * MIB, false);
    static const char value[3000];
    larder_stats stats;
    leave_a_quarter(pool);
    larder_stats_read(pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >, 0);
    uint32_t moved_to = larder_open_of(pool, LARDER_MAIN);
    REQUIRE(moved_to != LARDER_NO_SEGMENT);
    uint64_t fill = pool->segments[moved_to].fill;
    for (uint64_t i = 0; i < 40; i += 4) { /* some of them were moved, and what replaces them was in main, too */
        EQUAL(put_bytes(pool, key_number(i), value, 100), LARDER_OK);
    }
    REQUIRE(larder_lock(other)); /* nor when its own segment is full */
    for (uint64_t i = 0; put_bytes(pool, key_number(i), value, sizeof value) == LARDER_OK; i++) {
    }
    larder_unlock(other);
    EQUAL(larder_open_of(pool, LARDER_MAIN), moved_to);
    EQUAL(pool->segments[moved_to].fill, fill);
    larder_pool_close(other);
    larder_pool_close(pool);
}

enum { WRITERS = 2, KEYS_EACH = 400 };

static struct {
    gate go;
    uint64_t stores;
    _Atomic uint64_t refused;
} * flood;

static void write_at_full_speed(void *number)
{
    static const char value[6000];
    uint64_t first = (uintptr_t)number * KEYS_EACH;
    larder_pool *pool = pool_timed(0, false);
    rng r = {test_seed() + first};
    gate_wait(&flood->go, 1);
    fault_jitter(rng_next(&r));
    for (uint64_t i = 0; i < flood->stores; i++) {
        enum larder_result result =
            put_bytes(pool, key_number(first + rng_below(&r, KEYS_EACH)), value, 2000 + rng_below(&r, 4000));
        flood->refused += result == LARDER_FULL || result == LARDER_PINNED;
    }
    fault_disarm();
    larder_pool_close(pool);
}

TEST(several_writers, "several writers at once are not told that a pool is full which does not evict and is not full")
{
    static const char value[4000];
    larder_pool *pool = pool_timed(8 * MIB, false);
    pid_t pids[WRITERS];
    flood = shared_memory(sizeof *flood);
    flood->stores = 20000 + 100000 * test_scale();
    for (uint64_t i = 0; i < (uint64_t)WRITERS * KEYS_EACH; i++) {
        EQUAL(put_bytes(pool, key_number(i), value, sizeof value), LARDER_OK);
    }
    for (uintptr_t i = 0; i < WRITERS; i++) {
        pids[i] = child_start(write_at_full_speed, (void *)i);
    }
    gate_open(&flood->go, 1);
    for (int i = 0; i < WRITERS; i++) {
        EQUAL(child_wait(pids[i]), 0);
    }
    EQUAL(flood->refused, 0);
    for (uint64_t i = 0; i < (uint64_t)WRITERS * KEYS_EACH; i++) {
        const larder_key key = key_number(i);
        CHECK(larder_exists(pool, &key));
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(run_leaves_one, "a value of many segments leaves what is moved a place to go to, where nothing is evicted")
{
    static char large[1048576];
    larder_pool *pool = pool_timed(4 * MIB, false);
    uint64_t runs = 0, small = 0;
    while (put_bytes(pool, key_number(runs), large, larder_segment_bytes(pool) + 1000) == LARDER_OK) {
        runs++;
    }
    COMPARE(runs, >, 20);
    COMPARE(pool->header->lists[LARDER_LIST_FREE].count, >=, LARDER_KEPT_SEGMENTS);
    while (put_block(pool, 1000 + small, 500) == LARDER_OK) {
        small++;
    }
    COMPARE(pool->header->lists[LARDER_LIST_FREE].count, >=, LARDER_KEPT_SEGMENTS);
    larder_pool_close(pool);
}
