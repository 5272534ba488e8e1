/* What is done to items, besides reading (get.h), counting (count.h) and taking (take.h): store, delete, touch,
 * invalidate, clear, list.
 */
#ifndef LARDER_CHANGE_H
#define LARDER_CHANGE_H

#include "index.h"
#include "pool.h"
#include "store.h"

/* Stores a value. Refused ones are counted by cause, and the key's old value is gone, for it is not true any more; but
 * a refused FILL or add leaves it, having claimed nothing about it. */
enum larder_result larder_store(larder_pool *pool, const larder_key *key, const larder_value *value,
                                const larder_terms *terms);

/* All but that and the last set pool->undone if they cannot be done, or perhaps were not: then nothing may rely on
 * them. */

/* Was there a living item? It is gone in any case, for good. */
bool larder_delete(larder_pool *pool, const larder_key *key);

/* Changes the expiry. Was there a living item? */
bool larder_touch(larder_pool *pool, const larder_key *key, uint64_t expiry);

/* Kills all items, at once, in constant time. */
void larder_clear(larder_pool *pool);

/* Kills all items that carry one of the tags and are older than this call. */
void larder_invalidate(larder_pool *pool, const uint64_t *tags, size_t count);

/* Calls `visit` for each living key that begins with `prefix`, until it returns false. */
void larder_each_key(larder_pool *pool, const char *prefix, size_t length,
                     bool (*visit)(void *context, const char *key, size_t key_length), void *context);

#endif
