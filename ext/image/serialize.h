/* Values that no image can hold: references, objects with magic methods or a state of their own. */
#ifndef LARDER_SERIALIZE_H
#define LARDER_SERIALIZE_H

#include "image.h"

/* Serialises with igbinary where it is loaded, with PHP's own serialiser otherwise. The kind it made, or 0 with
 * a refusal or a pending exception. Runs user code. */
uint8_t larder_serialize(zval *result, zval *value, larder_image_refusal *refusal);

/* False if the bytes cannot be read back (by this PHP: igbinary may be missing), or an exception is pending. */
bool larder_unserialize(zval *result, uint8_t kind, const char *bytes, size_t size);

#endif
