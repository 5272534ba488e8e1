/* Handles (larder.h): opening and closing a pool, the end of a request, and removing it. Values of a pool
 * that was replaced stay in the handle until the request ends. */
#ifndef LARDER_HANDLE_H
#define LARDER_HANDLE_H

#include "pool.h"

/* The pool has lost its name for good: gives the memory of its segments back, but for those that are pinned. */
void larder_pool_give_back(larder_pool *pool);

#endif
