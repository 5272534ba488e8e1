/* PHP's hash of a string, for long ones.
 *
 * PHP's function (DJBX33A: Daniel J. Bernstein's, times 33 with addition) is a polynomial in 33 whose coefficients are
 * the bytes. It takes them one after another, each waiting for the product before it, at a byte a cycle or so; a page
 * of HTML that is stored would spend more time there than in being copied. The same sum can be had from its halves:
 *
 *     8 bytes in a word:      b0 b1 | b2 b3 | b4 b5 | b6 b7
 *     4 sums of 16 bits:      b0*33 + b1, ...              (at most 8,670)
 *     2 sums of 32 bits:      first*33^2 + second, ...     (at most 9,450,300)
 *     1 sum of 64 bits:       first*33^4 + second
 *
 * and four words at a time need one product that waits for another. Where C's char is signed, so are the bytes: they
 * are made 128 too large, and what that adds to the sum, a constant, is taken off. Little-endian, as everything here.
 */
#ifndef LARDER_IMAGE_HASH_H
#define LARDER_IMAGE_HASH_H

#include "php.h"

#define LARDER_33_2 UINT64_C(1089)
#define LARDER_33_4 UINT64_C(1185921)
#define LARDER_33_8 (LARDER_33_4 * LARDER_33_4)

#if CHAR_MIN < 0
#define LARDER_CHAR_BIAS UINT64_C(0x8080808080808080)
#else
#define LARDER_CHAR_BIAS UINT64_C(0)
#endif

/* Below this many bytes PHP's own is as fast. */
#define LARDER_HASH_LONG 64u

static inline uint64_t larder_hash_of_eight(const char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    word ^= LARDER_CHAR_BIAS;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 33 + (word >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    word = (word & UINT64_C(0x0000ffff0000ffff)) * LARDER_33_2 + (word >> 16 & UINT64_C(0x0000ffff0000ffff));
    return (word & UINT64_C(0xffffffff)) * LARDER_33_4 + (word >> 32);
}

/* What zend_hash_func() returns. */
static inline zend_ulong larder_hash_of(const char *bytes, size_t length)
{
    const uint64_t power16 = LARDER_33_8 * LARDER_33_8, power24 = power16 * LARDER_33_8, power32 = power16 * power16;
    /* The sum of 33^0 to 33^7, so many times as a byte is too large; then of 32 bytes. */
    const uint64_t excess8 = (LARDER_33_8 - 1) / 32 * (LARDER_CHAR_BIAS & 0xff);
    const uint64_t excess32 = excess8 * (1 + LARDER_33_8 + power16 + power24);
    uint64_t hash = 5381;
    for (; length >= 32; length -= 32, bytes += 32) {
        hash = hash * power32 + (larder_hash_of_eight(bytes) * power24 + larder_hash_of_eight(bytes + 8) * power16) +
               (larder_hash_of_eight(bytes + 16) * LARDER_33_8 + larder_hash_of_eight(bytes + 24)) - excess32;
    }
    for (; length >= 8; length -= 8, bytes += 8) {
        hash = hash * LARDER_33_8 + larder_hash_of_eight(bytes) - excess8;
    }
    for (; length > 0; length--, bytes++) {
        hash = hash * 33 + (uint64_t)*bytes; /* signed, if it is */
    }
    return hash | UINT64_C(0x8000000000000000); /* 0 is for a string that has not been hashed */
}

#endif
