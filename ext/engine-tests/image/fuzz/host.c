/* libFuzzer's target for images: PHP inside a program, with the module that tests images built in.
 *
 * What is tried with each input is in PHP, in try.inc: FUZZ_SCRIPT is its path. PHP itself is not instrumented, but
 * with USE_ZEND_ALLOC=0 (which has to be in the environment before PHP starts) all that it allocates is the
 * sanitizer's.
 */
#include "sapi/embed/php_embed.h"

#include "php_main.h"
#include "zend_exceptions.h"
#include "zend_hash.h"

#include <stdio.h>
#include <stdlib.h>

extern zend_module_entry image_tests_module_entry;

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int start_with_module(sapi_module_struct *sapi)
{
    return php_module_startup(sapi, &image_tests_module_entry);
}

static void stop(const char *what)
{
    fprintf(stderr, "FOUND: %s\n", what);
    abort();
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    zend_file_handle script;
    php_embed_module.startup = start_with_module;
    php_embed_module.php_ini_ignore = 1;
    if (php_embed_init(*count, *arguments) != SUCCESS) {
        stop("PHP does not start");
    }
    atexit(php_embed_shutdown); /* what PHP itself has until then is nothing that was lost */
    const char *path = getenv("FUZZ_SCRIPT");
    if (path == NULL) {
        stop("FUZZ_SCRIPT does not say where try.inc is");
    }
    zend_stream_init_filename(&script, path);
    bool loaded = false;
    zend_try
    {
        loaded = php_execute_script(&script);
    }
    zend_end_try();
    if (!loaded) {
        stop("FUZZ_SCRIPT cannot be run");
    }
    return 0;
}

/* No request of its own: a crash is the same without, and each would load the script again. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    zval function, argument, result;
    volatile bool ended = false; /* what a longjmp passes by */
    ZVAL_STRING(&function, "fuzz");
    ZVAL_STRINGL(&argument, (const char *)bytes, size);
    ZVAL_UNDEF(&result);
    zend_try
    {
        ended = call_user_function(NULL, NULL, &function, &result, 1, &argument) == SUCCESS;
    }
    zend_end_try();
    if (EG(exception)) {
        zend_exception_error(EG(exception), E_WARNING);
        ended = false;
    }
    if (!ended) {
        stop("what is said above");
    }
    zval_ptr_dtor(&function);
    zval_ptr_dtor(&argument);
    return 0;
}
