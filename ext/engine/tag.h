/* Tags: names that many items carry. Invalidating one kills all of them, in constant time and without looking for them.
 *
 *     name's hash --+--> 4 cells, each the tick of the last invalidation that met it     judge fills, when stored
 *                   +--> 2 bits: some item has carried it                  (carried.h)   decide whether it is entered
 *                   +--> a word among the recent invalidations             (recent.h)    judges items
 *
 *     an item is dead if one of its tags has a version newer than its own: by the table, the higher of word and floors
 *
 * There is no table of names. An invalidation raises the tag's four cells to its tick, and enters it among the recent
 * ones if an item may carry it; so neither version is ever lower than the tick of its last invalidation, and nothing
 * stale is ever served. Both may be too high. A fill is refused if others were invalidated on all four cells of one of
 * its tags while it was computed (a Bloom filter that keeps, instead of bits, when they were set; the conservative
 * estimate is that of the count-min sketch). An item, which lives longer, dies if the table has forgotten what is as
 * young as it is, or a stranger has its tag's fingerprint: a miss. So nothing can be full, nothing needs a lock, and a
 * process that dies in the middle leaves versions that are too young at worst.
 *
 * Looking at many tags takes time, so an item remembers as of which change of the table its tags were looked at. The
 * count of changes moves when the table has changed, each of the two times that an invalidation enters it; while it
 * stands, a look is not repeated.
 *
 * Invariants:
 *   T1  When an invalidation has returned, its tags' versions, by the cells and, where T4 lets it be entered, by the
 *       table, are at least its first tick, which is younger than the version of any item that was stored under such a
 *       tag before the invalidation was in flight (in_flight.h).
 *   T2  An item that says it was looked at as of n was alive when the table had changed for the n-th time. A process
 *       that changes it counts it: whether an item's tags let it be read is settled when nothing is in flight.
 *   T3  Each of the versions is also at least the last tick, which comes when no process can read anything older than
 *       the first any more: it refuses what was made of that.
 *   T4  A tick that is not entered among the recent ones, because a bit of the tag was found clear, kills no item.
 *       A store sets its tags' bits before it ticks, or before it is judged; an invalidation reads them after its tick
 *       and its cells. So a store whose bits were missed has a younger tick; or it is judged by cells that have moved,
 *       and is refused unless its token is as young as this tick. Its version may be raised above the token to what it
 *       finds in cells and table. The table is read before the cells, so an invalidation whose entry it has found is
 *       found in the cells, too, and any other ends at a younger tick. What is copied, moved or counted anew has had
 *       its bits set when it was stored.
 */
#ifndef LARDER_TAG_H
#define LARDER_TAG_H

#include "item.h"
#include "pool.h"

#define LARDER_TAG_CELLS 4u

/* What items and callers know a tag by: the hash of its name, as of a key's. It knows no pool, so that it can be
 * carried from one to the next. */
uint64_t larder_tag_of(const char *name, size_t length);

/* The cells of a tag, by which fills are judged (token.c). */
void larder_tag_cells(const larder_pool *pool, uint64_t tag, _Atomic uint64_t *cells[LARDER_TAG_CELLS]);

static inline uint64_t larder_invalidations(const larder_pool *pool)
{
    /* acquire: the table is read after it, and holds at least what the invalidations counted here wrote. */
    return atomic_load_explicit(&pool->header->invalidations, memory_order_acquire);
}

/* No tag of the item is newer than it. */
bool larder_tags_allow(const larder_pool *pool, const larder_item *item);

static inline bool larder_tags_were_looked_at(const larder_pool *pool, const larder_item *item)
{
    /* relaxed: whichever count is found there, its look came before it was written. */
    return atomic_load_explicit((const _Atomic uint64_t *)(item + 1), memory_order_relaxed) ==
           larder_invalidations(pool);
}

#endif
