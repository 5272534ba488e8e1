/* Items on their way to another segment, while others do something to them. */
#include "increment.h"
#include "fixture.h"

enum { NUMBERS = 60000 }; /* more than fit */

static larder_pool *beside;
static larder_key moved_key;
static unsigned meddled;
static uint64_t storing; /* comes after the meddling if it makes room first */

static larder_pool *open_both(void)
{
    beside = pool_timed(4 * MIB, true);
    return pool_timed(4 * MIB, true);
}

static void close_both(larder_pool *pool)
{
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

/* Fills the pool with items that are all used, so that they are moved, until `meddle` has come in between. */
static void move_items(larder_pool *pool, unsigned point, void (*meddle)(void))
{
    char bytes[500] = "";
    size_t size;
    meddled = 0;
    moved_key = key_of("moved");
    for (uint64_t i = 0; i < NUMBERS && meddled == 0; i++) {
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

/* How many items live, but for one that does not count. */
static unsigned count_alive(larder_pool *pool, uint64_t other)
{
    unsigned alive = 0;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        const larder_key key = key_number(i);
        alive += i != other && larder_exists(pool, &key);
    }
    return alive;
}

static unsigned deleted;

static void delete_all(void)
{
    for (uint64_t i = 0; i < NUMBERS; i++) {
        const larder_key key = key_number(i);
        deleted += larder_delete(beside, &key);
    }
    meddled = 1;
}

TEST(delete_while_moving, "an item that is deleted while it is being moved stays deleted")
{
    larder_pool *pool = open_both();
    move_items(pool, LARDER_AT_MOVE, delete_all);
    COMPARE(deleted, >, 1000);
    EQUAL(count_alive(pool, storing), 0);
    close_both(pool);
}

static void touch_everything(uint64_t expiry)
{
    for (uint64_t i = 0; i < NUMBERS; i++) {
        const larder_key key = key_number(i);
        larder_touch(beside, &key, expiry);
    }
}

static void touch_all(void)
{
    touch_everything(clock_ms + 1000);
    meddled = 1;
}

TEST(touch_while_moving, "a touch that comes while an item is being moved is not lost")
{
    larder_pool *pool = open_both();
    move_items(pool, LARDER_AT_MOVE, touch_all);
    clock_ms += 1000;
    EQUAL(count_alive(pool, storing), 0);
    close_both(pool);
}

/* The first touch writes to an item that has been copied already. The second gives the copy the old expiry again,
 * before the mover has looked what came of the first. */
static void touch_again(void)
{
    touch_everything(LARDER_NO_EXPIRY);
    meddled = 1;
}

static void touch_first(void)
{
    touch_everything(clock_ms + 1000);
    fault_arm(LARDER_AT_SETTLE, 0, touch_again);
}

TEST(touches_while_moving, "of two touches that come while an item is being moved the later one is kept")
{
    larder_pool *pool = open_both();
    move_items(pool, LARDER_AT_MOVE, touch_first);
    unsigned before = count_alive(pool, NUMBERS);
    clock_ms += 1000;
    COMPARE(before, >, 1000);
    EQUAL(count_alive(pool, NUMBERS), before);
    close_both(pool);
}

static void replace_all(void)
{
    for (uint64_t i = 0; i < NUMBERS; i++) {
        put_with(beside, key_number(i), "newer", 5, LARDER_REPLACE, LARDER_NO_EXPIRY);
    }
    meddled = 1;
}

TEST(replace_while_moving, "an item that is replaced while it is being moved keeps the newer value")
{
    larder_pool *pool = open_both();
    move_items(pool, LARDER_AT_MOVE, replace_all);
    unsigned newer = 0, older = 0;
    char bytes[500];
    size_t size;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        if (take(pool, key_number(i), bytes, sizeof bytes, &size)) {
            newer += size == 5;
            older += i != storing && size != 5;
        }
    }
    COMPARE(newer, >, 500);
    EQUAL(older, 0); /* those that were refused for want of the lock were deleted */
    close_both(pool);
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
    larder_pool *pool = open_both();
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
    close_both(pool);
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
    larder_pool *pool = open_both();
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
    close_both(pool);
}

TEST(blocks_move, "blocks that are moved still know their own address")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
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
