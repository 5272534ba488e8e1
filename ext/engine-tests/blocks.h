/* What the tests of segments share: pools whose clock stands still, full of values that are used in place. */
#ifndef LARDER_BLOCKS_H
#define LARDER_BLOCKS_H

#include "fixture.h"

/* The pool "p", or the test ends. */
larder_pool *open_blocks(uint64_t size, bool evict);

/* Stores a block under "key-<number>". */
enum larder_result put_block(larder_pool *pool, uint64_t number, size_t size);

/* Is it there? All of it is looked at. */
bool has_block(larder_pool *pool, uint64_t number);

#endif
