#include "increment.h"
#include "fixture.h"

#include <time.h>

TEST(expiry_saturates, "a time to live beyond the clock's range means no expiry")
{
    EQUAL(larder_expiry(5000, 1), 6000);
    EQUAL(larder_expiry(5000, 100000), 100005000);
    CHECK(larder_expiry(5000, UINT64_MAX) == LARDER_NO_EXPIRY);
    CHECK(larder_expiry(5000, UINT64_MAX / 1000) == LARDER_NO_EXPIRY);
    CHECK(larder_expiry(5000, UINT64_MAX / 1000 - 10) < LARDER_NO_EXPIRY);
}

TEST(wall_clock, "the wall clock counts milliseconds since 1970")
{
    COMPARE(larder_wall_ms() / 1000, >=, (uint64_t)time(NULL) - 1);
    COMPARE(larder_wall_ms() / 1000, <=, (uint64_t)time(NULL));
}

TEST(ticks, "writes, deletes and clears make the pool's clock tick, and reads do not")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const larder_key key = key_of("k");
    int64_t count;
    uint64_t last = larder_now_logical(pool->header);
    for (int i = 0; i < 4; i++) {
        if (i == 0) {
            put_text(pool, "k", "v");
        } else if (i == 1) {
            larder_delete(pool, &key);
        } else if (i == 2) {
            larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &count);
        } else {
            larder_clear(pool);
        }
        COMPARE(larder_now_logical(pool->header), >, last);
        last = larder_now_logical(pool->header);
    }
    holds_text(pool, "k", "v");
    larder_exists(pool, &key);
    EQUAL(larder_now_logical(pool->header), last);
    larder_pool_close(pool);
}

TEST(raised, "a key version is raised by the highest of all, never lowered")
{
    _Atomic uint64_t at = 5;
    larder_raise(&at, 4);
    EQUAL(at, 5);
    larder_raise(&at, 9);
    EQUAL(at, 9);
}
