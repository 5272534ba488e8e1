/* What a pool does for its users, one process at a time. */
#include "increment.h"
#include "fixture.h"

#include "engine/token.h"

TEST(sizes, "values of every size and keys of every length come back byte for byte")
{
    static char key_bytes[LARDER_KEY_MAX], value[200000], back[200000];
    static const uint32_t lengths[] = {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 256, 4095, 65534, 65535};
    larder_pool *pool = pool_open("p", 8 * MIB);
    rng r = {test_seed()};
    for (size_t i = 0; i < sizeof key_bytes; i++) {
        key_bytes[i] = (char)rng_next(&r); /* zeros and all */
    }
    for (size_t i = 0; i < sizeof value; i++) {
        value[i] = (char)rng_next(&r);
    }
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        for (size_t wanted = 0; wanted < sizeof value; wanted = wanted < 70 ? wanted + 1 : wanted * 3 + 1) {
            larder_key key = {key_bytes, lengths[l], larder_hash(key_bytes, lengths[l])};
            size_t size = 0;
            EQUAL(put_bytes(pool, key, value, wanted), LARDER_OK);
            CHECK(take(pool, key, back, sizeof back, &size));
            EQUAL(size, wanted);
            EQUAL(memcmp(back, value, wanted), 0);
            CHECK(take(pool, key, back, sizeof back, &size)); /* now that it is marked */
            EQUAL(memcmp(back, value, wanted), 0);
        }
    }
    larder_pool_close(pool);
}

/* In one run of 500 a key finds both of its buckets full, and takes another's place: chance, as each pool mixes hashes
 * in its own way. */
enum { SMALL_ITEMS = 640000, WITH_UNLUCKY = SMALL_ITEMS + 5 };

TEST(small_items, "64 MiB in all hold 640,000 values of 20 bytes under keys of 20 bytes")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    char text[32];
    size_t size;
    uint64_t lost = 0;
    for (unsigned i = 0; i < WITH_UNLUCKY; i++) {
        snprintf(text, sizeof text, "a key of 20 b %06u", i);
        EQUAL(put_bytes(pool, (larder_key){text, 20, larder_hash(text, 20)}, text, 20), LARDER_OK);
    }
    for (unsigned i = 0; i < WITH_UNLUCKY; i++) {
        char found[32];
        snprintf(text, sizeof text, "a key of 20 b %06u", i);
        bool there = take(pool, (larder_key){text, 20, larder_hash(text, 20)}, found, sizeof found, &size);
        lost += !there || size != 20 || memcmp(found, text, 20) != 0;
    }
    COMPARE(lost, <=, WITH_UNLUCKY - SMALL_ITEMS);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    COMPARE(stats.items, >=, SMALL_ITEMS);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(modes, "add stores what is absent or dead only, replace what is alive only, set always")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k");
    EQUAL(put_with(pool, key, "1", 1, LARDER_REPLACE, LARDER_NO_EXPIRY), LARDER_ABSENT);
    CHECK(!larder_exists(pool, &key));
    EQUAL(put_with(pool, key, "2", 1, LARDER_ADD, clock_ms + 1000), LARDER_OK);
    EQUAL(put_with(pool, key, "3", 1, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_EXISTS);
    CHECK(holds_text(pool, "k", "2"));
    EQUAL(put_with(pool, key, "4", 1, LARDER_REPLACE, clock_ms + 1000), LARDER_OK);
    CHECK(holds_text(pool, "k", "4"));
    clock_ms += 1000;
    CHECK(!larder_exists(pool, &key));
    EQUAL(put_with(pool, key, "5", 1, LARDER_REPLACE, LARDER_NO_EXPIRY), LARDER_ABSENT);
    EQUAL(put_with(pool, key, "6", 1, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OK);
    CHECK(holds_text(pool, "k", "6"));
    EQUAL(put_with(pool, key, "7", 1, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    CHECK(holds_text(pool, "k", "7"));
    larder_clear(pool);
    EQUAL(put_with(pool, key, "8", 1, LARDER_REPLACE, LARDER_NO_EXPIRY), LARDER_ABSENT);
    EQUAL(put_with(pool, key, "9", 1, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OK);
    CHECK(holds_text(pool, "k", "9"));
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(unreadable, "an add also takes the place of the one item that its caller can make nothing of")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k");
    larder_hit hit;
    put_text(pool, "k", "of no use");
    CHECK(larder_get_stale(pool, &key, 0, &hit, &(larder_serving){.stale = false}));
    larder_hit_drop(pool, &hit);
    larder_terms add = {
        .mode = LARDER_ADD, .expiry = LARDER_NO_EXPIRY, .expected = hit.word, .attachment = pool->attached.number + 1};
    EQUAL(put_under(pool, "k", "met in another pool", &add), LARDER_EXISTS);
    add.attachment = pool->attached.number;
    EQUAL(put_under(pool, "k", "1", &add), LARDER_OK);
    CHECK(holds_text(pool, "k", "1"));
    EQUAL(put_under(pool, "k", "2", &add), LARDER_EXISTS); /* that one has gone */
    CHECK(holds_text(pool, "k", "1"));
    CHECK(larder_delete(pool, &key));
    EQUAL(put_under(pool, "k", "3", &add), LARDER_OK); /* nothing is in its way */
    CHECK(holds_text(pool, "k", "3"));

    /* What began before the item did is not stored in its place. */
    larder_delete(pool, &key);
    larder_terms fill = {.mode = LARDER_SET,
                         .verb = LARDER_FILL,
                         .expiry = LARDER_NO_EXPIRY,
                         .attachment = pool->attached.number,
                         .token = larder_own_tick(pool)};
    add.verb = LARDER_JUDGED;
    add.token = fill.token;
    fill.token = larder_own_tick(pool);
    EQUAL(put_under(pool, "k", "younger", &fill), LARDER_OK);
    CHECK(larder_get_stale(pool, &key, 0, &hit, &(larder_serving){.stale = false}));
    larder_hit_drop(pool, &hit);
    add.expected = hit.word;
    EQUAL(put_under(pool, "k", "older", &add), LARDER_OVERTAKEN);
    CHECK(holds_text(pool, "k", "younger"));
    add.token = fill.token;
    EQUAL(put_under(pool, "k", "as old", &add), LARDER_OK);
    CHECK(holds_text(pool, "k", "as old"));
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(asked_briefly, "to ask what is there pins nothing for longer than the question")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_number(1);
    larder_hit hit;
    CHECK(!larder_get_briefly(pool, &key, &hit));
    EQUAL(put_block(pool, 1, 9000), LARDER_OK);
    CHECK(larder_get_briefly(pool, &key, &hit));
    CHECK(hit.hold == LARDER_BRIEFLY);
    larder_hit_drop(pool, &hit);
    EQUAL(pool->request.pinned_count, 0);
    CHECK(larder_get_stale(pool, &key, 0, &hit, &(larder_serving){.stale = false})); /* as its user does */
    CHECK(hit.hold == LARDER_HELD);
    EQUAL(pool->request.pinned_count, 1);
    larder_pool_leave(pool);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(deleting, "a delete says whether there was a living item, and there is none after it")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k");
    CHECK(!larder_delete(pool, &key));
    put_text(pool, "k", "v");
    CHECK(larder_delete(pool, &key));
    CHECK(!holds_text(pool, "k", "v"));
    CHECK(!larder_exists(pool, &key));
    put_with(pool, key, "v", 1, LARDER_SET, clock_ms + 10);
    clock_ms += 10;
    CHECK(!larder_delete(pool, &key)); /* it had expired */
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.items, 0);
    EQUAL(stats.bytes, 0);
    EQUAL(stats.counters[LARDER_DELETES], 1);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(expiring, "an item is alive up to its last millisecond, and not in the next")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    put_with(pool, key_of("k"), "v", 1, LARDER_SET, clock_ms + 5000);
    put_text(pool, "forever", "v");
    clock_ms += 4999;
    CHECK(holds_text(pool, "k", "v"));
    CHECK(holds_text(pool, "k", "v"));
    clock_ms += 1;
    CHECK(!holds_text(pool, "k", "v"));
    CHECK(holds_text(pool, "forever", "v"));
    clock_ms += UINT64_C(1) << 45;
    CHECK(holds_text(pool, "forever", "v"));
    larder_pool_close(pool);
}

TEST(touching, "a touch changes the expiry of a living item, in both directions, and wakes no dead one")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k"), absent = key_of("absent");
    CHECK(!larder_touch(pool, &absent, LARDER_NO_EXPIRY));
    put_with(pool, key, "v", 1, LARDER_SET, clock_ms + 1000);
    CHECK(larder_touch(pool, &key, clock_ms + 3000));
    clock_ms += 2000;
    CHECK(holds_text(pool, "k", "v"));
    CHECK(larder_touch(pool, &key, LARDER_NO_EXPIRY));
    clock_ms += 100000;
    CHECK(holds_text(pool, "k", "v"));
    CHECK(larder_touch(pool, &key, clock_ms + 1));
    clock_ms += 1;
    CHECK(!holds_text(pool, "k", "v"));
    CHECK(!larder_touch(pool, &key, LARDER_NO_EXPIRY));
    CHECK(!holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}

/* ---- refusals, clearing, listing ------------------------------------------------------------------------- */

TEST(too_large, "a value that the pool can never hold is refused by cause and deletes the old one")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    put_text(pool, "k", "old");
    static char bytes[4 * 1048576];
    EQUAL(put_bytes(pool, key_of("k"), bytes, sizeof bytes), LARDER_LARGE);
    CHECK(!holds_text(pool, "k", "old"));
    put_text(pool, "k", "old");
    EQUAL(put_with(pool, key_of("k"), bytes, sizeof bytes, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_EXISTS);
    CHECK(holds_text(pool, "k", "old"));
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.counters[LARDER_REFUSED_LARGE], 1);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(clearing, "a clear kills everything that was stored before it, and nothing that is stored after")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    for (uint64_t i = 0; i < 20000; i++) {
        put_bytes(pool, key_number(i), "x", 1);
    }
    larder_clear(pool);
    put_text(pool, "after", "v");
    char byte;
    size_t size;
    for (uint64_t i = 0; i < 20000; i++) {
        CHECK(!take(pool, key_number(i), &byte, 1, &size));
    }
    CHECK(holds_text(pool, "after", "v"));
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.items, 1);
    larder_clear(pool);
    larder_clear(pool);
    CHECK(!holds_text(pool, "after", "v"));
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

static uint64_t points_of_a_clear(uint64_t items)
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    for (uint64_t i = 0; i < items; i++) {
        put_bytes(pool, key_number(i), "x", 1);
    }
    uint64_t before = 0, after = 0;
    for (unsigned p = 0; p < LARDER_FAULT_POINTS; p++) {
        before += fault_count(p);
    }
    larder_clear(pool);
    for (unsigned p = 0; p < LARDER_FAULT_POINTS; p++) {
        after += fault_count(p);
    }
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
    return after - before;
}

TEST(clear_is_constant, "a clear takes as many shared stores with 20 items as with 40,000")
{
    uint64_t few = points_of_a_clear(20);
    COMPARE(few, >, 0);
    EQUAL(points_of_a_clear(40000), few);
}

typedef struct listing {
    unsigned count, most;
    bool seen[100];
} listing;

static bool note_key(void *context, const char *key, size_t length)
{
    listing *l = context;
    char text[32];
    REQUIRE(length < sizeof text);
    memcpy(text, key, length);
    text[length] = '\0';
    unsigned number = (unsigned)strtoul(text + 4, NULL, 10);
    CHECK(strncmp(text, "key-", 4) == 0 && number < 100 && !l->seen[number]);
    l->seen[number % 100] = true;
    return ++l->count < l->most;
}

TEST(listing_keys, "the living keys that begin with a prefix are listed, each once, until the listener has enough")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    for (uint64_t i = 0; i < 100; i++) {
        put_with(pool, key_number(i), "x", 1, LARDER_SET, i == 50 ? clock_ms + 1 : LARDER_NO_EXPIRY);
    }
    put_text(pool, "other", "x");
    put_text(pool, "key", "x");
    const larder_key gone = key_number(7);
    larder_delete(pool, &gone);
    clock_ms += 1;
    listing l = {.most = 1000};
    larder_each_key(pool, "key-", 4, note_key, &l);
    EQUAL(l.count, 98);
    CHECK(!l.seen[7] && !l.seen[50] && l.seen[8]);
    l = (listing){.most = 1000};
    larder_each_key(pool, "key-1", 5, note_key, &l);
    EQUAL(l.count, 11);
    l = (listing){.most = 5};
    larder_each_key(pool, "key-", 4, note_key, &l);
    EQUAL(l.count, 5);
    EQUAL(pool->request.pinned_count, 0);
    larder_clear(pool);
    l = (listing){.most = 1000};
    larder_each_key(pool, "", 0, note_key, &l);
    EQUAL(l.count, 0);
    larder_pool_close(pool);
}

TEST(other_abi, "a value of another ABI is a miss, and bytes and counters are not")
{
    larder_pool *pool = pool_that(true), *other = pool_of_another_kind(true);
    described what = {.key = 1, .block = true};
    larder_hit hit;
    EQUAL(put_described(pool, key_number(1), &what, 100, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    put_text(pool, "bytes", "v");
    int64_t count;
    const larder_key counter = key_of("c");
    EQUAL(larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_COUNTED);
    EQUAL(read_described(other, key_number(1), 1, &what, &hit), READ_NOTHING);
    CHECK(holds_text(other, "bytes", "v"));
    EQUAL(larder_increment(other, &counter, 1, 0, LARDER_NO_EXPIRY, &count), LARDER_COUNTED);
    EQUAL(count, 2);
    const larder_key key = key_number(1);
    CHECK(larder_delete(other, &key)); /* but it can be deleted */
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_NOTHING);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(too_many_abis, "a set that no process could read takes what it was to replace; an add or a fill does not")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    for (config.abi = 100; config.abi < 100 + LARDER_ABIS; config.abi++) {
        larder_pool_close(pool_open_as(&config));
    }
    larder_pool *pool = pool_open_as(&config);
    described what = {.key = 1, .block = true};
    put_text(pool, "k", "v");
    const larder_terms fill = {.verb = LARDER_FILL,
                               .token = larder_now_logical(pool->header),
                               .attachment = pool->attached.number,
                               .expiry = LARDER_NO_EXPIRY};
    EQUAL(put_described_under(pool, key_of("k"), &what, 100, &fill), LARDER_FULL);
    CHECK(holds_text(pool, "k", "v"));
    EQUAL(put_described(pool, key_of("k"), &what, 100, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_FULL);
    CHECK(holds_text(pool, "k", "v"));
    EQUAL(put_described(pool, key_of("k"), &what, 100, LARDER_SET, LARDER_NO_EXPIRY), LARDER_FULL);
    CHECK(!holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}
