/* Attaching a handle to the file of its name, and letting go of it. */
#ifndef LARDER_ATTACH_H
#define LARDER_ATTACH_H

#include "pool.h"

/* Opens, maps and joins the pool, making or replacing its file if there is no sound one. */
bool larder_attach(larder_pool *pool, larder_error *error);

/* Gives the slot back and unmaps. The handle can be attached again. */
void larder_detach(larder_pool *pool);

#endif
