#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "crowd.h"

#include <signal.h>
#include <unistd.h>

crowd *all;
static crowd_work working;

void crowd_open(uint64_t size, bool evict)
{
    larder_pool_config config = pool_config("p", size);
    config.evict = evict;
    crowd_open_as(&config);
}

void crowd_open_as(const larder_pool_config *config)
{
    all = shared_memory(sizeof *all);
    all->seed = test_seed();
    all->pool = pool_open_as(config);
}

void crowd_close(void)
{
    larder_pool_close(all->pool);
}

static void begin_work(void *context)
{
    uint64_t number = (uint64_t)(uintptr_t)context;
    rng r = {all->seed + number * 1000003};
    atomic_fetch_add(&all->ready, 1);
    gate_wait(&all->go, 1);
    working(number, &r);
}

void crowd_start(pid_t *pids, crowd_work what)
{
    working = what;
    atomic_store(&all->ready, 0);
    atomic_store(&all->go.number, 0);
    for (uintptr_t i = 0; i < CROWD; i++) {
        pids[i] = child_start(begin_work, (void *)i);
    }
    while (atomic_load(&all->ready) < CROWD) {
        usleep(200);
    }
    gate_open(&all->go, 1);
}

void crowd_run(crowd_work what)
{
    pid_t pids[CROWD];
    crowd_start(pids, what);
    for (int i = 0; i < CROWD; i++) {
        EQUAL(child_wait(pids[i]), 0);
    }
}

void crowd_meets(enum fate fate, uint64_t rounds, crowd_work what, bool (*after)(uint64_t round))
{
    rng r = {all->seed};
    bool go_on = true;
    for (uint64_t round = 0; round < rounds && go_on; round++) {
        pid_t pids[CROWD];
        bool dead[CROWD] = {false};
        all->seed = rng_next(&r);
        atomic_store(&all->stop, false);
        crowd_start(pids, what);
        for (int i = 0; i < CROWD - 2; i++) {
            usleep((useconds_t)rng_below(&r, 6000));
            dead[i] = fate == KILLED || (fate == EITHER && i % 2 == 0);
            kill(pids[i], dead[i] ? SIGKILL : SIGSTOP);
        }
        usleep((useconds_t)rng_below(&r, 15000));
        for (int i = 0; i < CROWD - 2; i++) {
            kill(pids[i], SIGCONT);
        }
        atomic_store(&all->stop, true);
        for (int i = 0; i < CROWD; i++) {
            EQUAL(child_wait(pids[i]), dead[i] ? 256 + SIGKILL : 0);
        }
        go_on = after(round);
    }
}
