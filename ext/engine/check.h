/* A full look at a pool that nobody is writing to: do index, segments and items agree? For tests and doctors. */
#ifndef LARDER_CHECK_H
#define LARDER_CHECK_H

#include "pool.h"

/* False: `error` names the first thing that is wrong. */
bool larder_check(larder_pool *pool, larder_error *error);

#endif
