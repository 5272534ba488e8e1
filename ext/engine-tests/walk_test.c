/* Walks over a victim: where what is kept goes. */
#include "fixture.h"

#include "engine/lock.h"
#include "engine/pin.h"
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

/* Opens the last free segment to move items to, as if all but `room` bytes of it had been taken. */
static void spend_last_free(larder_pool *pool, uint64_t room)
{
    REQUIRE(larder_lock(pool));
    uint32_t open = larder_open_segment(pool, LARDER_MAIN, 0);
    REQUIRE(open != LARDER_NO_SEGMENT);
    pool->segments[open].fill = larder_segment_bytes(pool) - room;
    EQUAL(pool->header->lists[LARDER_LIST_FREE].count, 0);
    EQUAL(larder_room_to_move(pool), room);
    larder_unlock(pool);
}

/* As when a victim waits for a reader to unpin it, and the segment that is kept was spent on what lived there. */
TEST(does_not_begin_in_vain,
     "where nothing is evicted nothing is moved of a segment that would not all fit where it goes, and it is refused")
{
    larder_pool *pool = pool_that(false);
    static const char value[3000];
    larder_stats before, after;
    uint64_t stored = 0;
    while (put_bytes(pool, key_number(stored), value, sizeof value) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i++) { /* half lives on, in each segment */
        const larder_key key = key_number(i);
        CHECK(i % 2 == 0 || larder_delete(pool, &key));
    }
    spend_last_free(pool, 10000);
    larder_stats_read(pool, &before);
    EQUAL(put_bytes(pool, key_number(stored), value, sizeof value), LARDER_FULL);
    larder_stats_read(pool, &after);
    EQUAL(after.counters[LARDER_MOVES], before.counters[LARDER_MOVES]);
    for (uint64_t i = 0; i < stored; i += 2) { /* what all lies in one segment may go */
        const larder_key key = key_number(i);
        CHECK(i > 100 || larder_delete(pool, &key));
    }
    EQUAL(put_bytes(pool, key_number(stored), value, sizeof value), LARDER_OK);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

/* A reader that pins the victim while it is walked, and lets go of it when it has been put into limbo. */
static struct {
    larder_pool *pool;
    uint32_t segment, pinned;
} passing;

static void pass_by(unsigned point)
{
    larder_pool *pool = passing.pool;
    if (point == LARDER_AT_MOVE && passing.segment == LARDER_NO_SEGMENT) {
        passing.segment = pool->header->victim - 1;
        passing.pinned += larder_pin_set(pool, passing.segment, pool->generations[passing.segment]);
    } else if (point == LARDER_AT_LINK && passing.segment != LARDER_NO_SEGMENT &&
               larder_segment_state_of(&pool->segments[passing.segment]) == LARDER_LIMBO) {
        larder_pin_drop(pool, passing.segment);
        passing.segment = 0;
    }
}

TEST(pinned_for_a_moment,
     "a reader that pins a segment for a moment while it is emptied does not make a pool full that does not evict")
{
    larder_pool *pool = pool_that(false);
    static const char value[3000];
    uint64_t stored = 0;
    while (put_bytes(pool, key_number(stored), value, sizeof value) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i++) { /* seven tenths live on, in each segment: two do not fit in one */
        const larder_key key = key_number(i);
        CHECK(i % 10 < 7 || larder_delete(pool, &key));
    }
    passing.pool = pool_that(false);
    passing.segment = LARDER_NO_SEGMENT;
    EQUAL(pool->header->lists[LARDER_LIST_FREE].count, LARDER_KEPT_SEGMENTS);
    fault_meddle(pass_by);
    EQUAL(put_bytes(pool, key_number(stored), value, sizeof value), LARDER_OK);
    fault_meddle(NULL);
    EQUAL(passing.pinned, 1);
    CHECK_POOL(pool);
    larder_pool_close(passing.pool);
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
