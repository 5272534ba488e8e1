#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "relay.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct runners {
    relay *all;
    uint64_t place, begun; /* of the process that is about to begin; so many before it */
    pid_t pids[RELAY_PLACES];
} runners;

static void begin(void *context)
{
    const runners *r = context;
    r->all->live(r->place, r->begun);
}

static void start(runners *r, uint64_t place)
{
    r->place = place;
    r->pids[place] = child_start(begin, r);
    r->begun++;
}

/* Another takes the place of the killed process. How many have ended? */
static unsigned look_after(runners *r)
{
    unsigned ended = 0;
    for (uint64_t place = 0; place < RELAY_PLACES; place++) {
        siginfo_t info = {.si_pid = 0};
        if (r->pids[place] != 0) {
            REQUIRE(waitid(P_PID, (id_t)r->pids[place], &info, WEXITED | WNOHANG | WNOWAIT) == 0);
        }
        if (info.si_pid != 0) {
            int status = child_wait(r->pids[place]);
            r->pids[place] = 0;
            if (r->all->deaths && status == 256 + SIGKILL) {
                r->all->has_died(place);
                start(r, place);
            } else {
                EQUAL(status, 0);
            }
        }
        ended += r->pids[place] == 0;
    }
    return ended;
}

/* Stops it wherever it is, and wakes it after a while in which the others mostly do something, at times more than the
 * 10 ms for which they wait for the segment lock; or kills it. */
static void disturb(relay *all, pid_t pid)
{
    REQUIRE(kill(pid, SIGSTOP) == 0);
    usleep((useconds_t)rng_below(&all->r, rng_below(&all->r, 20) == 0 ? 20000 : 2000));
    REQUIRE(kill(pid, all->deaths && rng_below(&all->r, 8) == 0 ? SIGKILL : SIGCONT) == 0);
    usleep((useconds_t)rng_below(&all->r, 3000));
}

uint64_t relay_run(relay *all)
{
    runners r = {.all = all};
    for (uint64_t place = 0; place < RELAY_PLACES; place++) {
        start(&r, place);
    }
    for (unsigned ended = 0; ended < RELAY_PLACES; ended = look_after(&r)) {
        if (ended == 0) {
            disturb(all, r.pids[rng_below(&all->r, RELAY_PLACES)]);
        } else {
            usleep(1000);
        }
    }
    return r.begun;
}
