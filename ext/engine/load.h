/* Loading a snapshot (snapshot.h) into the pool that was made for it. */
#ifndef LARDER_LOAD_H
#define LARDER_LOAD_H

#include "pool.h"

/* Loads what larder_snapshot_claim() has taken, if anything. */
void larder_snapshot_load(larder_pool *pool);

#endif
