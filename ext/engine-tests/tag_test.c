/* Tags: killing many items at once. */
#include "lines.h"
#include "requests.h"

#include "engine/larder.h"
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

/* ---- tags of others ------------------------------------------------------------------------------------ */

#define ITEMS 2000u

/* Items with ten tags each, which begin at that number. */
static void put_items_of_ten(larder_pool *pool, uint64_t first_tag)
{
    char key[16];
    for (uint64_t i = 0; i < ITEMS; i++) {
        uint64_t its[10];
        for (uint64_t t = 0; t < 10; t++) {
            its[t] = tag_number(first_tag + i * 10 + t);
        }
        snprintf(key, sizeof key, "%llu", (unsigned long long)i);
        put_tagged(pool, key, its, 10);
    }
}

static uint64_t dead_items(larder_pool *pool)
{
    char key[16];
    uint64_t dead = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        snprintf(key, sizeof key, "%llu", (unsigned long long)i);
        dead += !holds_text(pool, key, key);
    }
    return dead;
}

static void invalidate_numbers(larder_pool *pool, uint64_t first, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t others = tag_number(first + i);
        larder_invalidate(pool, &others, 1);
    }
}

/* Lets items, whose keys do not matter, carry these tags. */
static void carry_numbers(larder_pool *pool, uint64_t first, uint64_t count)
{
    static uint64_t tags[LARDER_TAGS_MAX];
    char key[32];
    for (uint64_t at = 0; at < count; at += LARDER_TAGS_MAX) {
        uint32_t some = (uint32_t)(count - at < LARDER_TAGS_MAX ? count - at : LARDER_TAGS_MAX);
        for (uint32_t i = 0; i < some; i++) {
            tags[i] = tag_number(first + at + i);
        }
        snprintf(key, sizeof key, "carrier-%llu", (unsigned long long)at);
        put_tagged(pool, key, tags, some);
    }
}

TEST(carried_by_none, "of items with ten tags, fewer than one in 100 dies of 100,000 tags that no item has carried")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    put_items_of_ten(pool, 0);
    invalidate_numbers(pool, 1000000, 100000);
    COMPARE(dead_items(pool), <, ITEMS / 100);
    larder_pool_close(pool);
}

TEST(few_strangers, "of items with ten tags, fewer than one in 100 dies of 50,000 tags of other items")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    put_items_of_ten(pool, 0);
    carry_numbers(pool, 1000000, 50000);
    invalidate_numbers(pool, 1000000, 50000);
    COMPARE(dead_items(pool), <, ITEMS / 100); /* 0.15 % are expected */
    larder_pool_close(pool);
}

TEST(few_refused, "of fills with a tag, few are refused for thousands of others that were invalidated meanwhile")
{
    open_two(64 * MIB);
    char key[16];
    uint64_t refused = 0, token = token_now(here);
    invalidate_numbers(there, 1000000, 1000);
    for (uint64_t i = 0; i < 5000; i++) {
        const uint64_t its = tag_number(i);
        snprintf(key, sizeof key, "%llu", (unsigned long long)i);
        refused += fill_tagged(here, key, key, token, &its, 1) != LARDER_OK;
    }
    COMPARE(refused, <=, 10); /* 5,000 * (1 - e^(-4 * 1,000 / 32,768))^4 = 1 is expected */
    close_two();
}

TEST(own_many, "a fill is read although its own request has invalidated more tags meanwhile than are remembered")
{
    open_two(4 * MIB);
    const uint64_t its[] = {tag("t"), tag("u")};
    carry_numbers(here, 0, 20000);
    uint64_t token = token_now(here);
    invalidate_numbers(here, 0, 20000);
    EQUAL(fill_tagged(here, "k", "k", token, its, 2), LARDER_OK);
    CHECK(holds_text(there, "k", "k") && holds_text(there, "k", "k"));
    invalidate(there, "u");
    CHECK(miss(there, "k"));
    close_two();
}

TEST(lines_forget, "a fill is read although its tag's lines forget others that were invalidated meanwhile")
{
    open_two(4 * MIB);
    const uint64_t its[] = {tag("t")}, another[] = {tag("another")};
    larder_recent *lines[2];
    put_tagged(here, "l", another, 1);
    uint64_t token = token_now(here);
    larder_recent_lines(here, its[0], lines);
    lines[1]->floor = larder_tick(here->header); /* as an entry leaves it that finds both full */
    EQUAL(fill_tagged(here, "k", "k", token, its, 1), LARDER_OK);
    invalidate(there, "another"); /* so that its tags are looked at */
    CHECK(holds_text(here, "k", "k") && holds_text(there, "k", "k"));
    invalidate(there, "t");
    CHECK(miss(here, "k"));
    close_two();
}

/* ---- looks ---------------------------------------------------------------------------------------------- */

TEST(looked_at, "a look at an item's tags is not repeated before a tag that items carry is invalidated, and then it is")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const uint64_t its[] = {tag("t")}, another[] = {tag("another")};
    larder_recent *lines[2];
    put_tagged(pool, "k", its, 1);
    put_tagged(pool, "l", another, 1);
    invalidate(pool, "another");
    CHECK(holds_text(pool, "k", "k"));
    larder_recent_lines(pool, its[0], lines);
    lines[0]->floor = larder_tick(pool->header); /* behind the count's back */
    CHECK(holds_text(pool, "k", "k"));
    invalidate(pool, "of no item");
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

static uint64_t crowded[LINES_FULL + 1]; /* tags that fill two lines of the table, and one more */

static void invalidate_and_die(void *context)
{
    unsigned point = *(const unsigned *)context;
    fault_arm(point, point == LARDER_AT_TAG ? 2 : 0, die);
    larder_invalidate(stepping, &crowded[LINES_FULL], 1);
    test_give_up();
}

TEST(killed_invalidator, "a process that is killed in the middle of an invalidation leaves the tag usable")
{
    for (unsigned point = LARDER_AT_TAG; point <= LARDER_AT_INVALIDATED; point++) {
        stepping = pool_open("p", 4 * MIB);
        tags_of_two_lines(stepping, crowded, LINES_FULL + 1);
        const uint64_t *its = &crowded[LINES_FULL];
        put_tagged(stepping, "others", crowded, LINES_FULL);
        larder_invalidate(stepping, crowded, LINES_FULL);
        put_tagged(stepping, "k", its, 1);
        child_run(invalidate_and_die, &point);
        larder_invalidate(stepping, its, 1);
        CHECK(!holds_text(stepping, "k", "k"));
        put_tagged(stepping, "k", its, 1);
        CHECK(holds_text(stepping, "k", "k"));
        larder_pool_close(stepping);
        pool_remove("p", &(larder_error){.message = ""});
    }
}

static uint64_t stale_token, steps_met;
static enum larder_verb stale_verb;

static void invalidate_new(void)
{
    steps_met++;
    invalidate(there, "new");
    stale_token = stale_verb == LARDER_WRITE ? token_now(there) : stale_token;
}

/* One that no item has carried, at each step of the first store that brings it. */
TEST(first_carried, "a tag that is invalidated while it is stored for the first time kills what was computed before")
{
    static const enum larder_verb verbs[] = {LARDER_FILL, LARDER_JUDGED, LARDER_WRITE};
    const uint64_t its[] = {tag("new")};
    for (size_t v = 0; v < sizeof verbs / sizeof verbs[0]; v++) {
        uint64_t steps = 0;
        do {
            open_two(4 * MIB);
            stale_verb = verbs[v];
            stale_token = token_now(here);
            steps_met = 0;
            larder_terms terms = {.verb = verbs[v],
                                  .expiry = LARDER_NO_EXPIRY,
                                  .token = stale_token,
                                  .attachment = here->attached.number,
                                  .tags = its,
                                  .tags_count = 1};
            fault_arm(0, steps, invalidate_new);
            put_under(here, "k", "stale", &terms);
            fault_disarm();
            larder_hit hit;
            const larder_key key = key_of("k");
            if (steps_met > 0 && larder_get_pinned(there, &key, &hit)) {
                /* Only a write may be there, which has ticked since. */
                COMPARE(hit.item->version, >=, verbs[v] == LARDER_WRITE ? stale_token : LARDER_NO_TOKEN);
                larder_hit_drop(there, &hit);
            }
            close_two();
            steps++;
        } while (steps_met > 0);
        COMPARE(steps, >, 5);
    }
}

static void fill_new(void)
{
    const uint64_t its[] = {tag("new")};
    steps_met++;
    fill_tagged(there, "k", "stale", stale_token, its, 1);
}

TEST(carried_meanwhile,
     "what was computed before an invalidation is dead, though it brings the tag in the middle of it")
{
    uint64_t steps = 0;
    do {
        open_two(4 * MIB);
        stale_token = token_now(there);
        steps_met = 0;
        fault_arm(0, steps, fill_new);
        invalidate(here, "new");
        fault_disarm();
        CHECK(steps_met == 0 || miss(there, "k"));
        close_two();
        steps++;
    } while (steps_met > 0);
    COMPARE(steps, >, 2 * LARDER_TAG_CELLS + 4);
}

static larder_pool *beside;
static uint64_t token_before;

static void invalidate_again_beside(void)
{
    const uint64_t its[] = {tag("t")};
    put_tagged(beside, "k", its, 1);
    token_before = token_now(beside);
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
        const uint64_t its[] = {tag("t")};
        larder_pool *pool = pool_open("p", 4 * MIB), *another = pool_open("p", 4 * MIB);
        beside = pool_open("p", 4 * MIB);
        fault_arm(LARDER_AT_TAG, 0, tick_beside);
        invalidate(pool, "t");
        fault_disarm();
        CHECK(!holds_text(pool, "k", "k"));
        /* Nor is what was computed before the younger one taken for what came later. */
        EQUAL(fill_tagged(another, "l", "l", token_before, its, 1), LARDER_OVERTAKEN);
        larder_pool_close(another);
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
