/* Eight processes that work with one pool, "p", at once. */
#ifndef LARDER_CROWD_H
#define LARDER_CROWD_H

#include "fixture.h"

enum { CROWD = 8 };

typedef struct crowd {
    gate go;
    _Atomic uint32_t ready;
    uint64_t seed, rounds;
    larder_pool *pool; /* each process's own after the fork */
} crowd;

extern crowd *all; /* in memory that they share */

/* What one of them does; each has a number and a seed of its own. */
typedef void (*crowd_work)(uint64_t number, rng *r);

void crowd_open(uint64_t size, bool evict);
void crowd_close(void);

/* All begin together. */
void crowd_start(pid_t *pids, crowd_work what);

/* ... and end well. */
void crowd_run(crowd_work what);

#endif
