/* Invalidations and clears that are in flight `here`, while `there` another process reads and fills:
 * engine/in_flight.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "requests.h"

#include "engine/index.h"
#include "engine/larder.h"
#include "engine/tag.h"
#include "engine/token.h"
#include "engine/in_flight.h"

#include <signal.h>
#include <unistd.h>

static uint64_t tag;

static void begin(void)
{
    open_two(4 * MIB);
    tag = larder_tag_of("t", 1);
}

static enum larder_result store(larder_pool *pool, enum larder_verb verb, const char *key, const uint64_t *its,
                                uint64_t token)
{
    const larder_terms terms = {.verb = verb,
                                .token = token,
                                .attachment = pool->attached.number,
                                .expiry = LARDER_NO_EXPIRY,
                                .tags = its,
                                .tags_count = its == NULL ? 0 : 1};
    return put_under(pool, key, key, &terms);
}

static void invalidate_here(void)
{
    larder_invalidate(here, &tag, 1);
}

static void clear_here(void)
{
    larder_clear(here);
}

/* ---- what is made of the dead ---------------------------------------------------------------------------- */

/* A page is made of a fragment, and a book of the page: each is filled if what it is made of was there. Both moments
 * are at some step of the invalidation, or behind it. */
static struct {
    uint64_t token[2];
    bool read[2], met;
    unsigned second_point;
    uint64_t second_skip;
    enum larder_verb verb;
} made;

static const char *const chain[] = {"fragment", "page", "book"};

static void read_one(int which)
{
    made.token[which] = token_now(there);
    made.read[which] = holds_text(there, chain[which], chain[which]);
}

static void fill_one(int which)
{
    if (made.read[which]) {
        store(there, made.verb, chain[which + 1], &tag, made.token[which]);
    }
}

/* The second moment: what was read at the first is stored, and something more is made of it. At the end the same once
 * more, with what was read at the second. */
static void go_on(void)
{
    fill_one(0);
    fill_one(1);
    read_one(1);
    fill_one(1);
}

static void read_first(void)
{
    made.met = true;
    read_one(0);
    fault_arm(made.second_point, made.second_skip, go_on);
}

/* The same, with the page filled at once: it may be read in between. */
static void fill_first(void)
{
    made.met = true;
    read_one(0);
    fill_one(0);
    read_one(1);
    fault_arm(made.second_point, made.second_skip, go_on);
}

static bool meets(unsigned point, uint64_t skip, void (*at_first)(void), void (*event)(void))
{
    begin();
    made.met = made.read[0] = made.read[1] = false;
    store(there, LARDER_WRITE, "fragment", &tag, 0);
    store(there, LARDER_WRITE, "other", NULL, 0); /* so that not all ticks are one's own, nor none at all */
    CHECK(holds_text(there, "fragment", "fragment"));
    fault_arm(point, skip, at_first);
    event();
    fault_disarm();
    go_on(); /* and once more, when it is over */
    for (int i = 0; i < 3; i++) {
        if (!CHECK(!holds_text(there, chain[i], chain[i]))) {
            printf("    %s, first at point %u, skip %llu, then at %u, skip %llu\n", chain[i], point,
                   (unsigned long long)skip, made.second_point, (unsigned long long)made.second_skip);
        }
    }
    CHECK(larder_all_is_over(here));
    CHECK_POOL(here);
    close_two();
    return made.met;
}

static void meet_everywhere(void (*event)(void))
{
    static const unsigned points[] = {LARDER_AT_IN_FLIGHT, LARDER_AT_TICK, LARDER_AT_TAG, LARDER_AT_INVALIDATED,
                                      LARDER_AT_CLEAR};
    enum { POINTS = sizeof points / sizeof points[0] };
    unsigned met = 0;
    for (unsigned i = 0; i < 2 * POINTS; i++) {
        for (unsigned k = 0; k < POINTS; k++) {
            for (uint64_t skip = 0, most = 8; skip < most; skip++) {
                made.second_point = points[k];
                made.second_skip = skip * (i + k) % 3;
                made.verb = (skip & 1) != 0 ? LARDER_JUDGED : LARDER_FILL;
                if (!meets(points[i / 2], skip, i % 2 == 0 ? read_first : fill_first, event)) {
                    break;
                }
                met++;
            }
        }
    }
    COMPARE(met, >=, 20);
}

TEST(made_of_the_dead,
     "what is computed from an item that an invalidation in flight is about to kill does not outlive the invalidation")
{
    meet_everywhere(invalidate_here);
}

TEST(made_of_the_cleared,
     "what is computed from an item that a clear in flight is about to kill does not outlive the clear")
{
    meet_everywhere(clear_here);
}

/* ---- which it concerns ----------------------------------------------------------------------------------- */

static bool is_of_its_bit(uint64_t other)
{
    larder_in_flight a = larder_in_flight_tags(there, &tag, 1), b = larder_in_flight_tags(there, &other, 1);
    return memcmp(&a, &b, sizeof a) == 0;
}

static uint64_t tag_of_another_bit(void)
{
    uint64_t other = tag;
    while (is_of_its_bit(other)) {
        other++;
    }
    return other;
}

static void store_beside(void)
{
    uint64_t other = tag_of_another_bit(), token = token_now(there);
    EQUAL(store(there, LARDER_FILL, "same tag", &tag, token), LARDER_OVERTAKEN);
    EQUAL(store(there, LARDER_JUDGED, "judged", &tag, token_now(there)), LARDER_OVERTAKEN);
    EQUAL(store(there, LARDER_FILL, "other tag", &other, token), LARDER_OK);
    EQUAL(store(there, LARDER_FILL, "no tag", NULL, token), LARDER_OK);
    EQUAL(store(there, LARDER_WRITE, "written", &tag, 0), LARDER_OK);
}

TEST(own_tag_only, "while a tag is invalidated, what is judged by a token waits; other tags, and writes, do not")
{
    begin();
    EQUAL(store(here, LARDER_WRITE, "carries it", &tag, 0), LARDER_OK);
    fault_arm(LARDER_AT_INVALIDATED, 0, store_beside);
    larder_invalidate(here, &tag, 1);
    fault_disarm();
    EQUAL(store(there, LARDER_FILL, "same tag", &tag, token_now(there)), LARDER_OK);
    CHECK(holds_text(here, "same tag", "same tag"));
    CHECK(holds_text(here, "other tag", "other tag") && holds_text(here, "no tag", "no tag"));
    close_two();
}

#define MANY 100u

static uint64_t refused;

static void fill_of_others(void)
{
    for (uint64_t i = 0; i < 300; i++) {
        const uint64_t its = larder_tag_of((const char *)&i, sizeof i);
        refused += store(there, LARDER_FILL, "k", &its, token_now(there)) != LARDER_OK;
    }
}

TEST(many_at_once, "while a hundred tags are invalidated in one call, most fills of other tags are not refused")
{
    uint64_t tags[MANY];
    begin();
    for (uint64_t i = 0; i < MANY; i++) {
        const uint64_t number = 1000 + i;
        tags[i] = larder_tag_of((const char *)&number, sizeof number);
    }
    refused = 0;
    EQUAL(store(here, LARDER_WRITE, "carries one", tags, 0), LARDER_OK);
    fault_arm(LARDER_AT_INVALIDATED, 0, fill_of_others);
    larder_invalidate(here, tags, MANY);
    fault_disarm();
    COMPARE(refused, >=, 30);
    COMPARE(refused, <=, 135); /* 27 % are expected: 100 tags in 319 places */
    EQUAL(store(there, LARDER_FILL, "k", tags, token_now(there)), LARDER_OK);
    close_two();
}

static bool came_between;

static void invalidate_beside(void)
{
    uint64_t other = tag_of_another_bit();
    came_between = true;
    larder_invalidate(there, &other, 1);
    EQUAL(store(there, LARDER_FILL, "other tag", &other, token_now(there)), LARDER_OK);
    EQUAL(store(there, LARDER_FILL, "k", &tag, token_now(there)), LARDER_OVERTAKEN);
}

TEST(overlapping,
     "of invalidations that overlap, one that is not over is noticed; afterwards no process looks for them")
{
    begin();
    uint64_t other = tag_of_another_bit();
    larder_pool *third = pool_open("p", 4 * MIB);
    EQUAL(store(here, LARDER_WRITE, "carries it", &tag, 0), LARDER_OK);
    EQUAL(store(here, LARDER_WRITE, "carries the other", &other, 0), LARDER_OK);
    came_between = false;
    fault_arm(LARDER_AT_INVALIDATED, 0, invalidate_beside);
    larder_invalidate(here, &tag, 1);
    fault_disarm();
    CHECK(came_between);
    EQUAL(store(third, LARDER_FILL, "k", &tag, token_now(third)), LARDER_OK);
    CHECK(larder_all_is_over(here));
    larder_pool_close(third);
    close_two();
}

static bool wrote;

static void write_and_read(void)
{
    wrote = true;
    EQUAL(store(there, LARDER_WRITE, "k", &tag, 0), LARDER_OK);
    CHECK(holds_text(there, "k", "k"));
}

TEST(settled, "whether a write outlives an invalidation of its tag is settled when that returns, not by another tag's")
{
    uint64_t steps = 0;
    do {
        begin();
        wrote = false;
        uint64_t other = tag_of_another_bit();
        EQUAL(store(here, LARDER_WRITE, "carries the other", &other, 0), LARDER_OK);
        fault_arm(0, steps, write_and_read);
        larder_invalidate(here, &tag, 1);
        fault_disarm();
        bool lives = holds_text(there, "k", "k");
        larder_invalidate(here, &other, 1);
        if (!CHECK(holds_text(there, "k", "k") == lives)) {
            printf("    written at step %llu\n", (unsigned long long)steps);
        }
        close_two();
        steps++;
    } while (wrote);
    COMPARE(steps, >, 2 * (LARDER_TAG_CELLS + 3));
}

typedef struct end {
    unsigned point;
    uint64_t skip;
    void (*how)(void);
    void (*event)(void);
} end;

static void end_there(void *context)
{
    const end *its = context;
    fault_arm(its->point, its->skip, its->how);
    its->event();
}

TEST(stopped_in_between,
     "an invalidation whose process has stopped refuses fills of its tag until it goes on, no longer")
{
    fault_gate = shared_memory(sizeof *fault_gate);
    begin();
    EQUAL(store(here, LARDER_WRITE, "carries it", &tag, 0), LARDER_OK);
    end its = {LARDER_AT_INVALIDATED, 0, fault_stay, invalidate_here};
    pid_t pid = child_start(end_there, &its);
    gate_wait(fault_gate, 1);
    store_beside();
    gate_open(fault_gate, 2);
    EQUAL(child_wait(pid), 0);
    EQUAL(store(there, LARDER_FILL, "same tag", &tag, token_now(there)), LARDER_OK);
    CHECK(larder_all_is_over(there));
    close_two();
}

TEST(killed_in_between, "an invalidation or a clear whose process was killed refuses nothing")
{
    for (int clears = 0; clears < 2; clears++) {
        for (int taken = 0; taken < 2; taken++) {
            begin();
            end its = {clears ? LARDER_AT_CLEAR : LARDER_AT_TAG, 1, fault_die, clears ? clear_here : invalidate_here};
            EQUAL(child_wait(child_start(end_there, &its)), 256 + SIGKILL);
            CHECK(!larder_all_is_over(there));
            larder_pool *heirs[2]; /* have the places of the dead */
            for (int i = 0; i < 2 * taken; i++) {
                heirs[i] = pool_open("p", 4 * MIB);
            }
            EQUAL(store(there, LARDER_FILL, "same tag", &tag, token_now(there)), LARDER_OK);
            CHECK(larder_all_is_over(there));
            CHECK(holds_text(here, "same tag", "same tag"));
            for (int i = 0; i < 2 * taken; i++) {
                larder_pool_close(heirs[i]);
            }
            close_two();
        }
    }
}

TEST(killed_saying_so, "nor is looked for by all from then on, at whichever step of saying so it was killed")
{
    for (int clears = 0; clears < 2; clears++) {
        for (uint64_t skip = 0; skip < 4; skip++) {
            begin();
            end its = {LARDER_AT_IN_FLIGHT, skip, fault_die, clears ? clear_here : invalidate_here};
            EQUAL(child_wait(child_start(end_there, &its)), 256 + SIGKILL);
            EQUAL(store(there, LARDER_FILL, "same tag", &tag, token_now(there)), LARDER_OK);
            CHECK(larder_all_is_over(there));
            larder_invalidate(there, &tag, 1);
            CHECK(larder_all_is_over(there));
            CHECK(!holds_text(here, "same tag", "same tag"));
            close_two();
        }
    }
}
