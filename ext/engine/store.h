/* Storing: what is to be stored under which terms, whether it may be as things stand (index.h has the protocol, token.h
 * the rule), and what becomes of the key's old item if not.
 */
#ifndef LARDER_STORE_H
#define LARDER_STORE_H

#include "pool.h"
#include "publish.h"
#include "terms.h"

/* How a store stands to what happened since its computation began. */
typedef struct larder_claim {
    bool judged, fill, takes; /* takes: it may be new truth */
    bool missed;              /* judged by a miss of its request in this pool */
    uint64_t token;           /* if judged, or a fill */
    larder_order order;
    uint64_t version;   /* of the item */
    bool raised;        /* LARDER_VERSION_RAISED */
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
