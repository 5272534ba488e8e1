#include "tell.h"

#include "ext/standard/basic_functions.h"
#include "zend_interfaces.h"

static bool ask_serialize(zval *told, zend_object *object, const char **reason)
{
    zend_call_known_instance_method_with_0_params(object->ce->__serialize, object, told);
    if (!EG(exception) && Z_TYPE_P(told) != IS_ARRAY) {
        *reason = "its __serialize() returned no array";
    }
    return !EG(exception) && !*reason;
}

static bool ask_text(zval *told, zend_object *object, const char **reason)
{
    zend_call_method_with_0_params(object, object->ce, NULL, "serialize", told);
    if (!EG(exception) && Z_TYPE_P(told) != IS_STRING) {
        *reason = "its serialize() returned no string";
    }
    return !EG(exception) && !*reason;
}

/* One property into the table of those that are kept; by the number that its name says if __unserialize() will get the
 * table as an array, as PHP does. */
static void keep_property(zend_array *table, zend_string *name, zval *value, bool as_array)
{
    if (Z_ISREF_P(value) && Z_REFCOUNT_P(value) == 1) {
        value = Z_REFVAL_P(value);
    }
    Z_TRY_ADDREF_P(value);
    if (as_array) {
        zend_symtable_update(table, name, value);
    } else {
        zend_hash_update(table, name, value);
    }
}

static void keep_all(zend_array *table, zend_array *properties, bool as_array)
{
    zend_string *name;
    zend_ulong index;
    zval *value;

    ZEND_HASH_FOREACH_KEY_VAL_IND(properties, index, name, value)
    {
        if (name) {
            keep_property(table, name, value, as_array);
        } else {
            name = zend_ulong_to_str(index);
            keep_property(table, name, value, as_array);
            zend_string_release(name);
        }
    }
    ZEND_HASH_FOREACH_END();
}

/* Whether the object has the property. One that is typed and was never set is passed over without a word. */
static bool keep_if_there(zend_array *table, zend_object *object, zend_array *properties, zend_string *name,
                          bool as_array)
{
    zval *value = zend_hash_find(properties, name);

    if (value && Z_TYPE_P(value) == IS_INDIRECT) {
        value = Z_INDIRECT_P(value);
        if (Z_TYPE_P(value) == IS_UNDEF) {
            return zend_get_typed_property_info_for_slot(object, value) != NULL;
        }
    }
    if (value) {
        keep_property(table, name, value, as_array);
    }
    return value != NULL;
}

/* __sleep() gives bare names: of a public property, of a private one of the very class, or of a protected one. */
static void keep_named(zend_array *table, zend_object *object, zend_array *properties, zend_string *name, bool as_array)
{
    const zend_string *class = object->ce->name;

    if (keep_if_there(table, object, properties, name, as_array)) {
        return;
    }
    zend_string *private =
        zend_mangle_property_name(ZSTR_VAL(class), ZSTR_LEN(class), ZSTR_VAL(name), ZSTR_LEN(name), false);
    zend_string *protected = zend_mangle_property_name("*", 1, ZSTR_VAL(name), ZSTR_LEN(name), false);
    if (!keep_if_there(table, object, properties, private, as_array) &&
        !keep_if_there(table, object, properties, protected, as_array)) {
        php_error_docref(NULL, E_WARNING, "\"%s\" returned as member variable from __sleep() but does not exist",
                         ZSTR_VAL(name));
    }
    zend_string_release(private);
    zend_string_release(protected);
}

static bool keep_what_sleep_names(zend_array *table, zend_object *object, zend_array *names, bool as_array)
{
    zval of_object, *entry;

    ZVAL_OBJ(&of_object, object);
    zend_array *properties = zend_get_properties_for(&of_object, ZEND_PROP_PURPOSE_SERIALIZE);
    ZEND_HASH_FOREACH_VAL_IND(names, entry)
    {
        zend_string *name = zval_get_string(entry);
        if (!EG(exception)) {
            keep_named(table, object, properties, name, as_array);
        }
        zend_string_release(name);
        if (EG(exception)) {
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    zend_release_properties(properties);
    return !EG(exception);
}

static bool ask_sleep(zval *told, zend_object *object, zend_function *sleep, bool as_array, const char **reason)
{
    zval names;
    bool done = false;

    zend_call_known_instance_method_with_0_params(sleep, object, &names);
    if (!EG(exception) && Z_TYPE(names) == IS_ARRAY) {
        array_init(told);
        done = keep_what_sleep_names(Z_ARR_P(told), object, Z_ARR(names), as_array);
    } else if (!EG(exception)) {
        *reason = "its __sleep() returned no array";
    }
    zval_ptr_dtor(&names);
    return done;
}

/* Initialises a lazy object, unless it says that this is not to. */
static bool ask_properties(zval *told, zend_object *object, bool as_array)
{
    zval of_object;

    ZVAL_OBJ(&of_object, object);
    zend_array *properties = zend_get_properties_for(&of_object, ZEND_PROP_PURPOSE_SERIALIZE);
    if (!EG(exception)) {
        array_init(told);
        keep_all(Z_ARR_P(told), properties, as_array);
    }
    zend_release_properties(properties);
    return !EG(exception);
}

/* A value that is serialised inside, as by a call of serialize() in __serialize(), is one of its own. */
bool larder_ask_object(zval *told, zend_object *object, enum larder_form form, const char **reason)
{
    zend_function *sleep = larder_method(object->ce, ZEND_STR_SLEEP);
    bool as_array = form == LARDER_FORM_STATE, done;

    BG(serialize_lock)++;
    if (form == LARDER_FORM_TEXT) {
        done = ask_text(told, object, reason);
    } else if (object->ce->__serialize) {
        done = ask_serialize(told, object, reason);
    } else if (sleep) {
        done = ask_sleep(told, object, sleep, as_array, reason);
    } else {
        done = ask_properties(told, object, as_array);
    }
    BG(serialize_lock)--;
    if (!done) {
        zval_ptr_dtor(told);
        ZVAL_UNDEF(told);
    }
    return done;
}
