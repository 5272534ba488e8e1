/* What is inside an array or an object that shall be written: found by measure, used by write.
 *
 * Both go through what was found in the same order (breadth first, a plain list, no recursion) and count
 * strings and finds in the same way, so that write knows where everything goes without being told for each.
 */
#ifndef LARDER_SURVEY_H
#define LARDER_SURVEY_H

#include "part.h"
#include "seen.h"

#define LARDER_FOUND_AT_FIRST 16

enum larder_found_type {
    LARDER_FOUND_ARRAY,
    LARDER_FOUND_DYNAMIC, /* the table of an object's properties that its class does not declare */
    LARDER_FOUND_OBJECT,
    LARDER_FOUND_CASE,
    LARDER_FOUND_CLASS,
};

/* One part to be, except for strings. */
struct larder_found {
    void *source;    /* zend_array, zend_object or zend_class_entry */
    size_t offset;   /* of the part in the image */
    uint32_t parent; /* what it was found in first, and which element or slot of it: the way to it */
    uint32_t position;
    uint32_t elements; /* tables: how many zvals or buckets are written, */
    uint32_t live;     /* and how many of them are no holes */
    uint32_t number;   /* of the part */
    uint8_t type;
    bool packed;
    bool rebuilt; /* made anew on each read */
};

/* A table that was met again in another one. */
struct larder_shared {
    uint32_t parent;
    uint32_t child;
};

struct larder_survey {
    struct larder_found *found;
    uint32_t count;
    uint32_t capacity;
    uint32_t shared_count;
    uint32_t shared_capacity;
    struct larder_shared *shared;
    size_t strings; /* bytes of all strings */
    size_t parts;   /* bytes of everything before them */
    uint32_t depth;
    bool has_objects;
    bool has_references;
    bool to_be_serialized;     /* no image can hold it: only what cannot be stored at all is looked for now */
    struct larder_seen seen;   /* by address */
    struct larder_seen *names; /* keys of nested arrays that only one array holds; NULL until there is one */
    struct larder_found first[LARDER_FOUND_AT_FIRST];
};

/* Finds everything in `value`, an array or object; false with `refusal` filled in if something cannot be stored.
 * If it can only be serialised, to_be_serialized is set and the sizes mean nothing. */
struct larder_image_refusal;
bool larder_survey_run(struct larder_survey *survey, zval *value, struct larder_image_refusal *refusal);
void larder_survey_free(struct larder_survey *survey);

/* Does an array contain itself? */
bool larder_survey_has_cycle(const struct larder_survey *survey);

/* Says that `value`, element `position` of find `parent`, cannot be stored. */
void larder_refuse_value(struct larder_image_refusal *refusal, const struct larder_survey *survey, uint32_t parent,
                         uint32_t position, const zval *value);

/* What an element of a hash is worth writing: nothing for a hole, and in an object's table (`dynamic`) for a
 * property that has a slot, which such a table only points to. */
static inline zval *larder_live_value(zval *element, bool dynamic)
{
    if (Z_TYPE_P(element) == IS_INDIRECT) {
        if (dynamic) {
            return NULL;
        }
        element = Z_INDIRECT_P(element);
    }
    return Z_TYPE_P(element) == IS_UNDEF ? NULL : element;
}

static inline bool larder_has_dynamic_properties(const zend_object *object)
{
    const zend_array *table = object->properties;
    /* From the end: what has a slot comes first. */
    for (uint32_t i = table ? table->nNumUsed : 0; i > 0; i--) {
        if (larder_live_value(&table->arData[i - 1].val, true)) {
            return true;
        }
    }
    return false;
}

#endif
