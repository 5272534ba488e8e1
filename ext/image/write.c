/* Writing a value as an image.
 *
 * Everything that is written here has a twin in survey.c that counted it: the same order, the same finds, the
 * same strings. Nothing of PHP runs between the two, so they cannot come to see different values.
 */
#include "image.h"
#include "class.h"
#include "date.h"
#include "hash.h"
#include "survey.h"
#include "utf8.h"

#include "zend_enum.h"

struct writer {
    struct larder_survey *survey;
    char *to;
    uintptr_t address;      /* of the image, for readers */
    size_t strings;         /* bytes of strings written */
    uint32_t next;          /* the number of the next find in the survey */
    uint32_t string_number; /* the part number of the next string */
};

static bool is_worth_a_mark(const zend_string *string)
{
    return (GC_FLAGS(string) & IS_STR_VALID_UTF8) || (ZSTR_LEN(string) >= LARDER_UTF8_LONG && larder_is_utf8(string));
}

static void write_string(char *to, const zend_string *string, uint32_t number)
{
    zend_string *part = (zend_string *)to;
    size_t size = larder_string_size(ZSTR_LEN(string));

    /* What follows the last byte up to the next part must hold no secret. */
    memset(to + size - sizeof(uint64_t), 0, sizeof(uint64_t));
    part->gc.refcount = number + LARDER_FIRST_REFCOUNT;
    part->gc.u.type_info = LARDER_STRING_IN_PLACE;
    if (is_worth_a_mark(string)) {
        part->gc.u.type_info |= IS_STR_VALID_UTF8 << GC_FLAGS_SHIFT;
    }
    part->h = ZSTR_H(string);
    part->len = ZSTR_LEN(string);
    memcpy(part->val, ZSTR_VAL(string), ZSTR_LEN(string) + 1);
}

/* PHP writes a string's hash into it when it is first asked for: not into one that is in an image. */
static void make_hash(zend_string *string)
{
    if (ZSTR_H(string) == 0 && ZSTR_LEN(string) >= LARDER_HASH_LONG) {
        ZSTR_H(string) = larder_hash_of(ZSTR_VAL(string), ZSTR_LEN(string));
    } else {
        zend_string_hash_val(string);
    }
}

/* `place` is where survey.c put the string among all strings; the next free place is that of one not yet written. */
static zend_string *string_at(struct writer *writer, size_t place, zend_string *string)
{
    size_t offset = writer->survey->parts + place;

    if (place == writer->strings) {
        make_hash(string);
        write_string(writer->to + offset, string, writer->string_number++);
        writer->strings += larder_string_size(ZSTR_LEN(string));
    }
    return (zend_string *)(writer->address + offset);
}

static zend_string *put_string(struct writer *writer, zend_string *string)
{
    size_t place = writer->strings;

    if (larder_may_be_shared(&string->gc)) {
        place = larder_seen_place(&writer->survey->seen, string, place);
    }
    return string_at(writer, place, string);
}

static zend_string *put_key(struct writer *writer, zend_string *key, bool nested)
{
    if (!nested || larder_may_be_shared(&key->gc)) {
        return put_string(writer, key);
    }
    return string_at(writer, larder_seen_name(writer->survey->names, key, writer->strings), key);
}

/* What the survey found it to be; `is_first`: it was not met before. */
static const struct larder_found *found_for(struct writer *writer, const void *source, bool may_be_shared,
                                            bool *is_first)
{
    size_t place = writer->next;

    if (may_be_shared) {
        place = larder_seen_place(&writer->survey->seen, source, place);
    }
    /* What stands apart was never met, see unfold.c: its place is behind all others. */
    *is_first = place >= writer->next;
    place = *is_first ? writer->next : place;
    writer->next += *is_first;
    return &writer->survey->found[place];
}

/* Where readers will find a part that is written when its turn comes. */
static void *address_of(struct writer *writer, const void *source, bool may_be_shared)
{
    bool is_first;
    return (void *)(writer->address + found_for(writer, source, may_be_shared, &is_first)->offset);
}

static void put_reference(struct writer *writer, zval *to, zend_reference *reference);

/* Value and type only: the second half of a zval belongs to what it lies in. Parts are not counted, so no zval
 * says so. */
static inline void put_value(struct writer *writer, zval *to, zval *value)
{
    switch (Z_TYPE_P(value)) {
    case IS_STRING:
        Z_STR_P(to) = put_string(writer, Z_STR_P(value));
        break;
    case IS_ARRAY:
        Z_PTR_P(to) = address_of(writer, Z_ARR_P(value), larder_may_be_shared(&Z_ARR_P(value)->gc));
        break;
    case IS_OBJECT:
        Z_PTR_P(to) =
            address_of(writer, Z_OBJ_P(value), larder_survey_object_may_be_shared(writer->survey, Z_OBJ_P(value)));
        break;
    case IS_LONG:
    case IS_DOUBLE:
        to->value = value->value;
        break;
    case IS_REFERENCE:
        put_reference(writer, to, Z_REF_P(value));
        return;
    default: /* PHP leaves rubbish where null and bools have no value */
        to->value.lval = 0;
    }
    Z_TYPE_INFO_P(to) = Z_TYPE_P(value);
}

/* Like the survey, the writer looks at what a reference refers to at once when it meets the reference. */
static void put_reference(struct writer *writer, zval *to, zend_reference *reference)
{
    bool is_first;

    if (larder_survey_looks_through(writer->survey, reference)) {
        put_value(writer, to, &reference->val);
        return;
    }
    const struct larder_found *found = found_for(writer, reference, true, &is_first);
    if (found->plain) {
        put_value(writer, to, &reference->val);
        return;
    }
    if (is_first) {
        struct larder_reference_part *part = (struct larder_reference_part *)(writer->to + found->offset);
        part->gc.u.type_info = IS_REFERENCE;
        put_value(writer, &part->value, &reference->val);
        part->value.u2.extra = 0;
    }
    Z_PTR_P(to) = (void *)(writer->address + found->offset);
    Z_TYPE_INFO_P(to) = IS_REFERENCE;
}

static void write_packed(struct writer *writer, const struct larder_found *found, zend_array *part)
{
    const zend_array *table = found->source;
    zval *to = larder_array_elements(part);

    for (uint32_t i = 0; i < table->nNumUsed; i++) {
        zval *value = &table->arPacked[i];
        if (!HT_IS_PACKED(table)) {
            value = larder_live_value(&table->arData[i].val, false);
            if (!value) {
                continue;
            }
        }
        put_value(writer, to, value);
        to->u2.extra = 0;
        to++;
    }
}

static void write_bucket(struct writer *writer, zend_array *part, uint32_t index, const Bucket *from, zval *value)
{
    Bucket *bucket = (Bucket *)larder_array_elements(part) + index;
    uint32_t *hash = (uint32_t *)larder_array_elements(part) + (int32_t)((uint32_t)from->h | part->nTableMask);

    bucket->h = from->h;
    bucket->key = from->key;
    put_value(writer, &bucket->val, value);
    Z_NEXT(bucket->val) = *hash;
    *hash = index;
}

static void write_hash(struct writer *writer, const struct larder_found *found, zend_array *part)
{
    const zend_array *table = found->source;
    bool dynamic = found->type == LARDER_FOUND_DYNAMIC;
    bool nested = found != writer->survey->found;
    uint32_t written = 0;

    for (uint32_t i = 0; i < table->nNumUsed; i++) {
        Bucket bucket = {.h = i};
        zval *value;

        if (HT_IS_PACKED(table)) {
            value = larder_live_value(&table->arPacked[i], false);
        } else {
            bucket = table->arData[i];
            value = larder_live_value(&table->arData[i].val, dynamic);
        }
        if (value) {
            bucket.key = bucket.key ? put_key(writer, bucket.key, nested) : NULL;
            write_bucket(writer, part, written++, &bucket, value);
        }
    }
}

static void write_table(struct writer *writer, const struct larder_found *found, zend_array *part)
{
    uint32_t size = larder_table_size(found->elements);
    uint32_t mask = found->packed ? HT_MIN_MASK : HT_SIZE_TO_MASK(size);

    *part = *(const zend_array *)found->source;
    part->gc.u.type_info = found->rebuilt ? LARDER_ARRAY_MADE_ANEW : LARDER_ARRAY_IN_PLACE;
    HT_FLAGS(part) = HASH_FLAG_STATIC_KEYS | (found->packed ? HASH_FLAG_PACKED : 0);
    part->nTableMask = mask;
    part->nNumUsed = found->elements;
    part->nNumOfElements = found->live;
    part->nTableSize = size;
    part->nInternalPointer = 0;
    part->pDestructor = NULL;
    HT_SET_DATA_ADDR(part, writer->address + found->offset + sizeof(zend_array));
    memset(larder_array_content(part), 0xff, HT_HASH_SIZE(mask));
    if (found->packed) {
        write_packed(writer, found, part);
    } else {
        write_hash(writer, found, part);
    }
}

static void write_object(struct writer *writer, const struct larder_found *found, struct larder_object_part *part)
{
    zend_object *object = found->source;

    part->class = address_of(writer, object->ce, true);
    part->slots = (uint32_t)object->ce->default_properties_count;
    part->turn = found->turn;
    for (uint32_t i = 0; i < part->slots; i++) {
        zval *value = OBJ_PROP_NUM(object, i);
        put_value(writer, &part->properties[i], value);
        Z_PROP_FLAG_P(&part->properties[i]) = Z_PROP_FLAG_P(value) & IS_PROP_UNINIT;
    }
    part->dynamic = larder_has_dynamic_properties(object) ? address_of(writer, object->properties, false) : NULL;
}

static void write_teller(struct writer *writer, const struct larder_found *found, struct larder_teller_part *part)
{
    zend_object *object = found->source;
    const struct larder_answer *answer = larder_answer_of(writer->survey->answers, object);
    zval told = answer->told;

    part->class = address_of(writer, object->ce, true);
    part->form = answer->form;
    part->turn = found->turn;
    put_value(writer, &part->told, &told);
    part->told.u2.extra = 0;
}

static void write_date(struct writer *writer, const struct larder_found *found, struct larder_date_part *part)
{
    zend_object *object = found->source;

    part->class = address_of(writer, object->ce, true);
    larder_date_write(part, object, larder_class_of(object->ce)->date);
}

static void write_one(struct writer *writer, const struct larder_found *found)
{
    zend_refcounted_h *gc = (zend_refcounted_h *)(writer->to + found->offset);

    switch (found->type) {
    case LARDER_FOUND_OBJECT:
        gc->u.type_info = IS_OBJECT;
        write_object(writer, found, (struct larder_object_part *)gc);
        break;
    case LARDER_FOUND_TELLER:
        gc->u.type_info = LARDER_PART_TELLER;
        write_teller(writer, found, (struct larder_teller_part *)gc);
        break;
    case LARDER_FOUND_DATE:
        gc->u.type_info = LARDER_PART_DATE;
        write_date(writer, found, (struct larder_date_part *)gc);
        break;
    case LARDER_FOUND_REFERENCE:
        break; /* written when it was met */
    case LARDER_FOUND_CASE: {
        zend_object *object = found->source;
        struct larder_case_part *part = (struct larder_case_part *)gc;
        gc->u.type_info = LARDER_PART_CASE;
        part->enumeration = address_of(writer, object->ce, true);
        part->name = put_string(writer, Z_STR_P(zend_enum_fetch_case_name(object)));
        break;
    }
    case LARDER_FOUND_CLASS: {
        zend_class_entry *class = found->source;
        struct larder_class_part *part = (struct larder_class_part *)gc;
        gc->u.type_info = LARDER_PART_CLASS;
        part->layout = larder_class_of(class)->layout;
        part->name = put_string(writer, class->name);
        break;
    }
    default:
        write_table(writer, found, (zend_array *)gc);
    }
    gc->refcount = found->number + LARDER_FIRST_REFCOUNT;
}

static void write_parts(const larder_image_plan *plan, char *to, uintptr_t address)
{
    struct writer writer = {
        .survey = plan->survey,
        .to = to,
        .address = address,
        .next = 1,
        .string_number = plan->survey->part_count,
    };

    for (uint32_t i = 0; i < plan->survey->count; i++) {
        if (!plan->survey->found[i].plain) {
            write_one(&writer, &plan->survey->found[i]);
        }
    }
    ZEND_ASSERT(writer.next == plan->survey->count && writer.strings == plan->survey->strings);
}

void larder_image_write(const larder_image_plan *plan, void *to, uintptr_t address)
{
    switch (plan->kind) {
    case LARDER_KIND_INT:
    case LARDER_KIND_FLOAT:
        memcpy(to, &plan->value.value, sizeof(plan->value.value));
        break;
    case LARDER_KIND_BYTES:
        memcpy(to, Z_STRVAL(plan->value), Z_STRLEN(plan->value));
        break;
    case LARDER_KIND_STRING:
        make_hash(Z_STR(plan->value));
        write_string(to, Z_STR(plan->value), 0);
        break;
    case LARDER_KIND_ARRAY:
    case LARDER_KIND_ARRAY_OF_OBJECTS:
    case LARDER_KIND_OBJECT:
    case LARDER_KIND_LONE_OBJECT:
        write_parts(plan, to, address);
        break;
    default: /* null, false, true: the kind says it all */
        break;
    }
}
