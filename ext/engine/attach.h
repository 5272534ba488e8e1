/* The file of a pool's name: making it, attaching a handle to it, and letting go of it. */
#ifndef LARDER_ATTACH_H
#define LARDER_ATTACH_H

#include "pool.h"

/* Makes the pool's file, unless a sound one has appeared meanwhile; replaces one that is not. Takes the directory's
 * lock. */
bool larder_make(larder_pool *pool, int directory, larder_error *error);

/* Opens, maps and joins the pool, making or replacing its file if there is no sound one. */
bool larder_attach(larder_pool *pool, larder_error *error);

/* Gives the slot back and unmaps. The handle can be attached again. */
void larder_detach(larder_pool *pool);

#endif
