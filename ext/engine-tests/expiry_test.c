/* The moment in which an item expires: a caller told that it lives on keeps it, and one told that it is gone has its
 * place.
 */
#include "fixture.h"

static larder_pool *pool, *beside;
static uint64_t expiring; /* keys from 0 on, every second of them if `mixed` */
static bool mixed, meddled, touched[20000];

static bool expires(uint64_t number)
{
    return number < expiring && (!mixed || number % 2 == 0);
}

/* By a process that looked at the clock before the items expired, and acts only now. */
static void touch_late(void)
{
    clock_ms -= 2000;
    for (uint64_t i = 0; i < expiring; i++) {
        const larder_key key = key_number(i);
        touched[i] = expires(i) && larder_touch(beside, &key, LARDER_NO_EXPIRY);
    }
    clock_ms += 2000;
    meddled = true;
}

static void begin(void)
{
    pool = pool_timed(4 * MIB, false);
    beside = pool_timed(4 * MIB, false);
    meddled = false;
    memset(touched, 0, sizeof touched);
}

static enum larder_result put_expiring(uint64_t number)
{
    const char bytes[500] = "";
    return put_with(pool, key_number(number), bytes, sizeof bytes, LARDER_SET,
                    expires(number) ? clock_ms + 1000 : LARDER_NO_EXPIRY);
}

/* How many live on. */
static uint64_t expect_touched_alive(void)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < expiring; i++) {
        const larder_key key = key_number(i);
        CHECK(!touched[i] || larder_exists(pool, &key));
        count += touched[i];
    }
    return count;
}

static void end(void)
{
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
}

/* Half of what lies in each segment expires, and some is deleted, so that segments are compacted. */
static void compact_meanwhile(unsigned point, uint64_t skip)
{
    begin();
    mixed = true;
    expiring = sizeof touched / sizeof touched[0];
    uint64_t count = 0;
    while (put_expiring(count) == LARDER_OK) {
        count++;
    }
    REQUIRE(count < expiring);
    expiring = count;
    for (uint64_t i = 1; i < count; i += 8) {
        const larder_key key = key_number(i);
        CHECK(larder_delete(pool, &key));
    }
    clock_ms += 1000;
    fault_arm(point, skip, touch_late);
    char text[300] = "";
    for (uint64_t i = 0; i < 1000 && !meddled; i++) {
        put_bytes(pool, key_of("another"), text, sizeof text);
    }
    fault_disarm();
    CHECK(meddled);
    COMPARE(expect_touched_alive(), >, count / 4);
    end();
}

TEST(compacted, "no process has been told that an item lives on that a pool without eviction drops as expired")
{
    compact_meanwhile(LARDER_AT_CLEAR_WORD, 0);
    compact_meanwhile(LARDER_AT_CLEAR_WORD, 3);
    compact_meanwhile(LARDER_AT_MOVE, 0);
}

static void add_meanwhile(unsigned point)
{
    begin();
    mixed = false;
    expiring = 1;
    EQUAL(put_expiring(0), LARDER_OK);
    clock_ms += 1000;
    fault_arm(point, 0, touch_late);
    enum larder_result result = put_with(pool, key_number(0), "new", 3, LARDER_ADD, LARDER_NO_EXPIRY);
    fault_disarm();
    CHECK(meddled);
    EQUAL(result, touched[0] ? LARDER_EXISTS : LARDER_OK);
    char bytes[500];
    size_t size;
    CHECK(take(pool, key_number(0), bytes, sizeof bytes, &size));
    EQUAL(size, touched[0] ? 500 : 3);
    end();
}

TEST(added, "of a process that prolongs an item and one that adds another as it expires one alone succeeds")
{
    add_meanwhile(LARDER_AT_RESERVE);
    add_meanwhile(LARDER_AT_REPLACE);
}
