/* What a pool can do for its users: read, store, delete, count, touch, clear, list. Every function begins by entering
 * the pool (pool.h); one that returns with a segment pinned briefly says so.
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H

#include "index.h"
#include "pool.h"

/* A living item, as a reader gets it. */
typedef struct larder_hit {
    const void *value;     /* held: where PHP sees it, to be used in place until the request ends. Otherwise to be
                            * copied, and then dropped (pinned briefly) or confirmed (unpinned). */
    size_t size;
    uint64_t expiry;       /* ms since 1970; LARDER_NO_EXPIRY */
    uint64_t stamp;
    uint64_t word;
    uint32_t segment;
    enum larder_hold hold;
    uint8_t kind;
} larder_hit;

/* Reads a key. Counts a hit or a miss, and marks the item as used. Small values come unpinned. */
bool larder_get(larder_pool *pool, const larder_key *key, larder_hit *hit);

/* The same, never unpinned, uncounted and unmarked: for one that could not be confirmed. */
bool larder_get_pinned(larder_pool *pool, const larder_key *key, larder_hit *hit);

/* After copying an unpinned value: was it whole? */
static inline bool larder_hit_confirm(const larder_pool *pool, const larder_hit *hit)
{
    return larder_confirm(pool, hit->segment, hit->word);
}

void larder_hit_drop(larder_pool *pool, const larder_hit *hit);

bool larder_exists(larder_pool *pool, const larder_key *key);

static inline int64_t larder_hit_counter(const larder_hit *hit)
{
    /* acquire: what was done before it was counted up to here. The lowest bit says that it is being moved. */
    return (int64_t)atomic_load_explicit((const _Atomic uint64_t *)hit->value, memory_order_acquire) >> 1;
}

/* A value on its way in. */
typedef struct larder_value {
    uint8_t kind;
    bool has_layout;
    size_t size;
    int64_t counter;      /* for LARDER_COUNTER_KIND */
    /* Writes `size` bytes at `to`, as readers will see them at `address`. May be called twice. */
    void (*write)(const void *context, void *to, uintptr_t address);
    const void *context;
} larder_value;

#define LARDER_COUNTER_MIN (-(INT64_C(1) << 62))
#define LARDER_COUNTER_MAX ((INT64_C(1) << 62) - 1)

typedef struct larder_terms {
    enum larder_mode mode;
    uint64_t expiry;      /* ms since 1970; LARDER_NO_EXPIRY */
    uint32_t cost;        /* microseconds */
    uint64_t expected;    /* store only in place of this word; 0: of whatever is there */
} larder_terms;

/* Stores a value. Refused ones are counted by cause, and the key's old value is deleted. */
enum larder_result larder_store(larder_pool *pool, const larder_key *key, const larder_value *value,
                                const larder_terms *terms);

/* Was there a living item? It is gone in any case, for good. */
bool larder_delete(larder_pool *pool, const larder_key *key);

enum larder_counted {
    LARDER_COUNTED,
    LARDER_NOT_A_COUNTER, /* what is there is something else */
    LARDER_OUT_OF_RANGE,
    LARDER_NOT_COUNTED,   /* a new counter was refused */
};

/* Adds `by` to the key's counter and keeps its expiry; an absent one is stored as initial + by. */
enum larder_counted larder_increment(larder_pool *pool, const larder_key *key, int64_t by, int64_t initial,
                                     uint64_t expiry, int64_t *result);

/* Changes the expiry. Was there a living item? */
bool larder_touch(larder_pool *pool, const larder_key *key, uint64_t expiry);

/* Kills all items, at once, in constant time. */
void larder_clear(larder_pool *pool);

/* Calls `visit` for each living key that begins with `prefix`, until it returns false. */
void larder_each_key(larder_pool *pool, const char *prefix, size_t length,
                     bool (*visit)(void *context, const char *key, size_t key_length), void *context);

#endif
