/* Entering a pool: what every operation begins with, and the only place where a handle finds out that the pool is not
 * the one of its name any more. Nothing that works inside an operation does so again: the pool could be replaced under
 * its pins.
 */
#ifndef LARDER_ENTER_H
#define LARDER_ENTER_H

#include "pool.h"

/* What every operation begins with: the start of a request, after a fork, and now and then in between, a look
 * at whether this is still the pool of that name and undamaged; if not, it is opened (made) anew in place.
 * False: the pool cannot be used now (the cache behaves as empty). */
bool larder_pool_enter_slowly(larder_pool *pool);

static inline bool larder_pool_enter(larder_pool *pool)
{
    /* relaxed: the mark only says to look; its announcement is read then. */
    return (--pool->entered->countdown > 0 && atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == 0) ||
           larder_pool_enter_slowly(pool);
}

/* Does this process know for sure that the pool still has its name? Called before operations that would otherwise be
 * lost with a pool that no other process uses any more: unlike reads, writes look at the clock each time. */
bool larder_pool_is_due(const larder_pool *pool);

static inline bool larder_pool_enter_to_write(larder_pool *pool)
{
    if (larder_pool_is_due(pool)) {
        return larder_pool_enter_slowly(pool);
    }
    return larder_pool_enter(pool);
}

/* The same for an operation that must not be lost silently, each time that it begins: the request's `undone` says that
 * it was. */
static inline bool larder_pool_enter_surely(larder_pool *pool)
{
    pool->request.undone = !larder_pool_enter_to_write(pool);
    return !pool->request.undone;
}

#endif
