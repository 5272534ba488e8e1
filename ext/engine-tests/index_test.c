/* Buckets and words: what a key leads to, and where a new one finds a place. */
#include "increment.h"
#include "fixture.h"

#include "engine/lock.h"

/* Two letters that add up to the same in the hash of keys: any choice of one of the two for each place gives another
 * key with the same hash, and so with the same buckets and fingerprint. */
static larder_key twin(uint32_t number)
{
    static char buffers[64][2 * 12 + 1];
    char *text = buffers[number % 64];
    for (uint32_t i = 0; i < 12; i++) {
        memcpy(text + (size_t)2 * i, (number >> i & 1) != 0 ? "Ez" : "FY", 2);
    }
    text[24] = '\0';
    return key_of(text);
}

TEST(hash_behind, "the hash of a prefix and a key is made of the two hashes, whatever their bytes and lengths")
{
    char bytes[700];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)(i * 151 + i / 256); /* all bytes, also those with the highest bit */
    }
    for (size_t before = 1; before < 40; before++) {
        for (size_t length = 1; length < 600; length += length < 70 ? 1 : 47) {
            EQUAL(larder_hash_behind(larder_hash(bytes, before), larder_hash(bytes + before, length), length),
                  larder_hash(bytes, before + length));
        }
    }
}

static bool holds_number(larder_pool *pool, larder_key key, uint32_t number)
{
    uint32_t found;
    size_t size;
    return take(pool, key, &found, sizeof found, &size) && size == sizeof found && found == number;
}

TEST(false_fingerprints, "keys with the same buckets and fingerprint are told apart by all operations")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint32_t i = 0; i < 7; i++) {
        EQUAL(twin(i).hash, twin(0).hash);
        EQUAL(put_bytes(pool, twin(i), &i, sizeof i), LARDER_OK);
    }
    for (uint32_t i = 0; i < 7; i++) {
        CHECK(holds_number(pool, twin(i), i));
    }
    const larder_key gone = twin(3), touched = twin(4);
    CHECK(larder_delete(pool, &gone));
    CHECK(!larder_delete(pool, &gone));
    CHECK(larder_touch(pool, &touched, 1)); /* long ago */
    uint32_t other = 99;
    EQUAL(put_with(pool, twin(5), &other, sizeof other, LARDER_REPLACE, LARDER_NO_EXPIRY), LARDER_OK);
    EQUAL(put_with(pool, twin(3), &other, sizeof other, LARDER_REPLACE, LARDER_NO_EXPIRY), LARDER_ABSENT);
    for (uint32_t i = 0; i < 7; i++) {
        EQUAL(holds_number(pool, twin(i), i == 5 ? other : i), i != 3 && i != 4);
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(both_full, "if both of a key's buckets are full, an unused item goes, and one that was used stays")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_place place = larder_place_of(pool, twin(0).hash);
    REQUIRE(place.first != place.second);
    for (uint32_t i = 0; i < 14; i++) {
        EQUAL(put_bytes(pool, twin(i), &i, sizeof i), LARDER_OK);
    }
    for (uint32_t i = 0; i < 14; i++) {
        if (i % 2 == 0) {
            CHECK(holds_number(pool, twin(i), i)); /* marks it */
        }
    }
    for (uint32_t i = 14; i < 18; i++) {
        EQUAL(put_bytes(pool, twin(i), &i, sizeof i), LARDER_OK);
        CHECK(holds_number(pool, twin(i), i));
    }
    unsigned used = 0, unused = 0;
    for (uint32_t i = 0; i < 14; i++) {
        bool there = holds_number(pool, twin(i), i);
        used += there && i % 2 == 0;
        unused += there && i % 2 != 0;
    }
    EQUAL(used, 7);
    EQUAL(unused, 3);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.items, 14);
    EQUAL(stats.counters[LARDER_EVICTIONS], 4);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(all_used, "if all items in two full buckets were used, a new key still finds a place")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint32_t i = 0; i < 40; i++) {
        EQUAL(put_bytes(pool, twin(i), &i, sizeof i), LARDER_OK);
        CHECK(holds_number(pool, twin(i), i));
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(no_eviction_of_words,
     "a pool that does not evict refuses a key for which both buckets are full, unless one there is dead")
{
    larder_pool *pool = pool_timed(4 * MIB, false);
    for (uint32_t i = 0; i < 14; i++) {
        EQUAL(put_with(pool, twin(i), &i, sizeof i, LARDER_SET, i == 5 ? clock_ms + 1000 : LARDER_NO_EXPIRY),
              LARDER_OK);
    }
    uint32_t more = 14;
    EQUAL(put_bytes(pool, twin(14), &more, sizeof more), LARDER_FULL);
    for (uint32_t i = 0; i < 14; i++) {
        CHECK(holds_number(pool, twin(i), i));
    }
    clock_ms += 2000;
    EQUAL(put_bytes(pool, twin(14), &more, sizeof more), LARDER_OK);
    CHECK(holds_number(pool, twin(14), 14));
    more = 15;
    EQUAL(put_bytes(pool, twin(15), &more, sizeof more), LARDER_FULL);
    for (uint32_t i = 0; i < 15; i++) {
        EQUAL(holds_number(pool, twin(i), i), i != 5);
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

static larder_pool *late;
static bool touched;

/* By a process that looked at the clock before it expired, and acts only now. */
static void touch_late(void)
{
    const larder_key key = twin(5);
    clock_ms -= 2000;
    touched = larder_touch(late, &key, LARDER_NO_EXPIRY);
    clock_ms += 2000;
}

static void touch_at(unsigned point)
{
    larder_pool *pool = pool_timed(4 * MIB, false);
    late = pool_timed(4 * MIB, false);
    for (uint32_t i = 0; i < 14; i++) {
        EQUAL(put_with(pool, twin(i), &i, sizeof i, LARDER_SET, i == 5 ? clock_ms + 1000 : LARDER_NO_EXPIRY),
              LARDER_OK);
    }
    clock_ms += 1000;
    touched = false;
    fault_arm(point, 0, touch_late);
    uint32_t more = 14;
    enum larder_result result = put_bytes(pool, twin(14), &more, sizeof more);
    fault_disarm();
    EQUAL(result, touched ? LARDER_FULL : LARDER_OK);
    for (uint32_t i = 0; i < 15; i++) {
        EQUAL(holds_number(pool, twin(i), i), i == 5 ? touched : i == 14 ? !touched : true);
    }
    CHECK_POOL(pool);
    larder_pool_close(late);
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
}

TEST(touched_in_full_buckets,
     "of an item that expires in a full bucket and one that takes its place one alone is told that it is there")
{
    touch_at(LARDER_AT_RESERVE);
    CHECK(touched);
    touch_at(LARDER_AT_TOUCH); /* it has been found dead, and its place chosen */
    CHECK(touched);
    touch_at(LARDER_AT_PENDING);
    CHECK(!touched);
}

TEST(pending_of_the_dead, "words that killed writers left pending do not keep a key out for good")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const larder_key key = key_of("kept out?");
    larder_place place = larder_place_of(pool, key.hash);
    for (uint64_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        uint64_t other = (place.fingerprint + 1 + i) & 0xffff;
        atomic_store(&place.first->word[i], other << 48 | LARDER_PENDING | i << 32 | 5);
        atomic_store(&place.second->word[i], other << 48 | LARDER_PENDING | i << 32 | 5);
    }
    EQUAL(put_text(pool, "kept out?", "no"), LARDER_OK);
    CHECK(holds_text(pool, "kept out?", "no"));
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

static uint32_t segment_of(const larder_pool *pool, larder_key key)
{
    larder_place place = larder_place_of(pool, key.hash);
    larder_bucket *buckets[2] = {place.first, place.second};
    uint32_t segment = LARDER_NO_SEGMENT;
    for (uint32_t i = 0; i < 2 * LARDER_BUCKET_WORDS; i++) {
        uint64_t word = buckets[i / LARDER_BUCKET_WORDS]->word[i % LARDER_BUCKET_WORDS];
        if (word >> 48 == place.fingerprint) {
            segment = larder_word_segment(pool, word);
        }
    }
    return segment;
}

TEST(void_words,
     "of a segment that was emptied under its pins a request reads on what it has read, until another process "
     "deletes or stores it; and what it counts and adds there it counts and adds for all")
{
    larder_pool *pool = pool_open("p", 4 * MIB), *beside = pool_open("p", 4 * MIB);
    const larder_key deleted = key_number(1), stored = key_number(2), count = key_of("count"), lock = key_of("lock");
    described what = {.key = 1, .block = true};
    larder_hit hit;
    int64_t counted;
    put_described(pool, deleted, &what, 5000, LARDER_SET, LARDER_NO_EXPIRY);
    what.key = 2;
    put_described(pool, stored, &what, 5000, LARDER_SET, LARDER_NO_EXPIRY);
    put_text(pool, "lock", "old");
    EQUAL(larder_increment(pool, &count, 5, 0, LARDER_NO_EXPIRY, &counted), LARDER_COUNTED);
    EQUAL(read_described(pool, deleted, 1, &what, &hit), READ_WHOLE);
    EQUAL(read_described(pool, stored, 2, &what, &hit), READ_WHOLE);
    EQUAL(hit.hold, LARDER_HELD);
    EQUAL(segment_of(pool, lock), hit.segment);
    EQUAL(segment_of(pool, count), hit.segment);

    REQUIRE(larder_lock(beside));
    larder_seal_segment(beside, hit.segment);
    larder_empty_segment(beside, hit.segment); /* its words stay, as they do where long runs are made */
    larder_unlock(beside);
    EQUAL(read_described(pool, deleted, 1, &what, &hit), READ_WHOLE);
    EQUAL(read_described(pool, stored, 2, &what, &hit), READ_WHOLE);

    CHECK(!larder_delete(beside, &deleted));
    EQUAL(read_described(pool, deleted, 1, &what, &hit), READ_NOTHING);
    EQUAL(put_text(beside, "key-2", "new"), LARDER_OK);
    CHECK(holds_text(pool, "key-2", "new"));
    EQUAL(larder_increment(pool, &count, 1, 0, LARDER_NO_EXPIRY, &counted), LARDER_COUNTED);
    EQUAL(counted, 1);
    EQUAL(larder_increment(beside, &count, 1, 0, LARDER_NO_EXPIRY, &counted), LARDER_COUNTED);
    EQUAL(counted, 2);
    EQUAL(put_with(pool, lock, "new", 3, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OK);
    CHECK(holds_text(beside, "lock", "new"));
    larder_pool_leave(pool);
    CHECK_POOL(pool);
    larder_pool_close(beside);
    larder_pool_close(pool);
}

TEST(generations_wrap, "after 32,768 recyclings of a segment, words of its first generation lead to nothing wrong")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(put_text(pool, "first", "gone"), LARDER_OK);
    uint32_t segment = larder_open_of(pool, LARDER_SMALL);
    REQUIRE(larder_lock(pool));
    larder_seal_segment(pool, segment);
    uint32_t generation = pool->generations[segment];
    for (uint32_t i = 0; i < 32768; i++) {
        larder_empty_segment(pool, segment);
        if (i < 32767) {
            CHECK(pool->generations[segment] != generation);
            /* Its word is still in the index. */
        }
        /* Free segments are taken in turn; this one next. */
        larder_list_remove(pool, segment);
        larder_list_push(pool, LARDER_SMALL, segment);
        pool->segments[segment].state = LARDER_SEALED;
    }
    EQUAL(pool->generations[segment], generation);
    larder_empty_segment(pool, segment);
    larder_unlock(pool);
    CHECK(!holds_text(pool, "first", "gone"));
    for (uint64_t i = 0; i < 3000; i++) {
        described what = {.key = i, .block = true};
        larder_hit hit;
        put_described(pool, key_number(i), &what, 3000, LARDER_SET, LARDER_NO_EXPIRY);
        EQUAL(read_described(pool, key_number(i), i, &what, &hit), READ_WHOLE);
        larder_pool_leave(pool);
    }
    CHECK(!holds_text(pool, "first", "gone"));
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(buckets_spread, "keys fill the index evenly: 60 % of it before the first key has no place of its own")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t words = (uint64_t)pool->geometry.bucket_count * LARDER_BUCKET_WORDS;
    larder_stats stats = {0};
    for (uint64_t i = 0; i < words / 100 * 60; i++) {
        put_bytes(pool, key_number(i), "", 0);
    }
    larder_stats_read(pool, &stats);
    EQUAL(stats.counters[LARDER_EVICTIONS], 0);
    EQUAL(stats.items, words / 100 * 60);
    larder_pool_close(pool);
}
