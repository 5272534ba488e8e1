/* What a pool that was replaced leaves in the handle: values of it that are still used. */
#ifndef LARDER_REQUEST_H
#define LARDER_REQUEST_H

#include "pool.h"

/* Nobody in this process uses values of replaced pools any more: unmaps them. */
void larder_graves_bury(larder_pool *pool);

#endif
