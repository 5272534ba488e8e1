/* How long the lock is held in a pool that does not evict, and in whose segments next to nothing lives among much that
 * was deleted: what must not be looked at is hidden, and a thread that does look dies.
 */
#include "fixture.h"

#include "engine/evict.h"
#include "engine/lock.h"
#include "engine/run.h"

#include <sys/mman.h>

enum { SEGMENTS = 64, UNSEEN = 40 /* segments from here on are too far to be looked at */ };

/* The segment that the key's item lies in. */
static uint32_t segment_of(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    const larder_key key = key_number(number);
    REQUIRE(larder_get_pinned(pool, &key, &hit));
    uint32_t segment = hit.segment;
    larder_hit_drop(pool, &hit);
    return segment;
}

/* Fills the pool of 4 MiB, and leaves the last item of each segment. */
static void leave_one_each(larder_pool *pool, size_t size)
{
    static const char bytes[200];
    uint64_t count = 0, last[SEGMENTS] = {0};
    REQUIRE(pool->geometry.segment_count <= SEGMENTS);
    while (put_bytes(pool, key_number(count), bytes, size) == LARDER_OK) {
        count++;
    }
    for (uint64_t i = 0; i < count; i++) {
        last[segment_of(pool, i)] = i;
    }
    for (uint64_t i = 0; i < count; i++) {
        const larder_key key = key_number(i);
        CHECK(last[segment_of(pool, i)] == i || larder_delete(pool, &key));
    }
    larder_pool_leave(pool);
}

/* Everything sealed from there on, but this one. */
static void hide(larder_pool *pool, uint32_t from, uint32_t all_but)
{
    for (uint32_t i = from; i < pool->geometry.segment_count; i++) {
        if (i != all_but && larder_segment_state_of(&pool->segments[i]) == LARDER_SEALED) {
            EQUAL(mprotect(pool->rw + larder_segment_offset(pool, i), larder_segment_bytes(pool), PROT_NONE), 0);
        }
    }
}

/* ---- emptying one ------------------------------------------------------------------------------------------------ */

static bool is_short_of_room(const larder_pool *pool)
{
    return pool->header->lists[LARDER_LIST_FREE].count <= LARDER_KEPT_SEGMENTS;
}

static void make_room(larder_pool *pool)
{
    REQUIRE(larder_lock(pool));
    EQUAL(larder_make_room_now(pool), LARDER_OK);
    larder_unlock(pool);
}

/* The next sealed segment of those with the least in it. */
static uint32_t first_choice(const larder_pool *pool)
{
    uint32_t count = pool->geometry.segment_count, best = LARDER_NO_SEGMENT;
    uint64_t least = UINT64_MAX;
    for (uint32_t looked = 0; looked < count; looked++) {
        uint32_t index = (pool->header->cursor + looked) % count;
        uint64_t live = larder_segment_live_units(&pool->segments[index]);
        if (larder_segment_state_of(&pool->segments[index]) == LARDER_SEALED && live < least) {
            best = index;
            least = live;
        }
    }
    return best;
}

static void empty_the_first_choice(void *context)
{
    larder_pool *pool = pool_that(false);
    uint32_t first = first_choice(pool);
    (void)context;
    hide(pool, 0, first);
    make_room(pool);
    EQUAL(larder_segment_state_of(&pool->segments[first]), LARDER_FREE);
    larder_pool_close(pool);
}

TEST(told_by_account, "where nothing is evicted, which segment holds the least is told without reading any item")
{
    larder_pool *pool = pool_that(false);
    leave_one_each(pool, 200);
    make_room(pool); /* there is a segment now to which the others' items are moved */
    for (uint64_t i = 100000; !is_short_of_room(pool); i++) {
        EQUAL(put_bytes(pool, key_number(i), "", 0), LARDER_OK);
    }
    EQUAL(child_wait(child_start(empty_the_first_choice, NULL)), 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

/* ---- neighbours -------------------------------------------------------------------------------------------------- */

static void look_for_neighbours(void *context)
{
    larder_pool *pool = pool_that(false);
    (void)context;
    hide(pool, UNSEEN, LARDER_NO_SEGMENT);
    EQUAL(put_block(pool, 100000, 7 * larder_segment_bytes(pool) + 1), LARDER_OK);
    larder_pool_close(pool);
}

TEST(looks_so_far, "a large value for which room has to be made looks at so many items at most")
{
    larder_pool *pool = pool_that(false);
    leave_one_each(pool, 48);
    EQUAL(child_wait(child_start(look_for_neighbours, NULL)), 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}
