/* Handing out images as values. */
#include "image.h"
#include "make.h"
#include "part.h"
#include "rebuild.h"

#include "zend_exceptions.h"
#include "zend_interfaces.h"

static void read_word(zval *result, uint8_t kind, const void *image)
{
    memcpy(&result->value, image, sizeof(result->value));
    Z_TYPE_INFO_P(result) = kind == LARDER_KIND_INT ? IS_LONG : IS_DOUBLE;
}

static void read_string(zval *result, const zend_string *image, bool zero_copy)
{
    if (zero_copy) {
        ZVAL_INTERNED_STR(result, (zend_string *)(uintptr_t)image);
    } else {
        ZVAL_STRINGL_FAST(result, image->val, image->len);
        ZSTR_H(Z_STR_P(result)) = image->h;
    }
}

/* What the value's own code throws, or an autoloader, says that the value is of no use: a miss, in every store. An
 * exit() goes on, of course. */
static bool missed(void)
{
    while (EG(exception) && instanceof_function(EG(exception)->ce, zend_ce_throwable)) {
        zend_object *exception = EG(exception);
        EG(exception) = NULL;
        OBJ_RELEASE(exception);
    }
    return false;
}

bool larder_image_read(zval *result, uint8_t kind, const void *image, size_t size, intptr_t shift, bool zero_copy)
{
    switch (kind) {
    case LARDER_KIND_BYTES:
        ZVAL_STRINGL_FAST(result, image, size);
        return true;
    case LARDER_KIND_INT:
    case LARDER_KIND_FLOAT:
        read_word(result, kind, image);
        return true;
    case LARDER_KIND_NULL:
        ZVAL_NULL(result);
        return true;
    case LARDER_KIND_FALSE:
        ZVAL_FALSE(result);
        return true;
    case LARDER_KIND_TRUE:
        ZVAL_TRUE(result);
        return true;
    case LARDER_KIND_STRING:
        read_string(result, image, zero_copy);
        return true;
    case LARDER_KIND_ARRAY:
        if (zero_copy) {
            larder_image_use_array(result, image);
            return true;
        }
        return larder_rebuild(result, image, size, shift, false);
    case LARDER_KIND_LONE_OBJECT:
        if (zero_copy) {
            return larder_make_lone_object(result, image) || missed();
        }
        ZEND_FALLTHROUGH;
    case LARDER_KIND_ARRAY_OF_OBJECTS:
    case LARDER_KIND_OBJECT:
        return larder_rebuild(result, image, size, shift, zero_copy) || missed();
    default: /* a kind that some later version writes */
        return false;
    }
}
