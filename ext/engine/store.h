/* Storing: a value under its terms. Is the store judged, and may it go ahead (token.h has the rule)? Room is reserved
 * (reserve.h), the item written, and its word published (publish.h, by the protocol of index.h). If the store is
 * refused, the terms say what becomes of the key's old item.
 */
#ifndef LARDER_STORE_H
#define LARDER_STORE_H

#include "pool.h"
#include "publish.h"
#include "terms.h"

/* What a store turned out to be, when its terms met the request and the pool. */
typedef struct larder_claim {
    /* By its terms (store.c: claim_of()): */
    uint64_t token;    /* refused if its key or a tag has changed since; LARDER_NO_TOKEN: nothing judges it */
    bool judged;       /* has a token */
    bool missed;       /* the token is that of a miss, in this request and pool */
    bool fill;         /* keeps what was computed, and changes nothing: it moves no key version. Else it is a write */
    bool replaces;     /* a set or replace: its caller may know that the key's old value is not true any more */
    uint64_t expected; /* as in the terms, if that word is of this pool */
    /* When it is judged: */
    larder_order order;
    uint64_t version;   /* of the item */
    bool raised;        /* LARDER_VERSION_RAISED */
    uint64_t looked_at; /* as of which invalidation its tags are known to be older */
    bool stored;
} larder_claim;

/* Stores a value, in the middle of an operation, and writes to `claim` what the store turned out to be. Refusals are
 * counted by cause. After one, the key's old value is gone in a pool that evicts, as it is not true any more, and stays
 * in a pool that does not. The terms may say otherwise (`leaves`). An item that overtook a judged write is newer, and
 * stays. A refused fill or add leaves the key's item, as it said nothing about it. */
enum larder_result larder_store_entered(larder_pool *pool, const larder_key *key, const larder_value *value,
                                        const larder_terms *terms, larder_claim *claim);

/* The pool was closed in the middle of such a store, and this is the next pool. `claim` is what the store turned out to
 * be in the first. If its item has come with the snapshot, the store is done. Else it is refused, its item does not
 * come any more, and the key's old item goes or stays, as after every refusal. */
enum larder_result larder_store_too_late(larder_pool *pool, const larder_key *key, const larder_terms *terms,
                                         larder_claim *claim);

#endif
