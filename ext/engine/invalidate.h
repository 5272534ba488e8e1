/* Invalidating tags; the rule is in tag.h. */
#ifndef LARDER_INVALIDATE_H
#define LARDER_INVALIDATE_H

#include "pool.h"

/* Kills all items that carry one of the tags and are older than this call; or sets pool->undone. */
void larder_invalidate(larder_pool *pool, const uint64_t *tags, size_t count);

#endif
