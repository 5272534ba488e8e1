#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include <fcntl.h>
#include <unistd.h>

uint64_t clock_ms = UINT64_C(1700000000000);

uint64_t clock_now(void)
{
    return clock_ms;
}

/* ---- pools ----------------------------------------------------------------------------------------------- */

larder_pool_config pool_config(const char *name, uint64_t size)
{
    return (larder_pool_config){.directory = test_directory(),
                                .name = name,
                                .size = size,
                                .evict = true,
                                .abi = 7,
                                .ops = {.moved = block_moved}};
}

larder_pool *pool_open_as(const larder_pool_config *config)
{
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(config, &error);
    if (pool == NULL) {
        test_failed(__FILE__, __LINE__, "the pool %s cannot be opened: %s", config->name, error.message);
        test_give_up();
    }
    return pool;
}

larder_pool *pool_open(const char *name, uint64_t size)
{
    const larder_pool_config config = pool_config(name, size);
    return pool_open_as(&config);
}

larder_pool *pool_that(bool evicts)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = evicts;
    return pool_open_as(&config);
}

larder_pool *pool_of_another_kind(bool evicts)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = evicts;
    config.abi++;
    return pool_open_as(&config);
}

larder_pool *pool_timed(uint64_t size, bool evicts)
{
    larder_pool_config config = pool_config("p", size);
    config.evict = evicts;
    config.now = clock_now;
    return pool_open_as(&config);
}

int pool_remove(const char *name, larder_error *error)
{
    const larder_pool_config config = pool_config(name, 0);
    return larder_pool_remove(&config, error);
}

const char *pool_refusal(const larder_pool_config *config)
{
    static larder_error error;
    error.message[0] = '\0';
    larder_pool *pool = larder_pool_open(config, &error);
    if (pool == NULL) {
        CHECK(error.message[0] != '\0');
        return error.message;
    }
    larder_pool_close(pool);
    return "";
}

const char *path_of(const char *name)
{
    static char buffers[8][512];
    static unsigned turn;
    char *path = buffers[turn++ % 8];
    snprintf(path, sizeof buffers[0], "%s/%s", test_directory(), name);
    return path;
}

const char *pool_path_of(const char *name)
{
    char file[256];
    snprintf(file, sizeof file, "%s@%u", name, LARDER_FORMAT);
    return path_of(file);
}

void pool_overwrite(size_t at, const void *bytes, size_t size)
{
    int fd = open(pool_path_of("p"), O_WRONLY);
    REQUIRE(fd >= 0);
    REQUIRE(pwrite(fd, bytes, size, (off_t)at) == (ssize_t)size);
    close(fd);
}

bool pool_checked(larder_pool *pool, bool after_deaths, const char *file, int line)
{
    larder_error error = {.message = ""};
    return larder_check(pool, after_deaths, &error) ||
           test_failed(file, line, "the pool is not sound: %s", error.message);
}

/* ---- keys and plain values ------------------------------------------------------------------------------- */

larder_key key_of(const char *text)
{
    size_t length = strlen(text);
    return (larder_key){.bytes = text, .length = (uint32_t)length, .hash = larder_hash(text, length)};
}

larder_key key_number(uint64_t number)
{
    static char buffers[8][32];
    static unsigned turn;
    char *text = buffers[turn++ % 8];
    snprintf(text, sizeof buffers[0], "key-%llu", (unsigned long long)number);
    return key_of(text);
}

typedef struct span {
    const void *bytes;
    size_t size;
} span;

static void write_span(const void *context, void *to, uintptr_t address)
{
    const span *from = context;
    (void)address;
    memcpy(to, from->bytes, from->size);
}

static enum larder_result put_span(larder_pool *pool, larder_key key, const void *bytes, size_t size,
                                   const larder_terms *terms)
{
    const span from = {.bytes = bytes, .size = size};
    const larder_value value = {.kind = LARDER_BYTES_KIND, .size = size, .write = write_span, .context = &from};
    return larder_store(pool, &key, &value, terms);
}

enum larder_result put_with(larder_pool *pool, larder_key key, const void *bytes, size_t size, enum larder_mode mode,
                            uint64_t expiry)
{
    const larder_terms terms = {.mode = mode, .expiry = expiry};
    return put_span(pool, key, bytes, size, &terms);
}

enum larder_result put_under(larder_pool *pool, const char *key, const char *text, const larder_terms *terms)
{
    return put_span(pool, key_of(key), text, strlen(text), terms);
}

enum larder_result put_bytes(larder_pool *pool, larder_key key, const void *bytes, size_t size)
{
    return put_with(pool, key, bytes, size, LARDER_SET, LARDER_NO_EXPIRY);
}

enum larder_result put_text(larder_pool *pool, const char *key, const char *text)
{
    return put_bytes(pool, key_of(key), text, strlen(text));
}

static bool copy_hit(const larder_pool *pool, const larder_hit *hit, void *to, size_t most, size_t *size)
{
    const void *value = larder_hit_value(pool, hit, size);
    if (value == NULL) {
        return false;
    }
    memcpy(to, value, *size < most ? *size : most);
    return true;
}

bool take(larder_pool *pool, larder_key key, void *to, size_t most, size_t *size)
{
    larder_hit hit;
    if (!larder_get(pool, &key, &hit)) {
        return false;
    }
    bool copied = copy_hit(pool, &hit, to, most, size);
    if (hit.hold == LARDER_UNPINNED && !larder_hit_confirm(pool, &hit)) {
        if (!larder_get_pinned(pool, &key, &hit)) {
            return false;
        }
        copied = copy_hit(pool, &hit, to, most, size);
    }
    larder_hit_drop(pool, &hit);
    return copied;
}

bool holds_text(larder_pool *pool, const char *key, const char *text)
{
    char found[4096];
    size_t size;
    return take(pool, key_of(key), found, sizeof found, &size) && size == strlen(text) &&
           memcmp(found, text, size) == 0;
}

uint64_t digest(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = size;
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}
