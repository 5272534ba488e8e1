/* A check that finds nothing proves nothing: here it is given pools that are wrong. */
#include "fixture.h"

typedef struct site {
    larder_pool *pool;
    larder_found found;
    larder_item *item;
    larder_segment *segment;
} site;

static site make_site(void)
{
    site s = {.pool = pool_open("p", 4 * MIB)};
    for (uint64_t i = 0; i < 500; i++) {
        described what = {.key = i, .block = true};
        put_described(s.pool, key_number(i), &what, 1000, LARDER_SET, LARDER_NO_EXPIRY);
    }
    const larder_key key = key_number(7);
    larder_place place = larder_place_of(s.pool, key.hash);
    REQUIRE(larder_find(s.pool, &place, &key, &s.found));
    larder_found_drop(s.pool, &s.found);
    s.item = s.found.item;
    s.segment = &s.pool->segments[s.found.segment];
    CHECK_POOL(s.pool);
    return s;
}

static void expect(const site *s, const char *words)
{
    larder_error error = {.message = ""};
    CHECK(!larder_check(s->pool, false, &error));
    CONTAINS(error.message, words);
}

TEST(finds_nothing, "a sound pool, empty, full or in use, passes the check")
{
    larder_pool *pool = pool_open("q", 4 * MIB);
    CHECK_POOL(pool);
    put_text(pool, "k", "v");
    CHECK_POOL(pool);
    const uint64_t tags[] = {1, 2};
    const larder_terms tagged = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = 2};
    EQUAL(put_under(pool, "l", "v", &tagged), LARDER_OK);
    CHECK_POOL(pool);
    larder_clear(pool);
    CHECK_POOL(pool);
    larder_pool_close(pool);
    const site s = make_site();
    larder_pool_close(s.pool);
}

TEST(finds_strays, "the check finds a word that leads to no item")
{
    site s = make_site();
    atomic_store(s.found.at, s.found.word + 1);
    expect(&s, "no complete item");
    larder_pool_close(s.pool);
}

TEST(finds_uncarried, "the check finds an item one of whose tags is not among those that items carry")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const uint64_t tags[] = {1, 2};
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = 2};
    EQUAL(put_under(pool, "k", "v", &terms), LARDER_OK);
    CHECK_POOL(pool);
    for (uint32_t i = 0; i < pool->geometry.carried_count; i++) {
        pool->carried[i] = 0;
    }
    expect(&(site){.pool = pool}, "carried by no item");
    larder_pool_close(pool);
}

TEST(finds_overlong, "the check finds an item that ends beyond its segment")
{
    site s = make_site();
    s.item->units = 9000;
    expect(&s, "no complete item");
    larder_pool_close(s.pool);
}

TEST(finds_misplaced, "the check finds a key in a bucket that is not its own")
{
    site s = make_site();
    larder_bucket *other = s.pool->buckets;
    while (other->word[0] != 0) {
        other++;
    }
    atomic_store(&other->word[0], s.found.word);
    atomic_store(s.found.at, 0);
    expect(&s, "not its own");
    larder_pool_close(s.pool);
}

TEST(finds_twins, "the check finds a key that is in the index twice")
{
    site s = make_site();
    const larder_key key = key_number(7);
    larder_place place = larder_place_of(s.pool, key.hash);
    larder_found now = {.at = NULL};
    EQUAL(put_bytes(s.pool, key, "newer", 5), LARDER_OK);
    REQUIRE(larder_find(s.pool, &place, &key, &now));
    larder_found_drop(s.pool, &now);
    larder_bucket *other = now.at - place.first->word < LARDER_BUCKET_WORDS ? place.second : place.first;
    atomic_store(&other->word[6], s.found.word); /* the old one again */
    expect(&s, "twice");
    larder_pool_close(s.pool);
}

TEST(finds_accounts, "the check finds a segment whose live items do not add up")
{
    site s = make_site();
    atomic_fetch_add(&s.segment->live, 1);
    expect(&s, "live units");
    atomic_fetch_sub(&s.segment->live, 1);
    CHECK_POOL(s.pool);
    atomic_fetch_add(&s.segment->live, UINT64_C(1) << 40);
    expect(&s, "live units");
    CHECK_POOL_AFTER_DEATHS(s.pool); /* too much is what a death may leave, too little is not */
    atomic_fetch_sub(&s.segment->live, UINT64_C(2) << 40);
    larder_error error;
    CHECK(!larder_check(s.pool, true, &error));
    larder_pool_close(s.pool);
}

TEST(finds_lists, "the check finds lists in which a segment is missing, misplaced or counted wrongly")
{
    site s = make_site();
    larder_list_ends *ends = &s.pool->header->lists[LARDER_LIST_FREE];
    ends->count++;
    expect(&s, "and says");
    ends->count--;
    uint32_t first = ends->first;
    larder_list_remove(s.pool, first);
    expect(&s, "on a list or open");
    larder_list_push(s.pool, LARDER_LIST_LIMBO, first);
    expect(&s, "does not belong");
    larder_list_remove(s.pool, first);
    larder_list_push(s.pool, LARDER_LIST_FREE, first);
    CHECK_POOL(s.pool);
    larder_pool_close(s.pool);
}
