/* Deaths and stops at every numbered shared store of every protocol, while another process works on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"
#include "waiting.h"

#include "engine/lease.h"
#include "engine/tag.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KEYS = 300,
    LONGEST_WAIT_NS = 100000000 /* of one turn: 10 ms for each owner of the segment lock, then 1 ms at a time */
};

typedef struct victim {
    larder_pool *pool;
    unsigned point;
    uint64_t skip, seed;
    gate stopped;
    _Atomic uint32_t reached;
    bool stops;
} victim;

static victim *plan;

static void die_here(void)
{
    atomic_store(&plan->reached, 1);
    raise(SIGKILL);
}

static void stop_here(void)
{
    atomic_store(&plan->reached, 1);
    gate_open(&plan->stopped, 1);
    raise(SIGSTOP);
}

/* What was stored under a tag before it was invalidated here is gone afterwards, whoever died or stopped in between. */
static void use_tags(larder_pool *pool, uint64_t number)
{
    const uint64_t tag = larder_tag_of("tag", 3);
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    char key[32], text[32];
    size_t size = 0;
    snprintf(key, sizeof key, "tagged-%llu-%d", (unsigned long long)number, (int)getpid());
    put_under(pool, key, "before", &terms);
    larder_invalidate(pool, &tag, 1);
    if (take(pool, key_of(key), text, sizeof text, &size)) {
        test_failed(__FILE__, __LINE__, "%s outlived its tag", key);
    }
    const larder_key leased = key_of(key);
    if (larder_lease_take(pool, &leased, 1000) == LARDER_LEASE_TAKEN) {
        larder_lease_give_back(pool, &leased);
    }
}

/* Nobody waits for who is stopped, or dead: not for the seconds for which one waits for a pool that is being made. */
static void expect_no_long_wait(uint64_t turn, uint64_t waited)
{
    if (waited > LONGEST_WAIT_NS) {
        test_failed(__FILE__, __LINE__, "an operation of turn %llu waited for %llu us", (unsigned long long)turn,
                    (unsigned long long)waited / 1000);
    }
}

/* Comes by every point: stores, replaces, deletes, counts, touches, moves, evicts, makes runs, clears, opens,
 * invalidates, takes leases. */
static void do_everything(larder_pool *pool, rng *r, uint64_t operations)
{
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t number = rng_below(r, KEYS);
        const larder_key key = key_number(number), counter = key_number(KEYS + rng_below(r, 10));
        described what = {.key = number, .version = i, .block = rng_below(r, 2) == 0};
        larder_hit hit;
        int64_t now;
        uint64_t turn = rng_below(r, 13), waited = waited_ns();
        switch (turn) {
        case 0:
            larder_delete(pool, &key);
            break;
        case 1:
            larder_touch(pool, &key, LARDER_NO_EXPIRY);
            break;
        case 2:
            larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &now);
            break;
        case 3:
            put_described(pool, key, &what, rng_below(r, 8) == 0 ? 300000 : 30000, LARDER_SET, LARDER_NO_EXPIRY);
            break;
        case 4:
            if (rng_below(r, 40) == 0) {
                larder_clear(pool);
            }
            if (rng_below(r, 3) == 0) {
                larder_pool_leave(pool);
            }
            break;
        case 5:
            use_tags(pool, number);
            break;
        case 6:
        case 7:
        case 8:
            if (read_described(pool, key, number, &what, &hit) == READ_TORN) {
                test_failed(__FILE__, __LINE__, "key %llu is torn", (unsigned long long)number);
            }
            break;
        default:
            put_described(pool, key, &what, DESCRIBED_LEAST + rng_below(r, 12000), LARDER_SET, LARDER_NO_EXPIRY);
        }
        expect_no_long_wait(turn, waited_ns() - waited);
    }
}

static void meet_the_fault(void *context)
{
    (void)context;
    rng r = {plan->seed};
    fault_arm(plan->point, plan->skip, plan->stops ? stop_here : die_here);
    larder_pool *pool = pool_open("p", 4 * MIB); /* a slot of its own is taken under the fault, too */
    do_everything(pool, &r, 4000);
    fault_disarm();
    gate_open(&plan->stopped, 2); /* never reached it */
    larder_pool_close(pool);
}

static void fill_sample(larder_pool *pool, rng *r)
{
    do_everything(pool, r, 1500);
    larder_pool_leave(pool);
}

/* After it: every living thing whole, the pool sound, everything possible. */
static void expect_health(larder_pool *pool, rng *r, bool after_deaths)
{
    larder_stats stats;
    const larder_key key = key_of("afterwards");
    do_everything(pool, r, 1500);
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

static unsigned meet_all(bool stops, uint64_t rounds)
{
    unsigned reached = 0;
    rng r = {test_seed()};
    for (unsigned point = 1; point < LARDER_WORKING_POINTS; point++) {
        uint64_t before = reached;
        for (uint64_t round = 0; round < rounds; round++) {
            larder_pool *pool = pool_open("p", 4 * MIB);
            fill_sample(pool, &r);
            plan->point = point;
            plan->stops = stops;
            plan->seed = rng_next(&r);
            plan->skip = rng_below(&r, round % 3 == 0 ? 1 : round % 3 == 1 ? 10 : 300);
            atomic_store(&plan->reached, 0);
            atomic_store(&plan->stopped.number, 0);
            pid_t pid = child_start(meet_the_fault, NULL);
            if (stops) {
                siginfo_t info;
                gate_wait(&plan->stopped, 1);
                EQUAL(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
                do_everything(pool, &r, 800); /* past the stopped one */
                kill(pid, SIGCONT);
            }
            int status = child_wait(pid);
            EQUAL(status, atomic_load(&plan->reached) != 0 && !stops ? 256 + SIGKILL : 0);
            reached += atomic_load(&plan->reached);
            expect_health(pool, &r, !stops);
            if (!EQUAL(test_failures(), 0)) {
                printf("    at fault point %u, skip %llu\n", point, (unsigned long long)plan->skip);
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
    uint64_t rounds = 3 + 3 * test_scale();
    COMPARE(meet_all(false, rounds), >, (LARDER_WORKING_POINTS - 1) * rounds / 2);
}

TEST(stopped_everywhere, "a process stopped at any numbered shared store hinders nobody, and woken later does no harm")
{
    plan = shared_memory(sizeof *plan);
    uint64_t rounds = 2 + 1 * test_scale();
    COMPARE(meet_all(true, rounds), >, (LARDER_WORKING_POINTS - 1) * rounds / 2);
}
