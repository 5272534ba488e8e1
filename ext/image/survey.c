/* Measuring: what is inside a value, how much room it takes, and whether an image can hold it. */
#include "survey.h"
#include "class.h"
#include "image.h"

#include "zend_enum.h"

void larder_survey_free(struct larder_survey *survey)
{
    if (survey->found != survey->first) {
        efree(survey->found);
    }
    if (survey->shared) {
        efree(survey->shared);
    }
    if (survey->names) {
        larder_seen_free(survey->names);
        efree(survey->names);
    }
    larder_seen_free(&survey->seen);
}

static void survey_init(struct larder_survey *survey)
{
    memset(survey, 0, offsetof(struct larder_survey, seen));
    survey->found = survey->first;
    survey->capacity = LARDER_FOUND_AT_FIRST;
    larder_seen_init(&survey->seen, false);
    survey->names = NULL;
}

static void find(struct larder_survey *survey, enum larder_found_type type, void *source, uint32_t parent,
                 uint32_t position)
{
    if (survey->count == survey->capacity) {
        size_t bytes = survey->count * sizeof(*survey->found);
        struct larder_found *more = safe_emalloc(survey->capacity, 2 * sizeof(*more), 0);
        memcpy(more, survey->found, bytes);
        if (survey->found != survey->first) {
            efree(survey->found);
        }
        survey->found = more;
        survey->capacity *= 2;
    }
    survey->found[survey->count++] = (struct larder_found){
        .source = source,
        .parent = parent,
        .position = position,
        .type = (uint8_t)type,
        .rebuilt = type != LARDER_FOUND_ARRAY,
    };
}

/* An array with something inside that is made anew on each read is itself, and so are those around it. */
static void rebuild_upwards(struct larder_survey *survey, uint32_t index)
{
    while (!survey->found[index].rebuilt) {
        survey->found[index].rebuilt = true;
        index = survey->found[index].parent;
    }
}

static void survey_string(struct larder_survey *survey, zend_string *string)
{
    if (larder_may_be_shared(&string->gc) &&
        larder_seen_place(&survey->seen, string, survey->strings) != survey->strings) {
        return;
    }
    survey->strings += larder_string_size(ZSTR_LEN(string));
}

/* Rows that were decoded or unserialised each have keys of their own that say the same. The outermost array is
 * spared the search: no two of its keys are equal. */
static void survey_key(struct larder_survey *survey, zend_string *key, bool nested)
{
    if (!nested || larder_may_be_shared(&key->gc)) {
        survey_string(survey, key);
        return;
    }
    if (!survey->names) {
        survey->names = emalloc(sizeof(*survey->names));
        larder_seen_init(survey->names, true);
    }
    if (larder_seen_name(survey->names, key, survey->strings) == survey->strings) {
        survey->strings += larder_string_size(ZSTR_LEN(key));
    }
}

static void survey_array(struct larder_survey *survey, zend_array *array, uint32_t parent, uint32_t position)
{
    if (larder_may_be_shared(&array->gc)) {
        size_t place = larder_seen_place(&survey->seen, array, survey->count);
        if (place != survey->count) {
            /* PHP's own immutable arrays have neither objects nor references in them. */
            if (!(GC_FLAGS(array) & GC_IMMUTABLE)) {
                if (survey->shared_count == survey->shared_capacity) {
                    survey->shared_capacity = survey->shared_capacity ? survey->shared_capacity * 2 : 16;
                    survey->shared = safe_erealloc(survey->shared, survey->shared_capacity, sizeof(*survey->shared), 0);
                }
                survey->shared[survey->shared_count++] = (struct larder_shared){parent, (uint32_t)place};
            }
            return;
        }
    }
    find(survey, LARDER_FOUND_ARRAY, array, parent, position);
}

static void survey_class(struct larder_survey *survey, zend_class_entry *class, uint32_t parent)
{
    if (larder_seen_place(&survey->seen, class, survey->count) == survey->count) {
        find(survey, LARDER_FOUND_CLASS, class, parent, 0);
    }
}

static bool survey_object(struct larder_survey *survey, zend_object *object, uint32_t parent, uint32_t position,
                          struct larder_image_refusal *refusal)
{
    enum larder_found_type type = LARDER_FOUND_OBJECT;

    survey->has_objects = true;
    if (survey->count) {
        rebuild_upwards(survey, parent);
    }
    if (larder_may_be_shared(&object->gc) && larder_seen_place(&survey->seen, object, survey->count) != survey->count) {
        return true;
    }
    if (object->ce->ce_flags & ZEND_ACC_ENUM) {
        type = LARDER_FOUND_CASE;
    } else if (object->ce->ce_flags & ZEND_ACC_NOT_SERIALIZABLE) {
        zval refused;
        ZVAL_OBJ(&refused, object);
        larder_refuse_value(refusal, survey, parent, position, &refused);
        return false;
    } else if (!larder_object_is_ordinary(object) || !larder_class_of(object->ce)->plain) {
        /* What it puts into its serialised form is its own affair, so nothing in it is looked at. But it has a
         * place in the list: its number was given to the table of what was met. */
        survey->to_be_serialized = true;
        type = LARDER_FOUND_CLASS;
        find(survey, type, object->ce, parent, position);
        return true;
    }
    find(survey, type, object, parent, position);
    return true;
}

/* One that nothing else holds is a plain value: PHP leaves such behind after a foreach by reference. Others are
 * the value's own structure, which only serialising keeps. */
static zval *survey_reference(struct larder_survey *survey, zend_reference *reference)
{
    survey->has_references = true;
    if (GC_REFCOUNT(reference) > 1) {
        survey->to_be_serialized = true;
        if (larder_seen_slot(&survey->seen, reference)->key) {
            return NULL;
        }
        larder_seen_place(&survey->seen, reference, 0);
    }
    return &reference->val;
}

static bool survey_uncommon(struct larder_survey *survey, zval *value, uint32_t parent, uint32_t position,
                            struct larder_image_refusal *refusal);

static inline bool survey_value(struct larder_survey *survey, zval *value, uint32_t parent, uint32_t position,
                                struct larder_image_refusal *refusal)
{
    if (Z_TYPE_P(value) < IS_STRING) {
        return true;
    }
    if (Z_TYPE_P(value) == IS_STRING) {
        survey_string(survey, Z_STR_P(value));
        return true;
    }
    if (Z_TYPE_P(value) == IS_ARRAY) {
        survey_array(survey, Z_ARR_P(value), parent, position);
        return true;
    }
    return survey_uncommon(survey, value, parent, position, refusal);
}

static bool survey_uncommon(struct larder_survey *survey, zval *value, uint32_t parent, uint32_t position,
                            struct larder_image_refusal *refusal)
{
    if (Z_TYPE_P(value) == IS_OBJECT) {
        return survey_object(survey, Z_OBJ_P(value), parent, position, refusal);
    }
    if (Z_ISREF_P(value)) {
        value = survey_reference(survey, Z_REF_P(value));
        return !value || survey_value(survey, value, parent, position, refusal);
    }
    larder_refuse_value(refusal, survey, parent, position, value);
    return false;
}

/* Holes stay as they are if the array is still smaller than a hash of what is left would be: PHP, too, keeps
 * them. What unserialize() made of a list becomes one again, for half the room. */
static void settle_table(struct larder_found *found, const zend_array *table, uint32_t live, bool is_list)
{
    size_t packed = HT_HASH_SIZE(HT_MIN_MASK) + table->nNumUsed * sizeof(zval);
    size_t hashed = larder_hash_size(live) + live * sizeof(Bucket);

    found->live = live;
    found->elements = live;
    if (HT_IS_PACKED(table)) {
        found->packed = packed <= hashed || live == 0;
        found->elements = found->packed && live > 0 ? table->nNumUsed : live;
    } else {
        found->packed = is_list && found->type == LARDER_FOUND_ARRAY;
    }
}

static bool survey_packed(struct larder_survey *survey, uint32_t index, struct larder_image_refusal *refusal)
{
    const zend_array *table = survey->found[index].source;
    uint32_t live = 0;

    for (uint32_t i = 0; i < table->nNumUsed; i++) {
        zval *value = &table->arPacked[i];
        if (Z_TYPE_P(value) == IS_UNDEF) {
            continue;
        }
        live++;
        if (!survey_value(survey, value, index, i, refusal)) {
            return false;
        }
    }
    settle_table(&survey->found[index], table, live, true);
    return true;
}

static bool survey_hash(struct larder_survey *survey, uint32_t index, struct larder_image_refusal *refusal)
{
    const zend_array *table = survey->found[index].source;
    bool dynamic = survey->found[index].type == LARDER_FOUND_DYNAMIC;
    bool is_list = true;
    uint32_t live = 0;

    for (uint32_t i = 0; i < table->nNumUsed; i++) {
        Bucket *bucket = &table->arData[i];
        zval *value = larder_live_value(&bucket->val, dynamic);
        if (!value) {
            continue;
        }
        if (bucket->key) {
            is_list = false;
            survey_key(survey, bucket->key, index > 0);
        } else {
            is_list &= bucket->h == live;
        }
        live++;
        if (!survey_value(survey, value, index, i, refusal)) {
            return false;
        }
    }
    settle_table(&survey->found[index], table, live, is_list);
    return true;
}

static bool survey_properties(struct larder_survey *survey, uint32_t index, struct larder_image_refusal *refusal)
{
    zend_object *object = survey->found[index].source;

    survey_class(survey, object->ce, index);
    for (uint32_t i = 0; i < (uint32_t)object->ce->default_properties_count; i++) {
        zval *value = OBJ_PROP_NUM(object, i);
        if (!survey_value(survey, value, index, i, refusal)) {
            return false;
        }
    }
    if (larder_has_dynamic_properties(object)) {
        find(survey, LARDER_FOUND_DYNAMIC, object->properties, index, 0);
    }
    return true;
}

static bool survey_one(struct larder_survey *survey, uint32_t index, struct larder_image_refusal *refusal)
{
    struct larder_found *found = &survey->found[index];

    switch (found->type) {
    case LARDER_FOUND_ARRAY:
    case LARDER_FOUND_DYNAMIC:
        return HT_IS_PACKED((zend_array *)found->source) ? survey_packed(survey, index, refusal)
                                                         : survey_hash(survey, index, refusal);
    case LARDER_FOUND_OBJECT:
        return survey_properties(survey, index, refusal);
    case LARDER_FOUND_CASE: {
        zend_object *object = found->source;
        survey_class(survey, object->ce, index);
        survey_string(survey, Z_STR_P(zend_enum_fetch_case_name(object)));
        return true;
    }
    default:
        survey_string(survey, ((zend_class_entry *)found->source)->name);
        return true;
    }
}

/* An array that was met again may turn out later to have objects in it; those who had met it must know. Few
 * values have both, and the loop ends after as many rounds as such arrays lie inside one another. */
static void settle_shared(struct larder_survey *survey)
{
    bool again = survey->has_objects;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < survey->shared_count; i++) {
            const struct larder_shared *shared = &survey->shared[i];
            if (survey->found[shared->child].rebuilt && !survey->found[shared->parent].rebuilt) {
                rebuild_upwards(survey, shared->parent);
                again = true;
            }
        }
    }
}

static size_t size_of_found(const struct larder_found *found)
{
    switch (found->type) {
    case LARDER_FOUND_OBJECT:
        return larder_object_size((uint32_t)((zend_object *)found->source)->ce->default_properties_count);
    case LARDER_FOUND_CASE:
        return sizeof(struct larder_case_part);
    case LARDER_FOUND_CLASS:
        return sizeof(struct larder_class_part);
    default:
        return sizeof(zend_array) + (found->packed
                                         ? HT_HASH_SIZE(HT_MIN_MASK) + found->elements * sizeof(zval)
                                         : larder_hash_size(found->elements) + found->elements * sizeof(Bucket));
    }
}

/* What is made anew on each read comes first, so that a reader can stop behind it. */
static void lay_out(struct larder_survey *survey)
{
    uint32_t number = 0;

    for (int rebuilt = 1; rebuilt >= 0; rebuilt--) {
        for (uint32_t i = 0; i < survey->count; i++) {
            struct larder_found *found = &survey->found[i];
            if (found->rebuilt == rebuilt) {
                found->offset = survey->parts;
                found->number = number++;
                survey->parts += size_of_found(found);
            }
        }
    }
}

bool larder_survey_run(struct larder_survey *survey, zval *value, struct larder_image_refusal *refusal)
{
    uint32_t level_ends = 1;

    survey_init(survey);
    if (!survey_value(survey, value, 0, 0, refusal)) {
        return false;
    }
    for (uint32_t i = 0; i < survey->count; i++) {
        if (i == level_ends) {
            level_ends = survey->count;
            survey->depth++;
        }
        if (!survey_one(survey, i, refusal)) {
            return false;
        }
    }
    /* Only a reference can make an array contain itself. */
    if (survey->has_references && survey->shared_count && larder_survey_has_cycle(survey)) {
        survey->to_be_serialized = true;
    }
    if (!survey->to_be_serialized) {
        settle_shared(survey);
        lay_out(survey);
    }
    return true;
}
