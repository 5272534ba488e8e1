/* Finding what is inside a value, and whether all of it can be stored. */
#include "survey.h"
#include "class.h"
#include "settle.h"
#include "unfold.h"

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
    if (survey->bound) {
        larder_seen_free(survey->bound);
        efree(survey->bound);
    }
    larder_seen_free(&survey->seen);
}

void larder_survey_init(struct larder_survey *survey)
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
        .rebuilt = type != LARDER_FOUND_ARRAY && type != LARDER_FOUND_TOLD && type != LARDER_FOUND_REFERENCE,
    };
}

static void share(struct larder_survey *survey, uint32_t parent, size_t child)
{
    if (survey->shared_count == survey->shared_capacity) {
        survey->shared_capacity = survey->shared_capacity ? survey->shared_capacity * 2 : 16;
        survey->shared = safe_erealloc(survey->shared, survey->shared_capacity, sizeof(*survey->shared), 0);
    }
    survey->shared[survey->shared_count++] = (struct larder_shared){parent, (uint32_t)child};
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

static void survey_array(struct larder_survey *survey, enum larder_found_type type, zend_array *array, uint32_t parent,
                         uint32_t position)
{
    if (larder_may_be_shared(&array->gc)) {
        size_t place = larder_seen_place(&survey->seen, array, survey->count);
        if (place < survey->count) {
            /* PHP's own immutable arrays have neither objects nor references in them. */
            if (!(GC_FLAGS(array) & GC_IMMUTABLE)) {
                share(survey, parent, place);
            }
            return;
        }
    }
    find(survey, type, array, parent, position);
}

static void survey_class(struct larder_survey *survey, zend_class_entry *class, uint32_t parent)
{
    if (larder_seen_place(&survey->seen, class, survey->count) == survey->count) {
        find(survey, LARDER_FOUND_CLASS, class, parent, 0);
    }
}

static bool survey_object(struct larder_survey *survey, zend_object *object, uint32_t parent, uint32_t position,
                          larder_image_refusal *refusal)
{
    survey->objects++;
    if (survey->count) {
        larder_rebuild_upwards(survey, parent);
    }
    if (larder_survey_object_may_be_shared(survey, object) &&
        larder_seen_place(&survey->seen, object, survey->count) != survey->count) {
        return true;
    }
    if (object->ce->ce_flags & ZEND_ACC_ENUM) {
        find(survey, LARDER_FOUND_CASE, object, parent, position);
        return true;
    }
    const struct larder_class *class = larder_class_of(object->ce);
    enum larder_form form = larder_form_of(object, class);
    if (form == LARDER_FORM_SLOTS && !class->wakes) {
        find(survey, LARDER_FOUND_OBJECT, object, parent, position);
        return true;
    }
    if (form == LARDER_FORM_DATE) {
        find(survey, LARDER_FOUND_DATE, object, parent, position);
        return true;
    }
    if (form == LARDER_FORM_NONE) {
        zval refused;
        ZVAL_OBJ(&refused, object);
        return larder_refuse_found(survey, parent, position, &refused, refusal);
    }
    const struct larder_answer *answer = larder_answer_of(survey->answers, object);
    if (!answer) {
        /* It has a place in the list all the same: its number was given to the table of what was met. */
        survey->has_unasked = true;
        find(survey, LARDER_FOUND_CLASS, object->ce, parent, position);
        return true;
    }
    find(survey, form == LARDER_FORM_SLOTS ? LARDER_FOUND_OBJECT : LARDER_FOUND_TELLER, object, parent, position);
    survey->found[survey->count - 1].turn = answer->turn + 1;
    survey->turns++;
    return true;
}

static bool survey_uncommon(struct larder_survey *survey, zval *value, uint32_t parent, uint32_t position,
                            larder_image_refusal *refusal);

static inline bool survey_value(struct larder_survey *survey, zval *value, uint32_t parent, uint32_t position,
                                larder_image_refusal *refusal)
{
    if (Z_TYPE_P(value) < IS_STRING) {
        return true;
    }
    if (Z_TYPE_P(value) == IS_STRING) {
        survey_string(survey, Z_STR_P(value));
        return true;
    }
    if (Z_TYPE_P(value) == IS_ARRAY) {
        survey_array(survey, LARDER_FOUND_ARRAY, Z_ARR_P(value), parent, position);
        return true;
    }
    return survey_uncommon(survey, value, parent, position, refusal);
}

/* One that is met twice is the value's own structure. One that is met once is a plain value: PHP leaves such behind
 * after a foreach by reference, and who else holds it is of no concern to the value. */
static bool survey_reference(struct larder_survey *survey, zend_reference *reference, uint32_t parent,
                             uint32_t position, larder_image_refusal *refusal)
{
    survey->has_references = true;
    if (larder_survey_looks_through(survey, reference)) {
        return survey_value(survey, &reference->val, parent, position, refusal);
    }
    size_t place = larder_seen_place(&survey->seen, reference, survey->count);
    if (place != survey->count) {
        survey->found[place].live++;
        survey->has_shared_references = true;
        share(survey, parent, place);
        return true;
    }
    find(survey, LARDER_FOUND_REFERENCE, reference, parent, position);
    survey->found[place].live = 1;
    return survey_value(survey, &reference->val, (uint32_t)place, 0, refusal);
}

static bool survey_uncommon(struct larder_survey *survey, zval *value, uint32_t parent, uint32_t position,
                            larder_image_refusal *refusal)
{
    if (Z_TYPE_P(value) == IS_OBJECT) {
        return survey_object(survey, Z_OBJ_P(value), parent, position, refusal);
    }
    if (Z_ISREF_P(value)) {
        return survey_reference(survey, Z_REF_P(value), parent, position, refusal);
    }
    return larder_refuse_found(survey, parent, position, value, refusal);
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
        found->packed = is_list && larder_found_array(found);
    }
}

static bool survey_packed(struct larder_survey *survey, uint32_t index, larder_image_refusal *refusal)
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

static bool survey_hash(struct larder_survey *survey, uint32_t index, larder_image_refusal *refusal)
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

static bool survey_properties(struct larder_survey *survey, uint32_t index, larder_image_refusal *refusal)
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
        survey->has_shared_table |= GC_REFCOUNT(object->properties) > 1;
        find(survey, LARDER_FOUND_DYNAMIC, object->properties, index, LARDER_OWN_TABLE);
    }
    return true;
}

static void survey_teller(struct larder_survey *survey, uint32_t index)
{
    zend_object *object = survey->found[index].source;
    const struct larder_answer *answer = larder_answer_of(survey->answers, object);

    survey_class(survey, object->ce, index);
    if (Z_TYPE(answer->told) == IS_STRING) {
        survey_string(survey, Z_STR(answer->told));
    } else {
        survey_array(survey, LARDER_FOUND_TOLD, Z_ARR(answer->told), index, LARDER_OWN_TABLE);
    }
}

static bool survey_one(struct larder_survey *survey, uint32_t index, larder_image_refusal *refusal)
{
    struct larder_found *found = &survey->found[index];

    switch (found->type) {
    case LARDER_FOUND_ARRAY:
    case LARDER_FOUND_TOLD:
    case LARDER_FOUND_DYNAMIC:
        return HT_IS_PACKED((zend_array *)found->source) ? survey_packed(survey, index, refusal)
                                                         : survey_hash(survey, index, refusal);
    case LARDER_FOUND_OBJECT:
        return survey_properties(survey, index, refusal);
    case LARDER_FOUND_TELLER:
        survey_teller(survey, index);
        return true;
    case LARDER_FOUND_DATE:
        survey_class(survey, ((zend_object *)found->source)->ce, index);
        return true;
    case LARDER_FOUND_REFERENCE:
        return true; /* its value was looked at when it was met */
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

static bool survey_all(struct larder_survey *survey, zval *value, larder_image_refusal *refusal)
{
    if (!survey_value(survey, value, 0, 0, refusal)) {
        return false;
    }
    for (uint32_t i = 0; i < survey->count; i++) {
        if (!survey_one(survey, i, refusal)) {
            return false;
        }
    }
    return true;
}

static void start_again(struct larder_survey *survey)
{
    struct larder_answers *answers = survey->answers;
    larder_survey_free(survey);
    larder_survey_init(survey);
    survey->answers = answers;
    survey->knows_all_objects = true;
}

/* Takes `bound` over. What stands apart looks to survey_array as if it was never met. */
static void take_bound(struct larder_survey *survey, struct larder_seen *bound)
{
    survey->bound = bound;
    for (uint32_t i = 0; i < bound->capacity; i++) {
        if (bound->entries[i].key && bound->entries[i].place == LARDER_BOUND_APART) {
            larder_seen_place(&survey->seen, bound->entries[i].key, LARDER_BOUND_APART);
        }
    }
}

static bool refuse_too_much(larder_image_refusal *refusal)
{
    refusal->message = zend_strpprintf(
        0,
        "$value has arrays with references inside in too many places: more than %u would be written once "
        "more; store it without the references",
        LARDER_UNFOLDED_MOST);
    return false;
}

/* Finds everything once more if the value is more than what was found. */
static bool unfold(struct larder_survey *survey, zval *value, larder_image_refusal *refusal)
{
    struct larder_seen *bound = emalloc(sizeof(*bound));
    larder_seen_init(bound, false);
    enum larder_unfolded unfolded = larder_survey_unfold(survey, bound);
    bool done = true;

    if (unfolded == LARDER_UNFOLDED_UNKNOWN) {
        start_again(survey);
        survey->finds_all_references = true;
        done = survey_all(survey, value, refusal);
        unfolded = done ? larder_survey_unfold(survey, bound) : LARDER_UNFOLDED_UNKNOWN;
    }
    if (unfolded == LARDER_UNFOLDED_BOUND) {
        start_again(survey);
        take_bound(survey, bound);
        return survey_all(survey, value, refusal);
    }
    larder_seen_free(bound);
    efree(bound);
    return unfolded == LARDER_UNFOLDED_TOO_MUCH ? refuse_too_much(refusal) : done;
}

/* PHP gives objects and arrays the very table of an object's properties, as `(array)` and `(object)` do. */
static bool has_table_twice(struct larder_survey *survey)
{
    for (uint32_t i = 0; survey->has_shared_table && i < survey->count; i++) {
        const struct larder_found *found = &survey->found[i];
        if (found->type == LARDER_FOUND_DYNAMIC && larder_may_be_shared(&((zend_array *)found->source)->gc)) {
            uint32_t count = survey->seen.count;
            larder_seen_place(&survey->seen, found->source, 0);
            if (survey->seen.count == count) {
                return true;
            }
        }
    }
    return false;
}

bool larder_survey_run(struct larder_survey *survey, zval *value, struct larder_answers *answers,
                       larder_image_refusal *refusal)
{
    survey->answers = answers;
    if (!survey_all(survey, value, refusal)) {
        return false;
    }
    if (survey->has_unasked) {
        return true;
    }
    /* An object in such a table is met twice, though only the table holds it. */
    if (has_table_twice(survey)) {
        start_again(survey);
        if (!survey_all(survey, value, refusal)) {
            return false;
        }
    }
    if (survey->has_references && survey->shared_count && !unfold(survey, value, refusal)) {
        return false;
    }
    larder_survey_settle(survey);
    return true;
}
