/* A full look at a pool that no process is writing to: do index, segments and items agree? For tests and diagnosis. */
#ifndef LARDER_CHECK_H
#define LARDER_CHECK_H

#include "pool.h"

/* False: `error` names the first thing that is wrong. Where a process may have been killed in the middle of a store, a
 * segment may say that more is alive in it than is, until it is recycled; it never says less. */
bool larder_check(larder_pool *pool, bool after_deaths, larder_error *error);

#endif
