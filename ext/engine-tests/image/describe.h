/* What a value is, in words. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "php.h"

/* To be released. */
zend_string *describe(zval *value);

/* Is there an array in it that contains itself? */
bool contains_itself(zval *value);

#endif
