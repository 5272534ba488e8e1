/* Saving a pool to a snapshot (snapshot.h). */
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

#endif
