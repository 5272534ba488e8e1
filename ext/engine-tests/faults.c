#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "faults.h"
#include "random.h"

#include "engine/fault.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static struct {
    unsigned point;
    uint64_t skip;
    void (*act)(void);
} armed;
static uint64_t passed[LARDER_FAULT_POINTS];
static void (*meddler)(unsigned point);
static rng jitter; /* 0: none */

/* Where others could come in between: everywhere for a moment now and then, and for long at one point, another each
 * time. */
static void give_way(unsigned point)
{
    static unsigned favourite;
    if (jitter.state == 0) {
        return;
    }
    uint64_t dice = rng_below(&jitter, 4000);
    if (dice == 0) {
        favourite = (unsigned)rng_below(&jitter, LARDER_FAULT_POINTS);
    }
    if (dice < 2 || (point == favourite && dice < 400)) {
        usleep((useconds_t)rng_below(&jitter, rng_below(&jitter, 8) == 0 ? 5000 : 300));
    } else if (dice % 16 == 0) {
        sched_yield();
    }
}

static void let_meddle(unsigned point)
{
    void (*meddle)(unsigned point) = meddler;
    if (meddle != NULL) {
        meddler = NULL;
        meddle(point);
        meddler = meddle;
    }
}

void larder_fault(unsigned point);
void larder_fault(unsigned point)
{
    passed[point]++;
    give_way(point);
    let_meddle(point);
    if ((armed.point != point && armed.point != 0) || armed.act == NULL) {
        return;
    }
    if (armed.skip > 0) {
        armed.skip--;
        return;
    }
    void (*act)(void) = armed.act;
    armed.act = NULL;
    act();
}

void fault_arm(unsigned point, uint64_t skip, void (*act)(void))
{
    armed.point = point;
    armed.skip = skip;
    armed.act = act;
}

void fault_meddle(void (*meddle)(unsigned point))
{
    meddler = meddle;
}

void fault_jitter(uint64_t seed)
{
    jitter.state = seed | 1;
}

void fault_disarm(void)
{
    jitter.state = 0;
    armed.act = NULL;
}

void fault_die(void)
{
    raise(SIGKILL);
}

gate *fault_gate;

void fault_stay(void)
{
    gate_open(fault_gate, 1);
    gate_wait(fault_gate, 2);
}

uint64_t fault_count(unsigned point)
{
    return passed[point];
}
