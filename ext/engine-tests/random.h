/* Random numbers that follow from a seed. */
#ifndef LARDER_RANDOM_H
#define LARDER_RANDOM_H

#include <stdint.h>

typedef struct rng {
    uint64_t state;
} rng;
uint64_t rng_next(rng *r);
uint64_t rng_below(rng *r, uint64_t limit);

/* A number that has nothing to do with its neighbours' any more. */
uint64_t rng_mix(uint64_t x);

#endif
