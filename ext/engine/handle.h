/* The life of a handle: opening and closing a pool, the end of a request, and removing it. Values of a pool that was
 * replaced stay in the handle until the request ends. */
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

/* ---- requests ---- */

/* Nobody in this process uses values of replaced pools any more: unmaps them. */
void larder_graves_bury(larder_pool *pool);

/* The end of a request: nobody in this process uses values any more. Drops the pins. */
void larder_pool_leave(larder_pool *pool);

/* A process that serves many requests begins another. What the last one missed and its leases end; the pins stay, as
 * nobody knows which values live on. */
void larder_pool_begin_another(larder_pool *pool);

/* Does this address lie where PHP sees the pool's values, those of a replaced one included? */
bool larder_pool_contains(const larder_pool *pool, const void *address);

/* ---- giving memory back ---- */

/* The pool has lost its name for good: gives the memory of its segments back, but for those that somebody pins. */
void larder_pool_give_back(larder_pool *pool);

/* This process has just removed the pool: gives back what no process reads from any more, and unmaps it if this one
 * does not. The handle can be used as before: it finds or makes the next pool of its name. */
void larder_pool_abandon(larder_pool *pool);

#endif
