/* Images without an engine, as a class of PHP's: each in memory of its own (place.h). */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php.h"

#include "describe.h"
#include "literals.h"
#include "place.h"

#include "ext/spl/spl_exceptions.h"
#include "php_ini.h"
#include "zend_exceptions.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DUMP_HEADER offsetof(struct image, std) /* what a dump starts with */

#if defined(ZTS) && defined(COMPILE_DL_IMAGE_TESTS)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

static zend_class_entry *image_class;
static zend_object_handlers image_handlers;

static struct image *image_of(zend_object *object)
{
    return (struct image *)((char *)object - offsetof(struct image, std));
}

#define THIS_IMAGE image_of(Z_OBJ_P(ZEND_THIS))

static zend_object *image_create(zend_class_entry *class)
{
    struct image *image = zend_object_alloc(sizeof(*image), class);
    zend_object_std_init(&image->std, class);
    image->std.handlers = &image_handlers;
    return &image->std;
}

PHP_METHOD(Image, __construct)
{
    zval *value;
    larder_image_plan plan;
    larder_image_refusal refusal;
    struct image *image = THIS_IMAGE;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    if (!larder_image_measure(&plan, value, &refusal)) {
        larder_image_discard(&plan);
        zend_throw_exception(spl_ce_RuntimeException, ZSTR_VAL(refusal.message), 0);
        zend_string_release(refusal.message);
        return;
    }
    if (plan.kind == LARDER_KIND_COUNTER) {
        image->counter = Z_LVAL(plan.value);
    }
    image_write(&plan, image);
    larder_image_discard(&plan);
}

static void read_image(zval *result, struct image *image, const char *at, bool zero_copy)
{
    if (image->kind == LARDER_KIND_COUNTER) {
        ZVAL_LONG(result, image->counter);
        return;
    }
    intptr_t shift = at - image->at;
    ZVAL_UNDEF(result);
    if (!larder_image_read(result, image->kind, at, image->size, shift, zero_copy)) {
        ZVAL_NULL(result);
        if (!EG(exception)) {
            zend_throw_exception(spl_ce_OutOfBoundsException, "a miss", 0);
        }
    }
}

PHP_METHOD(Image, get)
{
    bool zero_copy = true;

    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(zero_copy)
    ZEND_PARSE_PARAMETERS_END();

    read_image(return_value, THIS_IMAGE, THIS_IMAGE->at, zero_copy);
}

PHP_METHOD(Image, getShifted)
{
    struct image *image = THIS_IMAGE;

    ZEND_PARSE_PARAMETERS_NONE();

    char *pages = image_map(0, image->length);
    memcpy(pages, image->pages, image->length);
    mprotect(pages, image->length, PROT_READ);
    mprotect(image->pages, image->length, PROT_NONE);
    read_image(return_value, image, pages + (image->at - image->pages), false);
    mprotect(image->pages, image->length, PROT_READ);
    munmap(pages, image->length);
}

PHP_METHOD(Image, move)
{
    struct image *image = THIS_IMAGE;
    struct image before = *image;
    bool in_use = false;

    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(in_use)
    ZEND_PARSE_PARAMETERS_END();

    image_take_place(image, 0);
    memcpy(image->at, before.at, image->size);
    if (!in_use) {
        mprotect(before.pages, before.length, PROT_NONE);
    }
    larder_image_moved(image->at, image->size, image->kind, image->at - before.at);
    mprotect(image->pages, image->length, PROT_READ);
}

PHP_METHOD(Image, dump)
{
    struct image *image = THIS_IMAGE;

    ZEND_PARSE_PARAMETERS_NONE();

    zend_string *dump = zend_string_alloc(DUMP_HEADER + image->size, false);
    memcpy(ZSTR_VAL(dump), image, DUMP_HEADER);
    memcpy(ZSTR_VAL(dump) + DUMP_HEADER, image->at, image->size);
    ZSTR_VAL(dump)[ZSTR_LEN(dump)] = '\0';
    RETURN_STR(dump);
}

PHP_METHOD(Image, load)
{
    zend_string *dump;
    struct image from;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(dump)
    ZEND_PARSE_PARAMETERS_END();

    memcpy(&from, ZSTR_VAL(dump), DUMP_HEADER);
    object_init_ex(return_value, image_class);
    struct image *image = image_of(Z_OBJ_P(return_value));
    image->kind = from.kind;
    image->counter = from.counter;
    image->size = from.size;
    image_take_place(image, (uint64_t)from.pages);
    memcpy(image->at, ZSTR_VAL(dump) + DUMP_HEADER, image->size);
    mprotect(image->pages, image->length, PROT_READ);
}

PHP_METHOD(Image, describe)
{
    zval *value;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_STR(describe(value));
}

PHP_METHOD(Image, unfoldsForEver)
{
    zval *value;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_BOOL(unfolds_for_ever(value));
}

PHP_METHOD(Image, isMarkedAsUtf8)
{
    zend_string *string;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(string)
    ZEND_PARSE_PARAMETERS_END();

    RETURN_BOOL((GC_FLAGS(string) & IS_STR_VALID_UTF8) != 0);
}

PHP_METHOD(Image, variables)
{
    zval *value;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();

    variables_of(value, return_value);
}

PHP_METHOD(Image, forget)
{
    ZEND_PARSE_PARAMETERS_NONE();
    image_unmap_all();
}

PHP_METHOD(Image, kind)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_LONG(THIS_IMAGE->kind);
}

PHP_METHOD(Image, size)
{
    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_LONG((zend_long)THIS_IMAGE->size);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

PHP_METHOD(Image, time)
{
    zval *value;
    zend_long times;
    bool zero_copy = true;
    double written, begun, read;

    ZEND_PARSE_PARAMETERS_START(2, 3)
    Z_PARAM_ZVAL(value)
    Z_PARAM_LONG(times)
    Z_PARAM_OPTIONAL
    Z_PARAM_BOOL(zero_copy)
    ZEND_PARSE_PARAMETERS_END();

    struct image image;
    larder_image_plan plan;
    larder_image_refusal refusal;
    if (!larder_image_measure(&plan, value, &refusal)) {
        RETURN_THROWS();
    }
    image.size = plan.size;
    image.kind = plan.kind;
    larder_image_discard(&plan);
    image_take_place(&image, 0);
    memset(image.pages, 0, image.length); /* page faults are not what is measured */

    begun = now();
    for (zend_long i = 0; i < times; i++) {
        larder_image_measure(&plan, value, &refusal);
        larder_image_write(&plan, image.at, (uintptr_t)image.at);
        larder_image_discard(&plan);
    }
    written = now();
    for (zend_long i = 0; i < times; i++) {
        zval result;
        if (larder_image_read(&result, image.kind, image.at, image.size, 0, zero_copy)) {
            zval_ptr_dtor(&result);
        }
    }
    read = now();
    mprotect(image.pages, image.length, PROT_READ);

    array_init(return_value);
    add_next_index_double(return_value, (written - begun) / (double)times);
    add_next_index_double(return_value, (read - written) / (double)times);
}

ZEND_BEGIN_ARG_INFO_EX(arginfo_any, 0, 0, 0)
ZEND_ARG_VARIADIC_INFO(0, arguments)
ZEND_END_ARG_INFO()

static const zend_function_entry methods[] = {
    PHP_ME(Image, __construct, arginfo_any, ZEND_ACC_PUBLIC)
        PHP_ME(Image, load, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
            PHP_ME(Image, time, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
                PHP_ME(Image, describe, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
                    PHP_ME(Image, unfoldsForEver, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
                        PHP_ME(Image, isMarkedAsUtf8, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
                            PHP_ME(Image, variables, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
                                PHP_ME(Image, forget, arginfo_any, ZEND_ACC_PUBLIC | ZEND_ACC_STATIC)
                                    PHP_ME(Image, dump, arginfo_any, ZEND_ACC_PUBLIC)
                                        PHP_ME(Image, kind, arginfo_any, ZEND_ACC_PUBLIC)
                                            PHP_ME(Image, size, arginfo_any, ZEND_ACC_PUBLIC)
                                                PHP_ME(Image, get, arginfo_any, ZEND_ACC_PUBLIC)
                                                    PHP_ME(Image, getShifted, arginfo_any, ZEND_ACC_PUBLIC)
                                                        PHP_ME(Image, move, arginfo_any, ZEND_ACC_PUBLIC) PHP_FE_END};

PHP_INI_BEGIN()
PHP_INI_ENTRY("image_tests.literals", "0", PHP_INI_SYSTEM, NULL)
PHP_INI_END()

PHP_MINIT_FUNCTION(image_tests)
{
    zend_class_entry class;

#if defined(ZTS) && defined(COMPILE_DL_IMAGE_TESTS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    REGISTER_INI_ENTRIES();
    INIT_CLASS_ENTRY(class, "Image", methods);
    image_class = zend_register_internal_class(&class);
    image_class->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NO_DYNAMIC_PROPERTIES | ZEND_ACC_NOT_SERIALIZABLE;
    image_class->create_object = image_create;
    memcpy(&image_handlers, &std_object_handlers, sizeof(image_handlers));
    image_handlers.offset = offsetof(struct image, std);
    image_handlers.clone_obj = NULL;
    return SUCCESS;
}

PHP_MSHUTDOWN_FUNCTION(image_tests)
{
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

PHP_RINIT_FUNCTION(image_tests)
{
    if (zend_ini_long("image_tests.literals", strlen("image_tests.literals"), 0) != 0) {
        literals_become_images();
    }
    larder_image_request_start();
    return SUCCESS;
}

zend_module_entry image_tests_module_entry = {STANDARD_MODULE_HEADER,
                                              "image_tests",
                                              NULL,
                                              PHP_MINIT(image_tests),
                                              PHP_MSHUTDOWN(image_tests),
                                              PHP_RINIT(image_tests),
                                              NULL,
                                              NULL,
                                              "0",
                                              0,
                                              NULL,
                                              NULL,
                                              NULL,
                                              image_unmap_all, /* after the last value of the request is gone */
                                              STANDARD_MODULE_PROPERTIES_EX};

#ifdef COMPILE_DL_IMAGE_TESTS
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(image_tests)
#endif
