/* Says of a value all that PHP code could tell of it: two that are alike are described alike, however they lie in
 * memory.
 *
 * A variable is one that the value has in two places; who else holds it is of no concern. Arrays are written out
 * wherever they are, for nobody can tell whether two are one until he writes to one.
 *
 * Not so where an array contains itself. That it does so through variables which it has once or twice depends on how
 * often it lies in memory: PHP drops a variable that nothing else holds when it copies the array, and an image has the
 * array once more, as serialize() does. What everybody reads is the same: a tree without end. It is written out as one,
 * down to some depth and up to some length, with what is in these variables in their place.
 */
#include "describe.h"

#include "zend_enum.h"
#include "zend_smart_str.h"

struct description {
    smart_str text;
    HashTable holders; /* of each reference: how many elements and properties it is in */
    HashTable visited; /* arrays and objects, while references are counted */
    HashTable numbers; /* of objects and references that were written out */
    HashTable met_again;
    unsigned depth; /* in arrays */
    bool has_no_end;
    bool is_first; /* time of two: only then it is known which are met again */
};

/* Of a tree without end. */
#define DEPTH_MOST  16
#define LENGTH_MOST 200000

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

/* ---- in how many places the value has a reference ------------------------------------------------------- */

static void count_value(struct description *to, zval *value);

static void count_table(struct description *to, zend_array *table)
{
    zval *value;
    ZEND_HASH_FOREACH_VAL(table, value)
    {
        if (Z_TYPE_P(value) != IS_INDIRECT) {
            count_value(to, value);
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void count_object(struct description *to, zend_object *object)
{
    if (!is_plain(object)) {
        zend_array *table = shown(object);
        if (table) {
            count_table(to, table);
            zend_release_properties(table);
        }
        return;
    }
    for (int i = 0; i < object->ce->default_properties_count; i++) {
        count_value(to, OBJ_PROP_NUM(object, i));
    }
    if (object->properties) {
        count_table(to, object->properties);
    }
}

static void count_value(struct description *to, zval *value)
{
    if (Z_ISREF_P(value)) {
        zval *holders = zend_hash_index_find(&to->holders, address_of(Z_REF_P(value)));
        if (holders) {
            Z_LVAL_P(holders)++;
            return;
        }
        zval one;
        ZVAL_LONG(&one, 1);
        zend_hash_index_add(&to->holders, address_of(Z_REF_P(value)), &one);
        ZVAL_DEREF(value);
    }
    if (Z_TYPE_P(value) == IS_ARRAY && enter(&to->visited, Z_ARR_P(value))) {
        count_table(to, Z_ARR_P(value));
    } else if (Z_TYPE_P(value) == IS_OBJECT && enter(&to->visited, Z_OBJ_P(value))) {
        count_object(to, Z_OBJ_P(value));
    }
}

static bool is_held_twice(const struct description *to, const zend_reference *reference)
{
    zval *holders = zend_hash_index_find(&to->holders, address_of(reference));
    return holders && Z_LVAL_P(holders) > 1;
}

/* Through arrays and references. */
static bool leads_to(HashTable *visited, zval *value, const zend_reference *reference)
{
    if (Z_ISREF_P(value)) {
        if (Z_REF_P(value) == reference) {
            return true;
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

static bool is_on_cycle(zend_reference *reference)
{
    HashTable visited;
    zend_hash_init(&visited, 8, NULL, NULL, false);
    bool is = leads_to(&visited, &reference->val, reference);
    zend_hash_destroy(&visited);
    return is;
}

bool contains_itself(zval *value)
{
    struct description to = {.is_first = true};
    bool contains = false;
    zend_ulong reference;

    zend_hash_init(&to.holders, 8, NULL, NULL, false);
    zend_hash_init(&to.visited, 8, NULL, NULL, false);
    count_value(&to, value);
    ZEND_HASH_FOREACH_NUM_KEY(&to.holders, reference)
    {
        /* No reference is at 0, which clang-tidy cannot know. */
        contains |= reference != 0 && is_on_cycle((zend_reference *)(uintptr_t)reference);
    }
    ZEND_HASH_FOREACH_END();
    zend_hash_destroy(&to.visited);
    zend_hash_destroy(&to.holders);
    return contains;
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
    if (to->has_no_end && (to->depth == DEPTH_MOST || smart_str_get_len(&to->text) > LENGTH_MOST)) {
        smart_str_appends(&to->text, "... ");
        return;
    }
    to->depth++;
    smart_str_appendc(&to->text, '[');
    describe_table(to, array);
    smart_str_append_printf(&to->text, "] then " ZEND_LONG_FMT " ", array->nNextFreeElement);
    to->depth--;
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
    if (is_held_twice(to, reference) && !is_on_cycle(reference) && (to->is_first || is_in(&to->met_again, reference))) {
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

zend_string *describe(zval *value)
{
    struct description to = {.has_no_end = contains_itself(value), .is_first = true};

    zend_hash_init(&to.holders, 8, NULL, NULL, false);
    zend_hash_init(&to.visited, 8, NULL, NULL, false);
    zend_hash_init(&to.numbers, 8, NULL, NULL, false);
    zend_hash_init(&to.met_again, 8, NULL, NULL, false);
    count_value(&to, value);
    describe_value(&to, value);
    smart_str_free(&to.text);
    zend_hash_clean(&to.numbers);
    to.is_first = false;
    describe_value(&to, value);
    zend_hash_destroy(&to.met_again);
    zend_hash_destroy(&to.numbers);
    zend_hash_destroy(&to.visited);
    zend_hash_destroy(&to.holders);
    return smart_str_extract(&to.text);
}
