/* Taking one version of an item, while others count, replace, delete and take it. */
#include "increment.h"
#include "fixture.h"

#include "engine/larder.h"

static larder_pool *beside;
static int64_t counted;

static larder_met version_of(larder_pool *pool, const larder_key *key)
{
    larder_hit hit;
    REQUIRE(larder_get_pinned(pool, key, &hit));
    const larder_met met = {.version = hit.item->version, .word = hit.word, .attachment = pool->attached.number};
    larder_hit_drop(pool, &hit);
    return met;
}

static bool take_now(larder_pool *pool, const char *name, int64_t *counter)
{
    const larder_key key = key_of(name);
    const larder_met met = version_of(pool, &key);
    return larder_take(pool, &key, &met, counter);
}

static void count_beside(void)
{
    const larder_key key = key_of("k");
    EQUAL(larder_increment(beside, &key, 1, 0, LARDER_NO_EXPIRY, &counted), LARDER_COUNTED);
}

static void replace_beside(void)
{
    EQUAL(put_text(beside, "k", "new"), LARDER_OK);
}

static void take_beside(void)
{
    int64_t counter;
    counted = take_now(beside, "k", &counter);
}

static const unsigned points[] = {LARDER_AT_TICK, LARDER_AT_KEY_VERSION, LARDER_AT_FREEZE, LARDER_AT_CLEAR_WORD};
#define POINTS (sizeof points / sizeof points[0])

TEST(counting_meanwhile, "what is counted while a counter is taken is in the sum that was taken, or in the next")
{
    for (size_t p = 0; p < POINTS; p++) {
        beside = pool_timed(4 * MIB, true);
        larder_pool *pool = pool_timed(4 * MIB, true);
        const larder_key key = key_of("k");
        int64_t sum = 0, taken = 0;
        EQUAL(larder_increment(pool, &key, 5, 0, LARDER_NO_EXPIRY, &sum), LARDER_COUNTED);
        fault_arm(points[p], 0, count_beside);
        bool was_taken = take_now(pool, "k", &taken);
        fault_disarm();
        EQUAL(larder_increment(pool, &key, 0, 0, LARDER_NO_EXPIRY, &sum), LARDER_COUNTED);
        EQUAL((was_taken ? taken : 0) + sum, 6);
        CHECK_POOL(pool);
        larder_pool_close(beside);
        larder_pool_close(pool);
        pool_remove("p", NULL);
    }
}

TEST(replaced_meanwhile,
     "what is stored while its older version is taken stays, and of two that take one version one gets it")
{
    for (size_t p = 0; p < POINTS; p++) {
        if (points[p] == LARDER_AT_FREEZE) {
            continue;
        }
        beside = pool_timed(4 * MIB, true);
        larder_pool *pool = pool_timed(4 * MIB, true);
        int64_t counter;
        EQUAL(put_text(pool, "k", "old"), LARDER_OK);
        fault_arm(points[p], 0, replace_beside);
        CHECK(!take_now(pool, "k", &counter));
        fault_disarm();
        CHECK(holds_text(pool, "k", "new"));
        fault_arm(points[p], 0, take_beside);
        CHECK(!take_now(pool, "k", &counter));
        fault_disarm();
        CHECK(counted == 1 && !holds_text(pool, "k", "new"));
        EQUAL(put_text(pool, "k", "read"), LARDER_OK);
        const larder_key key = key_of("k");
        const larder_met read = version_of(pool, &key);
        EQUAL(put_text(pool, "k", "last"), LARDER_OK);
        CHECK(!larder_take(pool, &key, &read, &counter));
        CHECK(take_now(pool, "k", &counter));
        CHECK(!holds_text(pool, "k", "last"));
        CHECK_POOL(pool);
        larder_pool_close(beside);
        larder_pool_close(pool);
        pool_remove("p", NULL);
    }
}

static bool deleted_here, deleted_beside;

static void delete_beside(void)
{
    const larder_key key = key_of("k");
    deleted_beside = larder_delete(beside, &key);
}

static void delete_and_replace_beside(void)
{
    delete_beside();
    EQUAL(put_text(beside, "k", "new"), LARDER_OK);
}

/* How many of the stored items are accounted for: a process is told that it deleted them, or they are there. */
static int accounted(unsigned point, void (*meanwhile)(void))
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k");
    beside = pool_timed(4 * MIB, true);
    deleted_beside = false;
    EQUAL(put_text(pool, "k", "old"), LARDER_OK);
    fault_arm(point, 0, meanwhile);
    deleted_here = larder_delete(pool, &key);
    fault_disarm();
    int items = deleted_here + deleted_beside + holds_text(beside, "k", "new");
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
    pool_remove("p", NULL);
    return items;
}

TEST(deleted_meanwhile,
     "of all that delete an item one is told that it existed, also where it is stored anew meanwhile")
{
    static const unsigned deletes[] = {LARDER_AT_TICK, LARDER_AT_KEY_VERSION, LARDER_AT_DELETION, LARDER_AT_CLEAR_WORD};
    for (size_t p = 0; p < sizeof deletes / sizeof deletes[0]; p++) {
        EQUAL(accounted(deletes[p], delete_beside), 1);
        EQUAL(accounted(deletes[p], delete_and_replace_beside), 2);
    }
    accounted(LARDER_AT_CLEAR_WORD, replace_beside);
    CHECK(deleted_here); /* it has seen one, and there was one all the time */
}

TEST(older_fills, "a fill that began before a take is refused")
{
    beside = pool_timed(4 * MIB, true);
    larder_pool *pool = pool_timed(4 * MIB, true);
    int64_t counter;
    const larder_terms fill = {.verb = LARDER_FILL,
                               .token = larder_now_logical(pool->header) + 1,
                               .attachment = pool->attached.number,
                               .expiry = LARDER_NO_EXPIRY};
    EQUAL(put_text(beside, "k", "old"), LARDER_OK);
    CHECK(take_now(beside, "k", &counter));
    EQUAL(put_under(pool, "k", "older", &fill), LARDER_OVERTAKEN);
    larder_pool_close(beside);
    larder_pool_close(pool);
}
