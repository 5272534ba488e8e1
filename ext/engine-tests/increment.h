/* Counting as most tests do: without a least sum, and an absent counter is made. */
#ifndef LARDER_INCREMENT_H
#define LARDER_INCREMENT_H

#include "engine/larder.h"

static inline enum larder_counted larder_increment(larder_pool *pool, const larder_key *key, int64_t by,
                                                   int64_t initial, uint64_t expiry, int64_t *result)
{
    const larder_counting how = {.by = by, .initial = initial, .least = INT64_MIN, .creates = true, .expiry = expiry};
    return larder_count_up(pool, key, &how, result);
}

#endif
