/* Storing: what is to be stored under which terms, whether it may be as things stand (index.h has the protocol, token.h
 * the rule), and what becomes of the key's old item if not.
 */
#ifndef LARDER_STORE_H
#define LARDER_STORE_H

#include "pool.h"
#include "publish.h"

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

/* What a judged write was made from, where the guard alone cannot tell. A write moves its guard before its word is
 * placed, so a token that is taken in between is not older than the guard, and the old item is still there to be read.
 * Of two writes that name the item they were made from, the exchange of its word lets one through: that of the first.
 * Of two that were made from nothing, the one that is published first. A counter keeps its word while it is counted. */
#define LARDER_OF_ANY     UINT64_C(0)
#define LARDER_OF_NOTHING UINT64_MAX

/* What a store claims to be; see token.h. */
enum larder_verb {
    LARDER_AS_MISSED, /* a fill judged by its miss if this request missed the key, else a write; an add is always a fill
                       */
    LARDER_WRITE,     /* new truth, whatever happened meanwhile */
    LARDER_JUDGED,    /* a write (an add: a fill) of what was computed since the token */
    LARDER_FILL,      /* only keeps what was computed since the token */
};

/* What an item was before: in the pool that it was saved from, or as a counter that is written anew. */
typedef struct larder_past {
    uint64_t stamp;
    bool raised; /* LARDER_STAMP_RAISED */
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
    uint64_t token;    /* for JUDGED and FILL */
    uint32_t life;     /* pool->life when it was taken, or an add's word met; 0: of a pool that is gone, so nothing can
                          be judged by it */
    uint64_t expiry;   /* ms since 1970, from larder_expiry(); LARDER_NO_EXPIRY */
    uint64_t grace_ms; /* for which it may be served when it has expired, where nothing better is to be had */
    uint32_t cost;     /* microseconds that its computation took; 0: not known */
    uint32_t tags_count;  /* up to LARDER_TAGS_MAX */
    const uint64_t *tags; /* larder_tag_of() their names */
    uint64_t expected;    /* a set: store only in place of this word, 0: of whatever is there; an add: also in place of
                             this word's item, though it lives, for the caller can make nothing of it */
    const larder_past *past; /* of an item that is not new; else NULL */
    uint64_t made_of;        /* a judged write: stored only in place of the living item with this stamp */
} larder_terms;

/* How a store stands to what happened since its computation began. */
typedef struct larder_claim {
    bool judged, fill, takes; /* takes: it may be new truth */
    bool missed;              /* judged by a miss of its request in this pool */
    uint64_t token;           /* if judged, or a fill */
    larder_order order;
    uint64_t stamp;     /* of the item */
    bool raised;        /* LARDER_STAMP_RAISED */
    uint64_t looked_at; /* as of which invalidation its tags are known to be older */
    uint64_t expected;  /* as in the terms, if that word is of this pool */
} larder_claim;

/* Stores a value, in the middle of an operation, and says in `as` what the store was found to be. Refused ones are
 * counted by cause. In a pool that evicts the key's old value is gone then, for it is not true any more; in one that
 * does not it stays. The terms may say otherwise (`leaves`). What overtook a judged write is newer, and stays. A
 * refused fill or add leaves what is there, having claimed nothing about it. */
enum larder_result larder_store_entered(larder_pool *pool, const larder_key *key, const larder_value *value,
                                        const larder_terms *terms, larder_claim *as);

/* The pool was closed in the middle of such a store, of which `as` says what it was found to be there. This is the next
 * pool: the store is refused, and what it was to replace goes, or stays, as after every refusal. If it stays, what came
 * out of the snapshot may be either value. */
enum larder_result larder_store_too_late(larder_pool *pool, const larder_key *key, const larder_terms *terms,
                                         larder_claim *as);

#endif
