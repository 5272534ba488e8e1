/* Keys, their hashes and their names.
 *
 * Items are found by a hash that PHP keeps in its strings, so that for most keys it is already there. It is a weak one:
 * 33 * '1' + 'Q' is 33 * '2' + '0', and "sku:1Q" and "sku:20" have the same. To the index that is no matter, as it
 * compares the bytes. A table that cannot compare them, because it keeps no keys, goes by a name into which they are
 * mixed.
 */
#ifndef LARDER_KEY_H
#define LARDER_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct larder_key {
    const char *bytes;
    uint32_t length; /* 1 to LARDER_KEY_MAX */
    uint64_t hash;   /* larder_hash() of them */
} larder_key;

/* 33 * h + byte over all bytes from 5381, with the highest bit set. It is mixed with the pool's seed before use. */
uint64_t larder_hash(const char *bytes, size_t length);

/* The same of a prefix and, behind it, `length` bytes: out of the hashes of both, without looking at their bytes. */
uint64_t larder_hash_behind(uint64_t prefix, uint64_t hash, size_t length);

/* What a key is known by where its bytes are not kept. Never 0. */
uint64_t larder_name_of(const larder_key *key);

/* Like memcmp() == 0, without the call for the usual length. */
static inline bool larder_same_bytes(const char *a, const char *b, size_t length)
{
    uint64_t x = 0, y = 0;
    if (length > 64) {
        return memcmp(a, b, length) == 0;
    }
    if (length < 4) {
        for (size_t i = 0; i < length; i++) {
            x |= (uint64_t)(unsigned char)(a[i] ^ b[i]);
        }
        return x == 0;
    }
    if (length < 8) {
        uint32_t v, w;
        memcpy(&v, a, sizeof v);
        memcpy(&w, b, sizeof w);
        x = v ^ w;
        memcpy(&v, a + length - 4, sizeof v);
        memcpy(&w, b + length - 4, sizeof w);
        return (x | (v ^ w)) == 0;
    }
    for (size_t i = 0; i + 8 < length; i += 8) {
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, b + i, sizeof y);
        if (x != y) {
            return false;
        }
    }
    memcpy(&x, a + length - 8, sizeof x); /* the last eight, overlapping */
    memcpy(&y, b + length - 8, sizeof y);
    return x == y;
}

#endif
