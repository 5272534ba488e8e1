/* The parts of an image and how they lie behind one another.
 *
 *   made anew on each read                     used in place                        used in place
 *  +------+--------+-------+-----------------+---------+---------+---------------+--------+--------+-----
 *  | root | object | class | array with ...  | array   | array   | ...           | string | string | ...
 *  +------+--------+-------+-----------------+---------+---------+---------------+--------+--------+-----
 *   ^ where the image starts                  root, if the value is an array without objects
 *
 * Every part starts with PHP's reference header. Its type says what the part is, so its size follows from the
 * part itself and an image is walked from start to end without following a single address: that is all that
 * moving an image needs, and nothing is ever visited twice or recursed into, however parts refer to one
 * another. Arrays keep their elements right behind their header for the same reason. Strings have no
 * addresses inside and come last, so a walk that only adjusts addresses ends at the first of them.
 *
 * Parts are numbered in this order, and PHP never looks at the reference count of what it may not change, so
 * the count holds the number (plus two: PHP takes a count of one as leave to write). A reader that makes
 * parts anew keeps what it made in an array under that number: one object, array or string in the
 * value that was stored is one again in the value that is read, cycles included.
 *
 * Arrays are marked immutable if they are used in place. One that has an object, or a reference that leads elsewhere
 * too, somewhere inside is not.
 *
 * Dates of PHP's own are parts with the state that their class keeps in C (date.c).
 *
 * Objects whose classes say themselves what they are made of (__serialize, __sleep and the like) are parts with what
 * they told. When everything is made, each has its turn: it is given that, or woken. Turns go from the inside to the
 * outside, as unserialize() takes them, so that an object finds complete what it is given.
 */
#ifndef LARDER_PART_H
#define LARDER_PART_H

#include "php.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types that PHP never gives to a part of its own that could be met here. */
#define LARDER_PART_CASE   IS_CONSTANT_AST
#define LARDER_PART_CLASS  IS_PTR
#define LARDER_PART_TELLER IS_RESOURCE
#define LARDER_PART_DATE   IS_INDIRECT

#define LARDER_FIRST_REFCOUNT 2u

#define LARDER_ARRAY_IN_PLACE  (GC_ARRAY | ((GC_IMMUTABLE | GC_PERSISTENT | GC_NOT_COLLECTABLE) << GC_FLAGS_SHIFT))
#define LARDER_ARRAY_MADE_ANEW (GC_ARRAY | (GC_NOT_COLLECTABLE << GC_FLAGS_SHIFT))
/* Interned and no more: a string that is also persistent is one that PCRE and others keep beyond the request. */
#define LARDER_STRING_IN_PLACE (GC_STRING | (IS_STR_INTERNED << GC_FLAGS_SHIFT))

struct larder_class_part {
    zend_refcounted_h gc;
    uint64_t layout;   /* what larder_class_of said when the image was written; 0 for an enum */
    zend_string *name; /* as the class was declared */
};

struct larder_case_part {
    zend_refcounted_h gc;
    struct larder_class_part *enumeration;
    zend_string *name;
};

struct larder_object_part {
    zend_refcounted_h gc;
    struct larder_class_part *class;
    zend_array *dynamic; /* the properties that its class does not declare, or NULL */
    uint32_t slots;
    uint32_t turn;     /* when its __wakeup() is called, from 1; 0: never */
    zval properties[]; /* with PHP's flag for a typed property that was never set */
};

/* An object that tells what it is to be made of; the turn comes in which it is. */
struct larder_teller_part {
    zend_refcounted_h gc;
    struct larder_class_part *class;
    uint32_t form; /* enum larder_form */
    uint32_t turn;
    zval told; /* an array or a string */
};

/* A variable that is more than one element or property. */
struct larder_reference_part {
    zend_refcounted_h gc;
    zval value;
};

#define LARDER_ZONE_LENGTH         40u /* of PHP's names of time zones the longest has 32 */
#define LARDER_ABBREVIATION_LENGTH 8u

/* A date, time zone or interval of PHP's own: what its class keeps of it in C. */
struct larder_date_part {
    zend_refcounted_h gc;
    struct larder_class_part *class;
    uint8_t type;      /* enum larder_date_type, see date.h */
    uint8_t zone_type; /* timelib's: 1 an offset, 2 an abbreviation, 3 a name */
    uint8_t month, day, hour, minute, second;
    uint8_t invert;
    int32_t year;
    uint32_t microsecond;
    int32_t offset; /* seconds east of Greenwich; summer time is in it where the zone has a name */
    int32_t dst;
    union {
        struct {
            int64_t seconds;               /* since the epoch */
            uint64_t rules;                /* of the zone: a hash of them where it has a name */
            char zone[LARDER_ZONE_LENGTH]; /* its name or abbreviation; "" for an offset */
            char abbreviation[LARDER_ABBREVIATION_LENGTH];
        };
        struct {
            int64_t years, months, days, hours, minutes, seconds_more, days_in_all;
        } interval;
    };
};

static inline uint32_t larder_part_type(const zend_refcounted_h *part)
{
    return part->u.type_info & GC_TYPE_MASK;
}

static inline uint32_t larder_part_number(const zend_refcounted_h *part)
{
    return part->refcount - LARDER_FIRST_REFCOUNT;
}

static inline bool larder_array_is_in_place(const zend_array *array)
{
    return (array->gc.u.type_info & (GC_IMMUTABLE << GC_FLAGS_SHIFT)) != 0;
}

/* nTableSize for so many elements: PHP wants a power of two, and never less than its least. */
static inline uint32_t larder_table_size(uint32_t elements)
{
    if (elements <= HT_MIN_SIZE) {
        return HT_MIN_SIZE;
    }
    return 2u << (31 - __builtin_clz(elements - 1));
}

/* Bytes of the hash in front of so many buckets. */
static inline size_t larder_hash_size(uint32_t elements)
{
    return HT_HASH_SIZE(HT_SIZE_TO_MASK(larder_table_size(elements)));
}

/* Bytes of the elements of an array and of the hash in front of them. */
static inline size_t larder_array_content_size(const zend_array *array)
{
    return HT_IS_PACKED(array) ? HT_PACKED_USED_SIZE(array) : HT_USED_SIZE(array);
}

/* The hash and elements of an array in an image, wherever this process sees it. */
static inline void *larder_array_content(const zend_array *array)
{
    return (char *)(uintptr_t)array + sizeof(zend_array);
}

static inline void *larder_array_elements(const zend_array *array)
{
    return (char *)larder_array_content(array) + HT_HASH_SIZE(array->nTableMask);
}

static inline size_t larder_string_size(size_t length)
{
    return ZEND_MM_ALIGNED_SIZE_EX(_ZSTR_STRUCT_SIZE(length), sizeof(uint64_t));
}

static inline size_t larder_object_size(uint32_t slots)
{
    return sizeof(struct larder_object_part) + slots * sizeof(zval);
}

static inline size_t larder_part_size(const zend_refcounted_h *part)
{
    switch (larder_part_type(part)) {
    case IS_ARRAY:
        return sizeof(zend_array) + larder_array_content_size((const zend_array *)part);
    case IS_OBJECT:
        return larder_object_size(((const struct larder_object_part *)part)->slots);
    case LARDER_PART_CLASS:
        return sizeof(struct larder_class_part);
    case LARDER_PART_CASE:
        return sizeof(struct larder_case_part);
    case LARDER_PART_TELLER:
        return sizeof(struct larder_teller_part);
    case LARDER_PART_DATE:
        return sizeof(struct larder_date_part);
    case IS_REFERENCE:
        return sizeof(struct larder_reference_part);
    default:
        return larder_string_size(((const zend_string *)part)->len);
    }
}

#endif
