/* Publishing: how a complete item gets its word, once at most, and in the place of the key's old one. The protocol is
 * in index.h. */
#ifndef LARDER_PUBLISH_H
#define LARDER_PUBLISH_H

#include "index.h"
#include "terms.h"

/* A complete item that is not in the index yet. */
typedef struct larder_reserved {
    larder_item *item; /* writable */
    uint64_t offset;
    uint32_t segment, generation;
    bool brief;
} larder_reserved;

/* How a store is ordered among others of its key. */
typedef struct larder_order {
    bool fill;      /* judged by the key version alone; writes by deletions, too */
    bool moved;     /* it has moved the key version: what others hold of the key is void */
    uint64_t tick;  /* a write's tick, a fill's token */
    uint64_t token; /* if judged by the key version; else LARDER_NO_TOKEN */
} larder_order;

/* Puts the reserved item into the index. `expected`: a set only in place of this word (0: of whatever is there); an add
 * also in place of it, whether or not its item lives. */
enum larder_result larder_publish(larder_pool *pool, const larder_place *place, const larder_key *key,
                                  const larder_reserved *reserved, enum larder_mode mode, uint64_t expected,
                                  const larder_order *order);

#endif
