/* What goes through the engine's door (larder.h) besides keys and pools: values with their terms, and answers. */
#ifndef LARDER_TERMS_H
#define LARDER_TERMS_H

#include "pool.h"

/* ---- storing ---- */

/* A value on its way in. */
typedef struct larder_value {
    uint8_t kind;
    bool has_abi; /* only PHPs of this ABI can read it */
    size_t size;
    int64_t counter; /* for LARDER_COUNTER_KIND */
    /* Writes `size` bytes at `to`, as readers will see them at `address`. May be called twice. */
    void (*write)(const void *context, void *to, uintptr_t address);
    const void *context;
} larder_value;

enum larder_mode { LARDER_SET, LARDER_ADD, LARDER_REPLACE };

enum larder_result {
    LARDER_OK,
    LARDER_EXISTS,    /* an add of a living key */
    LARDER_ABSENT,    /* a replace of a dead one, or a word that was to be replaced is gone */
    LARDER_OVERTAKEN, /* a later write or delete came first */
    LARDER_LOST,      /* the segment was reclaimed before the item was published: try again */
    LARDER_FULL,      /* refused: nothing can be evicted */
    LARDER_PINNED,    /* ... because what could be is still being read */
    LARDER_LARGE,     /* ... because no such value fits in this pool */
    LARDER_BUSY,      /* ... because the segment lock was held too long */
    LARDER_UNREACHED, /* nothing was done: the pool cannot be reached */
};

/* What a judged write was made from, where the key version alone cannot tell. A write moves its key version before its
 * word is placed, so a token that is taken in between is not older than the key version, and the old item is still
 * there to be read. Of two writes that name the item they were made from, the exchange of its word lets one through:
 * that of the first. Of two that were made from nothing, the one that is published first. A counter keeps its word
 * while it is counted. */
#define LARDER_OF_ANY     UINT64_C(0)
#define LARDER_OF_NOTHING UINT64_MAX

/* What a store claims to be; see token.h. */
enum larder_verb {
    LARDER_AS_MISSED, /* if this request missed the key, a fill judged by that miss, else a write; an add: a fill */
    LARDER_WRITE,     /* new truth, whatever happened meanwhile */
    LARDER_JUDGED,    /* a write (an add: a fill) of what was computed since the token */
    LARDER_FILL,      /* only keeps what was computed since the token */
};

/* What an item was before: in the pool that it was saved from, or as a counter that is written anew. */
typedef struct larder_past {
    uint64_t version;
    bool raised; /* LARDER_VERSION_RAISED */
    enum larder_list queue;
    uint8_t visited, level;
} larder_past;

/* What a store that the pool has no room or no time for leaves of what it was to replace. */
enum larder_leaving {
    LARDER_LEAVES_BY_POOL, /* where nothing is evicted what is there, elsewhere nothing */
    LARDER_LEAVES_OLD,
    LARDER_LEAVES_NOTHING,
};

typedef struct larder_terms {
    enum larder_mode mode;
    enum larder_verb verb;
    enum larder_leaving leaves;
    uint64_t token;       /* for JUDGED and FILL */
    uint32_t attachment;  /* its number when the token was taken, or an add's word met; 0: the pool of then is gone, so
                            nothing can be judged by it */
    uint64_t expiry;      /* ms since 1970, from larder_expiry(); LARDER_NO_EXPIRY */
    uint64_t grace_ms;    /* for which it may be served when it has expired, where nothing better is to be had */
    uint32_t cost;        /* microseconds that its computation took; 0: not known */
    uint32_t tags_count;  /* up to LARDER_TAGS_MAX */
    const uint64_t *tags; /* larder_tag_of() their names */
    uint64_t expected;    /* a set: store only in place of this word, 0: of whatever is there; an add: also in place of
                             this word's item, though it lives, for the caller can make nothing of it */
    const larder_past *past; /* of an item that is not new; else NULL */
    uint64_t made_of;        /* a judged write: stored only in place of the living item with this version */
} larder_terms;

/* ---- counting ---- */

#define LARDER_COUNTER_MIN (-(INT64_C(1) << 62))
#define LARDER_COUNTER_MAX ((INT64_C(1) << 62) - 1)

enum larder_counted {
    LARDER_COUNTED,
    LARDER_NOT_A_COUNTER, /* the item there is something else */
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
    uint64_t taken_from; /* the version of an item that is no int and counts as `taken_as`; 0: none does */
    int64_t taken_as;
} larder_counting;

/* ---- taking ---- */

/* A version of a key's item. */
typedef struct larder_met {
    uint64_t version;
    uint64_t word;       /* 0: whatever its word is */
    uint32_t attachment; /* pool->attached.number when it was met; 0: whatever it was */
} larder_met;

/* ---- leases ---- */

#define LARDER_LEASE_MS     10000u /* that a holder has, unless it asks for another time */
#define LARDER_LEASE_MOST_S 3600u
#define LARDER_WAITERS_MAX  256u /* at one lease; others go on without */

enum larder_lease_result {
    LARDER_LEASE_TAKEN,  /* it is ours: larder_lease_give_back() it */
    LARDER_LEASE_HELD,   /* another process computes this key */
    LARDER_LEASE_OURS,   /* this process does so already, further up in its calls */
    LARDER_LEASE_NOWHERE /* another key's lease is in its place, or the pool cannot be used: go on without */
};

/* ---- figures ---- */

typedef struct larder_stats {
    uint64_t items, bytes; /* alive, or expired and not yet reclaimed */
    uint64_t capacity;     /* bytes that all segments have together */
    uint64_t counters[LARDER_COUNTERS];
    uint64_t segments[LARDER_SEGMENT_STATES];
    uint64_t small_segments, main_segments;
    uint64_t limbo_bytes;
    uint64_t pinned_bytes; /* of the segments that requests pin for as long as they run */
    uint64_t segment_bytes;
    uint32_t processes;          /* slots in use */
    uint64_t oldest_pin_ms;      /* how long the oldest pin has been held; 0: none */
    uint64_t oldest_pin_process; /* whose it is, by the id that its holder knows itself by; 0: none */
} larder_stats;

typedef struct larder_saved {
    uint64_t items, bytes; /* of the file */
    char path[LARDER_PATH_MAX + LARDER_NAME_MAX + 32];
} larder_saved;

typedef struct larder_resized {
    uint64_t before, size;    /* bytes of the pool */
    uint64_t loaded, dropped; /* items; those are dropped that the new pool has no room for, or that expired */
} larder_resized;

#endif
