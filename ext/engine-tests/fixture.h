/* What the tests share: pools in the test's directory, a clock that stands still until it is told otherwise, keys and
 * values; and the headers that this one includes.
 */
#ifndef LARDER_FIXTURE_H
#define LARDER_FIXTURE_H

#include "engine/check.h"
#include "engine/enter.h"
#include "engine/get.h"
#include "engine/larder.h"
#include "engine/reserve.h"
#include "engine/segment.h"
#include "engine/store.h"

#include "children.h"
#include "described.h"
#include "faults.h"
#include "random.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB UINT64_C(1048576)

/* ---- pools ---- */

/* The configuration that the tests mean if they say nothing else: this test's directory, eviction, ABI 7. */
larder_pool_config pool_config(const char *name, uint64_t size);

/* Opens, or ends the test. */
larder_pool *pool_open(const char *name, uint64_t size);
larder_pool *pool_open_as(const larder_pool_config *config);

/* Opens the pool "p" of 4 MiB, which evicts or does not. */
larder_pool *pool_that(bool evicts);

/* ... as a PHP of another kind does. */
larder_pool *pool_of_another_kind(bool evicts);

/* Opens the pool "p", in which the clock stands still. */
larder_pool *pool_timed(uint64_t size, bool evicts);

/* Removes a pool of this test: 1, 0 if there was none, -1. */
int pool_remove(const char *name, larder_error *error);

/* Tries to; the message of the failure, "" if there was none (and the pool is closed again). */
const char *pool_refusal(const larder_pool_config *config);

/* The path of a file of this test, in one of eight buffers that take turns. */
const char *path_of(const char *name);

/* ... of a pool's file. */
const char *pool_path_of(const char *name);

/* Writes into the file of the pool "p", in use or not. */
void pool_overwrite(size_t at, const void *bytes, size_t size);

/* larder_check(), as a check. */
#define CHECK_POOL(pool)              pool_checked(pool, false, __FILE__, __LINE__)
#define CHECK_POOL_AFTER_DEATHS(pool) pool_checked(pool, true, __FILE__, __LINE__)
bool pool_checked(larder_pool *pool, bool after_deaths, const char *file, int line);

/* ---- the clock: for configurations with .now = clock_now ---- */

extern uint64_t clock_ms;
uint64_t clock_now(void);

/* ---- keys and values ---- */

larder_key key_of(const char *text);

/* "key-<number>", in one of eight buffers that take turns. */
larder_key key_number(uint64_t number);

enum larder_result put_bytes(larder_pool *pool, larder_key key, const void *bytes, size_t size);
enum larder_result put_with(larder_pool *pool, larder_key key, const void *bytes, size_t size, enum larder_mode mode,
                            uint64_t expiry);
enum larder_result put_text(larder_pool *pool, const char *key, const char *text);

/* A text under these terms. */
enum larder_result put_under(larder_pool *pool, const char *key, const char *text, const larder_terms *terms);

/* Copies the value out, as the extension does. False: a miss. */
bool take(larder_pool *pool, larder_key key, void *to, size_t most, size_t *size);

/* Does the key hold this text? */
bool holds_text(larder_pool *pool, const char *key, const char *text);

/* A hash of memory. */
uint64_t digest(const void *bytes, size_t size);

#endif
