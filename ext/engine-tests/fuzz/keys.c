/* Any bytes as keys: each is a key of its own, comes back as it was stored, is listed, and is gone when it was deleted.
 *
 *     bytes = (length, operation, key) ...
 *
 * Of 1 to 64 bytes; or, from a length byte of 248 on, these bytes over and over, up to one of the lengths at which
 * something changes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"
#include "engine/larder.h"

#include <stdlib.h>
#include <string.h>

#define MOST 512u

/* Each takes two segments of the pool's 50, and as many again when it is replaced. */
#define LONG_MOST 12u
static const size_t long_lengths[8] = {255, 256, 4095, 4096, 32768, 65472, LARDER_KEY_MAX - 1, LARDER_KEY_MAX};

typedef struct known {
    const uint8_t *bytes;
    size_t length;
    uint32_t value; /* 0: none */
} known;

typedef struct listing {
    const known *keys;
    size_t count, listed;
} listing;

static known *find(known *keys, size_t *count, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < *count; i++) {
        if (keys[i].length == length && memcmp(keys[i].bytes, bytes, length) == 0) {
            return &keys[i];
        }
    }
    keys[*count] = (known){.bytes = bytes, .length = length};
    return &keys[(*count)++];
}

static bool is_listed(void *context, const char *key, size_t length)
{
    listing *of = context;
    for (size_t i = 0; i < of->count; i++) {
        if (of->keys[i].value != 0 && of->keys[i].length == length && memcmp(of->keys[i].bytes, key, length) == 0) {
            of->listed++;
            return true;
        }
    }
    fuzz_found("a key is listed", "that is not there");
}

static void operate(larder_pool *pool, known *key, uint8_t operation, uint32_t number)
{
    const larder_terms terms = {.mode = LARDER_SET, .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
    const larder_key name = fuzz_key(key->bytes, key->length);
    switch (operation % 4) {
    case 0:
        if (larder_delete(pool, &name) != (key->value != 0)) {
            fuzz_found("a delete", "does not know what was there");
        }
        key->value = 0;
        break;
    case 1:
        if (larder_touch(pool, &name, LARDER_NO_EXPIRY) != (key->value != 0)) {
            fuzz_found("a touch", "does not know what was there");
        }
        break;
    default:
        if (fuzz_put(pool, name, &number, sizeof number, &terms) != LARDER_OK) {
            fuzz_found("a store", "was refused");
        }
        key->value = number;
    }
}

static const uint8_t *repeat(const uint8_t *bytes, size_t count, size_t length, unsigned which)
{
    static uint8_t key[LONG_MOST][LARDER_KEY_MAX];
    for (size_t i = 0; i < length; i++) {
        key[which][i] = bytes[i % count];
    }
    return key[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static known keys[MOST];
    size_t count = 0, live = 0, at = 0;
    unsigned longer = 0;
    larder_pool *pool = fuzz_open();
    for (uint32_t number = 1; at + 3 <= size && number < MOST; number++) {
        uint8_t head = data[at], operation = data[at + 1];
        size_t length = 1 + head % 64u, left = size - at - 2;
        const uint8_t *bytes = data + at + 2;
        length = length < left ? length : left;
        at += 2 + length;
        if (head >= 248 && longer < LONG_MOST) {
            size_t long_length = long_lengths[head - 248];
            bytes = repeat(bytes, length, long_length, longer++);
            length = long_length;
        }
        operate(pool, find(keys, &count, bytes, length), operation, number);
    }
    for (size_t i = 0; i < count; i++) {
        const larder_key name = fuzz_key(keys[i].bytes, keys[i].length);
        live += keys[i].value != 0;
        if (fuzz_get(pool, name, &keys[i].value, sizeof keys[i].value) != (keys[i].value != 0)) {
            fuzz_found("a key is there or not", "other than was done");
        }
    }
    listing of = {.keys = keys, .count = count};
    larder_each_key(pool, "", 0, is_listed, &of);
    if (of.listed != live) {
        fuzz_found("a key", "is not listed");
    }
    larder_pool_close(pool);
    fuzz_remove();
    return 0;
}
