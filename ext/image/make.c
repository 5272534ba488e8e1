#include "make.h"
#include "class.h"

zend_class_entry *larder_make_class(const struct larder_class_part *part, zend_string *name)
{
    const struct larder_class *class = larder_class_named(name);

    if (UNEXPECTED(!class || class->layout != part->layout)) {
        return NULL;
    }
    zend_class_entry *entry = class->entry;
    if (UNEXPECTED(!(entry->ce_flags & ZEND_ACC_CONSTANTS_UPDATED)) && zend_update_class_constants(entry) != SUCCESS) {
        return NULL;
    }
    return entry;
}

zend_array *larder_make_array(const zend_array *part)
{
    zend_array *array;
    ALLOC_HASHTABLE(array);
    *array = *part;
    GC_TYPE_INFO(array) = GC_ARRAY;
    GC_SET_REFCOUNT(array, 0);
    array->pDestructor = ZVAL_PTR_DTOR;

    void *content = emalloc(HT_IS_PACKED(part) ? HT_PACKED_SIZE(part) : HT_SIZE(part));
    memcpy(content, larder_array_content(part), larder_array_content_size(part));
    HT_SET_DATA_ADDR(array, content);
    return array;
}

zend_object *larder_make_object(zend_class_entry *class, const struct larder_object_part *part)
{
    zend_object *object = zend_objects_new(class);

    GC_SET_REFCOUNT(object, 0);
    memcpy(object->properties_table, part->properties, part->slots * sizeof(zval));
    return object;
}

zend_reference *larder_make_reference(const struct larder_reference_part *part)
{
    zend_reference *reference = emalloc(sizeof(*reference));

    GC_SET_REFCOUNT(reference, 0);
    GC_TYPE_INFO(reference) = GC_REFERENCE;
    ZVAL_COPY_VALUE(&reference->val, &part->value);
    reference->sources.ptr = NULL;
    return reference;
}

bool larder_make_lone_object(zval *result, const struct larder_object_part *part)
{
    zend_class_entry *class = larder_make_class(part->class, part->class->name);
    if (UNEXPECTED(!class)) {
        return false;
    }
    zend_object *object = larder_make_object(class, part);
    GC_SET_REFCOUNT(object, 1);
    if (part->dynamic) {
        object->properties = larder_make_array(part->dynamic);
        GC_SET_REFCOUNT(object->properties, 1);
    }
    ZVAL_OBJ(result, object);
    return true;
}
