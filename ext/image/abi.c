/* Which PHPs can read each other's images. */
#include "image.h"
#include "part.h"

/* Raise it when the parts of an image change. */
#define LARDER_IMAGE_FORMAT 3

uint32_t larder_image_abi(void)
{
    const uint32_t facts[] = {
        LARDER_IMAGE_FORMAT,
        PHP_VERSION_ID / 100,
        ZEND_MODULE_API_NO,
#ifdef ZTS
        1,
#else
        0,
#endif
        ZEND_DEBUG,
        sizeof(zend_string),
        sizeof(zend_array),
        sizeof(Bucket),
        LARDER_ARRAY_IN_PLACE,
        LARDER_STRING_IN_PLACE,
    };
    uint32_t hash = 2166136261u; /* FNV-1a, by words */

    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
        hash = (hash ^ facts[i]) * 16777619u;
    }
    return hash ? hash : 1;
}
