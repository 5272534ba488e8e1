/* What a pool can do for its users besides reading (get.h): store, delete, count, touch, clear, list. Every function
 * begins by entering the pool (pool.h).
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H

#include "index.h"
#include "pool.h"

/* A value on its way in. */
typedef struct larder_value {
    uint8_t kind;
    bool has_layout;
    size_t size;
    int64_t counter; /* for LARDER_COUNTER_KIND */
    /* Writes `size` bytes at `to`, as readers will see them at `address`. May be called twice. */
    void (*write)(const void *context, void *to, uintptr_t address);
    const void *context;
} larder_value;

#define LARDER_COUNTER_MIN (-(INT64_C(1) << 62))
#define LARDER_COUNTER_MAX ((INT64_C(1) << 62) - 1)

/* What a store claims to be; see token.h. */
enum larder_verb {
    LARDER_AS_MISSED, /* a fill judged by its miss if this request missed the key, else a write; an add is always a fill
                       */
    LARDER_WRITE,     /* new truth, whatever happened meanwhile */
    LARDER_JUDGED,    /* a write (an add: a fill) of what was computed since the token */
    LARDER_FILL,      /* only keeps what was computed since the token */
};

/* What an item was in the pool that it was saved from. */
typedef struct larder_past {
    uint64_t stamp;
    enum larder_list queue;
    uint8_t visited, level;
} larder_past;

typedef struct larder_terms {
    enum larder_mode mode;
    enum larder_verb verb;
    uint64_t token;       /* for JUDGED and FILL */
    uint32_t life;        /* pool->life when it was taken; 0: of a pool that is gone, so nothing can be judged by it */
    uint64_t expiry;      /* ms since 1970, from larder_expiry(); LARDER_NO_EXPIRY */
    uint64_t grace_ms;    /* for which it may be served when it has expired, where nothing better is to be had */
    uint32_t cost;        /* microseconds that its computation took; 0: not known */
    uint32_t tags_count;  /* up to LARDER_TAGS_MAX */
    const uint64_t *tags; /* larder_tag_of() their names */
    uint64_t expected;    /* store only in place of this word; 0: of whatever is there */
    const larder_past *past; /* of an item that is loaded from a snapshot; else NULL */
} larder_terms;

/* Stores a value. Refused ones are counted by cause, and the key's old value is gone, for it is not true any more; but
 * a refused FILL or add leaves it, having claimed nothing about it. */
enum larder_result larder_store(larder_pool *pool, const larder_key *key, const larder_value *value,
                                const larder_terms *terms);

/* The same for an item out of a snapshot, without entering the pool. */
enum larder_result larder_restore(larder_pool *pool, const larder_key *key, const larder_value *value,
                                  const larder_terms *terms);

/* The following set pool->undone if they cannot be done, or perhaps were not: then nothing may rely on them. */

/* Was there a living item? It is gone in any case, for good. */
bool larder_delete(larder_pool *pool, const larder_key *key);

enum larder_counted {
    LARDER_COUNTED,
    LARDER_NOT_A_COUNTER, /* what is there is something else */
    LARDER_OUT_OF_RANGE,
    LARDER_NOT_COUNTED, /* a new counter was refused */
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
