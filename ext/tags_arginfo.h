/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: 26f040744752be0beb7ac1c347698be8f27acd75 */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_Larder_tags_precede, 0, 4, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, tags, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, hashes, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, ticks, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, tick, IS_LONG, 0)
ZEND_END_ARG_INFO()


ZEND_FUNCTION(Larder_tags_precede);


static const zend_function_entry ext_functions[] = {
	ZEND_NS_FALIAS("Larder", tags_precede, Larder_tags_precede, arginfo_Larder_tags_precede)
	ZEND_FE_END
};
