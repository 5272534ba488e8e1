/* Is a long string valid UTF-8?
 *
 * PHP looks at a string when it is first matched by a pattern with /u, or (from 8.3 on) searched by mbstring, and then
 * marks it as valid. A string in an image cannot be marked, and would be looked at anew for each match: a lexer that
 * goes through a text, match after match, would take time that grows with the square of its length. So images have the
 * mark from the beginning.
 *
 * PCRE takes the mark on trust: it is for what RFC 3629 allows, no surrogates, nothing longer than need be.
 */
#ifndef LARDER_IMAGE_UTF8_H
#define LARDER_IMAGE_UTF8_H

#include "php.h"

/* Below this many bytes a look takes less than the match. */
#define LARDER_UTF8_LONG 256u

#define LARDER_BEYOND_ASCII UINT64_C(0x8080808080808080)

/* The next byte that may be beyond ASCII, or the first of the last few. */
static inline const unsigned char *larder_after_ascii(const unsigned char *at, const unsigned char *end)
{
    uint64_t words[4];
    for (; end - at >= (ptrdiff_t)sizeof words; at += sizeof words) {
        memcpy(words, at, sizeof words);
        if ((words[0] | words[1] | words[2] | words[3]) & LARDER_BEYOND_ASCII) {
            break;
        }
    }
    for (; end - at >= (ptrdiff_t)sizeof *words; at += sizeof *words) {
        memcpy(words, at, sizeof *words);
        if (words[0] & LARDER_BEYOND_ASCII) {
            break;
        }
    }
    return at;
}

/* The bytes of the character that begins here and is beyond ASCII; 0: there is none. Reads up to the first byte that
 * does not belong to it. */
static inline size_t larder_utf8_character(const unsigned char *at)
{
    const unsigned char lead = at[0];
    if (lead < 0xc2 || lead > 0xf4) {
        return 0;
    }
    const unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < least || at[1] > most) {
        return 0;
    }
    if (lead < 0xe0) {
        return 2;
    }
    if ((at[2] & 0xc0) != 0x80) {
        return 0;
    }
    if (lead < 0xf0) {
        return 3;
    }
    return (at[3] & 0xc0) == 0x80 ? 4 : 0;
}

/* A nul byte, which no character beyond ASCII has, ends the string. */
static inline bool larder_is_utf8(const zend_string *string)
{
    const unsigned char *at = (const unsigned char *)ZSTR_VAL(string), *end = at + ZSTR_LEN(string);
    while (at < end) {
        if (*at < 0x80) {
            const unsigned char *after = larder_after_ascii(at, end);
            at = after > at ? after : at + 1;
            continue;
        }
        size_t length = larder_utf8_character(at);
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return true;
}

#endif
