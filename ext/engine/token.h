/* The memory of a request: which keys it missed, and when; and how it moved the clock itself.
 *
 * Two verbs. A *write* brings new truth: it ticks, and moves the key version of its key. A *fill* only keeps what was
 * computed because of a miss; it moves nothing, and is judged by its token, the clock at that miss:
 *
 *     miss                          set of the same key in the same request
 *       token = clock now   . . .     reserve, place a pending word (or hold the old one)
 *                                     key version newer than the token?  -> refused
 *                                     a tag or a clear newer?      -> refused
 *                                     CAS to the item's word; the item's version is the token
 *
 * So a value is as old as the moment its computation began, and dead if it was invalidated since. A refused fill
 * changes nothing. A key that was read after its miss is missed no more: a value that is stored then was made from the
 * one that was read, and is a write. Fills do not refuse fills: of many that overlap, the youngest stays. (Did they
 * move key versions, each would refuse all the others, for ever.)
 *
 * What a request did itself does not kill its own fills. For each cell of the clock that it moved (a key version, a
 * tag's cell, the last clear) it remembers what was there before it, and looks through its own events at the last
 * foreign one. That is sound because every event moves each of its cells strictly forward (larder_own_move()): a
 * foreign one that began earlier and is late finds ours, and takes a tick younger than ours.
 *
 * To be read at all, an item that was filled past an invalidation or a clear of its own request's bears the tick of
 * that event: its version is raised above its token. A late fill must not take it for younger. An invalidation or a
 * clear that was in flight when it was judged has refused it, and one that was not ticks later than any version that
 * the item could be given; deletes and writes, which compare their first tick with the item's, take one that says that
 * its version was raised for older.
 *
 * The memory is bounded. Of its own events a request forgets the older, which then count as foreign and cost a refusal
 * at worst; but where no other process has ticked since the token, which a count of its own ticks tells, there is
 * nothing to look through. A miss is remembered for LARDER_MISSES_MS, and not twice as long, by its key's name and its
 * own token, so that no other key's set is judged by it. A process that never says that a request begins would
 * otherwise have the plain sets of its later tasks taken for fills of what its first ones missed. A computation that
 * takes longer passes for a write. No web request does: that is ten times what PHP lets one take by itself, and five
 * times what queues give a task. Misses lie in two tables, the young and the old. The young grow old together, and the
 * old go, when that time has passed since the first of the young; or when the young are LARDER_MISSES_MAX. A table
 * grows with what it holds, so that a request that misses little clears little.
 */
#ifndef LARDER_TOKEN_H
#define LARDER_TOKEN_H

#include "key.h"
#include "pool.h"

#define LARDER_MISSES_MS  300000u    /* for so long a miss is remembered at least */
#define LARDER_MISSES_MAX (3u << 17) /* so many of the last are remembered at least; each takes 32 bytes at most */
#define LARDER_OWN_MAX    1024u

#define LARDER_NO_TOKEN UINT64_MAX

/* Of a miss in a pool that is gone, or in none: nothing can be judged by it. */
#define LARDER_FOREIGN_TOKEN UINT64_C(0)

typedef struct larder_memory larder_memory;

/* NULL: no memory. */
larder_memory *larder_memory_make(void);
void larder_memory_free(larder_memory *memory);

/* The request ends. */
void larder_memory_forget(larder_memory *memory);

/* It is `now`, in milliseconds: forgets what was missed too long ago. Called now and then. */
void larder_memory_age(larder_memory *memory, uint64_t now);

/* The pool is another now. What the request has missed in the first may be untrue by what others did in the second. */
void larder_memory_outlive(larder_memory *memory);

/* A pool was attached to, and nothing was looked for in it yet: notes whether its snapshot is being loaded. */
void larder_memory_watch_loading(larder_pool *pool);

/* The key was missed now. Of several misses of a key the first counts. */
void larder_missed(larder_pool *pool, const larder_key *key);

/* The key was missed because the pool could not be reached: what others do to it is unknown until it can be. */
void larder_missed_nowhere(larder_pool *pool, const larder_key *key);

/* Was the miss with that token, in this pool, while its snapshot was being loaded? Then an item that was not there yet
 * may have been older than it, and come since. */
bool larder_missed_in_doubt(const larder_pool *pool, uint64_t token);

/* The token of the key's miss, which is used up by this; LARDER_NO_TOKEN: it was not missed. */
uint64_t larder_missed_take(larder_pool *pool, const larder_key *key);

/* What a handle's memory begins with: a bit for the hash of each key that was missed, so that a hit costs two loads. */
typedef struct larder_missed_bits {
    uint64_t word[64];
} larder_missed_bits;

static inline uint32_t larder_missed_bit(const larder_key *key)
{
    return (uint32_t)(key->hash * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}
_Static_assert(sizeof(larder_missed_bits) * 8 == UINT64_C(1) << (64 - 52), "the highest twelve bits choose one");

/* The key's value was read: a store of this request under it is a write from now on. */
static inline void larder_was_read(larder_pool *pool, const larder_key *key)
{
    const larder_missed_bits *bits = (const larder_missed_bits *)pool->memory;
    uint32_t bit = larder_missed_bit(key);
    if ((bits->word[bit / 64] >> bit % 64 & 1) != 0) {
        larder_missed_take(pool, key);
    }
}

/* Ticks, for an event of this request. */
uint64_t larder_own_tick(larder_pool *pool);

/* Ticks, and raises the cell to the tick. If a younger process was there first, the cell gets another tick: every event
 * moves each of its cells strictly forward. The first is returned: a writer that was stopped in between must
 * not pass for younger than what happened meanwhile. `before`: the last event there that was not this request's. */
uint64_t larder_own_move(larder_pool *pool, _Atomic uint64_t *cell, enum larder_fault_point point, uint64_t *before);

/* This request moved the cell to `tick` when it was at `before`. The last event there that was not its own, which is
 * all that is remembered of the cell. */
uint64_t larder_own_note(larder_pool *pool, const void *cell, uint64_t tick, uint64_t before);

/* The last event at the cell, which is at `now`, that is not this request's own. */
uint64_t larder_own_see_through(const larder_pool *pool, const void *cell, uint64_t now);

/* Were all ticks since the token this request's own? Then nothing that others did can have come in between. */
bool larder_own_are_all(const larder_pool *pool, uint64_t token);

/* Would an item with these tags whose computation began at the token be dead by now, through others, or soon (what is
 * in flight: in_flight.h)? If not, `version` is what it is to be given: the token, or the last event, this request's
 * own or a stranger's, that would kill it otherwise. */
bool larder_is_dead_by_now(larder_pool *pool, const uint64_t *tags, uint32_t count, uint64_t token, uint64_t *version);

#endif
