/* Saying what cannot be stored, where it is in the value, and what to do instead. */
#include "refusal.h"
#include "class.h"
#include "found.h"

#include "ext/spl/spl_array.h"
#include "ext/spl/spl_dllist.h"
#include "ext/spl/spl_fixedarray.h"
#include "ext/spl/spl_observer.h"
#include "ext/standard/php_incomplete_class.h"
#include "ext/standard/php_string.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
#include "zend_smart_str.h"

#define LONGEST_KEY  60
#define LONGEST_PATH 300

static void append_visibly(smart_str *path, const char *text, size_t length, const char *quotes)
{
    zend_string *start = zend_string_init(text, MIN(length, LONGEST_KEY), false);
    zend_string *special = zend_strpprintf(0, "%s%s", LARDER_UNPRINTABLE, quotes);
    zend_string *shown = php_addcslashes(start, ZSTR_VAL(special), ZSTR_LEN(special));

    smart_str_append(path, shown);
    if (length > LONGEST_KEY) {
        smart_str_appends(path, "…");
    }
    zend_string_release(shown);
    zend_string_release(special);
    zend_string_release(start);
}

static void append_element(smart_str *path, const zend_array *array, uint32_t position)
{
    const Bucket *bucket = HT_IS_PACKED(array) ? NULL : &array->arData[position];

    if (bucket && bucket->key) {
        smart_str_appends(path, "['");
        append_visibly(path, ZSTR_VAL(bucket->key), ZSTR_LEN(bucket->key), "'");
        smart_str_appends(path, "']");
    } else {
        smart_str_append_printf(path, "[" ZEND_LONG_FMT "]", bucket ? (zend_long)bucket->h : (zend_long)position);
    }
}

static void append_property(smart_str *path, const zend_string *mangled)
{
    const char *class, *name;
    size_t length;

    zend_unmangle_property_name_ex(mangled, &class, &name, &length);
    smart_str_appends(path, "->");
    append_visibly(path, name, length, "");
}

/* Of a table of properties; false if it has no name there. */
static bool append_name(smart_str *path, const zend_array *table, uint32_t position)
{
    if (!table || HT_IS_PACKED(table) || position >= table->nNumUsed || !table->arData[position].key) {
        return false;
    }
    append_property(path, table->arData[position].key);
    return true;
}

/* Where PHP's own containers put what they hold, by their __serialize(). Paths name it as var_dump() does. */
struct container {
    zend_class_entry *const *class;
    const char *name;
    uint32_t contents; /* the position of what it holds, */
    uint32_t members;  /* and of the properties that a subclass adds */
    bool pairs;        /* it holds an object and what goes with it in turn */
};

static const struct container *container_of(const zend_class_entry *class)
{
    static const struct container containers[] = {
        {&spl_ce_ArrayObject, "storage", 1, 2, false},
        {&spl_ce_ArrayIterator, "storage", 1, 2, false},
        {&spl_ce_SplDoublyLinkedList, "dllist", 1, 2, false},
        {&spl_ce_SplObjectStorage, "storage", 0, 1, true},
    };
    /* A class of the user's may tell something else instead. */
    if (class->__serialize->type != ZEND_INTERNAL_FUNCTION) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(containers) / sizeof(*containers); i++) {
        if (instanceof_function(class, *containers[i].class)) {
            return &containers[i];
        }
    }
    return NULL;
}

static void append_told(smart_str *path, const struct larder_step *step)
{
    const struct container *container = container_of(step->teller);

    if (container) {
        if (step->position == container->contents) {
            smart_str_append_printf(path, "->%s", container->name);
        }
    } else if (step->teller->__serialize->type == ZEND_INTERNAL_FUNCTION &&
               instanceof_function(step->teller, spl_ce_SplFixedArray)) {
        if (!append_name(path, step->holder, step->position)) {
            append_element(path, step->holder, step->position);
        }
    } else {
        smart_str_appends(path, "->__serialize()");
        append_element(path, step->holder, step->position);
    }
}

/* Into an array; false if it is not one in which a container told what it holds. */
static bool append_into_container(smart_str *path, const struct larder_step *told, const struct larder_step *step)
{
    const struct container *container = told->type == LARDER_STEP_TOLD ? container_of(told->teller) : NULL;

    if (container && told->position == container->members) {
        return append_name(path, step->holder, step->position);
    }
    if (container && told->position == container->contents && container->pairs) {
        smart_str_append_printf(path, "[%u]['%s']", step->position / 2, step->position % 2 ? "inf" : "obj");
        return true;
    }
    return false;
}

static void append_step(smart_str *path, const struct larder_step *steps, uint32_t index)
{
    const struct larder_step *step = &steps[index];

    switch (step->type) {
    case LARDER_STEP_ELEMENT:
        if (!index || !append_into_container(path, step - 1, step)) {
            append_element(path, step->holder, step->position);
        }
        break;
    case LARDER_STEP_SLOT: {
        const zend_property_info *property =
            ((const zend_object *)step->holder)->ce->properties_info_table[step->position];
        if (property) {
            append_property(path, property->name);
        }
        break;
    }
    case LARDER_STEP_NAME:
        append_name(path, step->holder, step->position);
        break;
    case LARDER_STEP_TOLD:
        append_told(path, step);
        break;
    }
}

/* Cut off where it gets too long to read. */
static zend_string *path_of(const struct larder_step *steps, uint32_t count)
{
    smart_str path = {0};

    smart_str_appends(&path, "$value");
    for (uint32_t i = 0; i < count; i++) {
        if (ZSTR_LEN(path.s) > strlen("$value") + LONGEST_PATH) {
            smart_str_appends(&path, "…");
            break;
        }
        append_step(&path, steps, i);
    }
    return smart_str_extract(&path);
}

static bool is_incomplete(const zval *value)
{
    return Z_TYPE_P(value) == IS_OBJECT && Z_OBJCE_P(value) == php_ce_incomplete_class;
}

static zend_string *name_of(const zval *value)
{
    if (Z_TYPE_P(value) == IS_RESOURCE) {
        return zend_string_init(ZEND_STRL("a resource"), false);
    }
    if (Z_TYPE_P(value) != IS_OBJECT) {
        return zend_strpprintf(0, "of PHP's inner type %d", Z_TYPE_P(value));
    }
    if (is_incomplete(value)) {
        zend_string *class = php_lookup_class_name(Z_OBJ_P(value));
        zend_string *name = zend_strpprintf(0, "a %.100s without its class", class ? ZSTR_VAL(class) : "something");
        if (class) {
            zend_string_release(class);
        }
        return name;
    }
    if (Z_OBJCE_P(value)->ce_flags & ZEND_ACC_ANON_CLASS) {
        return zend_string_init(ZEND_STRL("an object of an anonymous class"), false);
    }
    return zend_strpprintf(0, "a %.100s", ZSTR_VAL(Z_OBJCE_P(value)->name));
}

/* It extends a class of PHP's own that leaves it to those. */
static bool is_up_to_user(const zend_class_entry *class)
{
    return class->type == ZEND_USER_CLASS && !(class->ce_flags & (ZEND_ACC_ANON_CLASS | ZEND_ACC_NOT_SERIALIZABLE)) &&
           larder_class_of_phps_own(class);
}

static const char *advice(const zval *value)
{
    if (Z_TYPE_P(value) == IS_RESOURCE) {
        return "store what was read from it";
    }
    if (is_incomplete(value)) {
        return "load the class before the object is unserialised";
    }
    if (Z_TYPE_P(value) == IS_OBJECT && Z_OBJCE_P(value) == zend_ce_closure) {
        return "store what it returns, or the name of a function";
    }
    if (Z_TYPE_P(value) == IS_OBJECT && is_up_to_user(Z_OBJCE_P(value))) {
        return "give it a __serialize() and an __unserialize(), or store plain data taken from it";
    }
    return "store plain data taken from it";
}

void larder_refuse_value(larder_image_refusal *refusal, const struct larder_step *steps, uint32_t count,
                         const zval *value)
{
    zend_string *path = path_of(steps, count), *name = name_of(value);

    refusal->message =
        zend_strpprintf(0, "%s is %s, which cannot be stored; %s", ZSTR_VAL(path), ZSTR_VAL(name), advice(value));
    zend_string_release(name);
    zend_string_release(path);
}

/* False if the find has no step of its own: a class, a reference, an object on the way to a table of its own. */
static bool step_into(struct larder_step *step, const struct larder_survey *survey, uint32_t index, uint32_t position)
{
    const struct larder_found *found = &survey->found[index];

    *step = (struct larder_step){.position = position, .holder = found->source};
    switch (found->type) {
    case LARDER_FOUND_ARRAY:
        step->type = LARDER_STEP_ELEMENT;
        return true;
    case LARDER_FOUND_TOLD:
        step->teller = ((const zend_object *)survey->found[found->parent].source)->ce;
        step->type = larder_step_into_told(step->teller);
        return true;
    case LARDER_FOUND_DYNAMIC:
        step->type = LARDER_STEP_NAME;
        return true;
    case LARDER_FOUND_OBJECT:
        step->type = LARDER_STEP_SLOT;
        return position != LARDER_OWN_TABLE;
    default:
        return false;
    }
}

bool larder_refuse_found(const struct larder_survey *survey, uint32_t index, uint32_t position, const zval *value,
                         larder_image_refusal *refusal)
{
    uint32_t capacity = 1, at;
    for (uint32_t i = index; i; i = survey->found[i].parent) {
        capacity++;
    }
    struct larder_step *steps = safe_emalloc(capacity, sizeof(*steps), 0);
    for (at = capacity; at > 0 && survey->count > 0;) {
        at -= step_into(&steps[at - 1], survey, index, position);
        if (index == 0) {
            break;
        }
        position = survey->found[index].position;
        index = survey->found[index].parent;
    }
    larder_refuse_value(refusal, steps + at, capacity - at, value);
    efree(steps);
    return false;
}

static zend_string *message_of(zend_object *exception)
{
    zval hold, *message;
    zend_class_entry *base = instanceof_function(exception->ce, zend_ce_exception) ? zend_ce_exception : zend_ce_error;

    message = zend_read_property_ex(base, exception, ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &hold);
    return Z_TYPE_P(message) == IS_STRING ? zend_string_copy(Z_STR_P(message)) : ZSTR_EMPTY_ALLOC();
}

void larder_refuse_answer(larder_image_refusal *refusal, const struct larder_step *steps, uint32_t count,
                          const char *reason)
{
    zend_string *path = path_of(steps, count);
    zend_string *message =
        EG(exception) && instanceof_function(EG(exception)->ce, zend_ce_throwable) ? message_of(EG(exception)) : NULL;

    if (!message) {
        message = zend_string_init(reason ? reason : "", reason ? strlen(reason) : 0, false);
    }
    refusal->message = zend_strpprintf(0, "%s could not be serialised: %s", ZSTR_VAL(path), ZSTR_VAL(message));
    zend_string_release(message);
    zend_string_release(path);
}
