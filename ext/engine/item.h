/* What is done to items that are there, besides reading (get.h) and counting (count.h): delete, touch, clear, list.
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H

#include "index.h"
#include "pool.h"

/* All but the last set pool->undone if they cannot be done, or perhaps were not: then nothing may rely on them. */

/* Was there a living item? It is gone in any case, for good. */
bool larder_delete(larder_pool *pool, const larder_key *key);

/* Changes the expiry. Was there a living item? */
bool larder_touch(larder_pool *pool, const larder_key *key, uint64_t expiry);

/* Kills all items, at once, in constant time. */
void larder_clear(larder_pool *pool);

/* Calls `visit` for each living key that begins with `prefix`, until it returns false. */
void larder_each_key(larder_pool *pool, const char *prefix, size_t length,
                     bool (*visit)(void *context, const char *key, size_t key_length), void *context);

#endif
