/* Saving a pool to a snapshot (snapshot.h), and giving one another size by saving it and loading it again. */
#ifndef LARDER_SAVE_H
#define LARDER_SAVE_H

#include "pool.h"

typedef struct larder_saved {
    uint64_t items, bytes; /* of the file */
    char path[LARDER_PATH_MAX + LARDER_NAME_MAX + 32];
} larder_saved;

/* Closes the pool of that name and writes its snapshot. 1: done, 0: there is no such pool, -1: `error`; the pool is as
 * it was. */
int larder_pool_save(const larder_pool_config *config, larder_saved *saved, larder_error *error);

typedef struct larder_resized {
    uint64_t before, size;    /* bytes of the pool */
    uint64_t loaded, dropped; /* items; those are dropped that the new pool has no room for, or that expired */
} larder_resized;

/* Replaces the pool of that name by one of config->size bytes that has its items. 1: done, 0: there is no such pool,
 * -1: `error`; nothing is lost then, and the pool is as it was, or another process made the next one meanwhile. */
int larder_pool_resize(const larder_pool_config *config, larder_resized *resized, larder_error *error);

#endif
