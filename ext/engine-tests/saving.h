/* What the tests of snapshots share: the pool "p", which is saved to and loaded from the test's directory. */
#ifndef LARDER_SAVING_H
#define LARDER_SAVING_H

#include "fixture.h"

#include "engine/larder.h"

/* The usual configuration, with a directory for snapshots. */
larder_pool_config saving_config(const char *name);

/* Opens, or ends the test. */
larder_pool *open_saving(const char *name);

/* Saves the pool "p", or ends the test. */
larder_saved save(void);
larder_saved save_as(const larder_pool_config *config);

/* Removes the pool "p", and its snapshot. */
void remove_pool(void);

/* Is there a file of that name in the test's directory? */
bool is_there(const char *name);

/* How many items it has. */
uint64_t count_items(larder_pool *pool);

/* A pool that began empty, for a reason that it tells. */
void expect_empty(larder_pool *pool, const char *reason);

#endif
