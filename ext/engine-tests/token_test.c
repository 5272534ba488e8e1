/* Two verbs: writes, and fills that are judged by their tokens. */
#include "increment.h"
#include "requests.h"

#include "engine/index.h"
#include "engine/larder.h"
#include "engine/token.h"

TEST(stale_fill,
     "a set after a miss is refused if the key was written, deleted or counted meanwhile, and what is there stays")
{
    open_two(4 * MIB);
    CHECK(miss(here, "k"));
    put_text(there, "k", "newer");
    EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "newer"));

    CHECK(miss(here, "l"));
    delete_key(there, "l");
    EQUAL(put_under(here, "l", "stale", &as_missed), LARDER_OVERTAKEN);
    CHECK(miss(here, "l"));

    int64_t count;
    const larder_key m = key_of("m");
    CHECK(miss(here, "m"));
    larder_increment(there, &m, 1, 0, LARDER_NO_EXPIRY, &count);
    EQUAL(put_under(here, "m", "stale", &as_missed), LARDER_OVERTAKEN);
    larder_increment(there, &m, 1, 0, LARDER_NO_EXPIRY, &count);
    EQUAL(count, 2);
    EQUAL(here->slot->counter[LARDER_CONFLICTS], 3);
    close_two();
}

TEST(large_fill, "a set after a miss that the pool cannot take leaves what others have stored meanwhile")
{
    static char large[4 * MIB];
    open_two(4 * MIB);
    CHECK(miss(here, "k"));
    put_text(there, "k", "newer");
    EQUAL(put_bytes(here, key_of("k"), large, sizeof large), LARDER_LARGE);
    CHECK(holds_text(there, "k", "newer"));
    close_two();
}

TEST(read_again, "what is set after a miss is a write if the request has read the key since, and of that key only")
{
    open_two(4 * MIB);
    const larder_key k = key_of("k");
    CHECK(miss(here, "k") && miss(here, "l"));
    put_text(there, "k", "1");
    put_text(there, "l", "newer");
    larder_was_read(here, &k);
    put_text(there, "k", "2");
    EQUAL(put_under(here, "k", "3", &as_missed), LARDER_OK);
    CHECK(holds_text(there, "k", "3"));
    EQUAL(put_under(here, "l", "stale", &as_missed), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "l", "newer"));
    close_two();
}

TEST(read_then_missed, "a miss counts again after the key was read and is gone")
{
    open_two(4 * MIB);
    const larder_key k = key_of("k");
    CHECK(miss(here, "k"));
    put_text(there, "k", "1");
    larder_was_read(here, &k);
    delete_key(there, "k");
    CHECK(miss(here, "k"));
    put_text(there, "k", "newer");
    EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "newer"));
    close_two();
}

TEST(second_set, "only the first set after a miss is judged by it; the next is a write")
{
    open_two(4 * MIB);
    CHECK(miss(here, "k"));
    put_text(there, "k", "newer");
    EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
    EQUAL(put_under(here, "k", "true", &as_missed), LARDER_OK);
    CHECK(holds_text(there, "k", "true"));
    close_two();
}

static void expect_miss_is_forgotten_by(void (*begin)(larder_pool *pool))
{
    open_two(4 * MIB);
    CHECK(miss(here, "k"));
    put_text(there, "k", "newer");
    begin(here);
    EQUAL(put_under(here, "k", "true", &as_missed), LARDER_OK);
    CHECK(holds_text(there, "k", "true"));
    close_two();
}

TEST(another_request, "a miss is forgotten when its request ends")
{
    expect_miss_is_forgotten_by(larder_pool_leave);
}

TEST(another_begins, "a miss is forgotten when its process begins another request")
{
    expect_miss_is_forgotten_by(larder_pool_begin_another);
}

TEST(fills_overlap, "fills that overlap each other do not refuse each other, and do not move the clock")
{
    open_two(4 * MIB);
    CHECK(miss(here, "k") && miss(there, "k"));
    uint64_t before = token_now(here);
    EQUAL(put_under(here, "k", "one", &as_missed), LARDER_OK);
    EQUAL(put_under(there, "k", "two", &as_missed), LARDER_OK);
    CHECK(holds_text(here, "k", "two")); /* the last one stays */
    EQUAL(token_now(here), before);
    uint64_t token = token_now(here);
    EQUAL(fill(here, "k", "three", token), LARDER_OK);
    EQUAL(fill(there, "k", "four", token), LARDER_OK);
    CHECK(holds_text(here, "k", "four"));
    close_two();
}

TEST(pure_fill, "a fill that is refused leaves what is there, having claimed nothing about it")
{
    open_two(4 * MIB);
    uint64_t token = token_now(here);
    put_text(there, "k", "newer");
    EQUAL(fill(here, "k", "stale", token), LARDER_OVERTAKEN);
    CHECK(holds_text(here, "k", "newer"));
    close_two();
}

TEST(judged_write, "a write of what was made from something that has changed stores nothing")
{
    open_two(4 * MIB);
    put_text(there, "k", "0");
    uint64_t token = token_now(here);
    EQUAL(write_judged(here, "k", "1", token), LARDER_OK);
    CHECK(holds_text(there, "k", "1"));
    token = token_now(here);
    put_text(there, "k", "2");
    uint64_t others = token_now(there);
    EQUAL(write_judged(here, "k", "3", token), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "2"));
    EQUAL(fill(there, "k", "2 again", others), LARDER_OK);
    close_two();
}

TEST(judged_that_leaves, "a judged write leaves what overtook it, whatever it is to leave, and refuses no fill")
{
    open_two(4 * MIB);
    put_text(there, "k", "1");
    put_text(there, "tagged", "1");
    const uint64_t tag = larder_tag_of("a", 1);
    larder_terms terms = {.verb = LARDER_JUDGED,
                          .token = token_now(here),
                          .attachment = here->attached.number,
                          .expiry = LARDER_NO_EXPIRY,
                          .leaves = LARDER_LEAVES_NOTHING};
    EQUAL(put_under(here, "k", "2", &terms), LARDER_OK);
    terms.token = token_now(here);
    put_text(there, "k", "3");
    uint64_t others = token_now(there);
    EQUAL(put_under(here, "k", "4", &terms), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "3"));
    terms.mode = LARDER_REPLACE;
    EQUAL(put_under(here, "k", "4", &terms), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "3"));
    EQUAL(fill(there, "k", "3 again", others), LARDER_OK);
    larder_invalidate(there, &tag, 1);
    terms.tags = &tag;
    terms.tags_count = 1;
    EQUAL(put_under(here, "tagged", "2", &terms), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "tagged", "1"));
    terms.attachment++;
    EQUAL(put_under(here, "k", "of another pool", &terms), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "3 again"));
    CHECK_POOL(here);
    close_two();
}

static uint64_t version_of(larder_pool *pool, const char *name)
{
    const larder_key key = key_of(name);
    larder_hit hit;
    REQUIRE(larder_get_pinned(pool, &key, &hit));
    uint64_t version = hit.item->version;
    larder_hit_drop(pool, &hit);
    return version;
}

/* The token is of a moment in which the other's key version has moved and its word is still to come. It tells
 * nothing. */
TEST(made_of, "of two judged writes that name the item they were made from, or that there was none, one is stored")
{
    open_two(4 * MIB);
    larder_terms terms = {
        .verb = LARDER_JUDGED, .attachment = here->attached.number, .expiry = LARDER_NO_EXPIRY, .mode = LARDER_ADD};
    terms.made_of = LARDER_OF_NOTHING;
    uint64_t before = token_now(there);
    put_text(there, "k", "theirs");
    terms.token = token_now(here);
    EQUAL(put_under(here, "k", "ours", &terms), LARDER_EXISTS);
    CHECK(holds_text(there, "k", "theirs"));
    EQUAL(put_under(here, "free", "ours", &terms), LARDER_OK);
    EQUAL(fill(there, "free", "of before", before), LARDER_OVERTAKEN); /* it was a write */
    CHECK(holds_text(there, "free", "ours"));
    terms.mode = LARDER_SET;
    terms.made_of = version_of(here, "k");
    put_text(there, "k", "theirs again");
    terms.token = token_now(here);
    EQUAL(put_under(here, "k", "ours", &terms), LARDER_OVERTAKEN);
    CHECK(holds_text(there, "k", "theirs again"));
    terms.made_of = version_of(here, "k");
    EQUAL(put_under(here, "k", "ours", &terms), LARDER_OK);
    CHECK(holds_text(there, "k", "ours"));
    delete_key(there, "k");
    terms.token = token_now(here);
    EQUAL(put_under(here, "k", "ours again", &terms), LARDER_OVERTAKEN);
    CHECK(miss(there, "k"));
    CHECK_POOL(here);
    close_two();
}

TEST(refused_write, "a write that the pool cannot take makes older fills untrue all the same")
{
    static char large[4 * MIB];
    open_two(4 * MIB);
    CHECK(miss(here, "k"));
    EQUAL(put_bytes(there, key_of("k"), large, sizeof large), LARDER_LARGE);
    EQUAL(put_under(here, "k", "stale", &as_missed), LARDER_OVERTAKEN);
    close_two();
}

TEST(judged_and_fills, "a fill that came in between does not keep a judged write from its key")
{
    open_two(4 * MIB);
    put_text(there, "x", "moves the clock");
    uint64_t token = token_now(here);
    put_text(there, "y", "again");
    EQUAL(fill(there, "k", "what was", token_now(there)), LARDER_OK);
    EQUAL(write_judged(here, "k", "new truth", token), LARDER_OK);
    CHECK(holds_text(there, "k", "new truth"));
    close_two();
}

TEST(invalidated_fill, "a fill is refused if one of its tags was invalidated, or everything cleared, since its token")
{
    open_two(4 * MIB);
    const uint64_t tags[] = {larder_tag_of("a", 1), larder_tag_of("b", 1)};
    const larder_terms tagged = {.expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = 2};
    CHECK(miss(here, "k"));
    larder_invalidate(there, &tags[1], 1);
    EQUAL(put_under(here, "k", "stale", &tagged), LARDER_OVERTAKEN);
    CHECK(miss(here, "k"));
    EQUAL(put_under(here, "k", "fresh", &tagged), LARDER_OK);
    CHECK(holds_text(there, "k", "fresh"));
    CHECK(miss(here, "l"));
    larder_clear(there);
    EQUAL(put_under(here, "l", "stale", &as_missed), LARDER_OVERTAKEN);
    close_two();
}

TEST(fill_and_later_tag, "an item that a fill stored is as old as its token: an invalidation in between kills it")
{
    open_two(4 * MIB);
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    uint64_t token = token_now(here);
    put_text(there, "x", "moves the clock");
    EQUAL(fill_tagged(here, "k", "v", token, tags, 1), LARDER_OK);
    CHECK(holds_text(there, "k", "v"));
    larder_found found = {0};
    const larder_key key = key_of("k");
    larder_place place = larder_place_of(here, key.hash);
    bool there_is = larder_find(here, &place, &key, &found);
    REQUIRE(there_is);
    EQUAL(there_is ? found.item->version : 0, token);
    larder_found_drop(here, &found);
    close_two();
}

TEST(own_events, "what a request did itself does not refuse its own fills")
{
    open_two(4 * MIB);
    const uint64_t tags[] = {larder_tag_of("a", 1), larder_tag_of("b", 1)};
    const larder_terms tagged = {.expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = 2};
    for (int others = 0; others < 2; others++) {
        CHECK(miss(here, "k"));
        if (others) {
            put_text(there, "elsewhere", "v"); /* so that not all ticks are its own */
        }
        larder_invalidate(here, tags, 2);
        larder_clear(here);
        larder_invalidate(here, tags, 1);
        EQUAL(put_under(here, "k", "v", &tagged), LARDER_OK);
        CHECK(holds_text(here, "k", "v") && holds_text(there, "k", "v"));
        delete_key(here, "k");
    }
    close_two();
}

TEST(own_events_again, "nor does it, however often it has done it")
{
    open_two(4 * MIB);
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    const larder_terms tagged = {.expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = 1};
    CHECK(miss(here, "k"));
    put_text(there, "elsewhere", "v");
    for (uint32_t i = 0; i < 2 * LARDER_OWN_MAX; i++) {
        larder_invalidate(here, tags, 1);
    }
    EQUAL(put_under(here, "k", "v", &tagged), LARDER_OK);
    CHECK(holds_text(there, "k", "v"));
    close_two();
}

TEST(own_events_over, "what an earlier request of the process did refuses the fills of a later one")
{
    open_two(4 * MIB);
    char name[16];
    uint64_t token = token_now(here);
    put_text(there, "elsewhere", "v"); /* so that not all ticks are its own */
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%d", i);
        delete_key(here, name);
    }
    EQUAL(fill(here, name, "its own", token), LARDER_OK);
    larder_pool_leave(here);
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "%d", i);
        EQUAL(fill(here, name, "stale", token), LARDER_OVERTAKEN);
    }
    close_two();
}

TEST(behind_own_events,
     "another's invalidation is not hidden by this request's own one of the same tag, before or after it")
{
    open_two(4 * MIB);
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    const larder_terms tagged = {.expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = 1};
    for (int order = 0; order < 3; order++) {
        CHECK(miss(here, "k"));
        larder_invalidate(order == 0 ? there : here, tags, 1);
        larder_invalidate(order == 1 ? there : here, tags, 1);
        larder_invalidate(order == 2 ? there : here, tags, 1);
        EQUAL(put_under(here, "k", "stale", &tagged), LARDER_OVERTAKEN);
        CHECK(miss(there, "k"));
        larder_pool_leave(here);
    }
    close_two();
}

TEST(damaged_cell, "a cell that was damaged misleads no request into looking through its own events for ever")
{
    open_two(4 * MIB);
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    _Atomic uint64_t *cells[LARDER_TAG_CELLS];
    larder_tag_cells(here, tags[0], cells);
    uint64_t token = token_now(here), ahead = token + 5;
    for (uint32_t i = 0; i < LARDER_TAG_CELLS; i++) {
        *cells[i] = ahead;
    }
    larder_invalidate(here, tags, 1);
    while (token_now(here) + 1 < ahead) {
        put_text(there, "x", "moves the clock");
    }
    larder_invalidate(here, tags, 1); /* at the very tick */
    EQUAL(fill_tagged(here, "k", "v", token, tags, 1), LARDER_OVERTAKEN);
    close_two();
}

TEST(false_conflicts,
     "a fill is refused for its neighbours' sake in fewer than one of 100 cases at 1,000 writes meanwhile")
{
    open_two(64 * MIB);
    uint64_t refused = 0;
    for (int round = 0; round < 50; round++) {
        char key[32];
        for (int i = 0; i < 200; i++) {
            snprintf(key, sizeof key, "fill-%d-%d", round, i);
            miss(here, key);
        }
        for (uint64_t i = 0; i < 1000; i++) {
            put_bytes(there, key_number((uint64_t)round * 1000 + i), "v", 1);
        }
        for (int i = 0; i < 200; i++) {
            snprintf(key, sizeof key, "fill-%d-%d", round, i);
            refused += put_under(here, key, "v", &as_missed) != LARDER_OK;
        }
        larder_pool_leave(here); /* more would not be remembered */
    }
    COMPARE(refused, <=, 100); /* 67 are expected: 1,000 writes meet 149,796 key versions */
    close_two();
}

TEST(another_pool, "a token of a pool that is gone judges nothing in the next one, even if the store finds out itself")
{
    here = pool_open("p", 4 * MIB);
    for (int i = 0; i < 100; i++) {
        put_text(here, "x", "moves the clock");
    }
    uint64_t token = token_now(here);
    const larder_terms filled = {
        .verb = LARDER_FILL, .token = token, .attachment = here->attached.number, .expiry = LARDER_NO_EXPIRY};
    const larder_terms written = {
        .verb = LARDER_JUDGED, .token = token, .attachment = here->attached.number, .expiry = LARDER_NO_EXPIRY};
    larder_error error;
    for (int written_too = 0; written_too < 2; written_too++) {
        EQUAL(pool_remove("p", &error), 1);
        there = pool_open("p", 4 * MIB);
        put_text(there, "k", "of the new pool");
        EQUAL(put_under(here, "k", "of the old one", written_too ? &written : &filled), LARDER_OVERTAKEN);
        CHECK(holds_text(there, "k", "of the new pool"));
        larder_pool_close(there);
    }
    larder_pool_close(here);
}

/* ---- two kinds of PHP ------------------------------------------------------------------------------------ */

#define LARGE 1000u

static enum larder_result put_block_as(larder_pool *pool, const char *name, uint64_t version, enum larder_verb verb)
{
    described what = {.key = 1, .version = version, .block = true};
    if (verb == LARDER_AS_MISSED) {
        CHECK(read_described(pool, key_of(name), 1, &(described){.block = true}, &(larder_hit){0}) == READ_NOTHING);
    }
    return put_described(pool, key_of(name), &what, LARGE, LARDER_SET, LARDER_NO_EXPIRY);
}

static uint64_t version_in(larder_pool *pool, const char *name)
{
    described what = {.block = true};
    larder_hit hit;
    return read_described(pool, key_of(name), 1, &what, &hit) == READ_WHOLE ? what.version : 0;
}

TEST(two_kinds, "two kinds of PHP each keep a copy of a key; a write by either kills both, a delete, too")
{
    here = pool_that(true);
    there = pool_of_another_kind(true);
    EQUAL(put_block_as(here, "k", 1, LARDER_AS_MISSED), LARDER_OK);
    EQUAL(put_block_as(there, "k", 1, LARDER_AS_MISSED), LARDER_OK);
    EQUAL(version_in(here, "k"), 1);
    EQUAL(version_in(there, "k"), 1);
    CHECK_POOL(here);
    EQUAL(put_block_as(there, "k", 2, LARDER_WRITE), LARDER_OK);
    EQUAL(version_in(there, "k"), 2);
    EQUAL(version_in(here, "k"), 0); /* its copy told an old truth */
    EQUAL(put_block_as(here, "k", 2, LARDER_AS_MISSED), LARDER_OK);
    EQUAL(version_in(there, "k"), 2);
    CHECK_POOL(there);
    put_text(there, "k", "for all");
    CHECK(holds_text(here, "k", "for all") && holds_text(there, "k", "for all"));
    EQUAL(put_block_as(here, "k", 3, LARDER_WRITE), LARDER_OK);
    EQUAL(version_in(here, "k"), 3);
    CHECK(miss(there, "k"));
    EQUAL(put_block_as(there, "k", 3, LARDER_AS_MISSED), LARDER_OK);
    delete_key(here, "k");
    EQUAL(version_in(there, "k"), 0);
    larder_stats stats;
    larder_stats_read(here, &stats);
    EQUAL(stats.items, 0);
    CHECK_POOL(here);
    close_two();
}
