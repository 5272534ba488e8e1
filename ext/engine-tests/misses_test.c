/* What a request remembers of the keys that it has missed. */
#include "requests.h"

#include "engine/larder.h"
#include "engine/token.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void miss_number(uint64_t number)
{
    char key[24];
    snprintf(key, sizeof key, "%llu", (unsigned long long)number);
    CHECK(miss(here, key));
}

static void open_timed(void)
{
    here = pool_timed(4 * MIB, true);
    there = pool_timed(4 * MIB, true);
}

static void close_timed(void)
{
    close_two();
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
}

TEST(many_misses, "however many keys a process has missed, each judges the first set of its own key, and of no other")
{
    open_two(64 * MIB);
    for (uint64_t i = 0; i < LARDER_MISSES_MAX; i++) {
        miss_number(i);
    }
    for (uint64_t i = 0; i < 2000; i++) { /* the site writes */
        char missed[24], other[24];
        const uint64_t number = i * (LARDER_MISSES_MAX / 2000);
        snprintf(missed, sizeof missed, "%llu", (unsigned long long)number);
        snprintf(other, sizeof other, "order-%llu", (unsigned long long)i);
        put_text(there, missed, "newer");
        put_text(there, other, "older");
        EQUAL(put_under(here, missed, "stale", &as_missed), LARDER_OVERTAKEN);
        EQUAL(put_under(here, missed, "true", &as_missed), LARDER_OK); /* the miss is used up */
        EQUAL(put_under(here, other, "true", &as_missed), LARDER_OK);
        CHECK(holds_text(there, other, "true"));
    }
    uint64_t filled = 0;
    for (uint64_t i = 1; i <= 100; i++) { /* all but a few, whose neighbours were written */
        char missed[24];
        snprintf(missed, sizeof missed, "%llu", (unsigned long long)i);
        filled += put_under(here, missed, "fill", &as_missed) == LARDER_OK;
    }
    COMPARE(filled, >=, 80);
    larder_pool_leave(here);
    put_text(there, "4", "newer");
    EQUAL(put_under(here, "4", "true", &as_missed), LARDER_OK);
    close_two();
}

TEST(too_many_misses, "of more misses than can be remembered the last are")
{
    open_two(16 * MIB);
    for (uint64_t i = 0; i < 5 * LARDER_MISSES_MAX / 2; i++) {
        miss_number(i);
    }
    const uint64_t remembered[] = {5 * LARDER_MISSES_MAX / 2 - 1, 2 * LARDER_MISSES_MAX, 3 * LARDER_MISSES_MAX / 2};
    for (size_t i = 0; i < sizeof remembered / sizeof remembered[0]; i++) {
        char key[24];
        snprintf(key, sizeof key, "%llu", (unsigned long long)remembered[i]);
        put_text(there, key, "newer");
        EQUAL(put_under(here, key, "stale", &as_missed), LARDER_OVERTAKEN);
    }
    close_two();
}

/* A fill of what was missed so long ago, in a process that never begins another request. */
static enum larder_result fill_after(uint64_t ms, uint64_t step)
{
    open_timed();
    miss_number(1);
    put_text(there, "1", "newer");
    for (uint64_t passed = 0; passed < ms; passed += step) {
        clock_ms += step;
        if (step < ms) { /* else it does nothing in all that time */
            miss_number(1000 + passed / step);
        }
    }
    enum larder_result result = put_under(here, "1", "v", &as_missed);
    close_timed();
    return result;
}

TEST(forgotten_by_age, "a process that serves request after request without saying so forgets a miss in ten minutes, "
                       "and not in five")
{
    static const uint64_t steps[] = {60, 1000, 60000, 300000};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        EQUAL(fill_after(LARDER_MISSES_MS, steps[i]), LARDER_OVERTAKEN);
        EQUAL(fill_after(2 * LARDER_MISSES_MS + 120, steps[i]), LARDER_OK);
    }
    EQUAL(fill_after(20 * LARDER_MISSES_MS, 20 * LARDER_MISSES_MS), LARDER_OK);
}

TEST(aged_each_its_own, "of two misses of a key the first counts as long as it is remembered, and then the second")
{
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        open_timed();
        miss_number(1);
        put_text(there, "1", "newer");
        delete_key(there, "1");
        clock_ms += LARDER_MISSES_MS;
        miss_number(1);
        if (forgotten) {
            clock_ms += LARDER_MISSES_MS;
            put_text(here, "another", "v");
        }
        EQUAL(put_under(here, "1", "v", &as_missed), forgotten ? LARDER_OK : LARDER_OVERTAKEN);
        delete_key(there, "1");
        miss_number(1);
        put_text(there, "1", "newest");
        EQUAL(put_under(here, "1", "stale", &as_missed), LARDER_OVERTAKEN);
        close_timed();
    }
}

TEST(read_after_minutes, "a miss that has grown old is ended by a hit as well")
{
    open_timed();
    const larder_key key = key_of("1");
    miss_number(1);
    clock_ms += LARDER_MISSES_MS;
    miss_number(2);
    put_text(there, "1", "newer");
    larder_was_read(here, &key);
    put_text(there, "1", "newest");
    EQUAL(put_under(here, "1", "a write", &as_missed), LARDER_OK);
    close_timed();
}

TEST(clock_set_back, "nor does it forget what it has missed when the clock is set back")
{
    open_timed();
    miss_number(1);
    clock_ms -= 100 * LARDER_MISSES_MS;
    put_text(there, "1", "newer");
    EQUAL(put_under(here, "1", "stale", &as_missed), LARDER_OVERTAKEN);
    close_timed();
}

TEST(worker, "a process that runs for long and misses much goes on storing and locking beside others that write")
{
    open_two(16 * MIB);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < 12288; i++) {
        char fresh[24], mine[24];
        snprintf(fresh, sizeof fresh, "fresh-%llu", (unsigned long long)i);
        snprintf(mine, sizeof mine, "mine-%llu", (unsigned long long)i);
        if (i % 4 == 0) {
            miss_number(1000000 + i); /* and nothing is made of it */
        }
        put_bytes(there, key_number(i), "v", 1);
        CHECK(miss(here, fresh));
        refused += put_under(here, fresh, "v", &as_missed) != LARDER_OK;
        refused += put_under(here, mine, "v", &as_missed) != LARDER_OK;
    }
    EQUAL(refused, 0);
    const larder_terms add = {.mode = LARDER_ADD, .expiry = LARDER_NO_EXPIRY};
    for (uint64_t i = 0; i < 1000; i++) {
        char lock[24];
        snprintf(lock, sizeof lock, "lock-%llu", (unsigned long long)i);
        EQUAL(put_under(here, lock, "v", &add), LARDER_OK);
    }
    close_two();
}

TEST(crowded_misses, "misses whose places in the table meet are each used up by one store of their own key")
{
    open_two(4 * MIB);
    rng r = {test_seed()};
    static char texts[300][24];
    static larder_key keys[300];
    static bool missed[300];
    for (size_t i = 0; i < 300;) {
        snprintf(texts[i], sizeof texts[i], "%llu", (unsigned long long)rng_next(&r));
        keys[i] = key_of(texts[i]);
        /* The last six places, and round the end. */
        i += larder_name_of(&keys[i]) * UINT64_C(0x9e3779b97f4a7c15) >> 52 >= 4090;
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 20000; i++) {
            uint64_t which = rng_below(&r, 300);
            if (rng_below(&r, 2) == 0) {
                larder_missed(here, &keys[which]);
                missed[which] = true;
            } else {
                CHECK((larder_missed_take(here, &keys[which]) != LARDER_NO_TOKEN) == missed[which]);
                missed[which] = false;
            }
        }
        larder_pool_leave(here);
        for (size_t i = 0; i < 300; i++) {
            CHECK(larder_missed_take(here, &keys[i]) == LARDER_NO_TOKEN);
            missed[i] = false;
        }
    }
    close_two();
}

TEST(existence, "that a key does not exist is a miss, too")
{
    open_two(4 * MIB);
    const larder_key key = key_of("k");
    CHECK(!larder_exists(here, &key));
    put_text(there, "k", "newer");
    EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
    close_two();
}

TEST(same_hash, "a miss is used up by a store of its own key only, whatever keys PHP has the same hash for")
{
    static const char *const keys[2] = {"sku:1Q", "sku:20"};
    EQUAL(key_of(keys[0]).hash, key_of(keys[1]).hash);
    for (int first = 0; first < 2; first++) {
        const char *one = keys[first], *other = keys[1 - first];
        open_two(4 * MIB);
        CHECK(miss(here, one) && miss(here, other));
        EQUAL(put_under(here, one, "v", &as_missed), LARDER_OK);
        delete_key(there, other);
        EQUAL(put_under(here, other, "stale", &as_missed), LARDER_OVERTAKEN);
        CHECK(miss(there, other) && holds_text(there, one, "v"));
        EQUAL(put_under(here, other, "true", &as_missed), LARDER_OK);
        CHECK(holds_text(there, other, "true"));
        larder_clear(here);
        close_two();
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

TEST(short_names, "no two keys of one or two bytes have the same name")
{
    enum { KEYS = 256 + 65536 };
    uint64_t *names = malloc(KEYS * sizeof *names);
    for (uint32_t i = 0; i < KEYS; i++) {
        const uint32_t which = i < 256 ? i : i - 256;
        const char bytes[2] = {(char)which, (char)(which >> 8)};
        const uint32_t length = i < 256 ? 1 : 2;
        names[i] = larder_name_of(&(larder_key){bytes, length, larder_hash(bytes, length)});
    }
    qsort(names, KEYS, sizeof *names, by_value);
    for (uint32_t i = 1; i < KEYS; i++) {
        CHECK(names[i] != names[i - 1]);
    }
    free(names);
}

static bool found(larder_pool *pool, const larder_key *key)
{
    larder_hit hit;
    return larder_get(pool, key, &hit);
}

static bool found_pinned(larder_pool *pool, const larder_key *key)
{
    larder_hit hit;
    return larder_get_pinned(pool, key, &hit);
}

TEST(out_of_reach,
     "what was missed while the pool could not be reached is not stored when it can be, and what is there then goes")
{
    static bool (*const readings[])(larder_pool *, const larder_key *) = {found, found_pinned, larder_exists};
    const larder_key key = key_of("k");
    for (int i = 0; i < 6; i++) {
        here = pool_timed(4 * MIB, true);
        CHECK(i % 2 == 0 || (miss(here, "k") && put_under(here, "k", "v", &as_missed) == LARDER_OK));
        EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
        REQUIRE(mkdir(pool_path_of("p"), 0700) == 0); /* there can be no pool here */
        CHECK(!readings[i / 2](here, &key) && here->rw == NULL);
        REQUIRE(rmdir(pool_path_of("p")) == 0);
        there = pool_timed(4 * MIB, true);
        if (i % 2 == 0) {
            delete_key(there, "k");
        } else {
            put_text(there, "k", "older, or newer");
        }
        clock_ms += 1000; /* it looks again */
        EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
        CHECK(miss(there, "k"));
        EQUAL(put_under(here, "k", "true", &as_missed), LARDER_OK); /* a write */
        CHECK(holds_text(there, "k", "true"));
        close_two();
        EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    }
}

TEST(many_hits, "hits of keys that were never missed leave the misses of others as they are")
{
    open_two(16 * MIB);
    for (uint64_t i = 0; i < 5000; i++) {
        put_bytes(there, key_number(1000000 + i), "v", 1);
    }
    for (uint64_t i = 0; i < 3000; i++) {
        miss_number(i);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        const larder_key key = key_number(1000000 + i);
        CHECK(found(here, &key));
        larder_was_read(here, &key);
    }
    for (uint64_t i = 0; i < 100; i++) {
        char key[24];
        snprintf(key, sizeof key, "%llu", (unsigned long long)i);
        EQUAL(put_text(there, key, "newer"), LARDER_OK);
        EQUAL(put_under(here, key, "stale", &as_missed), LARDER_OVERTAKEN);
    }
    close_two();
}

TEST(unreadable, "what was found and cannot be read after all is a miss, also if the pool went while it was read")
{
    const larder_key key = key_of("k");
    larder_hit hit;
    for (int removed = 0; removed < 2; removed++) {
        open_two(4 * MIB);
        put_text(there, "k", "of no use");
        CHECK(larder_get_pinned(here, &key, &hit));
        larder_hit_drop(here, &hit);
        if (removed) {
            EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
            larder_pool_abandon(here);
            CHECK(here->rw == NULL);
        }
        larder_miss_unreadable(here, &key);
        delete_key(there, "k");
        EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
        CHECK(miss(there, "k"));
        EQUAL(put_under(here, "k", "true", &as_missed), LARDER_OK);
        CHECK(holds_text(there, "k", "true"));
        close_two();
    }
}
