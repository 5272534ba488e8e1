/* Opening and closing pools, and removing them. */
#ifndef LARDER_HANDLE_H
#define LARDER_HANDLE_H

#include "pool.h"

/* Opens the pool of that name, making it if there is none. NULL: `error` says why and what to do. */
larder_pool *larder_pool_open(const larder_pool_config *config, larder_error *error);

/* Unmaps and gives the slot back. The file stays. */
void larder_pool_close(larder_pool *pool);

/* Calls `visit` with the name of each pool where such a pool would be, once for each format that there is of it. False:
 * `error`. */
bool larder_pool_names(const larder_pool_config *config, void (*visit)(void *context, const char *name), void *context,
                       larder_error *error);

/* Takes the pool's name away from it, and removes its snapshot; processes that have it open find out and make or open
 * another.
 * 1: removed, 0: there was none, -1: error. */
int larder_pool_remove(const larder_pool_config *config, larder_error *error);

#endif
