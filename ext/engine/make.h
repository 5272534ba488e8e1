/* Making the file of a pool. */
#ifndef LARDER_MAKE_H
#define LARDER_MAKE_H

#include "pool.h"

/* Makes the pool's file, unless a sound one has appeared meanwhile; replaces one that is not. Takes the directory's
 * lock. */
bool larder_make(larder_pool *pool, int directory, larder_error *error);

#endif
