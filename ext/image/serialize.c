/* Serialising whole values.
 *
 * igbinary is called through its PHP functions: no link-time or load-order dependency, and beside the work of
 * serialising the call costs nothing. A class that is gone when a value is read gives what PHP gives:
 * __PHP_Incomplete_Class.
 */
#include "serialize.h"

#include "ext/standard/php_var.h"
#include "zend_smart_str.h"

/* Looked up on each call: tests and hosts disable functions, and threads have tables of their own. */
static zend_function *igbinary_function(const char *name, size_t length)
{
    zend_function *function = zend_hash_str_find_ptr(EG(function_table), name, length);
    return function && function->type == ZEND_INTERNAL_FUNCTION ? function : NULL;
}

static bool serialized_by_php(zval *result, zval *value)
{
    php_serialize_data_t met;
    smart_str bytes = {0};

    PHP_VAR_SERIALIZE_INIT(met);
    php_var_serialize(&bytes, value, &met);
    PHP_VAR_SERIALIZE_DESTROY(met);
    if (EG(exception) || !bytes.s) {
        smart_str_free(&bytes);
        return false;
    }
    ZVAL_STR(result, smart_str_extract(&bytes));
    return true;
}

static bool serialized_by_igbinary(zval *result, zend_function *function, zval *value)
{
    zval argument;

    ZVAL_COPY(&argument, value);
    zend_call_known_function(function, NULL, NULL, result, 1, &argument, NULL);
    zval_ptr_dtor(&argument);
    if (EG(exception) || Z_TYPE_P(result) != IS_STRING) {
        zval_ptr_dtor(result);
        return false;
    }
    return true;
}

uint8_t larder_serialize(zval *result, zval *value, larder_image_refusal *refusal)
{
    zend_function *igbinary = igbinary_function(ZEND_STRL("igbinary_serialize"));
    bool done = igbinary ? serialized_by_igbinary(result, igbinary, value) : serialized_by_php(result, value);

    if (!done) {
        ZVAL_NULL(result);
        if (!EG(exception)) {
            snprintf(refusal->message, sizeof(refusal->message),
                     "the value could not be serialised and gave no reason; store plain data taken from it");
        }
        return 0;
    }
    return igbinary ? LARDER_KIND_IGBINARY : LARDER_KIND_SERIALIZED;
}

static bool unserialized_by_php(zval *result, const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;
    php_unserialize_data_t met;
    bool done;

    PHP_VAR_UNSERIALIZE_INIT(met);
    /* Inside another unserialize() `met` is shared and outlives this frame, so it must hold the value itself. */
    zval *value = var_tmp_var(&met);
    done = php_var_unserialize(value, &at, at + size, &met);
    if (done) {
        ZVAL_COPY_DEREF(result, value);
    }
    PHP_VAR_UNSERIALIZE_DESTROY(met);
    if (done && EG(exception)) {
        zval_ptr_dtor(result);
        done = false;
    }
    return done;
}

static bool unserialized_by_igbinary(zval *result, const char *bytes, size_t size)
{
    zend_function *function = igbinary_function(ZEND_STRL("igbinary_unserialize"));
    zval argument;

    if (!function) {
        return false;
    }
    ZVAL_STRINGL(&argument, bytes, size);
    ZVAL_UNDEF(result);
    zend_call_known_function(function, NULL, NULL, result, 1, &argument, NULL);
    zval_ptr_dtor(&argument);
    if (EG(exception)) {
        zval_ptr_dtor(result);
        return false;
    }
    if (Z_ISREF_P(result)) {
        zend_unwrap_reference(result);
    }
    return true;
}

bool larder_unserialize(zval *result, uint8_t kind, const char *bytes, size_t size)
{
    return kind == LARDER_KIND_IGBINARY ? unserialized_by_igbinary(result, bytes, size)
                                        : unserialized_by_php(result, bytes, size);
}
