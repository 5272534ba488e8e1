/* Counters. */
#include "increment.h"
#include "fixture.h"

#include "engine/larder.h"
#include "engine/tag.h"
#include "engine/token.h"

static int64_t counted(larder_pool *pool, const char *key, int64_t by, int64_t initial)
{
    int64_t result = -12345;
    const larder_key k = key_of(key);
    EQUAL(larder_increment(pool, &k, by, initial, LARDER_NO_EXPIRY, &result), LARDER_COUNTED);
    return result;
}

static uint8_t kind_of(larder_pool *pool, const char *key)
{
    larder_hit hit;
    const larder_key k = key_of(key);
    REQUIRE(larder_get_pinned(pool, &k, &hit));
    uint8_t kind = hit.item->kind;
    larder_hit_drop(pool, &hit);
    return kind;
}

TEST(counting, "an absent counter begins at initial + by, and counts from there, up and down")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    EQUAL(counted(pool, "c", 5, 100), 105);
    EQUAL(counted(pool, "c", 5, 100), 110);
    EQUAL(counted(pool, "c", -200, 0), -90);
    EQUAL(counted(pool, "c", 0, 0), -90);
    larder_clear(pool);
    EQUAL(counted(pool, "c", 1, 0), 1);
    larder_hit hit;
    size_t size;
    const larder_key key = key_of("c");
    REQUIRE(larder_get_pinned(pool, &key, &hit));
    EQUAL(larder_counter_value(larder_hit_value(pool, &hit, &size)), 1);
    larder_hit_drop(pool, &hit);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(beyond_counters, "a count past 62 bits goes on as a plain int and back, and past 64 bits nothing is changed")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("c");
    int64_t result;
    EQUAL(counted(pool, "c", LARDER_COUNTER_MAX, 0), LARDER_COUNTER_MAX);
    EQUAL(kind_of(pool, "c"), LARDER_COUNTER_KIND);
    EQUAL(counted(pool, "c", 1, 0), LARDER_COUNTER_MAX + 1);
    EQUAL(kind_of(pool, "c"), LARDER_INT_KIND);
    EQUAL(counted(pool, "c", INT64_MAX - LARDER_COUNTER_MAX - 1, 0), INT64_MAX);
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &result), LARDER_OUT_OF_RANGE);
    EQUAL(counted(pool, "c", 0, 0), INT64_MAX);
    EQUAL(counted(pool, "c", -INT64_MAX, 0), 0);
    EQUAL(kind_of(pool, "c"), LARDER_COUNTER_KIND);
    EQUAL(counted(pool, "c", LARDER_COUNTER_MIN, 0), LARDER_COUNTER_MIN);
    EQUAL(counted(pool, "c", -1, 0), LARDER_COUNTER_MIN - 1);
    EQUAL(kind_of(pool, "c"), LARDER_INT_KIND);
    EQUAL(counted(pool, "c", INT64_MIN - LARDER_COUNTER_MIN + 1, 0), INT64_MIN);
    EQUAL(larder_increment(pool, &key, -1, 0, LARDER_NO_EXPIRY, &result), LARDER_OUT_OF_RANGE);
    EQUAL(counted(pool, "c", 0, 0), INT64_MIN);
    const larder_key absent = key_of("absent");
    EQUAL(larder_increment(pool, &absent, 1, INT64_MAX, LARDER_NO_EXPIRY, &result), LARDER_OUT_OF_RANGE);
    CHECK(!larder_exists(pool, &absent));
    EQUAL(counted(pool, "big", INT64_MAX, 0), INT64_MAX);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(counters_expire,
     "counting keeps an expiry, in place and across kinds; an expired counter begins anew with the given one")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("c");
    int64_t result;
    EQUAL(larder_increment(pool, &key, 1, 0, clock_ms + 1000, &result), LARDER_COUNTED);
    clock_ms += 600;
    EQUAL(larder_increment(pool, &key, 1, 0, clock_ms + 9000, &result), LARDER_COUNTED);
    EQUAL(larder_increment(pool, &key, LARDER_COUNTER_MAX, 0, LARDER_NO_EXPIRY, &result), LARDER_COUNTED);
    EQUAL(result, LARDER_COUNTER_MAX + 2);
    clock_ms += 399;
    CHECK(larder_exists(pool, &key));
    clock_ms += 1;
    CHECK(!larder_exists(pool, &key));
    EQUAL(larder_increment(pool, &key, 1, 7, clock_ms + 50, &result), LARDER_COUNTED);
    EQUAL(result, 8);
    clock_ms += 50;
    CHECK(!larder_exists(pool, &key));
    larder_pool_close(pool);
}

TEST(least, "a count below the least is the least, in place, anew and past 64 bits; and no absent counter need be made")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("c");
    int64_t result = 0;
    larder_counting how = {.by = -3, .initial = 1, .least = 0, .creates = false, .expiry = LARDER_NO_EXPIRY};
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_NO_COUNTER);
    CHECK(!larder_exists(pool, &key));
    how.creates = true;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, 0);
    EQUAL(counted(pool, "c", 5, 0), 5);
    how.creates = false;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, 2);
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, 0);
    EQUAL(counted(pool, "c", INT64_MAX, 0), INT64_MAX);
    EQUAL(kind_of(pool, "c"), LARDER_INT_KIND);
    how.least = INT64_MAX - 1;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, INT64_MAX - 1);
    EQUAL(counted(pool, "c", INT64_MIN, 0), -2);
    how.by = INT64_MIN;
    how.least = 7;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, 7);
    EQUAL(kind_of(pool, "c"), LARDER_COUNTER_KIND);
    how.by = INT64_MAX;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_OUT_OF_RANGE);
    EQUAL(counted(pool, "c", 0, 0), 7);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(no_counter, "counting something that is no int changes nothing")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("text");
    int64_t result;
    put_text(pool, "text", "twelve");
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &result), LARDER_NOT_A_COUNTER);
    CHECK(holds_text(pool, "text", "twelve"));
    larder_pool_close(pool);
}

TEST(counter_full, "counting in a full pool that does not evict says so and loses no counter")
{
    larder_pool *pool = pool_timed(4 * MIB, false);
    EQUAL(counted(pool, "c", 41, 0), 41);
    EQUAL(counted(pool, "int", INT64_MAX - 5, 0), INT64_MAX - 5);
    static char bytes[20000];
    uint64_t i = 0;
    while (put_bytes(pool, key_number(i), bytes, sizeof bytes) == LARDER_OK) {
        i++;
    }
    for (size_t size = sizeof bytes; size > 0; size /= 2) {
        while (put_bytes(pool, key_number(i), bytes, size) == LARDER_OK) {
            i++;
        }
    }
    EQUAL(counted(pool, "c", 1, 0), 42); /* in place: needs no room */
    const larder_key absent = key_of("absent"), large = key_of("int");
    int64_t result;
    EQUAL(larder_increment(pool, &absent, 1, 0, LARDER_NO_EXPIRY, &result), LARDER_NOT_COUNTED);
    EQUAL(larder_increment(pool, &large, 1, 0, LARDER_NO_EXPIRY, &result), LARDER_NOT_COUNTED);
    CHECK(larder_exists(pool, &large));
    larder_pool_close(pool);
}

/* ---- written anew ---------------------------------------------------------------------------------------- */

static void write_number(const void *context, void *to, uintptr_t address)
{
    (void)address;
    memcpy(to, context, sizeof(int64_t));
}

static void put_number(larder_pool *pool, const char *name, int64_t number, const larder_terms *terms)
{
    const larder_key key = key_of(name);
    bool counter = number >= LARDER_COUNTER_MIN && number <= LARDER_COUNTER_MAX;
    const larder_value value = {.kind = counter ? LARDER_COUNTER_KIND : LARDER_INT_KIND,
                                .size = sizeof number,
                                .counter = number,
                                .write = write_number,
                                .context = &number};
    EQUAL(larder_store(pool, &key, &value, terms), LARDER_OK);
}

/* As a mover that died has left it. */
static void freeze(larder_pool *pool, const char *name)
{
    larder_found found;
    const larder_key key = key_of(name);
    larder_place place = larder_place_of(pool, key.hash);
    REQUIRE(larder_find(pool, &place, &key, &found));
    size_t at = larder_item_value_at(found.item->tags, found.item->key_length, found.item->kind);
    atomic_fetch_or((_Atomic uint64_t *)((uint8_t *)found.item + at), 1);
    larder_found_drop(pool, &found);
}

/* Counts that cannot be done in place. */
static const struct {
    int64_t from, by;
    bool frozen;
} anew[] = {
    {.from = INT64_MAX - 5, .by = 1},           {.from = LARDER_COUNTER_MAX, .by = 1},
    {.from = LARDER_COUNTER_MAX + 1, .by = -1}, {.from = LARDER_COUNTER_MIN - 1, .by = 1},
    {.from = 41, .by = 1, .frozen = true},
};
enum { ANEW = sizeof anew / sizeof anew[0] };

static larder_pool *pool_of_counter(unsigned which, const larder_terms *terms)
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    put_number(pool, "c", anew[which].from, terms);
    if (anew[which].frozen) {
        freeze(pool, "c");
    }
    return pool;
}

static const uint64_t two_tags[] = {77, 78};
static const larder_terms tagged = {
    .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .cost = 1234, .tags_count = 2, .tags = two_tags};

TEST(same_item, "a counter that is written anew is the same item: as old, as costly, and with its tags")
{
    const larder_key key = key_of("c");
    for (unsigned i = 0; i < ANEW; i++) {
        larder_pool *pool = pool_of_counter(i, &tagged);
        larder_hit hit;
        REQUIRE(larder_get_pinned(pool, &key, &hit));
        uint64_t version = hit.item->version;
        const larder_item *before = hit.item;
        larder_hit_drop(pool, &hit);
        put_text(pool, "x", "moves the clock");
        EQUAL(counted(pool, "c", anew[i].by, 0), anew[i].from + anew[i].by);
        REQUIRE(larder_get_pinned(pool, &key, &hit));
        CHECK(hit.item != before);
        EQUAL(hit.item->version, version);
        EQUAL(hit.item->cost, tagged.cost);
        EQUAL(hit.item->tags, 2);
        EQUAL(memcmp(larder_item_tags(hit.item), two_tags, sizeof two_tags), 0);
        larder_hit_drop(pool, &hit);
        CHECK_POOL(pool);
        larder_invalidate(pool, &two_tags[1], 1);
        CHECK(!larder_exists(pool, &key));
        larder_pool_close(pool);
    }
}

TEST(taken_as,
     "an item of that very version that is no int counts as the number that is said, with its tags and its expiry")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("text");
    larder_terms terms = tagged;
    terms.expiry = clock_ms + 5000;
    EQUAL(put_under(pool, "text", "seven", &terms), LARDER_OK);
    larder_hit hit;
    REQUIRE(larder_get_pinned(pool, &key, &hit));
    uint64_t version = hit.item->version;
    larder_hit_drop(pool, &hit);
    larder_counting how = {.by = 3, .least = INT64_MIN, .taken_as = 7};
    int64_t result = 0;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_NOT_A_COUNTER);
    how.taken_from = version + 1;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_NOT_A_COUNTER);
    CHECK(holds_text(pool, "text", "seven"));
    how.taken_from = version;
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, 10);
    EQUAL(larder_count_up(pool, &key, &how, &result), LARDER_COUNTED);
    EQUAL(result, 13);
    REQUIRE(larder_get_pinned(pool, &key, &hit));
    EQUAL(larder_told_expiry(&hit.item->expiry), terms.expiry);
    EQUAL(hit.item->cost, tagged.cost);
    larder_hit_drop(pool, &hit);
    larder_invalidate(pool, &two_tags[1], 1);
    CHECK(!larder_exists(pool, &key));
    larder_pool_close(pool);
}

static larder_pool *invalidator;

static void invalidate_meanwhile(void)
{
    larder_invalidate(invalidator, two_tags, 1);
}

static void clear_meanwhile(void)
{
    larder_clear(invalidator);
}

TEST(invalidated_meanwhile, "what is invalidated or cleared while it is counted anew is dead, at whichever moment")
{
    static const unsigned points[] = {LARDER_AT_RESERVE, LARDER_AT_KEY_VERSION, LARDER_AT_REPLACE};
    const larder_key key = key_of("c");
    for (unsigned i = 0; i < 2 * ANEW * 3; i++) {
        larder_pool *pool = pool_of_counter(i / 2 % ANEW, &tagged);
        int64_t result;
        invalidator = pool_open("p", 4 * MIB);
        /* The key version moves when counting begins, before the counter is looked at, and again when it is stored. */
        fault_arm(points[i / 2 / ANEW], points[i / 2 / ANEW] == LARDER_AT_KEY_VERSION,
                  i % 2 == 0 ? invalidate_meanwhile : clear_meanwhile);
        EQUAL(larder_increment(pool, &key, anew[i / 2 % ANEW].by, 0, LARDER_NO_EXPIRY, &result), LARDER_COUNTED);
        fault_disarm();
        EQUAL(result, anew[i / 2 % ANEW].from + anew[i / 2 % ANEW].by);
        CHECK(!larder_exists(pool, &key));
        CHECK(!larder_exists(invalidator, &key));
        larder_pool_close(invalidator);
        CHECK_POOL(pool);
        larder_pool_close(pool);
    }
}

static larder_pool *counting_too;
static int64_t their_step, their_result;

static void count_meanwhile(void)
{
    const larder_key key = key_of("c");
    EQUAL(larder_increment(counting_too, &key, their_step, 0, LARDER_NO_EXPIRY, &their_result), LARDER_COUNTED);
}

TEST(counted_meanwhile,
     "what another process counts while a counter is written anew is counted, too, at whichever moment")
{
    static const unsigned points[] = {LARDER_AT_RESERVE, LARDER_AT_KEY_VERSION, LARDER_AT_REPLACE};
    const larder_key key = key_of("c");
    for (unsigned i = 0; i < ANEW * 3; i++) {
        const int64_t from = anew[i % ANEW].from, by = anew[i % ANEW].by;
        larder_pool *pool = pool_of_counter(i % ANEW, &tagged);
        int64_t result;
        counting_too = pool_open("p", 4 * MIB);
        their_step = by;
        fault_arm(points[i / ANEW], points[i / ANEW] == LARDER_AT_KEY_VERSION, count_meanwhile);
        EQUAL(larder_increment(pool, &key, by, 0, LARDER_NO_EXPIRY, &result), LARDER_COUNTED);
        fault_disarm();
        EQUAL(their_result, from + by);
        EQUAL(result, from + 2 * by);
        EQUAL(counted(pool, "c", 0, 0), from + 2 * by);
        larder_pool_close(counting_too);
        CHECK_POOL(pool);
        larder_pool_close(pool);
    }
}

static larder_pool *beside;
static uint64_t touched_to;

static void touch_beside(void)
{
    const larder_key key = key_of("c");
    CHECK(larder_touch(beside, &key, touched_to));
}

static uint64_t expiry_of(larder_pool *pool, const char *key)
{
    larder_hit hit;
    const larder_key k = key_of(key);
    REQUIRE(larder_get_pinned(pool, &k, &hit));
    uint64_t expiry = larder_told_expiry(&hit.item->expiry);
    larder_hit_drop(pool, &hit);
    return expiry;
}

TEST(touched_meanwhile, "a touch that comes while a counter is written anew is not lost, at whichever moment")
{
    const uint64_t old[] = {LARDER_NO_EXPIRY, larder_expiry(clock_ms, 100)};
    const uint64_t new[] = {larder_expiry(clock_ms, 500), LARDER_NO_EXPIRY, larder_expiry(clock_ms, 100)};
    for (unsigned i = 0; i < 6; i++) {
        bool met = true;
        for (uint64_t skip = 0; met; skip++) {
            larder_pool *pool = pool_timed(4 * MIB, true);
            beside = pool_timed(4 * MIB, true);
            const larder_key key = key_of("c");
            int64_t result;
            EQUAL(larder_increment(pool, &key, LARDER_COUNTER_MAX, 0, old[i % 2], &result), LARDER_COUNTED);
            touched_to = new[i / 2];
            uint64_t passed = fault_count(LARDER_AT_TOUCH);
            fault_arm(0, skip, touch_beside);
            EQUAL(counted(pool, "c", 1, 0), LARDER_COUNTER_MAX + 1);
            fault_disarm();
            met = fault_count(LARDER_AT_TOUCH) > passed;
            EQUAL(expiry_of(pool, "c"), met ? touched_to : old[i % 2]);
            CHECK_POOL(pool);
            larder_pool_close(beside);
            larder_pool_close(pool);
            pool_remove("p", NULL);
        }
    }
}

TEST(raised_version, "a counter whose version was raised says so when it is written anew, too")
{
    const larder_key key = key_of("c");
    for (int raised = 0; raised < 2; raised++) {
        larder_pool *pool = pool_open("p", 4 * MIB);
        larder_terms terms = tagged;
        terms.verb = LARDER_FILL;
        terms.attachment = pool->attached.number;
        terms.token = larder_now_logical(pool->header);
        if (raised) {
            larder_invalidate(pool, two_tags, 2); /* its own, which it is filled past */
        }
        put_number(pool, "c", INT64_MAX - 5, &terms);
        EQUAL(counted(pool, "c", 1, 0), INT64_MAX - 4);
        larder_hit hit;
        REQUIRE(larder_get_pinned(pool, &key, &hit));
        EQUAL((hit.item->traits & LARDER_VERSION_RAISED) != 0, raised);
        larder_hit_drop(pool, &hit);
        larder_pool_close(pool);
    }
}
