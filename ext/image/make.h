/* Single things made anew from parts of an image. */
#ifndef LARDER_MAKE_H
#define LARDER_MAKE_H

#include "part.h"

/* The class of that name, if it is still what it was when the image was written. NULL: it is gone or has changed, or an
 * exception is pending. */
zend_class_entry *larder_make_class(const struct larder_class_part *part, zend_string *name);

/* With a raw copy of the part's content: the addresses in it are the image's, and it has no count yet. */
zend_array *larder_make_array(const zend_array *part);
zend_object *larder_make_object(zend_class_entry *class, const struct larder_object_part *part);
zend_reference *larder_make_reference(const struct larder_reference_part *part);

/* An object in which nothing is to be made anew but its table of dynamic properties (LARDER_KIND_LONE_OBJECT), used in
 * place: so there is nothing in the copies to be set right. False: its class is gone or has changed, or an exception is
 * pending. */
bool larder_make_lone_object(zval *result, const struct larder_object_part *part);

#endif
