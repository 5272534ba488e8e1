/* Walks over a victim: where what is kept goes. */
#include "fixture.h"

#include "engine/lock.h"
#include "engine/walk.h"

TEST(compacts_into_the_last,
     "a pool that does not evict makes room although only the segment that is kept for moving is free")
{
    larder_pool *pool = pool_that(false);
    static const char value[3000];
    uint64_t stored = 0, again = 0;
    while (put_bytes(pool, key_number(stored), value, sizeof value) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i++) { /* a quarter lives on, in each segment */
        const larder_key key = key_number(i);
        CHECK(i % 4 == 0 || larder_delete(pool, &key));
    }
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.segments[LARDER_FREE], LARDER_KEPT_SEGMENTS);
    EQUAL(stats.counters[LARDER_MOVES], 0);
    while (put_bytes(pool, key_number(stored + again), value, sizeof value) == LARDER_OK) {
        again++;
    }
    COMPARE(again * 100, >=, stored * 70);
    for (uint64_t i = 0; i < stored; i += 4) {
        const larder_key key = key_number(i);
        CHECK(larder_exists(pool, &key));
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

#define FOREIGN 1000000u

TEST(others_in_the_way,
     "what another PHP alone can move keeps a pool that does not evict from emptying its segment, but no other")
{
    larder_pool *pool = pool_that(false), *other = pool_of_another_kind(false);
    uint64_t stored = 0, again = 0;
    EQUAL(put_block(other, FOREIGN, 3000), LARDER_OK);
    while (put_block(pool, stored, 3000) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i++) { /* nothing else lives on in its segment, and a quarter in the others */
        const larder_key key = key_number(i);
        CHECK((i >= 24 && i % 4 == 0) || larder_delete(pool, &key));
    }
    while (put_block(pool, stored + again, 3000) == LARDER_OK) {
        again++;
    }
    COMPARE(again * 100, >=, stored * 60);
    CHECK(has_block(other, FOREIGN));
    for (uint64_t i = 24; i < stored; i += 4) {
        CHECK(has_block(pool, i));
    }
    CHECK_POOL(pool);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(nothing_spent_in_vain,
     "where something of another PHP lives in each segment, the segment that is kept for moving is not spent in vain")
{
    larder_pool *pool = pool_that(false), *other = pool_of_another_kind(false);
    uint64_t stored = 0, again = 0;
    while (put_block(stored / 8 % 2 == 0 ? pool : other, stored, 3000) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i += 8) { /* an eighth of each PHP's: enough for compacting, if it could */
        const larder_key key = key_number(i);
        CHECK(larder_delete(i / 8 % 2 == 0 ? pool : other, &key));
    }
    for (uint64_t i = 0; i < 20; i++) { /* asked again and again, by one of them */
        while (put_block(pool, stored + again, 3000) == LARDER_OK) {
            again++;
        }
    }
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.segments[LARDER_FREE], LARDER_KEPT_SEGMENTS);
    for (uint64_t i = 0; i < stored; i++) { /* what remains of the other's goes: now what remains can be moved */
        const larder_key key = key_number(i);
        bool is_others = i / 8 % 2 == 1;
        CHECK(i % 8 == 0 || has_block(is_others ? other : pool, i));
        CHECK(i % 8 == 0 || !is_others || larder_delete(other, &key));
    }
    larder_pool_leave(pool);
    larder_pool_leave(other);
    again = 0;
    while (put_block(pool, 2 * stored + again, 3000) == LARDER_OK) {
        again++;
    }
    COMPARE(again * 100, >=, stored * 40);
    CHECK_POOL(pool);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(others_choice, "a walk that another PHP has begun drops nothing, in a pool that does not evict")
{
    larder_pool *pool = pool_that(false), *other = pool_of_another_kind(false);
    EQUAL(put_block(other, FOREIGN, 3000), LARDER_OK);
    for (uint64_t i = 0; i < 40; i++) {
        EQUAL(put_block(pool, i, 3000), LARDER_OK);
    }
    uint64_t bytes = larder_segment_bytes(pool);
    CHECK(larder_lock(other));
    larder_walk_begin(other, pool->header->lists[LARDER_SMALL].first, LARDER_COMPACT);
    larder_unlock(other);
    CHECK(larder_lock(pool));
    CHECK(!larder_walk_to_the_end(pool, &bytes));
    larder_unlock(pool);
    CHECK(has_block(other, FOREIGN));
    for (uint64_t i = 0; i < 40; i++) {
        CHECK(has_block(pool, i));
    }
    CHECK_POOL(pool);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(others_are_dropped, "compacting goes on past what another PHP alone can move, in a pool that evicts")
{
    larder_pool *pool = pool_that(true), *other = pool_of_another_kind(true);
    EQUAL(put_block(other, FOREIGN, 3000), LARDER_OK);
    for (uint64_t i = 0; i < 40; i++) {
        EQUAL(put_block(pool, i, 3000), LARDER_OK);
    }
    uint64_t bytes = larder_segment_bytes(pool);
    CHECK(larder_lock(pool));
    larder_walk_begin(pool, pool->header->lists[LARDER_SMALL].first, LARDER_COMPACT);
    CHECK(larder_walk_to_the_end(pool, &bytes));
    larder_unlock(pool);
    CHECK(!has_block(other, FOREIGN));
    for (uint64_t i = 0; i < 40; i++) {
        CHECK(has_block(pool, i));
    }
    CHECK_POOL(pool);
    larder_pool_close(other);
    larder_pool_close(pool);
}
