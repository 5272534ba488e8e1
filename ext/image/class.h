/* What images have to know of classes. */
#ifndef LARDER_CLASS_H
#define LARDER_CLASS_H

#include "php.h"

#include <stdbool.h>
#include <stdint.h>

/* How objects of a class are taken apart and made again. */
enum larder_form {
    LARDER_FORM_NONE,       /* not at all */
    LARDER_FORM_SLOTS,      /* they are nothing but their properties, which lie in slots */
    LARDER_FORM_PROPERTIES, /* by the names of their properties; what those are, they may say themselves (__sleep) */
    LARDER_FORM_STATE,      /* by an array that __unserialize() is given */
    LARDER_FORM_TEXT,       /* by a string (Serializable) */
    LARDER_FORM_DATE,       /* by the state that PHP's own dates keep in C */
};

/* What an image holds instead of a hash of the properties where these do not matter. */
#define LARDER_LAYOUT_OF_ENUM  0u
#define LARDER_LAYOUT_OF_STATE 1u
#define LARDER_LAYOUT_OF_TEXT  2u
#define LARDER_LAYOUT_OF_DATE  3u

struct larder_class {
    zend_class_entry *entry;
    uint64_t layout; /* of names, order, types and flags of its properties, of its parents and its magic methods */
    enum larder_form form;
    uint8_t date; /* enum larder_date_type */
    bool wakes;   /* __wakeup() is called on each object that is made again */
};

/* All that is to know of a class; good until the next call. */
const struct larder_class *larder_class_of(zend_class_entry *entry);

/* The class that an image names, autoloaded if need be; NULL if it is gone, or an exception is pending. */
const struct larder_class *larder_class_named(zend_string *name);

/* The form of this very object of the class. */
enum larder_form larder_form_of(zend_object *object, const struct larder_class *class);

/* The class of PHP's own, or of an extension, that it is or extends; NULL: it is a user's. */
const zend_class_entry *larder_class_of_phps_own(const zend_class_entry *entry);

static inline zend_function *larder_method(const zend_class_entry *entry, zend_known_string_id name)
{
    return zend_hash_find_ptr(&entry->function_table, ZSTR_KNOWN(name));
}

#endif
