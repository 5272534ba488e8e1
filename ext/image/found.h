/* What a survey found inside an array or an object that shall be written: the struct that survey.c fills, unfold.c
 * asks, settle.c completes and write.c follows.
 */
#ifndef LARDER_FOUND_H
#define LARDER_FOUND_H

#include "part.h"
#include "seen.h"

#define LARDER_FOUND_AT_FIRST 16

enum larder_found_type {
    LARDER_FOUND_ARRAY,
    LARDER_FOUND_DYNAMIC, /* the table of an object's properties that its class does not declare */
    LARDER_FOUND_OBJECT,
    LARDER_FOUND_CASE,
    LARDER_FOUND_CLASS,
    LARDER_FOUND_TELLER, /* an object that told itself what it is to be made of, */
    LARDER_FOUND_TOLD,   /* and the array in which it did */
    LARDER_FOUND_REFERENCE,
    LARDER_FOUND_DATE,
};

/* The position of a table in the object whose own it is. */
#define LARDER_OWN_TABLE UINT32_MAX

/* One part to be, except for strings. */
struct larder_found {
    void *source;    /* zend_array, zend_object, zend_class_entry or zend_reference */
    size_t offset;   /* of the part in the image */
    uint32_t parent; /* the value it was found in first, and which element or slot of it: the way to it */
    uint32_t position;
    uint32_t elements; /* tables: how many zvals or buckets are written, */
    uint32_t live;     /* and how many of them are no holes; references: how often it was met */
    uint32_t number;   /* of the part */
    uint32_t turn;     /* objects: their turn to be woken when the value is read, from 1; 0: they have none */
    uint8_t type;
    bool packed;
    bool rebuilt; /* made anew on each read */
    bool plain;   /* a reference that leads nowhere else, so that what it refers to stands in its place */
};

/* A table or a reference that was met again in another find. */
struct larder_shared {
    uint32_t parent;
    uint32_t child;
};

/* What `bound` says of a reference, */
#define LARDER_BOUND_VARIABLE 1 /* it is a part, if it is met twice */
/* and of an array: it is written once for each place. It has this place in the table of what was met, too: none that
 * was met is as far behind. */
#define LARDER_BOUND_APART SIZE_MAX

struct larder_answers;

struct larder_survey {
    struct larder_found *found;
    uint32_t count;
    uint32_t capacity;
    uint32_t shared_count;
    uint32_t shared_capacity;
    struct larder_shared *shared;
    struct larder_answers *answers; /* the answers; NULL as long as nothing was asked */
    size_t strings;                 /* bytes of all strings */
    size_t parts;                   /* bytes of everything before them */
    uint32_t part_count;            /* all but the strings */
    uint32_t turns;
    uint32_t objects; /* how often one was met */
    bool is_lone_object;
    bool has_references;
    bool has_shared_references;
    bool has_unasked;          /* an object that has to be asked first was met: sizes mean nothing */
    bool has_shared_table;     /* something else, in the value or not, has the very table of an object's properties */
    bool finds_all_references; /* those, too, that nothing else holds */
    bool knows_all_objects;    /* those, too, that nothing else holds: what holds them may be met again */
    struct larder_seen *bound; /* which references are variables, and which arrays stand apart; NULL: references that
                                  are met twice, and none */
    struct larder_seen seen;   /* by address */
    struct larder_seen *names; /* keys of nested arrays that only one array holds; NULL until there is one */
    struct larder_found first[LARDER_FOUND_AT_FIRST];
};

/* Is it an array to PHP, found on its own? */
static inline bool larder_found_array(const struct larder_found *found)
{
    return found->type == LARDER_FOUND_ARRAY || found->type == LARDER_FOUND_TOLD;
}

/* An array with something inside that is made anew on each read is itself, and so are those around it. */
static inline void larder_rebuild_upwards(struct larder_survey *survey, uint32_t index)
{
    while (!survey->found[index].rebuilt) {
        survey->found[index].rebuilt = true;
        index = survey->found[index].parent;
    }
}

/* Does what it refers to stand in its place, without looking for other places that the value has it in? */
static inline bool larder_survey_looks_through(const struct larder_survey *survey, const zend_reference *reference)
{
    if (survey->bound) {
        return !larder_seen_slot(survey->bound, reference)->key;
    }
    return GC_REFCOUNT(reference) == 1 && !survey->finds_all_references;
}

static inline bool larder_survey_object_may_be_shared(const struct larder_survey *survey, const zend_object *object)
{
    return survey->knows_all_objects || larder_may_be_shared(&object->gc);
}

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
    /* From the end: a value that has a slot comes first. */
    for (uint32_t i = table ? table->nNumUsed : 0; i > 0; i--) {
        if (larder_live_value(&table->arData[i - 1].val, true)) {
            return true;
        }
    }
    return false;
}

#endif
