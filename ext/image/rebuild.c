/* Making values anew from the parts of an image.
 *
 * Three passes over the parts in memory order: find the classes and enum cases (only this runs user code, and
 * only this can fail, before anything was made), make every part with a raw copy of its content, then turn the
 * addresses in those copies into what was made. The raw copies are harmless if a memory limit ends the request
 * between: nothing in an image is marked as counted, so PHP frees nothing through them.
 *
 * No recursion, whatever refers to whatever; every reference to a part adds one to its count.
 */
#include "rebuild.h"
#include "class.h"
#include "part.h"

#include "zend_enum.h"

#define MADE_AT_FIRST 16 /* an object or two need no allocation */

struct rebuild {
    const char *image;
    const char *end;
    intptr_t shift;
    bool in_place;
    bool has_mixed; /* an object with both declared and dynamic properties was met */
    void **made;    /* by number: zend_object, zend_array, zend_string, zend_class_entry; NULL if not yet */
};

static void *seen_from_here(const struct rebuild *rebuild, const void *address)
{
    return (void *)((uintptr_t)address + (uintptr_t)rebuild->shift);
}

/* Is this part one that is made anew, or do those begin here that are used in place? */
static inline bool goes_on(const struct rebuild *rebuild, const char *at)
{
    const zend_refcounted_h *part = (const zend_refcounted_h *)at;

    if (at >= rebuild->end || larder_part_type(part) == IS_STRING) {
        return false;
    }
    return !rebuild->in_place || larder_part_type(part) != IS_ARRAY ||
           !larder_array_is_in_place((const zend_array *)part);
}

static inline const char *next(const char *at)
{
    return at + larder_part_size((const zend_refcounted_h *)at);
}

static uint32_t count_parts(const struct rebuild *rebuild)
{
    const char *at = rebuild->image;
    uint32_t count = 0;

    for (; goes_on(rebuild, at); at = next(at)) {
        count++;
    }
    for (; !rebuild->in_place && at < rebuild->end; at = next(at)) {
        count++;
    }
    return count;
}

static zend_class_entry *find_class(struct rebuild *rebuild, const struct larder_class_part *part)
{
    void **made = &rebuild->made[larder_part_number(&part->gc)];

    if (!*made) {
        const struct larder_class *class = larder_class_named(seen_from_here(rebuild, part->name));
        if (!class) {
            return NULL;
        }
        zend_class_entry *entry = class->entry;
        if (part->layout ? !class->plain || class->layout != part->layout : !(entry->ce_flags & ZEND_ACC_ENUM)) {
            return NULL;
        }
        if (!(entry->ce_flags & ZEND_ACC_CONSTANTS_UPDATED) && zend_update_class_constants(entry) != SUCCESS) {
            return NULL;
        }
        *made = entry;
    }
    return *made;
}

static zend_object *find_case(struct rebuild *rebuild, const struct larder_case_part *part)
{
    zend_class_entry *enumeration = find_class(rebuild, seen_from_here(rebuild, part->enumeration));
    if (!enumeration) {
        return NULL;
    }
    zend_class_constant *constant =
        zend_hash_find_ptr(CE_CONSTANTS_TABLE(enumeration), seen_from_here(rebuild, part->name));
    if (!constant || !(ZEND_CLASS_CONST_FLAGS(constant) & ZEND_CLASS_CONST_IS_CASE)) {
        return NULL;
    }
    if (Z_TYPE(constant->value) == IS_CONSTANT_AST &&
        zval_update_constant_ex(&constant->value, constant->ce) != SUCCESS) {
        return NULL;
    }
    return Z_OBJ(constant->value);
}

static bool find_classes(struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; goes_on(rebuild, at); at = next(at)) {
        const zend_refcounted_h *part = (const zend_refcounted_h *)at;
        if (larder_part_type(part) == LARDER_PART_CLASS) {
            if (!find_class(rebuild, (const struct larder_class_part *)part)) {
                return false;
            }
        } else if (larder_part_type(part) == LARDER_PART_CASE) {
            zend_object *object = find_case(rebuild, (const struct larder_case_part *)part);
            if (!object) {
                return false;
            }
            rebuild->made[larder_part_number(part)] = object;
        }
    }
    return true;
}

static zend_array *make_array(const zend_array *part)
{
    zend_array *array;
    ALLOC_HASHTABLE(array);
    *array = *part;
    GC_TYPE_INFO(array) = GC_ARRAY;
    GC_SET_REFCOUNT(array, 0);
    array->pDestructor = ZVAL_PTR_DTOR;

    void *content = emalloc(HT_IS_PACKED(part) ? HT_PACKED_SIZE(part) : HT_SIZE(part));
    memcpy(content, larder_array_content(part), larder_array_content_size(part));
    HT_SET_DATA_ADDR(array, content);
    return array;
}

static zend_object *make_object(const struct rebuild *rebuild, const struct larder_object_part *part)
{
    const struct larder_class_part *class = seen_from_here(rebuild, part->class);
    zend_object *object = zend_objects_new(rebuild->made[larder_part_number(&class->gc)]);

    GC_SET_REFCOUNT(object, 0);
    memcpy(object->properties_table, part->properties, part->slots * sizeof(zval));
    return object;
}

static zend_string *make_string(struct rebuild *rebuild, const zend_string *part)
{
    void **made = &rebuild->made[larder_part_number(&part->gc)];

    if (!*made) {
        zend_string *string = zend_string_init_fast(part->val, part->len);
        if (!ZSTR_IS_INTERNED(string)) {
            GC_SET_REFCOUNT(string, 0);
            ZSTR_H(string) = part->h;
        }
        *made = string;
    }
    return *made;
}

static void make_parts(struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; goes_on(rebuild, at); at = next(at)) {
        const zend_refcounted_h *part = (const zend_refcounted_h *)at;
        if (larder_part_type(part) == IS_ARRAY) {
            rebuild->made[larder_part_number(part)] = make_array((const zend_array *)part);
        } else if (larder_part_type(part) == IS_OBJECT) {
            rebuild->made[larder_part_number(part)] = make_object(rebuild, (const struct larder_object_part *)part);
        }
    }
}

/* Turns the address of a part into what was made of it. The second half of the zval stays as it is. */
static inline void fill_value(struct rebuild *rebuild, zval *value)
{
    if (Z_TYPE_P(value) < IS_STRING || (rebuild->in_place && Z_TYPE_P(value) == IS_STRING)) {
        return;
    }
    const zend_refcounted_h *part = seen_from_here(rebuild, Z_PTR_P(value));
    switch (larder_part_type(part)) {
    case IS_STRING:
        ZVAL_STR_COPY(value, make_string(rebuild, (const zend_string *)part));
        break;
    case IS_ARRAY:
        if (!rebuild->in_place || !larder_array_is_in_place((const zend_array *)part)) {
            ZVAL_ARR(value, rebuild->made[larder_part_number(part)]);
            Z_ADDREF_P(value);
        }
        break;
    default:
        ZVAL_OBJ_COPY(value, rebuild->made[larder_part_number(part)]);
    }
}

static void fill_array(struct rebuild *rebuild, zend_array *array)
{
    if (HT_IS_PACKED(array)) {
        for (uint32_t i = 0; i < array->nNumUsed; i++) {
            fill_value(rebuild, &array->arPacked[i]);
        }
        return;
    }
    if (!rebuild->in_place) {
        HT_FLAGS(array) &= ~(uint32_t)HASH_FLAG_STATIC_KEYS;
    }
    for (uint32_t i = 0; i < array->nNumUsed; i++) {
        Bucket *bucket = &array->arData[i];
        if (bucket->key && !rebuild->in_place) {
            bucket->key = zend_string_copy(make_string(rebuild, seen_from_here(rebuild, bucket->key)));
        }
        fill_value(rebuild, &bucket->val);
    }
}

static void fill_object(struct rebuild *rebuild, const struct larder_object_part *part, zend_object *object)
{
    for (uint32_t i = 0; i < part->slots; i++) {
        fill_value(rebuild, &object->properties_table[i]);
    }
    if (part->dynamic) {
        const zend_array *dynamic = seen_from_here(rebuild, part->dynamic);
        object->properties = rebuild->made[larder_part_number(&dynamic->gc)];
        GC_ADDREF(object->properties);
        rebuild->has_mixed |= part->slots > 0;
    }
}

static void fill_parts(struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; goes_on(rebuild, at); at = next(at)) {
        const zend_refcounted_h *part = (const zend_refcounted_h *)at;
        void *made = rebuild->made[larder_part_number(part)];
        if (larder_part_type(part) == IS_ARRAY) {
            fill_array(rebuild, made);
        } else if (larder_part_type(part) == IS_OBJECT) {
            fill_object(rebuild, (const struct larder_object_part *)part, made);
        }
    }
}

/* PHP keeps one table for both kinds of properties, in which the declared ones come first. */
static void unite_properties(zend_object *object)
{
    zend_array *dynamic = object->properties;
    zend_string *name;
    zend_ulong index;
    zval *value;

    object->properties = NULL;
    zend_array *all = zend_std_get_properties(object);
    ZEND_HASH_FOREACH_KEY_VAL(dynamic, index, name, value)
    {
        if (name) {
            zend_hash_add_new(all, name, value);
            zend_string_release(name);
        } else {
            zend_hash_index_add_new(all, index, value);
        }
    }
    ZEND_HASH_FOREACH_END();
    efree(HT_GET_DATA_ADDR(dynamic));
    FREE_HASHTABLE(dynamic);
}

static void unite_mixed(const struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; goes_on(rebuild, at); at = next(at)) {
        const struct larder_object_part *part = (const struct larder_object_part *)at;
        if (larder_part_type(&part->gc) == IS_OBJECT && part->slots && part->dynamic) {
            unite_properties(rebuild->made[larder_part_number(&part->gc)]);
        }
    }
}

static void take_root(const struct rebuild *rebuild, zval *result)
{
    if (larder_part_type((const zend_refcounted_h *)rebuild->image) == IS_ARRAY) {
        ZVAL_ARR(result, rebuild->made[0]);
        Z_ADDREF_P(result);
    } else {
        ZVAL_OBJ_COPY(result, rebuild->made[0]);
    }
}

bool larder_rebuild(zval *result, const void *image, size_t size, intptr_t shift, bool in_place)
{
    void *few[MADE_AT_FIRST] = {NULL};
    struct rebuild rebuild = {
        .image = image,
        .end = (const char *)image + size,
        .shift = shift,
        .in_place = in_place,
        .made = few,
    };
    uint32_t count = count_parts(&rebuild);
    bool found;

    if (count > MADE_AT_FIRST) {
        rebuild.made = ecalloc(count, sizeof(void *));
    }
    found = find_classes(&rebuild);
    if (found) {
        make_parts(&rebuild);
        fill_parts(&rebuild);
        if (rebuild.has_mixed) {
            unite_mixed(&rebuild);
        }
        take_root(&rebuild, result);
    }
    if (rebuild.made != few) {
        efree(rebuild.made);
    }
    return found;
}
