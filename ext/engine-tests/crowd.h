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
    _Atomic bool stop; /* a worker that ends when it is told to */
} crowd;

extern crowd *all; /* in memory that they share */

/* What one of them does; each has a number and a seed of its own. */
typedef void (*crowd_work)(uint64_t number, rng *r);

void crowd_open(uint64_t size, bool evict);
void crowd_open_as(const larder_pool_config *config);
void crowd_close(void);

/* All begin together. */
void crowd_start(pid_t *pids, crowd_work what);

/* ... and end well. */
void crowd_run(crowd_work what);

enum fate { KILLED = 1, STOPPED = 2, EITHER = KILLED | STOPPED };

/* They work until all->stop, again and again, and each time six of the eight meet it, whatever they are doing. Then
 * `after` looks at what they left; false: that is enough. */
void crowd_meets(enum fate fate, uint64_t rounds, crowd_work what, bool (*after)(uint64_t round));

#endif
