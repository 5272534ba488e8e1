/* The door between PHP values and bytes: writes a value as an image, hands an image out as a value,
 * and adjusts an image that was moved. The only folder that knows zvals as they lie in memory.
 *
 * An image is PHP's own memory layout of a value, with absolute addresses inside, made for one place:
 * the address at which every process maps the pool read-only. A process that could not map the pool
 * there reads it at another place, `shift` bytes away, and gets copies only.
 */
#ifndef LARDER_IMAGE_H
#define LARDER_IMAGE_H

#include "php.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the bytes of an item's value are. The first group is the same for every PHP (ABI 0). */
enum larder_kind {
    LARDER_KIND_BYTES = 0,   /* a short string, raw; read as a copy */
    LARDER_KIND_COUNTER = 1, /* an int from -2^62 to 2^62 - 1, one atomic word; the engine reads and writes it */
    LARDER_KIND_INT = 2,     /* any other int, 8 bytes */
    LARDER_KIND_FLOAT = 3,   /* 8 bytes */
    LARDER_KIND_NULL = 4,    /* nothing */
    LARDER_KIND_FALSE = 5,   /* nothing */
    LARDER_KIND_TRUE = 6,    /* nothing */
    /* From here on: readable by PHPs of one ABI only. */
    LARDER_KIND_STRING = 16,           /* a long string, a zend_string */
    LARDER_KIND_ARRAY = 17,            /* an array without objects, used in place */
    LARDER_KIND_ARRAY_OF_OBJECTS = 18, /* one with objects or references inside, rebuilt along the path to them */
    LARDER_KIND_OBJECT = 19,
    LARDER_KIND_LONE_OBJECT = 20, /* one in which nothing else is made anew, so that no part is looked for */
};
#define LARDER_FIRST_KIND_WITH_ABI LARDER_KIND_STRING

/* A value on its way into the pool. Lives on the caller's stack between measure and discard. */
typedef struct larder_image_plan {
    uint8_t kind;
    bool held;                    /* by the plan, too, because code was run */
    size_t size;                  /* bytes the image takes; a multiple of 8 for kinds with an ABI */
    zval value;                   /* the value to be written; until discard it may not change, nor get holders inside */
    struct larder_survey *survey; /* what measure found inside an array or object; NULL for the rest */
    struct larder_answers *answers; /* what objects inside told of themselves; NULL if there was none to ask */
} larder_image_plan;

/* What went wrong with a value that cannot be stored. */
typedef struct larder_image_refusal {
    /* A clause with the path inside the value, to be released; if an exception is pending, that is the reason. */
    zend_string *message;
} larder_image_refusal;

/* What php_addcslashes() is to make visible in messages. */
#define LARDER_UNPRINTABLE "\0..\37\\\177..\377"

/* Decides how `value` is stored and how many bytes that takes; runs user code only here (__serialize and
 * friends). False: it cannot be stored, and `refusal` says why. */
bool larder_image_measure(larder_image_plan *plan, zval *value, larder_image_refusal *refusal);

/* Measures a value that is held once more, and runs no code: code that was run in between may have changed what is in
 * it. False: `refusal` says why. */
bool larder_image_measure_again(larder_image_plan *plan, larder_image_refusal *refusal);

/* Writes plan->size bytes at `to` (8-byte aligned for kinds with an ABI), as readers will see them at
 * `address`. Runs no user code and cannot fail. Never called for LARDER_KIND_COUNTER. */
void larder_image_write(const larder_image_plan *plan, void *to, uintptr_t address);

void larder_image_discard(larder_image_plan *plan);

/* Makes `result` the value of an image that lies at `image`, `shift` bytes from where it was made for.
 * With zero_copy (only if shift is 0) arrays and long strings are used in place: the caller has pinned them.
 * False: a miss. The image is of a class that is gone or has changed, or what it runs has thrown something, which is
 * dropped; only what is to end the request stays pending. Never called for LARDER_KIND_COUNTER. May run user code
 * (autoloading, __unserialize). */
bool larder_image_read(zval *result, uint8_t kind, const void *image, size_t size, intptr_t shift, bool zero_copy);

/* The same for an array that is used in place. Not counted, so PHP leaves the count alone and copies the array before
 * it writes to it. */
static zend_always_inline void larder_image_use_array(zval *result, const void *image)
{
    Z_ARR_P(result) = (zend_array *)(uintptr_t)image;
    Z_TYPE_INFO_P(result) = IS_ARRAY;
}

/* An image was copied byte by byte to `copy`, and readers will see it `move` bytes further on than before; makes
 * its inner addresses right. Follows none of them, so it does not matter where this process sees the copy. */
void larder_image_moved(void *copy, size_t size, uint8_t kind, intptr_t move);

/* Names what images depend on in this PHP: minor version, ZTS, debug, and so on. Never 0. */
uint32_t larder_image_abi(void);

/* At the start of every request (RINIT): forgets the classes of the request before, which may be gone. */
void larder_image_request_start(void);

#endif
