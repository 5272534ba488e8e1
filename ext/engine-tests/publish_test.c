/* Publishing a key, while others store and delete it, or its neighbours. */
#include "fixture.h"

TEST(same_pending, "a pending word of the same key by a killed writer is cleared by the next store, and by a delete")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const larder_key key = key_of("k");
    larder_place place = larder_place_of(pool, key.hash);
    uint64_t pending = place.fingerprint << 48 | LARDER_PENDING | 7;
    atomic_store(&place.second->word[6], pending);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    CHECK(place.second->word[6] != pending);
    CHECK(holds_text(pool, "k", "v"));
    atomic_store(&place.second->word[6], pending);
    CHECK(larder_delete(pool, &key));
    EQUAL(place.second->word[6], 0);
    CHECK(!larder_delete(pool, &key));
    larder_pool_close(pool);
}

static larder_pool *beside; /* another process's handle, so to speak */
static larder_key meddled;

static larder_pool *open_both(void)
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    beside = pool_open("p", 4 * MIB);
    meddled = key_of("meddled");
    return pool;
}

static void close_both(larder_pool *pool)
{
    larder_pool_close(beside);
    larder_pool_close(pool);
}

static void delete_beside(void)
{
    larder_delete(beside, &meddled);
}

/* With the key stored before or not, and a delete by another process at this point of the store. */
static bool survives_delete(larder_pool *pool, unsigned point, bool existed)
{
    larder_delete(pool, &meddled);
    if (existed) {
        put_bytes(pool, meddled, "old", 3);
    }
    fault_arm(point, 0, delete_beside);
    enum larder_result result = put_bytes(pool, meddled, "new", 3);
    fault_disarm();
    char found[8] = "";
    size_t size;
    bool there = take(pool, meddled, found, sizeof found, &size);
    CHECK(!there || memcmp(found, "new", 3) == 0);
    CHECK(result == LARDER_OK || result == LARDER_OVERTAKEN);
    CHECK(result == LARDER_OK || !there);
    return there;
}

TEST(delete_in_between, "a delete that comes at any moment of a store, once it has ticked, leaves nothing of it; one "
                        "that comes before, the new value")
{
    larder_pool *pool = open_both();
    for (int existed = 0; existed < 2; existed++) {
        CHECK(survives_delete(pool, LARDER_AT_RESERVE, existed != 0));
        CHECK(survives_delete(pool, LARDER_AT_TICK, existed != 0));
        CHECK(!survives_delete(pool, LARDER_AT_KEY_VERSION, existed != 0));
        CHECK(!survives_delete(pool, LARDER_AT_START_BIT, existed != 0));
        CHECK(!survives_delete(pool, existed != 0 ? LARDER_AT_REPLACE : LARDER_AT_PUBLISH, existed != 0));
        CHECK(!survives_delete(pool, LARDER_AT_ACCOUNT, existed != 0));
    }
    CHECK(!survives_delete(pool, LARDER_AT_PENDING, false));
    CHECK_POOL(pool);
    close_both(pool);
}

static void store_beside(void)
{
    put_bytes(beside, meddled, "beside", 6);
}

TEST(store_in_between, "of two stores of a key, at whatever moment one comes in between, the later one stays, once")
{
    static const unsigned points[] = {LARDER_AT_KEY_VERSION, LARDER_AT_START_BIT, LARDER_AT_PENDING,
                                      LARDER_AT_PUBLISH,     LARDER_AT_REPLACE,   LARDER_AT_ACCOUNT};
    larder_pool *pool = open_both();
    for (size_t i = 0; i < 2 * sizeof points / sizeof points[0]; i++) {
        larder_delete(pool, &meddled);
        if (i % 2 != 0) {
            put_bytes(pool, meddled, "old", 3);
        }
        uint64_t before = fault_count(points[i / 2]);
        fault_arm(points[i / 2], 0, store_beside);
        put_bytes(pool, meddled, "new", 3);
        fault_disarm();
        bool came = fault_count(points[i / 2]) > before;
        CHECK(holds_text(pool, "meddled", came ? "beside" : "new"));
        CHECK_POOL(pool); /* it finds a key that is there twice */
    }
    close_both(pool);
}

static larder_key neighbour; /* of the same first bucket, or of the same group of deletions */

static void store_neighbour(void)
{
    put_bytes(beside, neighbour, "neighbour", 9);
}

static void delete_neighbour(void)
{
    larder_delete(beside, &neighbour);
}

static void find_neighbour(const larder_pool *pool, bool same_bucket)
{
    static char name[32];
    larder_place own = larder_place_of(pool, meddled.hash), its;
    uint64_t i = 0;
    do {
        snprintf(name, sizeof name, "neighbour-%llu", (unsigned long long)i++);
        neighbour = key_of(name);
        its = larder_place_of(pool, neighbour.hash);
    } while (same_bucket ? its.first != own.first : its.deletion != own.deletion);
}

TEST(neighbours, "a store that a neighbour's write or delete makes give up does not leave the older value behind")
{
    static const unsigned points[] = {LARDER_AT_KEY_VERSION, LARDER_AT_START_BIT, LARDER_AT_REPLACE};
    larder_pool *pool = open_both();
    unsigned gave_up = 0;
    for (size_t i = 0; i < 2 * sizeof points / sizeof points[0]; i++) {
        find_neighbour(pool, i % 2 == 0);
        put_bytes(pool, meddled, "old", 3);
        fault_arm(points[i / 2], 0, i % 2 == 0 ? store_neighbour : delete_neighbour);
        enum larder_result result = put_bytes(pool, meddled, "new", 3);
        fault_disarm();
        gave_up += result == LARDER_OVERTAKEN;
        CHECK(!holds_text(pool, "meddled", "old"));
        EQUAL(holds_text(pool, "meddled", "new"), result == LARDER_OK);
    }
    COMPARE(gave_up, >, 0);
    CHECK_POOL(pool);
    close_both(pool);
}

typedef struct adders {
    larder_pool *pool;
    gate moment;
} adders;

static adders *two;

static void let_the_second_begin(void)
{
    gate_open(&two->moment, 1);
    gate_wait(&two->moment, 2);
}

static void let_the_first_end(void)
{
    gate_open(&two->moment, 2);
    gate_wait(&two->moment, 3);
}

static void add_first(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_PENDING, 0, let_the_second_begin);
    EQUAL(put_with(two->pool, meddled, "first", 5, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OK);
}

static void add_second(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_PUBLISH, 0, let_the_first_end);
    EQUAL(put_with(two->pool, meddled, "second", 6, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OVERTAKEN);
}

TEST(adds_beside_neighbours, "an add that a neighbour's delete makes give up leaves what another added meanwhile")
{
    two = shared_memory(sizeof *two);
    two->pool = pool_open("p", 4 * MIB);
    meddled = key_of("meddled");
    find_neighbour(two->pool, false);
    pid_t first = child_start(add_first, NULL); /* it has the lower slot, and goes on when they meet */
    gate_wait(&two->moment, 1);
    pid_t second = child_start(add_second, NULL);
    EQUAL(child_wait(first), 0);
    larder_delete(two->pool, &neighbour);
    gate_open(&two->moment, 3);
    EQUAL(child_wait(second), 0);
    CHECK(holds_text(two->pool, "meddled", "first"));
    CHECK(larder_delete(two->pool, &meddled));
    CHECK_POOL(two->pool);
    larder_pool_close(two->pool);
}

static void store_dead_beside(void)
{
    put_with(beside, meddled, "dead", 4, LARDER_SET, 1); /* expired long ago */
}

TEST(dead_in_between, "an add that was overtaken by an item that has died since is not told that it owns the key")
{
    larder_pool *pool = open_both();
    fault_arm(LARDER_AT_START_BIT, 0, store_dead_beside);
    EQUAL(put_with(pool, meddled, "added", 5, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OVERTAKEN);
    CHECK(!larder_exists(pool, &meddled));
    EQUAL(put_with(pool, meddled, "added", 5, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OK);
    CHECK(holds_text(beside, "meddled", "added"));
    close_both(pool);
}
