/* Where pools lie in the address space. A pool's file is mapped twice: read-only at the address that its header names,
 * where PHP uses the values in place, and writable wherever there is room, for the engine alone.
 */
#ifndef LARDER_MAP_H
#define LARDER_MAP_H

#include "pool.h"

/* An address for a new pool: one that no other pool of the directory is made for and that is free in this process. If
 * there is none, the pool is made for the first range, and this process copies. */
uint64_t larder_choose_base(int directory, const char *name, uint64_t size);

/* Is there room for a pool of that size? */
bool larder_address_is_free(uint64_t address, uint64_t size);

/* Maps the file as the pool's geometry and configuration say. */
bool larder_map(larder_pool *pool, int fd, larder_error *error);
void larder_unmap(const uint8_t *ro, uint8_t *rw, uint64_t size);

#endif
