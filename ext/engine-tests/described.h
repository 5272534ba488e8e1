/* Values that describe themselves, so that a reader sees whether it is whole, and which it is. */
#ifndef LARDER_DESCRIBED_H
#define LARDER_DESCRIBED_H

#include "engine/get.h"
#include "engine/store.h"

#include "random.h"

/* From 32 bytes on, all of its bytes follow from key, version and size. A *block* is of a
 * kind that is used in place, belongs to this ABI and knows the address it is read at; else it is bytes.
 *
 * `versions`, if not NULL, gives the version in the middle of the store, after its tick; `moments`, if not NULL, is a
 * counter that says when that was: `written`. */
#define BLOCK_KIND      9u
#define DESCRIBED_LEAST 40u
typedef struct described {
    uint64_t key, version;
    _Atomic uint64_t *versions, *moments;
    uint64_t written;
    bool block;
} described;
enum larder_result put_described(larder_pool *pool, larder_key key, described *what, size_t size, enum larder_mode mode,
                                 uint64_t expiry);
enum larder_result put_described_under(larder_pool *pool, larder_key key, described *what, size_t size,
                                       const larder_terms *terms);

/* Where nothing is evicted, a store that there is no room or no time for leaves everything as it was. */
bool was_undone(const larder_pool *pool, enum larder_result result);

enum reading { READ_NOTHING, READ_WHOLE, READ_TORN };

/* Reads one and compares every byte. A block stays pinned if the engine says so. */
enum reading read_described(larder_pool *pool, larder_key key, uint64_t number, described *what, larder_hit *hit);

/* For a pool's configuration: the first word of a block is the address at which it is read, and goes with it. */
void block_moved(void *copy, size_t size, uint8_t kind, intptr_t move);

/* Stores a block under "key-<number>". */
enum larder_result put_block(larder_pool *pool, uint64_t number, size_t size);

/* Is it there? All of it is looked at. */
bool has_block(larder_pool *pool, uint64_t number);

/* ... which it must be, and where it lies: a pin holds it. */
const void *read_block(larder_pool *pool, uint64_t number, size_t *size);

/* Does something with one of so many keys, at random: mostly stores a value, which is hardly longer than that, else
 * deletes, touches, reads or counts. */
void work_at_random(larder_pool *pool, rng *r, uint64_t keys, size_t most);

/* The pool "p", in which the clock stands still, with a block of 30,000 bytes, number 1. */
larder_pool *pool_with_block(void);

#endif
