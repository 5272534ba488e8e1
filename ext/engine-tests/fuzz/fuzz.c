#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"
#include "../increment.h"

#include "engine/check.h"
#include "engine/get.h"
#include "engine/larder.h"
#include "engine/tag.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEYS 200u

static char directory[64];
static volatile uint64_t looked_at; /* so that reading cannot be left out */

void fuzz_found(const char *what, const char *detail)
{
    fprintf(stderr, "FOUND: %s: %s\n", what, detail);
    abort();
}

static void remove_directory(void)
{
    unlink(fuzz_pool_path());
    unlink(fuzz_path("lock"));
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    (void)!system(command);
}

const char *fuzz_directory(void)
{
    if (directory[0] == '\0') {
        strcpy(directory, "/dev/shm/larder-fuzz-XXXXXX");
        if (mkdtemp(directory) == NULL) {
            fuzz_found("no directory", directory);
        }
        atexit(remove_directory);
    }
    return directory;
}

const char *fuzz_path(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", fuzz_directory(), name);
    return path;
}

const char *fuzz_pool_path(void)
{
    char file[32];
    snprintf(file, sizeof file, "p@%u", LARDER_FORMAT);
    return fuzz_path(file);
}

static uint64_t now(void)
{
    return UINT64_C(1700000000000);
}

static void moved(void *copy, size_t size, uint8_t kind, intptr_t move)
{
    (void)copy, (void)size, (void)kind, (void)move;
}

larder_pool_config fuzz_config(void)
{
    return (larder_pool_config){.directory = fuzz_directory(),
                                .snapshots = fuzz_directory(),
                                .name = "p",
                                .size = FUZZ_SIZE,
                                .evict = true,
                                .abi = 7,
                                .ops = {.moved = moved},
                                .now = now};
}

larder_pool *fuzz_open(void)
{
    larder_pool_config config = fuzz_config();
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(&config, &error);
    if (pool == NULL) {
        fuzz_found("the pool cannot be opened", error.message);
    }
    return pool;
}

void fuzz_remove(void)
{
    larder_pool_config config = fuzz_config();
    larder_error error;
    if (larder_pool_remove(&config, &error) < 0) {
        fuzz_found("the pool cannot be removed", error.message);
    }
}

larder_key fuzz_key(const void *bytes, size_t size)
{
    return (larder_key){.bytes = bytes, .length = (uint32_t)size, .hash = larder_hash(bytes, size)};
}

typedef struct span {
    const void *bytes;
    size_t size;
} span;

static void write_span(const void *context, void *to, uintptr_t address)
{
    const span *from = context;
    (void)address;
    if (from->size > 0) {
        memcpy(to, from->bytes, from->size);
    }
}

enum larder_result fuzz_put(larder_pool *pool, larder_key key, const void *bytes, size_t size,
                            const larder_terms *terms)
{
    const span from = {.bytes = bytes, .size = size};
    const larder_value value = {.kind = LARDER_BYTES_KIND, .size = size, .write = write_span, .context = &from};
    return larder_store(pool, &key, &value, terms);
}

static bool look(const larder_pool *pool, const larder_hit *hit, const void *bytes, size_t expected)
{
    size_t size;
    const uint8_t *value = larder_hit_value(pool, hit, &size);
    if (value == NULL) {
        return false;
    }
    if (bytes != NULL && (size != expected || memcmp(value, bytes, size) != 0)) {
        fuzz_found("a value is another", "than was stored");
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) {
        sum += value[i];
    }
    looked_at += sum;
    return true;
}

bool fuzz_get(larder_pool *pool, larder_key key, const void *bytes, size_t size)
{
    larder_hit hit;
    if (!larder_get(pool, &key, &hit)) {
        return false;
    }
    bool there = look(pool, &hit, bytes, size);
    if (hit.hold == LARDER_UNPINNED && !larder_hit_confirm(pool, &hit)) {
        if (!larder_get_pinned(pool, &key, &hit)) {
            return false;
        }
        there = look(pool, &hit, bytes, size);
    }
    larder_hit_drop(pool, &hit);
    return there;
}

static larder_key numbered(uint32_t number)
{
    static char text[16];
    return fuzz_key(text, (size_t)snprintf(text, sizeof text, "key-%u", number));
}

void fuzz_fill(larder_pool *pool)
{
    static const char bytes[40000] = "value";
    const uint64_t tags[2] = {larder_tag_of("a", 1), larder_tag_of("b", 1)};
    for (uint32_t i = 0; i < KEYS; i++) {
        const larder_key key = numbered(i);
        larder_terms terms = {.mode = LARDER_SET, .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
        int64_t result;
        if (i % 5 == 0) {
            terms.tags = tags;
            terms.tags_count = 1 + i % 2;
        }
        if (i % 7 == 0) {
            terms.expiry = now() + i * 1000;
        }
        if (i % 11 == 0) {
            larder_increment(pool, &key, (int64_t)i, 0, terms.expiry, &result);
        } else {
            fuzz_put(pool, key, bytes, i % 13 == 0 ? i * 190u : i, &terms);
        }
    }
}

static bool count_key(void *context, const char *key, size_t length)
{
    uint32_t *count = context;
    for (size_t i = 0; i < length; i++) {
        looked_at += (uint8_t)key[i];
    }
    return ++*count < 10000;
}

void fuzz_use(larder_pool *pool)
{
    static const char bytes[70000] = "new";
    const larder_terms terms = {.mode = LARDER_SET, .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
    larder_stats stats;
    larder_error error;
    uint32_t count = 0;
    int64_t result;
    for (uint32_t i = 0; i < KEYS; i++) {
        const larder_key key = numbered(i);
        fuzz_get(pool, key, NULL, 0);
        switch (i % 8) {
        case 0:
            fuzz_put(pool, key, bytes, i * 300u, &terms);
            break;
        case 1:
            larder_delete(pool, &key);
            break;
        case 2:
            larder_touch(pool, &key, now() + 5000);
            break;
        case 3:
            larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &result);
            break;
        default:
            break;
        }
    }
    larder_pool_leave(pool);
    const uint64_t tag = larder_tag_of("a", 1);
    larder_invalidate(pool, &tag, 1);
    larder_each_key(pool, "key", 3, count_key, &count);
    larder_stats_read(pool, &stats);
    (void)larder_check(pool, true, &error); /* it may find what it likes, but must end */
    larder_clear(pool);
    larder_pool_leave(pool);
}

uint8_t *fuzz_read(const char *path, size_t *size)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) {
        fuzz_found("cannot be read", path);
    }
    *size = (size_t)status.st_size;
    uint8_t *bytes = malloc(*size);
    if (bytes == NULL || read(fd, bytes, *size) != (ssize_t)*size) {
        fuzz_found("cannot be read", path);
    }
    close(fd);
    return bytes;
}

void fuzz_write(const char *path, const void *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) {
        fuzz_found("cannot be written", path);
    }
    close(fd);
}

void fuzz_patch(uint8_t *bytes, size_t length, const uint8_t *data, size_t size)
{
    while (size > 4 && length > 0) {
        size_t at = ((size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16) % length;
        size_t count = 1 + data[3] % 16u;
        data += 4;
        size -= 4;
        count = count < size ? count : size;
        count = count < length - at ? count : length - at;
        memcpy(bytes + at, data, count);
        data += count;
        size -= count;
    }
}
