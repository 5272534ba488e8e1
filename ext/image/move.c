/* Moving an image: adjusting the addresses inside it.
 *
 * Arrays, objects and classes follow one another from the start of an image and each tells its size, so this is
 * one pass over them in memory order, up to the first string. It neither follows an address nor recurses,
 * touches every address exactly once however often a part is shared, and needs no list of relocations.
 */
#include "image.h"
#include "part.h"

static inline void move_address(void *field, intptr_t move)
{
    uintptr_t *address = field;
    if (*address) {
        *address += (uintptr_t)move;
    }
}

static inline void move_value(zval *value, intptr_t move)
{
    if (Z_TYPE_P(value) >= IS_STRING) {
        move_address(&value->value, move);
    }
}

static void move_array(zend_array *array, intptr_t move)
{
    move_address(&array->arData, move);
    if (HT_IS_PACKED(array)) {
        zval *value = larder_array_elements(array);
        for (uint32_t i = 0; i < array->nNumUsed; i++) {
            move_value(&value[i], move);
        }
        return;
    }
    Bucket *bucket = larder_array_elements(array);
    for (uint32_t i = 0; i < array->nNumUsed; i++) {
        move_value(&bucket[i].val, move);
        move_address(&bucket[i].key, move);
    }
}

static void move_object(struct larder_object_part *object, intptr_t move)
{
    move_address(&object->class, move);
    move_address(&object->dynamic, move);
    for (uint32_t i = 0; i < object->slots; i++) {
        move_value(&object->properties[i], move);
    }
}

static void move_part(zend_refcounted_h *part, intptr_t move)
{
    switch (larder_part_type(part)) {
    case IS_ARRAY:
        move_array((zend_array *)part, move);
        break;
    case IS_OBJECT:
        move_object((struct larder_object_part *)part, move);
        break;
    case LARDER_PART_CLASS:
        move_address(&((struct larder_class_part *)part)->name, move);
        break;
    case LARDER_PART_TELLER:
        move_address(&((struct larder_teller_part *)part)->class, move);
        move_value(&((struct larder_teller_part *)part)->told, move);
        break;
    case LARDER_PART_DATE:
        move_address(&((struct larder_date_part *)part)->class, move);
        break;
    case IS_REFERENCE:
        move_value(&((struct larder_reference_part *)part)->value, move);
        break;
    case LARDER_PART_CASE:
        move_address(&((struct larder_case_part *)part)->enumeration, move);
        move_address(&((struct larder_case_part *)part)->name, move);
        break;
    }
}

void larder_image_moved(void *copy, size_t size, uint8_t kind, intptr_t move)
{
    char *at = copy, *end = at + size;

    if (kind < LARDER_KIND_ARRAY) {
        return;
    }
    while (at < end && larder_part_type((zend_refcounted_h *)at) != IS_STRING) {
        move_part((zend_refcounted_h *)at, move);
        at += larder_part_size((zend_refcounted_h *)at);
    }
}
