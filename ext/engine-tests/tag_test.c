/* Tags: killing many items at once. */
#include "fixture.h"

#include "engine/invalidate.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <unistd.h>

static uint64_t tag(const char *name)
{
    return larder_tag_of(name, strlen(name));
}

static uint64_t tag_number(uint64_t number)
{
    char name[32];
    return larder_tag_of(name, (size_t)snprintf(name, sizeof name, "tag-%llu", (unsigned long long)number));
}

static void put_tagged(larder_pool *pool, const char *key, const uint64_t *tags, uint32_t count)
{
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = count};
    EQUAL(put_under(pool, key, key, &terms), LARDER_OK);
}

static void invalidate(larder_pool *pool, const char *name)
{
    const uint64_t its = tag(name);
    larder_invalidate(pool, &its, 1);
}

TEST(kills_its_own, "invalidating a tag kills every item that carries it, and no other; what is stored later lives")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const uint64_t red[] = {tag("red")}, both[] = {tag("blue"), tag("red")}, blue[] = {tag("blue")};
    for (int round = 0; round < 3; round++) {
        put_tagged(pool, "a", red, 1);
        put_tagged(pool, "b", both, 2);
        put_tagged(pool, "c", blue, 1);
        put_tagged(pool, "d", NULL, 0);
        CHECK(holds_text(pool, "a", "a") && holds_text(pool, "b", "b"));
        CHECK(holds_text(pool, "c", "c") && holds_text(pool, "d", "d"));
        invalidate(pool, "green");
        CHECK(holds_text(pool, "a", "a") && holds_text(pool, "b", "b") && holds_text(pool, "c", "c"));
        invalidate(pool, "red");
        CHECK(!holds_text(pool, "a", "a") && !holds_text(pool, "b", "b"));
        CHECK(holds_text(pool, "c", "c") && holds_text(pool, "d", "d"));
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(many_on_one, "an item may carry 4,096 tags, and each of them kills it")
{
    static uint64_t tags[LARDER_TAGS_MAX];
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint32_t i = 0; i < LARDER_TAGS_MAX; i++) {
        tags[i] = tag_number(i);
    }
    for (uint32_t i = 0; i < LARDER_TAGS_MAX; i += 455) {
        put_tagged(pool, "k", tags, LARDER_TAGS_MAX);
        CHECK(holds_text(pool, "k", "k"));
        CHECK(holds_text(pool, "k", "k"));
        larder_invalidate(pool, &tags[i], 1);
        CHECK(!holds_text(pool, "k", "k"));
    }
    larder_pool_close(pool);
}

TEST(never_stale, "whatever else is invalidated before and after, an invalidated tag's items are dead")
{
    larder_pool *pool = pool_open("p", 4 * MIB), *other = pool_open("p", 4 * MIB);
    rng r = {test_seed()};
    uint64_t alive = 0, spared = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t mine = tag_number(rng_below(&r, 1000)), others = tag_number(rng_below(&r, 100000));
        put_tagged(pool, "k", &mine, 1);
        if (rng_below(&r, 2) == 0) {
            holds_text(other, "k", "k"); /* its tags are looked at, and it says so */
        }
        larder_invalidate(rng_below(&r, 2) == 0 ? pool : other, &others, 1);
        bool lives = holds_text(other, "k", "k");
        spared += mine != others;
        alive += lives;
        CHECK(!(lives && mine == others));
        larder_invalidate(rng_below(&r, 2) == 0 ? pool : other, &mine, 1);
        CHECK(!holds_text(pool, "k", "k") && !holds_text(other, "k", "k"));
    }
    COMPARE(alive * 1000, >=, spared * 999); /* few are killed by strangers */
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(few_strangers, "of items whose tags were not invalidated, few are killed by thousands of others that were")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    char key[16];
    uint64_t dead = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        const uint64_t its = tag_number(i);
        snprintf(key, sizeof key, "%llu", (unsigned long long)i);
        put_tagged(pool, key, &its, 1);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        const uint64_t others = tag_number(1000000 + i);
        larder_invalidate(pool, &others, 1);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%llu", (unsigned long long)i);
        dead += !holds_text(pool, key, key);
    }
    COMPARE(dead, <=, 15); /* 5,000 * (1 - e^(-4 * 5,000 / 131,072))^4 = 2 are expected */
    larder_pool_close(pool);
}

TEST(looked_at, "a look at an item's tags is not repeated before something is invalidated, and then it is")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const uint64_t its[] = {tag("t")};
    put_tagged(pool, "k", its, 1);
    invalidate(pool, "one");
    CHECK(holds_text(pool, "k", "k"));
    _Atomic uint64_t *cells[LARDER_TAG_CELLS];
    larder_tag_cells(pool, its[0], cells);
    for (uint32_t i = 0; i < LARDER_TAG_CELLS; i++) {
        *cells[i] = larder_now_logical(pool->header) + 1; /* behind the count's back */
    }
    CHECK(holds_text(pool, "k", "k"));
    invalidate(pool, "another");
    CHECK(!holds_text(pool, "k", "k"));
    larder_pool_close(pool);
}

TEST(moved_with_tags, "items keep their tags when they are moved")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const uint64_t its[] = {tag("t"), tag("u")};
    static char large[3000];
    memset(large, 'x', sizeof large - 1);
    put_tagged(pool, "k", its, 2);
    uint64_t moves = 0;
    for (uint64_t i = 0; i < 20000 && moves == 0; i++) {
        CHECK(holds_text(pool, "k", "k"));
        put_bytes(pool, key_number(i % 3000), large, sizeof large);
        moves = pool->slot->counter[LARDER_MOVES];
    }
    COMPARE(moves, >, 0);
    CHECK(holds_text(pool, "k", "k"));
    invalidate(pool, "u");
    CHECK(!holds_text(pool, "k", "k"));
    larder_pool_close(pool);
}

/* ---- at every step -------------------------------------------------------------------------------------- */

static larder_pool *stepping;

static void die(void)
{
    _exit(0);
}

static void invalidate_and_die(void *context)
{
    unsigned point = *(const unsigned *)context;
    fault_arm(point, point == LARDER_AT_TAG ? 2 : 0, die);
    invalidate(stepping, "t");
    test_give_up();
}

TEST(killed_invalidator, "a process that is killed in the middle of an invalidation leaves the tag usable")
{
    stepping = pool_open("p", 4 * MIB);
    const uint64_t its[] = {tag("t")};
    for (unsigned point = LARDER_AT_TAG; point <= LARDER_AT_INVALIDATED; point++) {
        put_tagged(stepping, "k", its, 1);
        child_run(invalidate_and_die, &point);
        invalidate(stepping, "t");
        CHECK(!holds_text(stepping, "k", "k"));
        put_tagged(stepping, "k", its, 1);
        CHECK(holds_text(stepping, "k", "k"));
    }
    larder_pool_close(stepping);
}

static larder_pool *beside;

static void invalidate_again_beside(void)
{
    const uint64_t its[] = {tag("t")};
    put_tagged(beside, "k", its, 1);
    invalidate(beside, "t");
}

static uint64_t cells_to_pass;

static void tick_beside(void)
{
    put_bytes(beside, key_number(1), "v", 1);
    fault_arm(LARDER_AT_TAG, cells_to_pass, invalidate_again_beside);
}

TEST(overtaken_invalidator, "an invalidation that is overtaken by a younger one of its tag does not set it back")
{
    for (cells_to_pass = 0; cells_to_pass < 2 * LARDER_TAG_CELLS - 1; cells_to_pass++) {
        larder_pool *pool = pool_open("p", 4 * MIB);
        beside = pool_open("p", 4 * MIB);
        fault_arm(LARDER_AT_TAG, 0, tick_beside);
        invalidate(pool, "t");
        fault_disarm();
        CHECK(!holds_text(pool, "k", "k"));
        larder_pool_close(beside);
        larder_pool_close(pool);
    }
}

static void invalidate_beside(void)
{
    invalidate(beside, "t");
    const uint64_t its[] = {tag("t")};
    put_tagged(beside, "new", its, 1);
}

TEST(late_invalidator, "an invalidation that is late kills what was stored under its tag before it returned")
{
    for (uint64_t skip = 0; skip < LARDER_TAG_CELLS; skip++) {
        larder_pool *pool = pool_open("p", 4 * MIB);
        beside = pool_open("p", 4 * MIB);
        fault_arm(LARDER_AT_TAG, skip, invalidate_beside);
        invalidate(pool, "t");
        fault_disarm();
        CHECK(!holds_text(beside, "new", "new"));
        larder_pool_close(beside);
        larder_pool_close(pool);
    }
}
