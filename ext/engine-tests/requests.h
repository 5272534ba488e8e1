/* What the tests of misses and tokens share: two requests at once, each with a handle of its own of the pool "p". */
#ifndef LARDER_REQUESTS_H
#define LARDER_REQUESTS_H

#include "fixture.h"

extern larder_pool *here, *there;

void open_two(uint64_t size);
void close_two(void);

/* The terms of a plain set: a fill if its request has missed the key, else a write. */
extern const larder_terms as_missed;

/* Reads the key. Was it a miss? */
bool miss(larder_pool *pool, const char *key);

void delete_key(larder_pool *pool, const char *name);

uint64_t token_now(larder_pool *pool);

enum larder_result fill(larder_pool *pool, const char *key, const char *text, uint64_t token);
enum larder_result fill_tagged(larder_pool *pool, const char *key, const char *text, uint64_t token,
                               const uint64_t *tags, uint32_t count);
enum larder_result write_judged(larder_pool *pool, const char *key, const char *text, uint64_t token);

#endif
