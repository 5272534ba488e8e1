/* What one object tells of itself to be made of again, as PHP's serialize() asks it. */
#ifndef LARDER_TELL_H
#define LARDER_TELL_H

#include "class.h"

/* Runs the user's code. False: it told nothing that could be stored, for that reason, or an exception is pending. */
bool larder_ask_object(zval *told, zend_object *object, enum larder_form form, const char **reason);

#endif
