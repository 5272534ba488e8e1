/* This is a generated file, edit the .stub.php file instead.
 * Stub hash: b537f0bc01a6de2afb421e5dc88ca560f16aa19b */

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Larder_Token___construct, 0, 0, 2)
	ZEND_ARG_TYPE_INFO(0, epoch, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, version, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_INFO_EX(arginfo_class_Larder_Computation___construct, 0, 0, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_Computation_old, 0, 0, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, default, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

#define arginfo_class_Larder_SharedMemory___construct arginfo_class_Larder_Computation___construct

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Larder_SharedMemory_open, 0, 0, Larder\\SharedMemory, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, name, IS_STRING, 0, "\'default\'")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, size, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, evict, _IS_BOOL, 0, "true")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_remove, 0, 0, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, name, IS_STRING, 0, "\'default\'")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_names, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_save, 0, 0, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, name, IS_STRING, 0, "\'default\'")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_resize, 0, 2, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, name, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, size, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Larder_SharedMemory_part, 0, 2, Larder\\SharedMemory, 0)
	ZEND_ARG_TYPE_INFO(0, prefix, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, tag, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_get, 0, 1, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, default, IS_MIXED, 0, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_getMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, except, IS_STRING, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_fetch, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_set, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tags, IS_ARRAY, 0, "[]")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, token, Larder\\Token, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keep, _IS_BOOL, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, version, IS_LONG, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_setMany, 0, 1, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO(0, values, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tags, IS_ARRAY, 0, "[]")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, token, Larder\\Token, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keep, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_add, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tags, IS_ARRAY, 0, "[]")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, token, Larder\\Token, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_replace, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tags, IS_ARRAY, 0, "[]")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, token, Larder\\Token, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, keep, _IS_BOOL, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_fill, 0, 3, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
	ZEND_ARG_OBJ_INFO(0, token, Larder\\Token, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tags, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, cost, IS_DOUBLE, 0, "0.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_remember, 0, 2, IS_MIXED, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, compute, IS_CALLABLE, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, tags, IS_ARRAY, 0, "[]")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, beta, IS_DOUBLE, 0, "1.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, grace, IS_LONG, 0, "0")
	ZEND_ARG_OBJ_INFO_WITH_DEFAULT_VALUE(0, through, Closure, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, lease, IS_DOUBLE, 0, "30.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, missWait, IS_DOUBLE, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, staleWait, IS_DOUBLE, 0, "0.0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, retry, IS_DOUBLE, 0, "1.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_lease, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, seconds, IS_DOUBLE, 0, "10.0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_release, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Larder_SharedMemory_awaitLease arginfo_class_Larder_SharedMemory_lease

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_delete, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, version, IS_LONG, 1, "null")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_take, 0, 1, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_deleteMany, 0, 1, IS_LONG, 0)
	ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_stale, 0, 1, IS_ARRAY, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, grace, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_has, 0, 1, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_increment, 0, 1, IS_LONG, 1)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, by, IS_LONG, 0, "1")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, initial, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, min, IS_LONG, 1, "null")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, create, _IS_BOOL, 0, "true")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, version, IS_LONG, 0, "0")
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, number, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_touch, 0, 2, _IS_BOOL, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
	ZEND_ARG_TYPE_INFO(0, ttl, IS_LONG, 1)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_invalidateTags, 0, 1, IS_VOID, 0)
	ZEND_ARG_TYPE_INFO(0, tags, IS_ARRAY, 0)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, serveStale, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_class_Larder_SharedMemory_clear, 0, 0, IS_VOID, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_TYPE_MASK_EX(arginfo_class_Larder_SharedMemory_keys, 0, 0, Traversable, MAY_BE_ARRAY)
	ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\'\'")
ZEND_END_ARG_INFO()

#define arginfo_class_Larder_SharedMemory_beginRequest arginfo_class_Larder_SharedMemory_clear

ZEND_BEGIN_ARG_WITH_RETURN_OBJ_INFO_EX(arginfo_class_Larder_SharedMemory_token, 0, 1, Larder\\Token, 0)
	ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

#define arginfo_class_Larder_SharedMemory_statistics arginfo_class_Larder_SharedMemory_names


ZEND_METHOD(Larder_Token, __construct);
ZEND_METHOD(Larder_Computation, __construct);
ZEND_METHOD(Larder_Computation, old);
ZEND_METHOD(Larder_SharedMemory, __construct);
ZEND_METHOD(Larder_SharedMemory, open);
ZEND_METHOD(Larder_SharedMemory, remove);
ZEND_METHOD(Larder_SharedMemory, names);
ZEND_METHOD(Larder_SharedMemory, save);
ZEND_METHOD(Larder_SharedMemory, resize);
ZEND_METHOD(Larder_SharedMemory, part);
ZEND_METHOD(Larder_SharedMemory, get);
ZEND_METHOD(Larder_SharedMemory, getMany);
ZEND_METHOD(Larder_SharedMemory, fetch);
ZEND_METHOD(Larder_SharedMemory, set);
ZEND_METHOD(Larder_SharedMemory, setMany);
ZEND_METHOD(Larder_SharedMemory, add);
ZEND_METHOD(Larder_SharedMemory, replace);
ZEND_METHOD(Larder_SharedMemory, fill);
ZEND_METHOD(Larder_SharedMemory, remember);
ZEND_METHOD(Larder_SharedMemory, lease);
ZEND_METHOD(Larder_SharedMemory, release);
ZEND_METHOD(Larder_SharedMemory, awaitLease);
ZEND_METHOD(Larder_SharedMemory, delete);
ZEND_METHOD(Larder_SharedMemory, take);
ZEND_METHOD(Larder_SharedMemory, deleteMany);
ZEND_METHOD(Larder_SharedMemory, stale);
ZEND_METHOD(Larder_SharedMemory, has);
ZEND_METHOD(Larder_SharedMemory, increment);
ZEND_METHOD(Larder_SharedMemory, touch);
ZEND_METHOD(Larder_SharedMemory, invalidateTags);
ZEND_METHOD(Larder_SharedMemory, clear);
ZEND_METHOD(Larder_SharedMemory, keys);
ZEND_METHOD(Larder_SharedMemory, beginRequest);
ZEND_METHOD(Larder_SharedMemory, token);
ZEND_METHOD(Larder_SharedMemory, statistics);


static const zend_function_entry class_Larder_Exception_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Larder_Token_methods[] = {
	ZEND_ME(Larder_Token, __construct, arginfo_class_Larder_Token___construct, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Larder_Computation_methods[] = {
	ZEND_ME(Larder_Computation, __construct, arginfo_class_Larder_Computation___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Larder_Computation, old, arginfo_class_Larder_Computation_old, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Larder_SharedMemory_methods[] = {
	ZEND_ME(Larder_SharedMemory, __construct, arginfo_class_Larder_SharedMemory___construct, ZEND_ACC_PRIVATE)
	ZEND_ME(Larder_SharedMemory, open, arginfo_class_Larder_SharedMemory_open, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Larder_SharedMemory, remove, arginfo_class_Larder_SharedMemory_remove, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Larder_SharedMemory, names, arginfo_class_Larder_SharedMemory_names, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Larder_SharedMemory, save, arginfo_class_Larder_SharedMemory_save, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Larder_SharedMemory, resize, arginfo_class_Larder_SharedMemory_resize, ZEND_ACC_PUBLIC|ZEND_ACC_STATIC)
	ZEND_ME(Larder_SharedMemory, part, arginfo_class_Larder_SharedMemory_part, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, get, arginfo_class_Larder_SharedMemory_get, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, getMany, arginfo_class_Larder_SharedMemory_getMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, fetch, arginfo_class_Larder_SharedMemory_fetch, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, set, arginfo_class_Larder_SharedMemory_set, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, setMany, arginfo_class_Larder_SharedMemory_setMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, add, arginfo_class_Larder_SharedMemory_add, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, replace, arginfo_class_Larder_SharedMemory_replace, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, fill, arginfo_class_Larder_SharedMemory_fill, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, remember, arginfo_class_Larder_SharedMemory_remember, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, lease, arginfo_class_Larder_SharedMemory_lease, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, release, arginfo_class_Larder_SharedMemory_release, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, awaitLease, arginfo_class_Larder_SharedMemory_awaitLease, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, delete, arginfo_class_Larder_SharedMemory_delete, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, take, arginfo_class_Larder_SharedMemory_take, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, deleteMany, arginfo_class_Larder_SharedMemory_deleteMany, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, stale, arginfo_class_Larder_SharedMemory_stale, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, has, arginfo_class_Larder_SharedMemory_has, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, increment, arginfo_class_Larder_SharedMemory_increment, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, touch, arginfo_class_Larder_SharedMemory_touch, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, invalidateTags, arginfo_class_Larder_SharedMemory_invalidateTags, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, clear, arginfo_class_Larder_SharedMemory_clear, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, keys, arginfo_class_Larder_SharedMemory_keys, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, beginRequest, arginfo_class_Larder_SharedMemory_beginRequest, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, token, arginfo_class_Larder_SharedMemory_token, ZEND_ACC_PUBLIC)
	ZEND_ME(Larder_SharedMemory, statistics, arginfo_class_Larder_SharedMemory_statistics, ZEND_ACC_PUBLIC)
	ZEND_FE_END
};


static const zend_function_entry class_Larder_Exception_PoolUnusable_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Larder_Exception_Unstorable_methods[] = {
	ZEND_FE_END
};


static const zend_function_entry class_Larder_Exception_NotACounter_methods[] = {
	ZEND_FE_END
};

static zend_class_entry *register_class_Larder_Exception(zend_class_entry *class_entry_Throwable)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder", "Exception", class_Larder_Exception_methods);
	class_entry = zend_register_internal_interface(&ce);
	zend_class_implements(class_entry, 1, class_entry_Throwable);

	return class_entry;
}

static zend_class_entry *register_class_Larder_Token(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder", "Token", class_Larder_Token_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL;

	zval property_epoch_default_value;
	ZVAL_UNDEF(&property_epoch_default_value);
	zend_string *property_epoch_name = zend_string_init("epoch", sizeof("epoch") - 1, 1);
	zend_declare_typed_property(class_entry, property_epoch_name, &property_epoch_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_epoch_name);

	zval property_version_default_value;
	ZVAL_UNDEF(&property_version_default_value);
	zend_string *property_version_name = zend_string_init("version", sizeof("version") - 1, 1);
	zend_declare_typed_property(class_entry, property_version_name, &property_version_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG));
	zend_string_release(property_version_name);

	return class_entry;
}

static zend_class_entry *register_class_Larder_Computation(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder", "Computation", class_Larder_Computation_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	zval property_key_default_value;
	ZVAL_UNDEF(&property_key_default_value);
	zend_string *property_key_name = zend_string_init("key", sizeof("key") - 1, 1);
	zend_declare_typed_property(class_entry, property_key_name, &property_key_default_value, ZEND_ACC_PUBLIC|ZEND_ACC_READONLY, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_STRING));
	zend_string_release(property_key_name);

	zval property_ttl_default_value;
	ZVAL_NULL(&property_ttl_default_value);
	zend_string *property_ttl_name = zend_string_init("ttl", sizeof("ttl") - 1, 1);
	zend_declare_typed_property(class_entry, property_ttl_name, &property_ttl_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_LONG|MAY_BE_NULL));
	zend_string_release(property_ttl_name);

	zval property_tags_default_value;
	ZVAL_EMPTY_ARRAY(&property_tags_default_value);
	zend_string *property_tags_name = zend_string_init("tags", sizeof("tags") - 1, 1);
	zend_declare_typed_property(class_entry, property_tags_name, &property_tags_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_ARRAY));
	zend_string_release(property_tags_name);

	zval property_isStored_default_value;
	ZVAL_TRUE(&property_isStored_default_value);
	zend_string *property_isStored_name = zend_string_init("isStored", sizeof("isStored") - 1, 1);
	zend_declare_typed_property(class_entry, property_isStored_name, &property_isStored_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_isStored_name);

	zval property_hasFailed_default_value;
	ZVAL_FALSE(&property_hasFailed_default_value);
	zend_string *property_hasFailed_name = zend_string_init("hasFailed", sizeof("hasFailed") - 1, 1);
	zend_declare_typed_property(class_entry, property_hasFailed_name, &property_hasFailed_default_value, ZEND_ACC_PUBLIC, NULL, (zend_type) ZEND_TYPE_INIT_MASK(MAY_BE_BOOL));
	zend_string_release(property_hasFailed_name);

	return class_entry;
}

static zend_class_entry *register_class_Larder_SharedMemory(void)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder", "SharedMemory", class_Larder_SharedMemory_methods);
	class_entry = zend_register_internal_class_ex(&ce, NULL);
	class_entry->ce_flags |= ZEND_ACC_FINAL|ZEND_ACC_NO_DYNAMIC_PROPERTIES|ZEND_ACC_NOT_SERIALIZABLE;

	return class_entry;
}

static zend_class_entry *register_class_Larder_Exception_PoolUnusable(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Larder_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder\\Exception", "PoolUnusable", class_Larder_Exception_PoolUnusable_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Larder_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Larder_Exception_Unstorable(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Larder_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder\\Exception", "Unstorable", class_Larder_Exception_Unstorable_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Larder_Exception);

	return class_entry;
}

static zend_class_entry *register_class_Larder_Exception_NotACounter(zend_class_entry *class_entry_RuntimeException, zend_class_entry *class_entry_Larder_Exception)
{
	zend_class_entry ce, *class_entry;

	INIT_NS_CLASS_ENTRY(ce, "Larder\\Exception", "NotACounter", class_Larder_Exception_NotACounter_methods);
	class_entry = zend_register_internal_class_ex(&ce, class_entry_RuntimeException);
	class_entry->ce_flags |= ZEND_ACC_FINAL;
	zend_class_implements(class_entry, 1, class_entry_Larder_Exception);

	return class_entry;
}
