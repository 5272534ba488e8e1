/* Keys, their hashes and their names.
 *
 * Items are found by a hash that PHP keeps in its strings, so that for most keys it is already there. It is a weak one:
 * 33 * '1' + 'Q' is 33 * '2' + '0', and "sku:1Q" and "sku:20" have the same. To the index that is no matter, as it
 * compares the bytes. Who cannot compare them, because it keeps no keys, goes by a name into which they are mixed.
 */
#ifndef LARDER_KEY_H
#define LARDER_KEY_H

#include <stddef.h>
#include <stdint.h>

typedef struct larder_key {
    const char *bytes;
    uint32_t length; /* 1 to LARDER_KEY_MAX */
    uint64_t hash;   /* larder_hash() of them */
} larder_key;

/* 33 * h + byte over all bytes from 5381, with the highest bit set. It is mixed with the pool's seed before use. */
uint64_t larder_hash(const char *bytes, size_t length);

/* What a key is known by where its bytes are not kept. Never 0. */
uint64_t larder_name_of(const larder_key *key);

#endif
