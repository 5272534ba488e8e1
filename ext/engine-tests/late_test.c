/* Tokens, and deletes, writes, invalidations and clears that are late in one of their steps. */
#include "requests.h"

#include "engine/larder.h"
#include "engine/tag.h"
#include "engine/token.h"
#include "engine/in_flight.h"

static uint64_t late_token;

static void fill_late(void)
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    fill_tagged(there, "k", "stale", late_token, tags, 1);
}

static void fill_meanwhile(void)
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    larder_invalidate(there, tags, 1);
    fill_late();
}

TEST(late_event,
     "an invalidation that is late in moving its cells still kills what was filled past one's own meanwhile")
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    for (uint64_t skip = 0; skip < LARDER_TAG_CELLS; skip++) {
        open_two(4 * MIB);
        late_token = token_now(there);
        fault_arm(LARDER_AT_TAG, skip, fill_meanwhile);
        larder_invalidate(here, tags, 1);
        fault_disarm();
        CHECK(miss(there, "k"));
        close_two();
    }
}

static uint64_t second_stop;

static void invalidate_meanwhile(void)
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    larder_invalidate(there, tags, 1);
}

static void invalidate_and_come_back(void)
{
    invalidate_meanwhile();
    fault_arm(LARDER_AT_TAG, second_stop, fill_meanwhile);
}

TEST(twice_late, "an invalidation that is late twice kills what was filled past two of its request's own")
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    for (uint64_t first = 0; first < LARDER_TAG_CELLS; first++) {
        for (uint64_t second = 0; second < LARDER_TAG_CELLS; second++) {
            open_two(4 * MIB);
            late_token = token_now(there);
            second_stop = LARDER_TAG_CELLS - 1 - first + second; /* when it moves its cells once more */
            fault_arm(LARDER_AT_TAG, first, invalidate_and_come_back);
            larder_invalidate(here, tags, 1);
            fault_disarm();
            CHECK(miss(there, "k"));
            fill_late();
            CHECK(miss(there, "k"));
            close_two();
        }
    }
}

static void clear_meanwhile(void)
{
    larder_clear(there);
}

TEST(judged_meanwhile,
     "what others invalidate while a fill is judged kills it, also if all that happened before was one's own")
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    for (unsigned i = 0; i < 8; i++) {
        open_two(4 * MIB);
        larder_terms terms = {.verb = (i & 1) != 0 ? LARDER_FILL : LARDER_JUDGED,
                              .expiry = LARDER_NO_EXPIRY,
                              .tags = tags,
                              .tags_count = 1};
        if ((i & 2) != 0) {
            larder_invalidate(here, tags, 1);
        }
        put_text(here, "neighbour", "v");
        terms.token = token_now(here);
        terms.attachment = here->attached.number;
        fault_arm(LARDER_AT_JUDGE, 0, (i & 4) != 0 ? clear_meanwhile : invalidate_meanwhile);
        put_under(here, "k", "stale", &terms);
        fault_disarm();
        CHECK(miss(there, "k"));
        CHECK_POOL(here);
        close_two();
    }
}

/* A fill of two tags of which its own request has invalidated one. */
static void fill_past_own_meanwhile(void)
{
    const uint64_t tags[] = {larder_tag_of("a", 1), larder_tag_of("b", 1)};
    larder_invalidate(there, tags, 1);
    bool refused = larder_is_in_flight(there, tags, 2); /* by an invalidation or a clear that is late */
    EQUAL(fill_tagged(there, "k", "stale", late_token, tags, 2), refused ? LARDER_OVERTAKEN : LARDER_OK);
}

TEST(late_event_of_another_kind,
     "whatever is late kills what was filled past one's own invalidation of another tag meanwhile")
{
    const uint64_t other[] = {larder_tag_of("b", 1)};
    for (int event = 0; event < 4; event++) {
        for (int existed = 0; existed < 2; existed++) {
            open_two(4 * MIB);
            if (existed) {
                put_text(there, "k", "older");
            }
            late_token = token_now(there);
            fault_arm(event == 0   ? LARDER_AT_TAG
                      : event == 1 ? LARDER_AT_CLEAR
                                   : LARDER_AT_KEY_VERSION,
                      0, fill_past_own_meanwhile);
            if (event == 0) {
                larder_invalidate(here, other, 1);
            } else if (event == 1) {
                larder_clear(here);
            } else if (event == 2) {
                delete_key(here, "k");
            } else {
                put_text(here, "k", "newer");
            }
            fault_disarm();
            CHECK(!holds_text(there, "k", "stale"));
            CHECK_POOL(here);
            close_two();
        }
    }
}

/* Three that meet: a delete or a write that has ticked and is stopped before it moves the key version, a process that
 * fills after that tick, and a process whose token is older and who is stopped before its word is final, until the
 * first is done. */
typedef struct late {
    gate moment;
    larder_pool *pool;
    bool writes;
    pid_t child;
} late;

static late *three;

static void wait_for_the_others(void)
{
    gate_open(&three->moment, 1);
    gate_wait(&three->moment, 2);
}

static void come_late(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_KEY_VERSION, 0, wait_for_the_others);
    if (three->writes) {
        put_text(three->pool, "k", "newer");
    } else {
        delete_key(three->pool, "k");
    }
}

static void let_it_end(void)
{
    gate_open(&three->moment, 2);
    if (three->child != 0) {
        EQUAL(child_wait(three->child), 0);
        three->child = 0;
    }
}

static void meet_late_event(bool writes, bool judged, bool filled, unsigned point)
{
    three = shared_memory(sizeof *three);
    three->writes = writes;
    open_two(4 * MIB);
    three->pool = there;
    uint64_t token = token_now(here);
    put_text(here, "other", "moves the clock");
    three->child = child_start(come_late, NULL);
    gate_wait(&three->moment, 1);
    if (filled) {
        put_text(here, "another", "moves the clock");
        EQUAL(fill(here, "k", "fresh", token_now(here)), LARDER_OK);
    }
    fault_arm(point, 0, let_it_end);
    if (judged) {
        write_judged(here, "k", "stale", token);
    } else {
        fill(here, "k", "stale", token);
    }
    fault_disarm();
    let_it_end();
    CHECK(!holds_text(here, "k", "stale"));
    CHECK_POOL(here);
    close_two();
}

TEST(late_and_younger,
     "what is older than a delete or a write that is late does not stay in the place of what is younger")
{
    static const unsigned points[] = {LARDER_AT_PENDING, LARDER_AT_PUBLISH, LARDER_AT_REPLACE};
    for (unsigned i = 0; i < 24; i++) {
        meet_late_event((i & 1) != 0, (i & 2) != 0, (i & 4) != 0, points[i / 8]);
    }
}

static void delete_meanwhile(void)
{
    delete_key(there, "k");
}

static void write_meanwhile(void)
{
    put_text(there, "k", "newer");
}

TEST(any_moment, "a fill that a delete or a write meets at any moment is never what is found after it")
{
    static const unsigned points[] = {LARDER_AT_RESERVE, LARDER_AT_START_BIT, LARDER_AT_PENDING,
                                      LARDER_AT_PUBLISH, LARDER_AT_ACCOUNT,   LARDER_AT_REPLACE};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        for (int existed = 0; existed < 2; existed++) {
            for (int writes = 0; writes < 2; writes++) {
                open_two(4 * MIB);
                if (existed) {
                    put_text(there, "k", "older");
                }
                uint64_t token = token_now(here), passed = fault_count(points[i]);
                fault_arm(points[i], 0, writes ? write_meanwhile : delete_meanwhile);
                fill(here, "k", "stale", token);
                fault_disarm();
                bool met = fault_count(points[i]) > passed;
                CHECK(!met || (writes ? holds_text(there, "k", "newer") : miss(there, "k")));
                CHECK_POOL(here);
                close_two();
            }
        }
    }
}

/* ---- two stores of one key that meet ------------------------------------------------------------------------- */

typedef struct meeting {
    enum larder_verb older, newer; /* how each is judged */
    enum larder_mode older_mode, newer_mode;
    bool existed, missed; /* the key had an item; the older one had looked for one before */
} meeting;

static const meeting *met;
static enum larder_result newer_result;

static enum larder_result store_by(larder_pool *pool, const char *text, enum larder_verb verb, enum larder_mode mode,
                                   uint64_t token)
{
    const larder_terms terms = {
        .verb = verb, .mode = mode, .token = token, .attachment = pool->attached.number, .expiry = LARDER_NO_EXPIRY};
    return put_under(pool, "k", text, &terms);
}

static void store_newer(void)
{
    newer_result = store_by(there, "newer", met->newer, met->newer_mode, token_now(there));
}

/* What one was told to be stored stays, or the other's does. */
static void meet_at(unsigned point, uint64_t skip)
{
    open_two(4 * MIB);
    if (met->existed) {
        put_text(there, "k", "old");
    }
    if (met->missed) {
        miss(here, "k");
    }
    uint64_t token = token_now(here);
    newer_result = LARDER_UNREACHED;
    fault_arm(point, skip, store_newer);
    enum larder_result result = store_by(here, "older", met->older, met->older_mode, token);
    fault_disarm();
    bool newer = holds_text(here, "k", "newer"), any = newer || holds_text(here, "k", "older");
    if (!CHECK(newer_result != LARDER_OK || (result == LARDER_OK ? any : newer))) {
        printf("    at fault point %u, skip %llu: verb %d, mode %d, result %d met verb %d, mode %d\n", point,
               (unsigned long long)skip, (int)met->older, (int)met->older_mode, (int)result, (int)met->newer,
               (int)met->newer_mode);
    }
    CHECK_POOL(here);
    close_two();
}

TEST(stores_meet, "of two stores of a key that meet at any moment, what one was told to be stored is there after both")
{
    static const enum larder_verb verbs[] = {LARDER_AS_MISSED, LARDER_WRITE, LARDER_JUDGED, LARDER_FILL};
    for (unsigned i = 0; i < 4 * 4 * 2 * 2 * 2 * 2; i++) {
        const meeting all = {.older = verbs[i % 4],
                             .newer = verbs[i / 4 % 4],
                             .older_mode = (i / 16 & 1) != 0 ? LARDER_ADD : LARDER_SET,
                             .newer_mode = (i / 16 & 2) != 0 ? LARDER_ADD : LARDER_SET,
                             .existed = (i / 16 & 4) != 0,
                             .missed = (i / 16 & 8) != 0};
        met = &all;
        for (unsigned point = LARDER_AT_TICK; point <= LARDER_AT_ACCOUNT; point++) {
            for (uint64_t skip = 0; skip < 2; skip++) {
                meet_at(point, skip);
            }
        }
    }
}
