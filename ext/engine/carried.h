/* Tags that some item carries, or has carried in this pool: a Bloom filter, two bits a tag, both in one word.
 *
 * An invalidation of any other tag has nothing to kill, and must cost no process a miss: it leaves the table of recent
 * invalidations (recent.h) alone. Bits are never cleared, so that no process has to know which items are left. After
 * very many different tags every tag counts as carried; then the table alone says what is remembered.
 *
 *     store:         set the bits | tick, or ask what is in flight and read the cells   (see tag.h, T4)
 *     invalidation:  tick, raise the cells | read the bits: all set? enter the table
 *
 * Whichever comes second sees the other: a store that an invalidation has overlooked is younger than its tick, or is
 * judged by the cells that it has raised.
 */
#ifndef LARDER_CARRIED_H
#define LARDER_CARRIED_H

#include "pool.h"

/* Before the store of an item with these tags ticks, or is judged. */
void larder_carry(larder_pool *pool, const uint64_t *tags, uint32_t count);

/* False: no item that is older than the last tick, or was judged before it, can have the tag. Asked when the cells have
 * moved. */
bool larder_is_carried(const larder_pool *pool, uint64_t tag);

#endif
