/* The library's judgement on the tags of an item in Redis: tag by tag in PHP, it took longer than all else of such a read. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

/* PHP keeps a decimal tag or hash as an int. */
static bool precedes(const char *tag, size_t length, HashTable *hashes, HashTable *ticks, zend_long tick)
{
    zval *hash = zend_symtable_str_find(hashes, tag, length);
    if (hash == NULL || Z_TYPE_P(hash) != IS_STRING) {
        return false;
    }
    zval *last = zend_symtable_find(ticks, Z_STR_P(hash));
    return last != NULL && Z_TYPE_P(last) == IS_LONG && Z_LVAL_P(last) <= tick;
}

ZEND_FUNCTION(Larder_tags_precede)
{
    zend_string *tags;
    HashTable *hashes, *ticks;
    zend_long tick;
    ZEND_PARSE_PARAMETERS_START(4, 4)
    Z_PARAM_STR(tags)
    Z_PARAM_ARRAY_HT(hashes)
    Z_PARAM_ARRAY_HT(ticks)
    Z_PARAM_LONG(tick)
    ZEND_PARSE_PARAMETERS_END();
    const char *at = ZSTR_VAL(tags);
    const char *end = at + ZSTR_LEN(tags);
    while (at < end) {
        size_t length = (unsigned char)*at++;
        if (length > (size_t)(end - at) || !precedes(at, length, hashes, ticks, tick)) {
            RETURN_FALSE;
        }
        at += length;
    }
    RETURN_TRUE;
}
