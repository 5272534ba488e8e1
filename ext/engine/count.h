/* Counters: one word each, counted in place; frozen when they are moved, and written anew when they cannot be counted
 * where they are. An int beyond a counter's range is an ordinary item, and becomes a counter when it comes back.
 */
#ifndef LARDER_COUNT_H
#define LARDER_COUNT_H

#include "index.h"
#include "pool.h"

#define LARDER_COUNTER_MIN (-(INT64_C(1) << 62))
#define LARDER_COUNTER_MAX ((INT64_C(1) << 62) - 1)

enum larder_counted {
    LARDER_COUNTED,
    LARDER_NOT_A_COUNTER, /* what is there is something else */
    LARDER_OUT_OF_RANGE,
    LARDER_NOT_COUNTED, /* a new counter was refused: the pool is full */
    LARDER_COUNT_BUSY,  /* ... or others held its lock, or changed the counter, for too long */
    LARDER_NO_COUNTER,  /* there is none, and none was to be made */
};

/* How something is counted. */
typedef struct larder_counting {
    int64_t by, initial;
    int64_t least; /* a sum below it is it; INT64_MIN: no sum is */
    bool creates;  /* an absent counter is stored as initial + by */
    uint64_t expiry;
    uint32_t tags_count; /* of a counter that is made */
    const uint64_t *tags;
} larder_counting;

/* Counts the key's counter, which keeps its expiry. Sets pool->undone if that cannot be done, or perhaps was not. */
enum larder_counted larder_count_up(larder_pool *pool, const larder_key *key, const larder_counting *how,
                                    int64_t *result);

/* The same without a least sum; an absent counter is made. */
enum larder_counted larder_increment(larder_pool *pool, const larder_key *key, int64_t by, int64_t initial,
                                     uint64_t expiry, int64_t *result);

#endif
