/* Dates, time zones and intervals of PHP's own, which would take a microsecond each to be unserialised.
 *
 * Their part has the state that their class keeps beside its properties. It is written only of an object that PHP's
 * unserialize() would make the very same of; and what such an object has beside the state in the part is taken from one
 * that PHP did unserialise, once for each time zone and request: the model of the zone.
 */
#ifndef LARDER_DATE_H
#define LARDER_DATE_H

#include "part.h"

/* The classes, their children without properties or serialisers of their own included: the type of a part. */
enum larder_date_type {
    LARDER_DATE_NONE,
    LARDER_DATE_TIME,
    LARDER_DATE_ZONE,
    LARDER_DATE_INTERVAL,
};

/* Which of them a class is, if its objects have nothing but that state. `base`: PHP's own class that it is or
 * extends. */
enum larder_date_type larder_date_type_of(const zend_class_entry *entry, const zend_class_entry *base);

/* Would unserialize() make the very same of this object? Runs no user's code. */
bool larder_date_is_as_unserialised(zend_object *object, enum larder_date_type type);

/* All but the class and the header; the object is as above. */
void larder_date_write(struct larder_date_part *part, zend_object *object, enum larder_date_type type);

/* With a count of 0. NULL: the zone is gone, or has other rules here. */
zend_object *larder_date_make(zend_class_entry *entry, const struct larder_date_part *part);

/* Forgets the models of the request before: their targets are gone. */
void larder_date_request_start(void);

#endif
