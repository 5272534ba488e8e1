/* Values made anew from an image: those with objects, and every one that cannot be used in place. */
#ifndef LARDER_REBUILD_H
#define LARDER_REBUILD_H

#include "php.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the value of an image of parts. `in_place`: arrays without objects, and strings, are used where they
 * lie. False: a class or enum case is gone or has changed, or an exception is pending. */
bool larder_rebuild(zval *result, const void *image, size_t size, intptr_t shift, bool in_place);

#endif
