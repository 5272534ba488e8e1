/* Giving back the memory of a pool that was removed or saved, while processes may still have it mapped. */
#ifndef LARDER_ABANDON_H
#define LARDER_ABANDON_H

#include "pool.h"

/* The pool has lost its name for good: gives the memory of its segments back, but for those that somebody pins. */
void larder_pool_give_back(larder_pool *pool);

/* This process has just removed the pool: gives back what no process reads from any more, and unmaps it if this one
 * does not. The handle can be used as before: it finds or makes the next pool of its name. */
void larder_pool_abandon(larder_pool *pool);

#endif
