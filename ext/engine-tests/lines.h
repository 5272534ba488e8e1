/* Tags that share two lines of the table of recent invalidations, so that few of them fill it. */
#ifndef LARDER_LINES_H
#define LARDER_LINES_H

#include "engine/recent.h"

#define LINES_FULL (2 * LARDER_BUCKET_WORDS)

/* Each lies in both of two lines, which are the same for all of the pool's, in either order. */
void tags_of_two_lines(const larder_pool *pool, uint64_t *tags, uint32_t count);

#endif
