/* Making values anew from the parts of an image.
 *
 * Passes over the parts in memory order: find the classes and enum cases (this runs user code: autoloaders) and begin
 * the objects that told what they are to be made of (either can fail, before anything else was made), make every part
 * with a raw copy of its content, then turn the addresses in those copies into what was made. Last, when the value is
 * whole, objects have their turns (this runs user code, too: wake.c). The raw copies are harmless if a memory limit
 * ends the request between: nothing in an image is marked as counted, so PHP frees nothing through them.
 *
 * No recursion, whatever refers to whatever; every reference to a part adds one to its count.
 */
#include "rebuild.h"
#include "class.h"
#include "date.h"
#include "make.h"
#include "part.h"
#include "wake.h"

#include "zend_enum.h"

#define MADE_AT_FIRST 16 /* a few objects need no allocation */

struct rebuild {
    const char *image;
    const char *end;
    intptr_t shift;
    bool in_place;
    bool has_dates;
    bool has_mixed;            /* an object with both declared and dynamic properties was met */
    void **made;               /* by number: zend_object, zend_array, and so on; NULL if not yet */
    struct larder_turn *turns; /* NULL if no object has one */
    uint32_t turn_count;
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

static inline bool has_turn(const zend_refcounted_h *part)
{
    return larder_part_type(part) == LARDER_PART_TELLER ||
           (larder_part_type(part) == IS_OBJECT && ((const struct larder_object_part *)part)->turn);
}

static inline void clear(struct rebuild *rebuild, uint32_t number)
{
    if (number < MADE_AT_FIRST) {
        rebuild->made[number] = NULL;
    }
}

/* Clears `made` for the parts that are counted, as far as it has room: to clear all of it takes a tenth of a small
   read. */
static uint32_t count_parts(struct rebuild *rebuild)
{
    const char *at = rebuild->image;
    uint32_t count = 0;

    for (; goes_on(rebuild, at); at = next(at)) {
        rebuild->turn_count += has_turn((const zend_refcounted_h *)at);
        rebuild->has_dates |= larder_part_type((const zend_refcounted_h *)at) == LARDER_PART_DATE;
        clear(rebuild, count++);
    }
    for (; !rebuild->in_place && at < rebuild->end; at = next(at)) {
        clear(rebuild, count++);
    }
    return count;
}

static zend_class_entry *find_class(struct rebuild *rebuild, const struct larder_class_part *part)
{
    void **made = &rebuild->made[larder_part_number(&part->gc)];

    if (!*made) {
        *made = larder_make_class(part, seen_from_here(rebuild, part->name));
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

/* Those begun before the first that fails have no other owner. */
static void give_up_dates(struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; goes_on(rebuild, at); at = next(at)) {
        const zend_refcounted_h *part = (const zend_refcounted_h *)at;
        zend_object *object = rebuild->made[larder_part_number(part)];
        if (larder_part_type(part) == LARDER_PART_DATE && object) {
            GC_SET_REFCOUNT(object, 1);
            GC_ADD_FLAGS(object, IS_OBJ_DESTRUCTOR_CALLED);
            OBJ_RELEASE(object);
        }
    }
}

static bool make_dates(struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; rebuild->has_dates && goes_on(rebuild, at); at = next(at)) {
        const struct larder_date_part *part = (const struct larder_date_part *)at;
        if (larder_part_type(&part->gc) == LARDER_PART_DATE) {
            const struct larder_class_part *class = seen_from_here(rebuild, part->class);
            zend_object *object = larder_date_make(rebuild->made[larder_part_number(&class->gc)], part);
            if (!object) {
                return false;
            }
            rebuild->made[larder_part_number(&part->gc)] = object;
        }
    }
    return true;
}

/* The constructor is not called. False if PHP refuses; those begun before are given up. */
static bool begin_tellers(struct rebuild *rebuild)
{
    for (const char *at = rebuild->image; goes_on(rebuild, at); at = next(at)) {
        const struct larder_teller_part *part = (const struct larder_teller_part *)at;
        if (larder_part_type(&part->gc) == LARDER_PART_TELLER) {
            const struct larder_class_part *class = seen_from_here(rebuild, part->class);
            struct larder_turn *turn = &rebuild->turns[part->turn - 1];
            zval object;
            if (object_init_ex(&object, rebuild->made[larder_part_number(&class->gc)]) != SUCCESS) {
                return false;
            }
            *turn = (struct larder_turn){.object = Z_OBJ(object), .form = part->form};
            ZVAL_UNDEF(&turn->told);
            rebuild->made[larder_part_number(&part->gc)] = Z_OBJ(object);
        }
    }
    return true;
}

static void give_up(struct rebuild *rebuild)
{
    for (uint32_t i = 0; i < rebuild->turn_count; i++) {
        if (rebuild->turns[i].object) {
            larder_give_up_turn(&rebuild->turns[i]);
        }
    }
    if (rebuild->has_dates) {
        give_up_dates(rebuild);
    }
}

static zend_object *make_object(const struct rebuild *rebuild, const struct larder_object_part *part)
{
    const struct larder_class_part *class = seen_from_here(rebuild, part->class);
    return larder_make_object(rebuild->made[larder_part_number(&class->gc)], part);
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
        void **made = &rebuild->made[larder_part_number(part)];
        switch (larder_part_type(part)) {
        case IS_ARRAY:
            *made = larder_make_array((const zend_array *)part);
            break;
        case IS_OBJECT:
            *made = make_object(rebuild, (const struct larder_object_part *)part);
            break;
        case IS_REFERENCE:
            *made = larder_make_reference((const struct larder_reference_part *)part);
            break;
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
    case IS_REFERENCE:
        ZVAL_REF(value, rebuild->made[larder_part_number(part)]);
        Z_ADDREF_P(value);
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

/* Code that writes through the reference must keep to the type of the property. */
static void keep_type(zend_object *object, zval *slot)
{
    zend_property_info *property = zend_get_typed_property_info_for_slot(object, slot);
    if (property) {
        ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(slot), property);
    }
}

static void fill_object(struct rebuild *rebuild, const struct larder_object_part *part, zend_object *object)
{
    for (uint32_t i = 0; i < part->slots; i++) {
        zval *slot = &object->properties_table[i];
        fill_value(rebuild, slot);
        if (UNEXPECTED(Z_ISREF_P(slot))) {
            keep_type(object, slot);
        }
    }
    if (rebuild->turns && part->turn) {
        rebuild->turns[part->turn - 1] = (struct larder_turn){.object = object, .form = LARDER_FORM_SLOTS};
        ZVAL_UNDEF(&rebuild->turns[part->turn - 1].told);
        GC_ADDREF(object);
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
        switch (larder_part_type(part)) {
        case IS_ARRAY:
            fill_array(rebuild, made);
            break;
        case IS_OBJECT:
            fill_object(rebuild, (const struct larder_object_part *)part, made);
            break;
        case IS_REFERENCE:
            fill_value(rebuild, &((zend_reference *)made)->val);
            break;
        case LARDER_PART_TELLER: {
            const struct larder_teller_part *teller = (const struct larder_teller_part *)part;
            zval *told = &rebuild->turns[teller->turn - 1].told;
            ZVAL_COPY_VALUE(told, &teller->told);
            fill_value(rebuild, told);
            break;
        }
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
    /* It contains itself. Code that drops it without ever having kept it in a variable does not tell the collector. */
    if (GC_REFCOUNT(Z_COUNTED_P(result)) > 1) {
        gc_check_possible_root(Z_COUNTED_P(result));
    }
}

static void make_all(struct rebuild *rebuild, zval *result)
{
    make_parts(rebuild);
    fill_parts(rebuild);
    if (rebuild->has_mixed) {
        unite_mixed(rebuild);
    }
    take_root(rebuild, result);
}

/* The value is whole; what runs now may do with it what it likes. */
static bool take_turns(const struct rebuild *rebuild, zval *result)
{
    if (larder_take_turns(rebuild->turns, rebuild->turn_count)) {
        return true;
    }
    zval_ptr_dtor(result);
    ZVAL_NULL(result);
    return false;
}

bool larder_rebuild(zval *result, const void *image, size_t size, intptr_t shift, bool in_place)
{
    void *few[MADE_AT_FIRST];
    struct rebuild rebuild = {
        .image = image,
        .end = (const char *)image + size,
        .shift = shift,
        .in_place = in_place,
        .made = few,
    };
    few[0] = NULL;
    uint32_t count = count_parts(&rebuild);
    bool done;

    if (count > MADE_AT_FIRST) {
        rebuild.made = ecalloc(count, sizeof(void *));
    }
    if (rebuild.turn_count) {
        rebuild.turns = ecalloc(rebuild.turn_count, sizeof(*rebuild.turns));
    }
    done = find_classes(&rebuild) && make_dates(&rebuild) && (!rebuild.turns || begin_tellers(&rebuild));
    if (done) {
        make_all(&rebuild, result);
        done = !rebuild.turns || take_turns(&rebuild, result);
    } else {
        give_up(&rebuild);
    }
    if (rebuild.turns) {
        efree(rebuild.turns);
    }
    if (rebuild.made != few) {
        efree(rebuild.made);
    }
    return done;
}
