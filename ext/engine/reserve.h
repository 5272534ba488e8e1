/* Reserving room for items: in the open segments without a lock, and else by opening another one, for which room is
 * made.
 *
 * Invariant:
 *   S1  (segment.h) Room is reserved only in a segment that the writer has pinned under its generation while it was
 *       open.
 *   S4  (segment.h) In a pool that does not evict, writers reserve in the small queue only, and leave main's open
 *       segment to what is moved.
 */
#ifndef LARDER_RESERVE_H
#define LARDER_RESERVE_H

#include "pool.h"
#include "publish.h"

/* Reserves an item of `bytes` in that queue if the pool evicts, else in the small one. The draft's segment is pinned;
 * larder_draft_drop() it. */
enum larder_result larder_reserve(larder_pool *pool, enum larder_list queue, uint64_t bytes, larder_draft *draft);
void larder_draft_drop(larder_pool *pool, const larder_draft *draft);

/* The largest item that this pool takes: half of its segments, in one run. */
uint64_t larder_largest_item(const larder_pool *pool);

#endif
