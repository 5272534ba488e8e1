/* Says of a value all that PHP code could tell of it: two that are alike are described alike, however they lie in
 * memory.
 *
 * Arrays are written out wherever they are, for it cannot be told whether two are one until one is written to. Objects
 * and variables are numbered, and written out where they are met first. A reference is a variable if it is met twice in
 * that, unless nothing but one array holds it: PHP drops it when it copies the array. ../../image/unfold.c says more.
 *
 * Where arrays contain themselves through such references only, there would be no end. There, they are variables, too.
 */
#include "describe.h"

#include "zend_enum.h"
#include "zend_smart_str.h"

struct description {
    smart_str text;
    HashTable endless; /* references that nothing else holds: whether they are on a cycle of such and of arrays */
    HashTable numbers; /* of objects and references that were written out */
    HashTable met_again;
    bool is_first; /* time of two: only then it is known which are met again */
};

/* Arrays within arrays that are there twice can be more than memory holds. What follows is not compared. */
#define LENGTH_MOST (8u << 20)

static zend_ulong address_of(const void *thing)
{
    return (zend_ulong)(uintptr_t)thing;
}

static bool enter(HashTable *table, const void *thing)
{
    zval number;
    ZVAL_LONG(&number, zend_hash_num_elements(table));
    return zend_hash_index_add(table, address_of(thing), &number) != NULL;
}

static bool is_in(const HashTable *table, const void *thing)
{
    return zend_hash_index_exists(table, address_of(thing));
}

static bool is_plain(const zend_object *object)
{
    return object->handlers == &std_object_handlers && !(object->ce->ce_flags & ZEND_ACC_ENUM);
}

/* The table of an object that is not plain, to be released; NULL if it shows none. */
static zend_array *shown(zend_object *object)
{
    zval value;
    ZVAL_OBJ(&value, object);
    return object->ce->ce_flags & ZEND_ACC_ENUM ? NULL : zend_get_properties_for(&value, ZEND_PROP_PURPOSE_ARRAY_CAST);
}

/* ---- references that nothing else holds ------------------------------------------------------------------ */

static bool is_private(const zend_reference *reference)
{
    return GC_REFCOUNT(reference) == 1;
}

/* Through arrays and references that nothing else holds. */
static bool leads_to(HashTable *visited, zval *value, const zend_reference *reference)
{
    if (Z_ISREF_P(value)) {
        if (Z_REF_P(value) == reference) {
            return true;
        }
        if (!is_private(Z_REF_P(value))) {
            return false;
        }
        ZVAL_DEREF(value);
    }
    if (Z_TYPE_P(value) == IS_ARRAY && enter(visited, Z_ARR_P(value))) {
        zval *element;
        ZEND_HASH_FOREACH_VAL(Z_ARR_P(value), element)
        {
            if (leads_to(visited, element, reference)) {
                return true;
            }
        }
        ZEND_HASH_FOREACH_END();
    }
    return false;
}

static bool is_endless(struct description *to, zend_reference *reference)
{
    zval *known = zend_hash_index_find(&to->endless, address_of(reference));

    if (!known) {
        HashTable visited;
        zval is;
        zend_hash_init(&visited, 8, NULL, NULL, false);
        ZVAL_BOOL(&is, is_private(reference) && leads_to(&visited, &reference->val, reference));
        zend_hash_destroy(&visited);
        known = zend_hash_index_add(&to->endless, address_of(reference), &is);
    }
    return Z_TYPE_P(known) == IS_TRUE;
}

/* ---- in words ------------------------------------------------------------------------------------------- */

static void describe_value(struct description *to, zval *value);

static void describe_name(struct description *to, zend_string *name, zend_ulong index)
{
    if (name) {
        smart_str_append_printf(&to->text, "%zu:", ZSTR_LEN(name));
        smart_str_append(&to->text, name);
    } else {
        smart_str_append_long(&to->text, (zend_long)index);
    }
    smart_str_appends(&to->text, "=>");
}

static void describe_table(struct description *to, zend_array *table)
{
    zend_string *name;
    zend_ulong index;
    zval *value;

    ZEND_HASH_FOREACH_KEY_VAL(table, index, name, value)
    {
        if (Z_TYPE_P(value) != IS_INDIRECT) {
            describe_name(to, name, index);
            describe_value(to, value);
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void describe_array(struct description *to, zend_array *array)
{
    if (smart_str_get_len(&to->text) > LENGTH_MOST) {
        return;
    }
    smart_str_appendc(&to->text, '[');
    describe_table(to, array);
    smart_str_append_printf(&to->text, "] then " ZEND_LONG_FMT " ", array->nNextFreeElement);
}

static void describe_object(struct description *to, zend_object *object)
{
    zval *number = zend_hash_index_find(&to->numbers, address_of(object));

    smart_str_append(&to->text, object->ce->name);
    if (number) {
        smart_str_append_printf(&to->text, "#" ZEND_LONG_FMT " ", Z_LVAL_P(number));
        return;
    }
    enter(&to->numbers, object);
    smart_str_appendc(&to->text, '{');
    if (object->ce->ce_flags & ZEND_ACC_ENUM) {
        smart_str_append(&to->text, Z_STR_P(zend_enum_fetch_case_name(object)));
    } else if (!is_plain(object)) {
        zend_array *table = shown(object);
        if (table) {
            describe_table(to, table);
            zend_release_properties(table);
        }
    } else {
        for (int i = 0; i < object->ce->default_properties_count; i++) {
            describe_value(to, OBJ_PROP_NUM(object, i));
        }
        if (object->properties) {
            describe_table(to, object->properties);
        }
    }
    smart_str_appends(&to->text, "} ");
}

/* False if it was written out before. Where it is met only once it has no meaning that it is a variable. */
static bool describe_reference(struct description *to, zend_reference *reference)
{
    zval *number = zend_hash_index_find(&to->numbers, address_of(reference));

    if (number) {
        smart_str_append_printf(&to->text, "&" ZEND_LONG_FMT " ", Z_LVAL_P(number));
        enter(&to->met_again, reference);
        return false;
    }
    if (is_private(reference) && !is_endless(to, reference)) {
        return true;
    }
    if (to->is_first || is_in(&to->met_again, reference)) {
        enter(&to->numbers, reference);
        smart_str_appends(&to->text, "&=");
    }
    return true;
}

static void describe_value(struct description *to, zval *value)
{
    if (Z_ISREF_P(value)) {
        if (!describe_reference(to, Z_REF_P(value))) {
            return;
        }
        ZVAL_DEREF(value);
    }
    switch (Z_TYPE_P(value)) {
    case IS_LONG:
        smart_str_append_printf(&to->text, "i" ZEND_LONG_FMT " ", Z_LVAL_P(value));
        break;
    case IS_DOUBLE:
        smart_str_append_printf(&to->text, "d" ZEND_XLONG_FMT " ", Z_LVAL_P(value));
        break;
    case IS_STRING:
        smart_str_append_printf(&to->text, "s%zu:", Z_STRLEN_P(value));
        smart_str_append(&to->text, Z_STR_P(value));
        smart_str_appendc(&to->text, ' ');
        break;
    case IS_ARRAY:
        describe_array(to, Z_ARR_P(value));
        break;
    case IS_OBJECT:
        describe_object(to, Z_OBJ_P(value));
        break;
    default:
        smart_str_append_printf(&to->text, "t%d ", Z_TYPE_P(value));
    }
}

static void init(struct description *to)
{
    *to = (struct description){.is_first = true};
    zend_hash_init(&to->endless, 8, NULL, NULL, false);
    zend_hash_init(&to->numbers, 8, NULL, NULL, false);
    zend_hash_init(&to->met_again, 8, NULL, NULL, false);
}

static void destroy(struct description *to)
{
    zend_hash_destroy(&to->met_again);
    zend_hash_destroy(&to->numbers);
    zend_hash_destroy(&to->endless);
    smart_str_free(&to->text);
}

zend_string *describe(zval *value)
{
    struct description to;

    init(&to);
    describe_value(&to, value);
    smart_str_free(&to.text);
    zend_hash_clean(&to.numbers);
    to.is_first = false;
    describe_value(&to, value);
    zend_string *text = smart_str_extract(&to.text);
    destroy(&to);
    return text;
}

bool unfolds_for_ever(zval *value)
{
    struct description to;
    bool for_ever = false;
    zval *is;

    init(&to);
    describe_value(&to, value);
    ZEND_HASH_FOREACH_VAL(&to.endless, is)
    {
        for_ever |= Z_TYPE_P(is) == IS_TRUE;
    }
    ZEND_HASH_FOREACH_END();
    destroy(&to);
    return for_ever;
}

/* After it was described, `numbers` has all references that are not private. */
void variables_of(zval *value, zval *variables)
{
    struct description to;
    zend_ulong address;

    init(&to);
    describe_value(&to, value);
    array_init(variables);
    ZEND_HASH_FOREACH_NUM_KEY(&to.numbers, address)
    {
        /* Nothing is at 0, which clang-tidy cannot know. */
        zend_refcounted *thing = (zend_refcounted *)(uintptr_t)address;
        if (address != 0 && GC_TYPE(thing) == IS_REFERENCE && GC_REFCOUNT(thing) > 1) {
            zval reference;
            ZVAL_REF(&reference, (zend_reference *)thing);
            Z_ADDREF(reference);
            add_next_index_zval(variables, &reference);
        }
    }
    ZEND_HASH_FOREACH_END();
    destroy(&to);
}
