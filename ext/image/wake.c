/* What unserialize() does with objects when it has made all of them. */
#include "wake.h"

#include "ext/standard/basic_functions.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* The place of a property that has none by this name: its class may have told it by the bare name, whatever its
 * visibility. */
static zval *find_by_bare_name(const zend_class_entry *class, zend_array *properties, zend_string *name)
{
    const char *declaring, *bare;
    size_t length;

    if (zend_unmangle_property_name_ex(name, &declaring, &bare, &length) != SUCCESS ||
        (declaring && strcmp(declaring, "*") != 0 && strcasecmp(declaring, ZSTR_VAL(class->name)) != 0)) {
        return NULL;
    }
    const zend_property_info *property = zend_hash_str_find_ptr(&class->properties_info, bare, length);
    return property ? zend_hash_find(properties, property->name) : NULL;
}

static bool set_slot(zend_object *object, zval *slot, zval *value)
{
    zend_property_info *property = zend_get_typed_property_info_for_slot(object, slot);

    if (property && !zend_verify_prop_assignable_by_ref(property, value, true)) {
        return false;
    }
    zval before = *slot;
    if (property && Z_ISREF(before)) {
        ZEND_REF_DEL_TYPE_SOURCE(Z_REF(before), property);
    }
    ZVAL_COPY(slot, value);
    Z_PROP_FLAG_P(slot) = 0;
    if (property && Z_ISREF_P(slot)) {
        ZEND_REF_ADD_TYPE_SOURCE(Z_REF_P(slot), property);
    }
    zval_ptr_dtor(&before);
    return true;
}

static bool set_property(zend_object *object, zend_string *name, zval *value)
{
    zend_array *properties = object->handlers->get_properties(object);
    zval *place = zend_hash_find(properties, name);

    if (!place) {
        place = find_by_bare_name(object->ce, properties, name);
    }
    if (place && Z_TYPE_P(place) == IS_INDIRECT) {
        return set_slot(object, Z_INDIRECT_P(place), value);
    }
    if (object->ce->ce_flags & ZEND_ACC_NO_DYNAMIC_PROPERTIES) {
        zend_throw_error(NULL, "Cannot create dynamic property %s::$%s", ZSTR_VAL(object->ce->name), ZSTR_VAL(name));
        return false;
    }
    Z_TRY_ADDREF_P(value);
    zend_hash_update(properties, name, value);
    return true;
}

static bool set_properties(zend_object *object, zend_array *told)
{
    zend_string *name;
    zend_ulong index;
    zval *value;

    ZEND_HASH_FOREACH_KEY_VAL(told, index, name, value)
    {
        zend_string *property = name ? zend_string_copy(name) : zend_long_to_str((zend_long)index);
        bool set = set_property(object, property, value);
        zend_string_release(property);
        if (!set) {
            return false;
        }
    }
    ZEND_HASH_FOREACH_END();
    return true;
}

static void wake(zend_object *object)
{
    zend_function *wakeup = larder_method(object->ce, ZEND_STR_WAKEUP);
    if (wakeup) {
        zend_call_known_instance_method_with_0_params(wakeup, object, NULL);
    }
}

static bool take_turn(struct larder_turn *turn)
{
    zend_object *object = turn->object;

    BG(serialize_lock)++;
    switch (turn->form) {
    case LARDER_FORM_STATE:
        zend_call_known_instance_method_with_1_params(object->ce->__unserialize, object, NULL, &turn->told);
        break;
    case LARDER_FORM_TEXT:
        zend_call_method_with_1_params(object, object->ce, NULL, "unserialize", NULL, &turn->told);
        break;
    case LARDER_FORM_PROPERTIES:
        if (set_properties(object, Z_ARR(turn->told))) {
            wake(object);
        }
        break;
    default:
        wake(object);
    }
    BG(serialize_lock)--;
    return !EG(exception);
}

static void end_turn(struct larder_turn *turn)
{
    zval_ptr_dtor(&turn->told);
    OBJ_RELEASE(turn->object);
}

void larder_give_up_turn(struct larder_turn *turn)
{
    GC_ADD_FLAGS(turn->object, IS_OBJ_DESTRUCTOR_CALLED);
    end_turn(turn);
}

bool larder_take_turns(struct larder_turn *turns, uint32_t count)
{
    uint32_t done = 0;

    while (done < count && take_turn(&turns[done])) {
        end_turn(&turns[done++]);
    }
    for (uint32_t i = done; i < count; i++) {
        larder_give_up_turn(&turns[i]);
    }
    return done == count && !EG(exception);
}
