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

/* Reserves an item of `bytes` in that queue if the pool evicts, else in the small one. Its segment is pinned;
 * larder_reserved_drop() it. */
enum larder_result larder_reserve(larder_pool *pool, enum larder_list queue, uint64_t bytes, larder_reserved *reserved);
void larder_reserved_drop(larder_pool *pool, const larder_reserved *reserved);

/* The largest item that this pool takes: half of its segments, in one run. */
uint64_t larder_largest_item(const larder_pool *pool);

/* ---- cache lines that several processes write ----
 *
 * A store changes half a dozen of them: the clock, its key's bucket, the entries of the segments that the old item lies
 * in and the new one is going to, the item's bit among the starts. The processor that changed one last has it in its
 * cache, and to get it from there takes as long as the rest of the store. One after the other, as the atomic operations
 * come, the store would wait for each alone. Lines that it reads first would come twice: to be read, and to be changed.
 * So a store asks for each line as soon as it knows which it is.
 */

/* A hint: changes nothing, orders nothing, and may be given any address. */
static inline void larder_line_to_write(const volatile void *address)
{
#ifdef __x86_64__
    /* Compilers turn __builtin_prefetch() for any processor of this kind into a request for a line to read. A processor
     * that does not know this instruction does nothing. */
    __asm__ volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch((const void *)(uintptr_t)address, 1);
#endif
}

#endif
