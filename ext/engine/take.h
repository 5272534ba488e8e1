/* Taking: one version of a key's item is removed, and no other, so that of all who try one succeeds.
 *
 *     take:  tick, move the guard | freeze a counter | exchange the word of that very version for nothing
 *
 * Invariant: the exchange that empties the word is what takes the version. Who replaced it, deleted it or took it
 * before has exchanged that word, and the take fails; what is stored later has a word of its own, and stays.
 *
 * A take is a delete to fills: the guard has moved before the word goes, so that what was computed before is refused.
 * It is none to writes: one that is under way is a later one, and its deletion is not raised.
 */
#ifndef LARDER_TAKE_H
#define LARDER_TAKE_H

#include "index.h"
#include "pool.h"

/* A version of a key's item. */
typedef struct larder_version {
    uint64_t stamp;
    uint64_t word; /* 0: whatever its word is */
    uint32_t life; /* pool->life when it was met; 0: whatever it was */
} larder_version;

/* Removes the living item of that version. False: it is not there any more. If it was a counter, `counter` is what was
 * counted. Sets pool->undone if that cannot be done, or perhaps was not. */
bool larder_take(larder_pool *pool, const larder_key *key, const larder_version *version, int64_t *counter);

#endif
