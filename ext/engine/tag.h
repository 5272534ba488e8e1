/* Tags: names that many items carry. Invalidating one kills all of them, in constant time and without looking for them.
 *
 *     name's hash --+--> 4 of the pool's tag cells, each the tick of the last invalidation that met it
 *                   |
 *     the tag's stamp = the lowest of its 4 cells;  an item is dead if one of its tags has a stamp newer than its own
 *
 * There is no table of names. An invalidation raises the tag's four cells to its tick, so its stamp is never lower than
 * the tick of its last invalidation: nothing stale is ever served. Two tags may share a cell, and only if others were
 * invalidated on all four cells of a tag is it taken for invalidated without being so, which costs a miss. (This is a
 * Bloom filter that keeps, instead of bits, when they were set; the conservative estimate is that of the count-min
 * sketch.) So nothing has to be inserted, nothing can be full, nothing needs a lock, and a process that dies in the
 * middle leaves cells that are too young at worst.
 *
 * Looking at many tags takes time, so an item remembers as of which invalidation its tags were looked at. The count of
 * invalidations moves when the cells have, each of the two times that an invalidation moves them; while it stands, a
 * look is not repeated.
 *
 * Invariants:
 *   T1  When an invalidation has returned, each of its tags' stamps is at least its first tick, which is younger than
 *       the stamp of any item that was stored under such a tag before the invalidation was under way (underway.h).
 *   T2  An item that says it was looked at as of n was alive when cells had moved for the n-th time. Whoever moves them
 *       counts it: whether an item's tags let it be read is settled when nothing is under way.
 *   T3  Each of the stamps is also at least the last tick, which comes when nobody can read anything older than the
 *       first any more: it refuses what was made of that.
 */
#ifndef LARDER_TAG_H
#define LARDER_TAG_H

#include "pool.h"

#define LARDER_TAG_CELLS 4u

/* What items and callers know a tag by: the hash of its name, as of a key's. It knows no pool, so that it can be
 * carried from one to the next. */
uint64_t larder_tag_of(const char *name, size_t length);

/* The item's own words behind its header, if it has tags. */
static inline _Atomic uint64_t *larder_item_looked_at(larder_item *item)
{
    return (_Atomic uint64_t *)(item + 1);
}

static inline const uint64_t *larder_item_tags(const larder_item *item)
{
    return (const uint64_t *)(item + 1) + 1;
}

/* The cells of a tag. */
void larder_tag_cells(const larder_pool *pool, uint64_t tag, _Atomic uint64_t *cells[LARDER_TAG_CELLS]);

/* The tick since which the tag is not known to have been invalidated. */
uint64_t larder_tag_stamp(const larder_pool *pool, uint64_t tag);

static inline uint64_t larder_invalidations(const larder_pool *pool)
{
    /* acquire: the cells are read after it, and hold at least what the invalidations counted here wrote. */
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
