/* Deaths and stops at every numbered shared store of the operations, while another process works on. Those in the life
 * of a pool's file are in life_test.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"
#include "waiting.h"

#include "engine/evict.h"
#include "engine/lease.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KEYS = 300,
    LONG_RUN = 700000 /* bytes: of so many segments that their words are made void at once */,
    LONGEST_WAIT_NS = 100000000 /* of one turn: 10 ms for each owner of the segment lock, then 1 ms at a time */
};

typedef struct victim {
    unsigned point;
    uint64_t skip, seed;
    gate stopped;
    _Atomic uint32_t reached;
    bool stops;
} victim;

static victim *plan;
static pid_t victims_id; /* in the victim, and in what it forks, which is none */

static void die_here(void)
{
    if (getpid() == victims_id) {
        atomic_store(&plan->reached, 1);
        raise(SIGKILL);
    }
}

static void stop_here(void)
{
    if (getpid() == victims_id) {
        atomic_store(&plan->reached, 1);
        gate_open(&plan->stopped, 1);
        raise(SIGSTOP);
    }
}

/* ---- what there is to be done ------------------------------------------------------------------------------ */

/* One operation. */
typedef struct turn {
    larder_pool *pool;
    rng *r;
    uint64_t number, version; /* of the key, and of what is stored */
    larder_key key;
} turn;

static void store_as(const turn *t, size_t size, const larder_terms *terms)
{
    described what = {.key = t->number, .version = t->version, .block = rng_below(t->r, 2) == 0};
    put_described_under(t->pool, t->key, &what, size, terms);
}

static void store(const turn *t)
{
    static const enum larder_mode modes[] = {LARDER_SET, LARDER_SET, LARDER_ADD, LARDER_REPLACE};
    const larder_terms terms = {.mode = modes[rng_below(t->r, 4)],
                                .verb = rng_below(t->r, 2) == 0 ? LARDER_AS_MISSED : LARDER_WRITE,
                                .expiry = LARDER_NO_EXPIRY};
    store_as(t, DESCRIBED_LEAST + rng_below(t->r, 12000), &terms);
}

static void store_large(const turn *t)
{
    uint64_t dice = rng_below(t->r, 16);
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
    store_as(t, dice == 0 ? LONG_RUN : dice == 1 ? 300000 : 30000, &terms);
}

/* What was computed since a token, for others to read who look at its tag. */
static void store_with_token(const turn *t)
{
    const uint64_t tag = larder_tag_of("kept", 4);
    larder_hit hit;
    described what;
    if (!larder_pool_enter(t->pool)) {
        return;
    }
    const larder_terms terms = {.verb = rng_below(t->r, 2) == 0 ? LARDER_FILL : LARDER_JUDGED,
                                .token = larder_now_logical(t->pool->header),
                                .life = t->pool->life,
                                .expiry = larder_wall_ms() / 1000 * 1000 + 1000000,
                                .grace_ms = 5000,
                                .tags = &tag,
                                .tags_count = 1};
    store_as(t, DESCRIBED_LEAST + rng_below(t->r, 3000), &terms);
    read_described(t->pool, t->key, t->number, &what, &hit);
    if (rng_below(t->r, 20) == 0) {
        larder_invalidate(t->pool, &tag, 1);
    }
}

static void delete_one(const turn *t)
{
    larder_delete(t->pool, &t->key);
}

static void touch(const turn *t)
{
    larder_touch(t->pool, &t->key, LARDER_NO_EXPIRY);
}

/* Also to where a counter becomes a plain int, and back. */
static void count(const turn *t)
{
    static const int64_t steps[] = {1, 1, 1, LARDER_COUNTER_MAX, -LARDER_COUNTER_MAX};
    const larder_key counter = key_number(KEYS + rng_below(t->r, 10));
    int64_t now;
    larder_increment(t->pool, &counter, steps[rng_below(t->r, 5)], 0, LARDER_NO_EXPIRY, &now);
}

static void read_one(const turn *t)
{
    larder_hit hit;
    described what;
    if (read_described(t->pool, t->key, t->number, &what, &hit) == READ_TORN) {
        test_failed(__FILE__, __LINE__, "key %llu is torn", (unsigned long long)t->number);
    }
    if (rng_below(t->r, 8) == 0) {
        larder_exists(t->pool, &t->key);
    }
    if (rng_below(t->r, 8) == 0 && larder_get_stale(t->pool, &t->key, 1000, &hit)) {
        larder_hit_drop(t->pool, &hit);
    }
}

static bool see_key(void *context, const char *key, size_t length)
{
    if (length < 4 || memcmp(key, "key-", 4) != 0) {
        test_failed(__FILE__, __LINE__, "%.*s is listed among those that begin with key-", (int)length, key);
    }
    return --*(unsigned *)context > 0;
}

static void look_around(const turn *t)
{
    unsigned most = 50;
    larder_stats stats;
    larder_each_key(t->pool, "key-", 4, see_key, &most);
    larder_stats_read(t->pool, &stats);
    larder_keep_house(t->pool, 100);
}

/* What was stored under a tag before it was invalidated here is gone afterwards, whoever died or stopped in between. */
static void use_tags(const turn *t)
{
    const uint64_t tag = larder_tag_of("tag", 3);
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    char key[32], text[32];
    size_t size = 0;
    snprintf(key, sizeof key, "tagged-%llu-%d", (unsigned long long)t->number, (int)getpid());
    put_under(t->pool, key, "before", &terms);
    larder_invalidate(t->pool, &tag, 1);
    if (take(t->pool, key_of(key), text, sizeof text, &size)) {
        test_failed(__FILE__, __LINE__, "%s outlived its tag", key);
    }
}

static void use_a_lease(const turn *t)
{
    switch (larder_lease_take(t->pool, &t->key, 1000)) {
    case LARDER_LEASE_TAKEN:
        larder_lease_give_back(t->pool, &t->key);
        break;
    case LARDER_LEASE_HELD:
        larder_lease_wait(t->pool, &t->key, 1);
        break;
    case LARDER_LEASE_OURS:
    case LARDER_LEASE_NOWHERE:
        break;
    }
}

static void clear_or_leave(const turn *t)
{
    uint64_t dice = rng_below(t->r, 120);
    if (dice == 0) {
        larder_clear(t->pool);
    } else if (dice < 40) {
        larder_pool_leave(t->pool);
    } else if (dice < 60) {
        larder_pool_begin_another(t->pool);
    }
}

/* Comes by every point: stores, replaces, deletes, counts, touches, moves, evicts, makes runs, clears, opens,
 * invalidates, takes leases. Nobody waits for who is stopped, or dead: not for the seconds for which one waits for a
 * pool that is being made. */
static void do_everything(larder_pool *pool, rng *r, uint64_t operations, uint64_t *current)
{
    static void (*const turns[])(const turn *) = {
        delete_one, touch,       count,          store_large, store_with_token,
        use_tags,   use_a_lease, clear_or_leave, read_one,    read_one,
        read_one,   store,       store,          store,       store};
    enum { TURNS = sizeof turns / sizeof turns[0] };
    for (uint64_t i = 0; i < operations; i++) {
        char name[32]; /* its own: who meddles makes others */
        uint64_t which = rng_below(r, TURNS), waited = waited_ns();
        turn t = {.pool = pool, .r = r, .number = rng_below(r, KEYS), .version = i};
        snprintf(name, sizeof name, "key-%llu", (unsigned long long)t.number);
        t.key = key_of(name);
        if (current != NULL) {
            *current = t.number;
        }
        (i % 64 == 63 ? look_around : turns[which])(&t);
        waited = waited_ns() - waited;
        if (waited > LONGEST_WAIT_NS) {
            test_failed(__FILE__, __LINE__, "an operation of turn %llu waited for %llu us", (unsigned long long)which,
                        (unsigned long long)waited / 1000);
        }
    }
}

/* ---- who meets it ------------------------------------------------------------------------------------------ */

/* Another handle of the victim's, which does something to the very key that is being stored. */
static struct {
    larder_pool *pool;
    rng r;
    uint64_t number;
} beside;

static void meddle(unsigned point)
{
    if ((point != LARDER_AT_PENDING && point != LARDER_AT_PUBLISH) || rng_below(&beside.r, 8) != 0) {
        return;
    }
    const larder_key key = key_number(beside.number);
    if (rng_below(&beside.r, 2) == 0) {
        larder_delete(beside.pool, &key);
    } else {
        put_described(beside.pool, key, &(described){.key = beside.number}, 500, LARDER_SET, LARDER_NO_EXPIRY);
    }
}

static void do_nothing(void *context)
{
    (void)context;
}

static void meet_the_fault(void *context)
{
    (void)context;
    rng r = {plan->seed};
    victims_id = getpid();
    beside.r.state = plan->seed + 1;
    beside.pool = pool_open("p", 4 * MIB);
    fault_arm(plan->point, plan->skip, plan->stops ? stop_here : die_here);
    larder_pool *pool = pool_open("p", 4 * MIB); /* a slot of its own is taken under the fault, too */
    fault_meddle(meddle);
    for (int i = 0; i < 10 && atomic_load(&plan->reached) == 0; i++) {
        do_everything(pool, &r, 250, &beside.number);
    }
    fault_meddle(NULL);
    larder_clear(pool);
    child_run(do_nothing, NULL);
    do_everything(pool, &r, 300, NULL);
    fault_disarm();
    gate_open(&plan->stopped, 2); /* never reached it */
    larder_pool_close(pool);
    larder_pool_close(beside.pool);
}

/* Waits for the end of a child, and works meanwhile. */
static int work_until_it_ends(larder_pool *pool, rng *r, pid_t pid)
{
    siginfo_t info;
    do {
        do_everything(pool, r, 20, NULL);
        info.si_pid = 0;
        REQUIRE(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    } while (info.si_pid == 0);
    return child_wait(pid);
}

/* After it: every living thing whole, the pool sound, everything possible. */
static void expect_health(larder_pool *pool, rng *r, bool after_deaths)
{
    larder_stats stats;
    const larder_key key = key_of("afterwards");
    do_everything(pool, r, 1000, NULL);
    EQUAL(put_text(pool, "afterwards", "v"), LARDER_OK);
    CHECK(holds_text(pool, "afterwards", "v"));
    CHECK(larder_delete(pool, &key));
    larder_pool_leave(pool);
    if (after_deaths) {
        CHECK_POOL_AFTER_DEATHS(pool);
    } else {
        CHECK_POOL(pool);
    }
    larder_stats_read(pool, &stats);
    EQUAL(stats.processes, 1);
}

/* Did it reach the point? */
static bool meet(larder_pool *pool, rng *r, unsigned point, uint64_t skip, bool stops)
{
    plan->point = point;
    plan->skip = skip;
    plan->stops = stops;
    plan->seed = rng_next(r);
    atomic_store(&plan->reached, 0);
    atomic_store(&plan->stopped.number, 0);
    pid_t pid = child_start(meet_the_fault, NULL);
    if (stops) {
        siginfo_t info;
        gate_wait(&plan->stopped, 1);
        EQUAL(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
        do_everything(pool, r, 500, NULL); /* past the stopped one */
        kill(pid, SIGCONT);
    }
    int status = work_until_it_ends(pool, r, pid);
    bool reached = atomic_load(&plan->reached) != 0;
    EQUAL(status, reached && !stops ? 256 + SIGKILL : 0);
    return reached;
}

/* In some rounds of deaths another process dies anywhere in what the first has left. */
static unsigned meet_all(bool stops, uint64_t rounds)
{
    unsigned reached = 0;
    rng r = {test_seed()};
    for (unsigned point = 1; point < LARDER_WORKING_POINTS; point++) {
        uint64_t before = reached;
        for (uint64_t round = 0; round < rounds; round++) {
            larder_pool *pool = pool_open("p", 4 * MIB);
            do_everything(pool, &r, 1000, NULL);
            larder_pool_leave(pool);
            uint64_t skip = rng_below(&r, round % 3 == 0 ? 1 : round % 3 == 1 ? 10 : 300);
            reached += meet(pool, &r, point, skip, stops);
            if (!stops && round % 2 == 1) {
                meet(pool, &r, (unsigned)(1 + rng_below(&r, LARDER_WORKING_POINTS - 1)), rng_below(&r, 10), false);
            }
            expect_health(pool, &r, !stops);
            if (!EQUAL(test_failures(), 0)) {
                printf("    at fault point %u, skip %llu\n", point, (unsigned long long)skip);
                test_give_up();
            }
            larder_pool_close(pool);
            pool_remove("p", &(larder_error){.message = ""});
        }
        if (reached == before) {
            test_failed(__FILE__, __LINE__, "fault point %u is never reached", point);
        }
    }
    return reached;
}

TEST(killed_everywhere, "a process killed at any numbered shared store leaves a sound pool, in which others go on")
{
    plan = shared_memory(sizeof *plan);
    uint64_t rounds = 3 + 1 * test_scale();
    COMPARE(meet_all(false, rounds), >, (LARDER_WORKING_POINTS - 1) * rounds / 2);
}

TEST(stopped_everywhere, "a process stopped at any numbered shared store hinders nobody, and woken later does no harm")
{
    plan = shared_memory(sizeof *plan);
    uint64_t rounds = 2 + 1 * test_scale();
    COMPARE(meet_all(true, rounds), >, (LARDER_WORKING_POINTS - 1) * rounds / 2);
}
