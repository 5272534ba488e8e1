/* What the fuzz targets share. Each target is one file with LLVMFuzzerTestOneInput(): libFuzzer calls it in `make
 * fuzz`, driver.c in `make test`.
 */
#ifndef LARDER_FUZZ_H
#define LARDER_FUZZ_H

#include "engine/larder.h"
#include "engine/pool.h"
#include "engine/store.h"

#define FUZZ_SIZE (UINT64_C(4) << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process so that it counts as a finding. */
_Noreturn void fuzz_found(const char *what, const char *detail);

/* A directory of this process's own in shared memory, which goes when the process ends. */
const char *fuzz_directory(void);

/* The path of a file there. */
const char *fuzz_path(const char *name);

/* ... of the pool. */
const char *fuzz_pool_path(void);

/* The pool "p" there, with snapshots in the same place. The clock stands still. */
larder_pool_config fuzz_config(void);

/* Opens, or ends with a finding. */
larder_pool *fuzz_open(void);

/* Items of every kind, as many as there is room for. */
void fuzz_fill(larder_pool *pool);

/* Does with the pool, whatever it holds, what its users may do. */
void fuzz_use(larder_pool *pool);

void fuzz_remove(void);

larder_key fuzz_key(const void *bytes, size_t size);
enum larder_result fuzz_put(larder_pool *pool, larder_key key, const void *bytes, size_t size,
                            const larder_terms *terms);

/* Adds up the value's bytes; false: a miss. With `bytes`, the value has to be these. */
bool fuzz_get(larder_pool *pool, larder_key key, const void *bytes, size_t size);

/* A whole file, allocated. */
uint8_t *fuzz_read(const char *path, size_t *size);
void fuzz_write(const char *path, const void *bytes, size_t size);

/* Overwrites parts: for each, three bytes say where, one how long, and then come the bytes. */
void fuzz_patch(uint8_t *bytes, size_t length, const uint8_t *data, size_t size);

#endif
