#include "random.h"

/* splitmix64 */
uint64_t rng_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t rng_next(rng *r)
{
    r->state += UINT64_C(0x9e3779b97f4a7c15);
    return rng_mix(r->state);
}

uint64_t rng_below(rng *r, uint64_t limit)
{
    return rng_next(r) % limit;
}
