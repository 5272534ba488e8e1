/* Deaths and stops at every numbered shared store of the operations, while another process works on. Those in the lifecycle
 * of a pool's file are in lifecycle_test.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "everything.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct victim {
    unsigned point;
    uint64_t skip, seed;
    gate stopped;
    _Atomic uint32_t reached;
    _Atomic uint64_t current; /* the key that it works with */
    bool stops, evicts;
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

/* ---- a meeting with it --------------------------------------------------------------------------------------- */

/* Another handle of the victim's, which does something to the very key that is being stored. */
static struct {
    larder_pool *pool;
    rng r;
} beside;

static void meddle(unsigned point)
{
    if ((point != LARDER_AT_PENDING && point != LARDER_AT_PUBLISH) || rng_below(&beside.r, 8) != 0) {
        return;
    }
    everything_overtake(beside.pool, &beside.r, atomic_load(&plan->current));
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
    beside.pool = pool_that(plan->evicts);
    fault_arm(plan->point, plan->skip, plan->stops ? stop_here : die_here);
    larder_pool *pool = pool_that(plan->evicts); /* a slot of its own is taken under the fault, too */
    fault_meddle(meddle);
    for (int i = 0; i < 10 && atomic_load(&plan->reached) == 0; i++) {
        everything_do(pool, &r, 250, &plan->current);
    }
    fault_meddle(NULL);
    everything_clear(pool);
    child_run(do_nothing, NULL);
    everything_do(pool, &r, 300, NULL);
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
        everything_do(pool, r, 20, NULL);
        info.si_pid = 0;
        REQUIRE(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    } while (info.si_pid == 0);
    return child_wait(pid);
}

/* After it: every living thing whole and true, the pool sound, everything possible. */
static void expect_health(larder_pool *pool, rng *r)
{
    larder_stats stats;
    const larder_key key = key_of("afterwards");
    everything_do(pool, r, 400, NULL);
    larder_pool_leave(pool);
    if (plan->stops) {
        CHECK_POOL(pool);
    } else {
        CHECK_POOL_AFTER_DEATHS(pool);
    }
    if (!plan->evicts) {
        everything_clear(pool); /* it may be full */
    }
    EQUAL(put_text(pool, "afterwards", "v"), LARDER_OK);
    CHECK(holds_text(pool, "afterwards", "v"));
    CHECK(larder_delete(pool, &key));
    larder_pool_leave(pool);
    larder_stats_read(pool, &stats);
    EQUAL(stats.processes, 1);
}

/* Did it reach the point? */
static bool meet(larder_pool *pool, rng *r, unsigned point, uint64_t skip)
{
    plan->point = point;
    plan->skip = skip;
    plan->seed = rng_next(r);
    atomic_store(&plan->reached, 0);
    atomic_store(&plan->stopped.number, 0);
    pid_t pid = child_start(meet_the_fault, NULL);
    if (plan->stops) {
        siginfo_t info;
        gate_wait(&plan->stopped, 1);
        EQUAL(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
        everything_do(pool, r, 300, NULL); /* past the stopped one */
        everything_overtake(pool, r, atomic_load(&plan->current));
        kill(pid, SIGCONT);
    }
    int status = work_until_it_ends(pool, r, pid);
    bool reached = atomic_load(&plan->reached) != 0;
    EQUAL(status, reached && !plan->stops ? 256 + SIGKILL : 0);
    return reached;
}

/* In some rounds of deaths another process dies anywhere in what the first has left. */
static bool play(rng *r, unsigned point, uint64_t round)
{
    larder_pool *pool = pool_that(plan->evicts);
    everything_do(pool, r, 600, NULL);
    larder_pool_leave(pool);
    uint64_t skip = rng_below(r, round % 3 == 0 ? 1 : round % 3 == 1 ? 10 : 300);
    bool reached = meet(pool, r, point, skip);
    if (!plan->stops && round % 2 == 1) {
        meet(pool, r, (unsigned)(1 + rng_below(r, LARDER_WORKING_POINTS - 1)), rng_below(r, 10));
    }
    expect_health(pool, r);
    if (!EQUAL(test_failures(), 0)) {
        printf("    at fault point %u, skip %llu, in a pool that %s\n", point, (unsigned long long)skip,
               plan->evicts ? "evicts" : "does not evict");
        test_give_up();
    }
    larder_pool_close(pool);
    pool_remove("p", &(larder_error){.message = ""});
    return reached;
}

/* So many rounds in a pool that evicts, and a third as many in one that does not. */
static void play_all(bool stops, uint64_t rounds)
{
    rng r = {test_seed()};
    uint64_t all = 0;
    everything_begin();
    plan = shared_memory(sizeof *plan);
    plan->stops = stops;
    for (unsigned point = 1; point < LARDER_WORKING_POINTS; point++) {
        uint64_t reached = 0;
        for (uint64_t round = 0; round < rounds + rounds / 3; round++) {
            plan->evicts = round < rounds;
            reached += play(&r, point, round);
        }
        if (reached == 0) {
            test_failed(__FILE__, __LINE__, "fault point %u is never reached", point);
        }
        all += reached;
    }
    COMPARE(all, >, (LARDER_WORKING_POINTS - 1) * (rounds + rounds / 3) / 2);
}

TEST(killed_everywhere, "a process killed at any numbered shared store leaves a sound pool, in which others go on")
{
    play_all(false, 3 + 1 * test_scale());
}

TEST(stopped_everywhere,
     "a process stopped at any numbered shared store hinders no other, and woken later does no harm")
{
    play_all(true, 2 + 1 * test_scale());
}
