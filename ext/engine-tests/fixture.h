/* What the tests share: pools in the test's directory, keys, values that describe themselves, children, a clock that
 * stands still until it is told otherwise, and fault points.
 */
#ifndef LARDER_FIXTURE_H
#define LARDER_FIXTURE_H

#include "engine/check.h"
#include "engine/count.h"
#include "engine/get.h"
#include "engine/item.h"
#include "engine/pool.h"
#include "engine/segment.h"
#include "engine/stats.h"
#include "engine/store.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define MIB UINT64_C(1048576)

/* ---- pools ---- */

/* The configuration that the tests mean if they say nothing else: this test's directory, eviction, layout 7. */
larder_pool_config pool_config(const char *name, uint64_t size);

/* Opens, or ends the test. */
larder_pool *pool_open(const char *name, uint64_t size);
larder_pool *pool_open_as(const larder_pool_config *config);

/* Opens the pool "p" of 4 MiB, which evicts or does not. */
larder_pool *pool_that(bool evicts);

/* Removes a pool of this test: 1, 0 if there was none, -1. */
int pool_remove(const char *name, larder_error *error);

/* Tries to; the message of the failure, "" if there was none (and the pool is closed again). */
const char *pool_refusal(const larder_pool_config *config);

/* The path of a file of this test, in one of eight buffers that take turns. */
const char *path_of(const char *name);

/* ... of a pool's file. */
const char *pool_path_of(const char *name);

/* larder_check(), as a check. */
#define CHECK_POOL(pool)              pool_checked(pool, false, __FILE__, __LINE__)
#define CHECK_POOL_AFTER_DEATHS(pool) pool_checked(pool, true, __FILE__, __LINE__)
bool pool_checked(larder_pool *pool, bool after_deaths, const char *file, int line);

/* ---- the clock: for configurations with .now = clock_now ---- */

extern uint64_t clock_ms;
uint64_t clock_now(void);

/* ---- random numbers ---- */

typedef struct rng {
    uint64_t state;
} rng;
uint64_t rng_next(rng *r);
uint64_t rng_below(rng *r, uint64_t limit);

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

/* A value that describes itself: from 32 bytes on, all of them follow from key, version and size. A *block* is of a
 * kind that is used in place, belongs to this layout and knows the address it is read at; else it is bytes.
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

/* One such value of that size and number, and whether it is still there; ends the request. */
enum larder_result put_large(larder_pool *pool, uint64_t number, size_t size);
bool has_large(larder_pool *pool, uint64_t number);

/* The pool "p" with a block of 30,000 bytes, number 1, and where a block of that number lies: a pin holds it. */
larder_pool *pool_with_block(void);
const void *read_block(larder_pool *pool, uint64_t number, size_t *size);

enum reading { READ_NOTHING, READ_WHOLE, READ_TORN };

/* Reads one and compares every byte. A block stays pinned if the engine says so. */
enum reading read_described(larder_pool *pool, larder_key key, uint64_t number, described *what, larder_hit *hit);

/* A hash of memory. */
uint64_t digest(const void *bytes, size_t size);

/* ---- children ---- */

/* Runs it in a forked child, which ends when it returns, or with its parent. */
pid_t child_start(void (*run)(void *context), void *context);

/* Waits: the exit status, or 256 + the signal it died of. */
int child_wait(pid_t pid);

/* Starts it and expects it to end well. */
void child_run(void (*run)(void *context), void *context);

/* Memory that children share with their parent, zeroed. */
void *shared_memory(size_t size);

/* For one process to wait for another: until the number is reached. */
typedef struct gate {
    _Atomic uint32_t number;
} gate;
void gate_open(gate *g, uint32_t number);
void gate_wait(gate *g, uint32_t number);

/* ---- fault points (in builds with LARDER_FAULTS) ---- */

/* At the `skip`+1st time that this process comes to the point (0: to any), `act` is called, once. */
void fault_arm(unsigned point, uint64_t skip, void (*act)(void));
void fault_disarm(void);

/* Calls it at each point that this process comes to, but for those that it comes to itself. NULL: no more. */
void fault_meddle(void (*meddle)(unsigned point));

/* From now on this process gives way at random points: mostly for a moment, at times for long. */
void fault_jitter(uint64_t seed);

/* How many points were passed since the start, of all kinds or of one. */
uint64_t fault_count(unsigned point);

#endif
