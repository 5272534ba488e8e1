/* Which classes have objects that are nothing but their properties, and how those lie in memory. */
#ifndef LARDER_CLASS_H
#define LARDER_CLASS_H

#include "php.h"

#include <stdbool.h>
#include <stdint.h>

struct larder_class {
    zend_class_entry *entry;
    uint64_t layout; /* of names, order, types and flags of its properties and of its parents; never 0 */
    bool plain;      /* an object of it is remade by filling in its properties */
};

/* What is to know of a class; good until the next call. */
const struct larder_class *larder_class_of(zend_class_entry *entry);

/* The class that an image names, autoloaded if need be; NULL if it is gone, or an exception is pending. */
const struct larder_class *larder_class_named(zend_string *name);

/* Has the object nothing that its class does not tell: handlers of an extension, a state of being lazy? */
bool larder_object_is_ordinary(zend_object *object);

#endif
