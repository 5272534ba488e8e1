/* Where pools lie in the address space. A pool's file is mapped twice: read-only at the address that its header names,
 * where PHP uses the values in place, and writable wherever there is room, for the engine alone.
 *
 * All threads of a process use the same mapping, because only one can be at that address; it goes with its last user.
 */
#ifndef LARDER_MAP_H
#define LARDER_MAP_H

#include "pool.h"

/* An address for a new pool: one that no other pool of the directory is made for and that is free in this process. If
 * there is none, the pool is made for the first range, and this process copies. */
uint64_t larder_choose_base(int directory, const char *name, uint64_t size);

/* Maps the file as the pool's geometry and configuration say, or joins the threads that have it mapped. */
bool larder_map(larder_pool *pool, int fd, larder_error *error);
void larder_unmap(larder_mapping *mapping);

/* Is the pool, which this handle maps elsewhere, to be had at its own address? */
bool larder_map_would_be_better(const larder_pool *pool);

/* Makes a segment readable where PHP looks, or unreadable when no thread pins it; for larder.protect_unpinned. */
void larder_map_protect(larder_pool *pool, uint32_t segment, bool readable);

/* Around a fork, which is not to copy mappings that are half made. */
void larder_map_before_fork(void);
void larder_map_after_fork(void);

#endif
