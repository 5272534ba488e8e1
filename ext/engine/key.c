#include "key.h"

#include <string.h>

#define FIRST   5381u /* the hash of no bytes */
#define HIGHEST (UINT64_C(1) << 63)

uint64_t larder_hash(const char *bytes, size_t length)
{
    uint64_t hash = FIRST;
    for (size_t i = 0; i < length; i++) {
        hash = hash * 33 + (uint64_t)bytes[i]; /* signed where char is: as PHP does it */
    }
    return hash | HIGHEST;
}

/* Each byte behind the prefix multiplies what it has come to by 33, and is added. The highest bits, which are set and
 * not reckoned, change no others. */
uint64_t larder_hash_behind(uint64_t prefix, uint64_t hash, size_t length)
{
    uint64_t power = 33;
    prefix -= FIRST;
    for (; length > 0; length >>= 1) {
        if ((length & 1) != 0) {
            prefix *= power;
        }
        power *= power;
    }
    return (prefix + hash) | HIGHEST;
}

/* Each step can be undone, so keys of one length and hash that differ in one word never have the same name. */
static uint64_t mix_in(uint64_t name, uint64_t word)
{
    name = (name ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return name ^ name >> 32;
}

uint64_t larder_name_of(const larder_key *key)
{
    uint64_t name = mix_in(0, key->hash), word = 0; /* the hash of a byte is that byte, but for a constant */
    size_t whole = key->length / sizeof word * sizeof word;
    for (size_t at = 0; at < whole; at += sizeof word) {
        memcpy(&word, key->bytes + at, sizeof word);
        name = mix_in(name, word);
    }
    word = 0;
    memcpy(&word, key->bytes + whole, key->length - whole);
    name = mix_in(name, word);
    return name == 0 ? 1 : name;
}
