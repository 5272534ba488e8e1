/* What a value is, in words. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "php.h"

/* To be released. */
zend_string *describe(zval *value);

/* Does an array in it contain itself through references that nothing else holds? */
bool unfolds_for_ever(zval *value);

/* An array of all references in it that more than one element, property or variable holds; it holds them as well. */
void variables_of(zval *value, zval *variables);

#endif
