/* Saying what cannot be stored, where it is in the value, and what to do instead. */
#include "image.h"
#include "survey.h"

#include "zend_closures.h"
#include "zend_smart_str.h"

#define LONGEST_KEY  60
#define LONGEST_PATH 300

static void append_key(smart_str *path, const zend_string *key, zend_ulong index)
{
    if (!key) {
        smart_str_append_printf(path, "[" ZEND_LONG_FMT "]", (zend_long)index);
    } else if (ZSTR_LEN(key) > LONGEST_KEY) {
        smart_str_append_printf(path, "['%.*s…']", LONGEST_KEY, ZSTR_VAL(key));
    } else {
        smart_str_append_printf(path, "['%s']", ZSTR_VAL(key));
    }
}

static void append_property(smart_str *path, const zend_string *mangled)
{
    const char *class, *name;
    zend_unmangle_property_name(mangled, &class, &name);
    smart_str_append_printf(path, "->%.*s", LONGEST_KEY, name);
}

static void append_step(smart_str *path, const struct larder_found *found, uint32_t position)
{
    switch (found->type) {
    case LARDER_FOUND_ARRAY: {
        const zend_array *array = found->source;
        if (HT_IS_PACKED(array)) {
            append_key(path, NULL, position);
        } else {
            append_key(path, array->arData[position].key, array->arData[position].h);
        }
        break;
    }
    case LARDER_FOUND_DYNAMIC: {
        const Bucket *bucket = &((const zend_array *)found->source)->arData[position];
        if (bucket->key) {
            append_property(path, bucket->key);
        }
        break;
    }
    case LARDER_FOUND_OBJECT: {
        const zend_property_info *property = ((const zend_object *)found->source)->ce->properties_info_table[position];
        if (property) {
            append_property(path, property->name);
        }
        break;
    }
    default:
        break;
    }
}

/* Writes the way from the value itself to element `position` of `index`, cut off where it gets too long to read. */
static void append_path(smart_str *path, const struct larder_survey *survey, uint32_t index, uint32_t position)
{
    uint32_t steps = 1;
    for (uint32_t i = index; i; i = survey->found[i].parent) {
        steps++;
    }
    uint32_t *indexes = safe_emalloc(steps, 2 * sizeof(uint32_t), 0);
    for (uint32_t i = steps; i > 0; i--) {
        indexes[2 * i - 2] = index;
        indexes[2 * i - 1] = position;
        position = survey->found[index].position;
        index = survey->found[index].parent;
    }
    for (uint32_t i = 0; i < steps; i++) {
        const struct larder_found *found = &survey->found[indexes[2 * i]];
        /* The step from an object to its table of dynamic properties has no name of its own. */
        if (i + 1 < steps && survey->found[indexes[2 * i + 2]].type == LARDER_FOUND_DYNAMIC) {
            continue;
        }
        if (path->s && ZSTR_LEN(path->s) > LONGEST_PATH) {
            smart_str_appends(path, "…");
            break;
        }
        append_step(path, found, indexes[2 * i + 1]);
    }
    efree(indexes);
}

static void name_it(char *name, size_t size, const zval *value)
{
    if (Z_TYPE_P(value) == IS_RESOURCE) {
        snprintf(name, size, "a resource");
    } else if (Z_TYPE_P(value) != IS_OBJECT) {
        snprintf(name, size, "of PHP's inner type %d", Z_TYPE_P(value));
    } else if (Z_OBJCE_P(value)->ce_flags & ZEND_ACC_ANON_CLASS) {
        snprintf(name, size, "an object of an anonymous class");
    } else {
        snprintf(name, size, "a %.100s", ZSTR_VAL(Z_OBJCE_P(value)->name));
    }
}

static const char *advice(const zval *value)
{
    if (Z_TYPE_P(value) == IS_RESOURCE) {
        return "store what was read from it";
    }
    if (Z_TYPE_P(value) == IS_OBJECT && Z_OBJCE_P(value) == zend_ce_closure) {
        return "store what it returns, or the name of a function";
    }
    return "store plain data taken from it";
}

void larder_refuse_value(larder_image_refusal *refusal, const struct larder_survey *survey, uint32_t parent,
                         uint32_t position, const zval *value)
{
    char name[160];
    smart_str path = {0};

    if (survey->count) {
        smart_str_appends(&path, " at ");
        append_path(&path, survey, parent, position);
    }
    smart_str_0(&path);
    name_it(name, sizeof(name), value);
    snprintf(refusal->message, sizeof(refusal->message), "the value%s is %s, which cannot be stored; %s",
             path.s ? ZSTR_VAL(path.s) : "", name, advice(value));
    smart_str_free(&path);
}
