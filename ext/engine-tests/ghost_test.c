/* The memory of evicted keys. */
#include "fixture.h"

#include "engine/ghost.h"

static uint64_t hash_of(uint64_t number)
{
    return key_number(number).hash;
}

TEST(remembered_once, "a key evicted from the small queue is remembered until it returns, once")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    CHECK(!larder_ghost_take(pool, hash_of(1), 100));
    larder_ghost_add(pool, hash_of(1), LARDER_SMALL, 100);
    CHECK(!larder_ghost_take(pool, hash_of(2), 100));
    CHECK(larder_ghost_take(pool, hash_of(1), 100));
    CHECK(!larder_ghost_take(pool, hash_of(1), 100));
    larder_pool_close(pool);
}

TEST(main_teaches, "a key evicted from the main queue does not skip the small one, but shortens it if it returns soon")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t target = pool->header->small_target;
    larder_ghost_add(pool, hash_of(1), LARDER_MAIN, 1000);
    CHECK(!larder_ghost_take(pool, hash_of(1), 1000));
    COMPARE(pool->header->small_target, <, target);
    target = pool->header->small_target;
    larder_ghost_add(pool, hash_of(1), LARDER_SMALL, 1000);
    CHECK(larder_ghost_take(pool, hash_of(1), 1000));
    COMPARE(pool->header->small_target, >, target);
    larder_pool_close(pool);
}

TEST(border_bounded, "whatever the ghosts teach, the small queue keeps between a fiftieth and a half of the pool")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint64_t i = 0; i < 5000; i++) {
        larder_ghost_add(pool, hash_of(i), LARDER_SMALL, 100000);
        larder_ghost_take(pool, hash_of(i), 100000);
    }
    COMPARE(pool->header->small_target, <=, larder_usable_bytes(pool) / 2);
    COMPARE(pool->header->small_target, >=, larder_usable_bytes(pool) / 3);
    for (uint64_t i = 0; i < 5000; i++) {
        larder_ghost_add(pool, hash_of(i), LARDER_MAIN, 100000);
        larder_ghost_take(pool, hash_of(i), 100000);
    }
    COMPARE(pool->header->small_target, >=, larder_usable_bytes(pool) / 50);
    COMPARE(pool->header->small_target, <=, larder_usable_bytes(pool) / 40);
    larder_pool_close(pool);
}

TEST(forgotten,
     "a ghost is forgotten when the pool has evicted most of itself since, also when the clock of bytes has wrapped")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t step = larder_usable_bytes(pool) / 100;
    larder_ghost_add(pool, hash_of(1), LARDER_SMALL, step);
    for (uint64_t i = 0; i < 50; i++) {
        larder_ghost_add(pool, hash_of(100 + i), LARDER_SMALL, step);
    }
    CHECK(larder_ghost_take(pool, hash_of(1), 100));
    larder_ghost_add(pool, hash_of(2), LARDER_SMALL, step);
    unsigned remembered = 0;
    for (uint64_t i = 0; i < 100 * 40; i++) { /* 128 times make a lifetime, 2,048 a round of the clock */
        larder_ghost_add(pool, hash_of(1000 + i), LARDER_SMALL, step);
        if (i > 95 && i % 20 == 0) {
            remembered += larder_ghost_take(pool, hash_of(2), 100);
            larder_ghost_add(pool, hash_of(2000000), LARDER_SMALL, 0);
        }
    }
    EQUAL(remembered, 0);
    larder_pool_close(pool);
}

TEST(enough_room, "as many ghosts are kept as small items are evicted in a ghost's lifetime")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t count = larder_usable_bytes(pool) / 10 * 8 / 100, remembered = 0, invented = 0;
    for (uint64_t i = 0; i < count; i++) {
        larder_ghost_add(pool, hash_of(i), LARDER_SMALL, 100);
    }
    for (uint64_t i = 0; i < count; i++) {
        remembered += larder_ghost_take(pool, hash_of(i), 0);
        invented += larder_ghost_take(pool, hash_of(10000000 + i), 0);
    }
    COMPARE(remembered * 100, >=, count * 80);
    COMPARE(invented * 100, <=, count);
    larder_pool_close(pool);
}
