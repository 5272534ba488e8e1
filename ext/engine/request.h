/* The end of a request, and what a pool that was replaced leaves in the handle until then: values of it that are still
 * used. */
#ifndef LARDER_REQUEST_H
#define LARDER_REQUEST_H

#include "pool.h"

/* Nobody in this process uses values of replaced pools any more: unmaps them. */
void larder_graves_bury(larder_pool *pool);

/* The end of a request: nobody in this process uses values any more. Drops the pins. */
void larder_pool_leave(larder_pool *pool);

/* A process that serves many requests begins another. What the last one missed and its leases end; the pins stay, as
 * nobody knows which values live on. */
void larder_pool_begin_another(larder_pool *pool);

/* Does this address lie where PHP sees the pool's values, those of a replaced one included? */
bool larder_pool_contains(const larder_pool *pool, const void *address);

#endif
