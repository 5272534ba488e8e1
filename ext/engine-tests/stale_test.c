/* What an invalidation lets be served stale, and for how long. */
#include "requests.h"

#include "engine/larder.h"
#include "engine/stale.h"

#include <stdio.h>
#include <string.h>

static uint64_t tag(const char *name)
{
    return larder_tag_of(name, strlen(name));
}

static void put_tagged(larder_pool *pool, const char *key, const uint64_t *tags, uint32_t count)
{
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = count};
    EQUAL(put_under(pool, key, key, &terms), LARDER_OK);
}

static void put_with_one(larder_pool *pool, const char *key, const char *name)
{
    const uint64_t its = tag(name);
    put_tagged(pool, key, &its, 1);
}

/* For 0 seconds: not softly. */
static void invalidate(larder_pool *pool, const char *name, uint64_t seconds)
{
    const uint64_t its = tag(name);
    larder_invalidate_softly(pool, &its, 1, seconds * 1000);
}

/* For how many ms the key may still be served although it is dead; 0: it may not, or is alive. */
static uint64_t stale_for(larder_pool *pool, const char *name, uint64_t grace_ms)
{
    larder_hit hit;
    larder_serving serving;
    const larder_key key = key_of(name);
    if (!larder_get_stale(pool, &key, grace_ms, &hit, &serving)) {
        return 0;
    }
    larder_hit_drop(pool, &hit);
    return serving.stale ? serving.until - clock_ms : 0;
}

TEST(served_on_request,
     "what was invalidated softly is dead to all, and served until its time is over to those who ask for it")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    put_with_one(pool, "k", "t");
    EQUAL(stale_for(pool, "k", 0), 0);
    invalidate(pool, "t", 10);
    larder_hit hit;
    const larder_key key = key_of("k");
    CHECK(!holds_text(pool, "k", "k"));
    CHECK(!larder_exists(pool, &key) && !larder_get_briefly(pool, &key, &hit) && !larder_get_pinned(pool, &key, &hit));
    CHECK(!larder_touch(pool, &key, LARDER_NO_EXPIRY));
    EQUAL(stale_for(pool, "k", 0), 10000);
    EQUAL(stale_for(pool, "k", 60000), 10000); /* that is for what has expired */
    clock_ms += 9999;
    EQUAL(stale_for(pool, "k", 0), 1);
    clock_ms += 1;
    EQUAL(stale_for(pool, "k", 0), 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(only_if_asked, "what was invalidated is not served, unless all invalidations of all of its tags let it be")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const uint64_t both[] = {tag("t"), tag("u")}, other_way[] = {tag("u"), tag("t")};
    put_with_one(pool, "k", "t");
    invalidate(pool, "t", 0);
    EQUAL(stale_for(pool, "k", 0), 0);
    invalidate(pool, "t", 10); /* later, and of what is dead already */
    EQUAL(stale_for(pool, "k", 0), 0);
    put_tagged(pool, "both", both, 2);
    put_tagged(pool, "other way", other_way, 2);
    put_with_one(pool, "k", "t");
    invalidate(pool, "t", 20);
    invalidate(pool, "u", 5);
    EQUAL(stale_for(pool, "both", 0), 5000);
    EQUAL(stale_for(pool, "other way", 0), 5000);
    invalidate(pool, "u", 0);
    EQUAL(stale_for(pool, "both", 0), 0);
    CHECK(stale_for(pool, "k", 0) > 0);
    invalidate(pool, "t", 0);
    EQUAL(stale_for(pool, "k", 0), 0);
    larder_pool_close(pool);
}

TEST(first_end, "what a soft invalidation killed is not served for longer because of a later one")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    put_with_one(pool, "k", "t");
    invalidate(pool, "t", 10);
    clock_ms += 5000;
    invalidate(pool, "t", 60);
    EQUAL(stale_for(pool, "k", 0), 5000);
    invalidate(pool, "t", 2);
    EQUAL(stale_for(pool, "k", 0), 2000);
    clock_ms += 2000;
    put_with_one(pool, "l", "t");
    invalidate(pool, "t", 60);
    EQUAL(stale_for(pool, "k", 0), 0);
    EQUAL(stale_for(pool, "l", 0), 60000);
    larder_pool_close(pool);
}

TEST(dead_otherwise, "what was deleted, cleared, replaced or has expired is not served stale because of a tag")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const uint64_t its = tag("t");
    const larder_terms short_lived = {
        .verb = LARDER_WRITE, .expiry = larder_expiry(clock_ms, 1), .tags = &its, .tags_count = 1};
    put_with_one(pool, "deleted", "t");
    put_with_one(pool, "replaced", "t");
    EQUAL(put_under(pool, "expiring", "e", &short_lived), LARDER_OK);
    put_with_one(pool, "cleared", "t");
    invalidate(pool, "t", 10);
    CHECK(stale_for(pool, "deleted", 0) > 0 && stale_for(pool, "replaced", 0) > 0);
    CHECK(stale_for(pool, "expiring", 0) == 1000);
    delete_key(pool, "deleted");
    EQUAL(stale_for(pool, "deleted", 0), 0);
    put_with_one(pool, "replaced", "u");
    EQUAL(stale_for(pool, "replaced", 0), 0);
    CHECK(holds_text(pool, "replaced", "replaced"));
    clock_ms += 1000;
    EQUAL(stale_for(pool, "expiring", 0), 0);
    EQUAL(stale_for(pool, "expiring", 3000), 3000);
    EQUAL(stale_for(pool, "expiring", 30000), 9000);
    larder_clear(pool);
    EQUAL(stale_for(pool, "cleared", 0), 0);
    larder_pool_close(pool);
}

TEST(shared_place,
     "a place that another tag has taken serves nothing of the first, and what that killed is dead for good")
{
    enum { OTHERS = 20000 };
    larder_pool *pool = pool_timed(4 * MIB, true);
    put_with_one(pool, "k", "t");
    invalidate(pool, "t", 600);
    CHECK(stale_for(pool, "k", 0) > 0);
    uint64_t others = 0;
    for (; others < OTHERS && stale_for(pool, "k", 0) > 0; others++) {
        char name[16];
        snprintf(name, sizeof name, "other-%u", (unsigned)others);
        const uint64_t its = tag(name);
        larder_window_open(pool, its, clock_ms + 600000);
    }
    COMPARE(others, <, OTHERS);
    invalidate(pool, "t", 600);
    EQUAL(stale_for(pool, "k", 0), 0);
    put_with_one(pool, "k", "t");
    invalidate(pool, "t", 600);
    CHECK(stale_for(pool, "k", 0) > 0);
    larder_pool_close(pool);
}

/* ---- at random ------------------------------------------------------------------------------------------------- */

enum { NAMES = 12, KEYS = 24 };

/* What the library's stores keep of a tag (Store/TagVersion.php). */
typedef struct expected {
    uint64_t dead, stale, until;
} expected;

static void expect_invalidated(expected *its, uint64_t tick, uint64_t seconds)
{
    if (seconds == 0) {
        *its = (expected){.dead = tick};
    } else if (its->until > clock_ms) {
        uint64_t until = clock_ms + seconds * 1000;
        *its = (expected){.dead = its->dead, .stale = tick, .until = until < its->until ? until : its->until};
    } else {
        uint64_t dead = its->dead > its->stale ? its->dead : its->stale;
        *its = (expected){.dead = dead, .stale = tick, .until = clock_ms + seconds * 1000};
    }
}

static uint64_t expected_for(const expected *tags, const uint64_t *its, uint64_t stored)
{
    uint64_t until = UINT64_MAX;
    for (int i = 0; i < 2; i++) {
        const expected *of = &tags[its[i]];
        if (stored < of->dead || (stored < of->stale && clock_ms >= of->until)) {
            return 0;
        }
        until = stored < of->stale && of->until < until ? of->until : until;
    }
    return until == UINT64_MAX ? 0 : until - clock_ms;
}

TEST(as_expected,
     "whatever is invalidated, softly or not, what is served is served for as long as all of that lets it be")
{
    static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
    larder_pool *pool = pool_timed(4 * MIB, true), *other = pool_timed(4 * MIB, true);
    expected tags[NAMES] = {{.dead = 0}};
    uint64_t its[KEYS][2], stored[KEYS] = {0}, tick = 0, served = 0;
    rng r = {test_seed()};
    for (uint64_t t = 0; t < NAMES; t++) {
        put_with_one(pool, "all", names[t]); /* what no item has carried opens no window: it kills nothing */
    }
    for (uint64_t i = 0; i < 40000 * test_scale(); i++) {
        larder_pool *by = rng_below(&r, 2) == 0 ? pool : other;
        uint64_t k = rng_below(&r, KEYS), t = rng_below(&r, NAMES);
        char name[8];
        snprintf(name, sizeof name, "key%u", (unsigned)k);
        tick++;
        if (rng_below(&r, 3) == 0) {
            its[k][0] = t;
            its[k][1] = rng_below(&r, NAMES);
            put_tagged(by, name, (const uint64_t[]){tag(names[its[k][0]]), tag(names[its[k][1]])}, 2);
            stored[k] = tick;
        } else if (rng_below(&r, 2) == 0) {
            uint64_t seconds = rng_below(&r, 4) == 0 ? 0 : 1 + rng_below(&r, 20);
            invalidate(by, names[t], seconds);
            expect_invalidated(&tags[t], tick, seconds);
        } else {
            clock_ms += rng_below(&r, 700);
        }
        uint64_t expects = stored[k] == 0 ? 0 : expected_for(tags, its[k], stored[k]);
        served += expects > 0;
        if (!COMPARE(stale_for(by, name, 0), ==, expects)) {
            break;
        }
    }
    COMPARE(served, >, 1000);
    CHECK_POOL(pool);
    larder_pool_close(other);
    larder_pool_close(pool);
}

/* ---- two and three at once ------------------------------------------------------------------------------------- */

static larder_pool *third;

static void open_three(bool with_window)
{
    here = pool_timed(4 * MIB, true);
    there = pool_timed(4 * MIB, true);
    third = pool_timed(4 * MIB, true);
    put_with_one(here, "k", "t");
    if (with_window) {
        invalidate(here, "t", 100);
        CHECK(stale_for(here, "k", 0) > 0);
    }
}

static void close_three(void)
{
    larder_pool_close(here);
    larder_pool_close(there);
    larder_pool_close(third);
    pool_remove("p", &(larder_error){.message = ""});
}

static uint64_t steps_met, steps_before, steps_within, steps_met_within;

/* It has killed "k" for good: from here on no process serves it, whatever others are in the middle of. */
static void look_for_dead(unsigned point)
{
    (void)point;
    CHECK(stale_for(third, "k", 0) == 0);
}

static void kill_beside(void)
{
    steps_met++;
    invalidate(there, "t", 0);
    look_for_dead(0);
    fault_meddle(look_for_dead);
}

TEST(killed_meanwhile, "what is killed for good in the middle of a soft invalidation is served no more, from then on")
{
    for (int with_window = 0; with_window < 2; with_window++) {
        uint64_t steps = 0;
        do {
            open_three(with_window == 1);
            steps_met = 0;
            fault_arm(0, steps, kill_beside);
            invalidate(here, "t", 60);
            fault_disarm();
            fault_meddle(NULL);
            CHECK(steps_met == 0 || stale_for(here, "k", 0) == 0);
            close_three();
            steps++;
        } while (steps_met > 0);
        COMPARE(steps, >, 15);
    }
}

static uint64_t seconds_beside;

static void invalidate_beside(void)
{
    steps_met++;
    invalidate(there, "t", seconds_beside);
}

TEST(let_be_served_meanwhile,
     "an invalidation in whose middle its tag is invalidated softly kills for good all the same when it returns")
{
    for (int with_window = 0; with_window < 2; with_window++) {
        uint64_t steps = 0;
        do {
            open_three(with_window == 1);
            steps_met = 0;
            seconds_beside = 60;
            fault_arm(0, steps, invalidate_beside);
            invalidate(here, "t", 0);
            fault_disarm();
            EQUAL(stale_for(third, "k", 0), 0);
            invalidate(there, "t", 60);
            EQUAL(stale_for(third, "k", 0), 0);
            close_three();
            steps++;
        } while (steps_met > 0);
        COMPARE(steps, >, 15);
    }
}

TEST(ends_of_two, "of two soft invalidations at once, neither lets the other's items be served for longer")
{
    static const uint64_t seconds[][2] = {{100, 10}, {10, 100}};
    for (int which = 0; which < 2; which++) {
        uint64_t steps = 0;
        do {
            open_three(false);
            steps_met = 0;
            seconds_beside = seconds[which][1];
            fault_arm(0, steps, invalidate_beside);
            invalidate(here, "t", seconds[which][0]);
            fault_disarm();
            COMPARE(stale_for(third, "k", 0), <=, steps_met == 0 ? seconds[which][0] * 1000 : 10000);
            close_three();
            steps++;
        } while (steps_met > 0);
    }
}

/* In the middle of one that lets be served comes another, and in the middle of that one that kills. */
static void look_in_here(unsigned point)
{
    (void)point;
    CHECK(stale_for(there, "k", 0) == 0);
}

static void kill_within(void)
{
    steps_met_within++;
    invalidate(there, "t", 0);
    look_in_here(0);
    fault_meddle(look_in_here);
}

static void invalidate_within(void)
{
    steps_met++;
    fault_arm(0, steps_within, kill_within);
    invalidate(third, "t", 60);
    fault_disarm();
}

TEST(three_at_once, "what is killed for good while two let it be served, each at any step, is served no more")
{
    for (steps_before = 0, steps_met = 1; steps_met > 0; steps_before++) {
        for (steps_within = 0, steps_met_within = 1; steps_met_within > 0; steps_within++) {
            open_three(false);
            steps_met = steps_met_within = 0;
            fault_arm(0, steps_before, invalidate_within);
            invalidate(here, "t", 60);
            fault_disarm();
            fault_meddle(NULL);
            CHECK(steps_met_within == 0 || stale_for(here, "k", 0) == 0);
            close_three();
        }
    }
    COMPARE(steps_before, >, 15);
}

static void invalidate_and_die(void *context)
{
    const unsigned *step = context;
    fault_arm(LARDER_AT_WINDOW, *step, fault_die);
    invalidate(here, "t", 60);
}

TEST(killed_opener,
     "a process that is killed while it opens a window leaves nothing that is served, and the tag usable")
{
    for (unsigned step = 0; step < 4; step++) {
        open_three(false);
        pid_t pid = child_start(invalidate_and_die, &step);
        EQUAL(child_wait(pid), 256 + 9);
        CHECK(holds_text(third, "k", "k"));
        invalidate(third, "t", 0);
        EQUAL(stale_for(third, "k", 0), 0);
        put_with_one(third, "k", "t");
        invalidate(third, "t", 10);
        EQUAL(stale_for(third, "k", 0), 10000);
        close_three();
    }
}
