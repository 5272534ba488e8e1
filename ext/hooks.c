/* opcache counts references of a path that it is given and does not know yet (accel_new_interned_key()), interned or
 * not. A path that lies in a pool is copied before it gets there: by include and its like, and by opcache's own
 * functions.
 *
 * And who takes the signal by which writes into values are noticed (engine/stray.c) gives it back at once.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "hooks.h"

#include "engine/larder.h"

#include "zend_compile.h"
#include "zend_extensions.h"
#include "zend_stream.h"

static zend_op_array *(*compile_before)(zend_file_handle *file, int type);
static zend_string *(*resolve_before)(zend_string *path);
static zend_result (*start_before)(void);
static HashTable handlers; /* name of a function => what it did before */

static bool lies_in_a_pool(const zend_string *string)
{
    larder_pool *pool;
    if (EXPECTED(!ZSTR_IS_INTERNED(string))) {
        return false;
    }
    ZEND_HASH_FOREACH_PTR(&LARDER_G(pools), pool)
    {
        if (larder_pool_contains(pool, string)) {
            return true;
        }
    }
    ZEND_HASH_FOREACH_END();
    return false;
}

static zend_op_array *compile(zend_file_handle *file, int type)
{
    if (file->filename != NULL && UNEXPECTED(lies_in_a_pool(file->filename))) {
        file->filename = zend_string_init(ZSTR_VAL(file->filename), ZSTR_LEN(file->filename), false);
    }
    return compile_before(file, type);
}

static zend_string *resolve(zend_string *path)
{
    if (EXPECTED(!lies_in_a_pool(path))) {
        return resolve_before(path);
    }
    zend_string *copy = zend_string_init(ZSTR_VAL(path), ZSTR_LEN(path), false);
    zend_string *resolved = resolve_before(copy);
    zend_string_release(copy);
    return resolved;
}

static void call_before(INTERNAL_FUNCTION_PARAMETERS)
{
    zend_string *name = EX(func)->common.function_name;
    zif_handler handler = (zif_handler)(uintptr_t)zend_hash_find_ptr(&handlers, name);
    handler(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_NAMED_FUNCTION(with_copies_of_paths)
{
    for (uint32_t i = 1; i <= ZEND_NUM_ARGS(); i++) {
        zval *argument = ZEND_CALL_ARG(execute_data, i);
        if (Z_TYPE_P(argument) == IS_STRING && lies_in_a_pool(Z_STR_P(argument))) {
            ZVAL_STRINGL(argument, Z_STRVAL_P(argument), Z_STRLEN_P(argument));
        }
    }
    call_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_NAMED_FUNCTION(and_take_the_signal_back)
{
    call_before(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    larder_stray_watch();
}

static void put_before(zend_function *function, zif_handler handler)
{
    zend_internal_function *internal = &function->internal_function;
    zend_hash_str_update_ptr(&handlers, ZSTR_VAL(internal->function_name), ZSTR_LEN(internal->function_name),
                             (void *)(uintptr_t)internal->handler);
    internal->handler = handler;
}

static void hook_functions(void)
{
    zend_function *function;
    ZEND_HASH_FOREACH_PTR(CG(function_table), function)
    {
        if (function->type != ZEND_INTERNAL_FUNCTION || function->internal_function.module == NULL) {
            continue;
        }
        if (strcmp(function->internal_function.module->name, "Zend OPcache") == 0) {
            put_before(function, with_copies_of_paths);
        } else if (zend_string_equals_literal(function->common.function_name, "pcntl_signal")) {
            put_before(function, and_take_the_signal_back);
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void hook(void)
{
    compile_before = zend_compile_file;
    zend_compile_file = compile;
    resolve_before = zend_resolve_path;
    zend_resolve_path = resolve;
    hook_functions();
}

static zend_result start(void)
{
    zend_result result = start_before == NULL ? SUCCESS : start_before();
    if (result == SUCCESS) {
        hook();
    }
    return result;
}

/* opcache puts itself before the compiler when all modules and extensions have started, from a chain in which the first
 * to enter is the last to be called. So this enters after it, as an extension of Zend's does, behind those that PHP has
 * loaded. Its failure is what Zend forgets it by, without a word. */
static int enter_chain(zend_extension *unused)
{
    (void)unused;
    start_before = zend_post_startup_cb;
    zend_post_startup_cb = start;
    return FAILURE;
}

void larder_hooks_begin(bool late)
{
    zend_extension entrance = {.name = "Larder", .startup = enter_chain};
    zend_hash_init(&handlers, 8, NULL, NULL, true);
    if (late) {
        hook();
    } else {
        zend_register_extension(&entrance, NULL);
    }
}

void larder_hooks_end(void)
{
    if (zend_compile_file == compile) {
        zend_compile_file = compile_before;
    }
    if (zend_resolve_path == resolve) {
        zend_resolve_path = resolve_before;
    }
    zend_hash_destroy(&handlers);
}
