/* Every array that a script writes down becomes an image in read-only memory: those in its code, its class constants
 * and its default properties. So programs that know nothing of images work on them wherever they work on an array, and
 * PHP's own tests are such programs.
 *
 * Under opcache as well: what it has compiled, optimised and put in its memory is changed there. So its hook has to be
 * inside ours, and it takes its place only after all modules have started. One request of one process is all that the
 * images last for. What belongs to classes stays PHP's own there: opcache writes into it when a class that inherits is
 * linked, and nothing that comes from a pool ever gets there.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "literals.h"
#include "place.h"

#include "image/image.h"

#include "zend_extensions.h"

static zend_op_array *(*file_compiler)(zend_file_handle *file, int type);
static zend_op_array *(*string_compiler)(zend_string *source, const char *name, zend_compile_position position);

static void make_image(zval *literal)
{
    larder_image_plan plan;
    larder_image_refusal refusal;
    if (Z_TYPE_P(literal) != IS_ARRAY || image_holds(Z_ARR_P(literal))) {
        return;
    }
    if (!larder_image_measure(&plan, literal, &refusal)) {
        /* Constants that are only worked out when they are used. */
        zend_string_release(refusal.message);
    } else if (plan.kind == LARDER_KIND_ARRAY) {
        zval before = *literal;
        larder_image_use_array(literal, image_place(&plan));
        larder_image_discard(&plan);
        zval_ptr_dtor(&before);
        return;
    }
    larder_image_discard(&plan);
}

static void make_images(zval *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        make_image(&values[i]);
    }
}

static void in_function(zend_op_array *code)
{
    make_images(code->literals, (uint32_t)code->last_literal);
    for (uint32_t i = 0; i < code->num_dynamic_func_defs; i++) {
        in_function(code->dynamic_func_defs[i]);
    }
}

static void in_functions(HashTable *functions)
{
    zend_function *function;
    ZEND_HASH_FOREACH_PTR(functions, function)
    {
        if (function->type == ZEND_USER_FUNCTION) {
            in_function(&function->op_array);
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void in_class(zend_class_entry *class)
{
    zend_class_constant *constant;
    in_functions(&class->function_table);
    if (zend_get_extension("Zend OPcache") != NULL) {
        return;
    }
    ZEND_HASH_FOREACH_PTR(&class->constants_table, constant)
    {
        if (constant->ce == class) {
            make_image(&constant->value);
        }
    }
    ZEND_HASH_FOREACH_END();
    make_images(class->default_properties_table, (uint32_t) class->default_properties_count);
}

static zend_op_array *make_all(zend_op_array *code)
{
    zend_class_entry *class;
    if (code == NULL) {
        return NULL;
    }
    in_function(code);
    in_functions(CG(function_table));
    ZEND_HASH_FOREACH_PTR(CG(class_table), class)
    {
        if (class->type == ZEND_USER_CLASS) {
            in_class(class);
        }
    }
    ZEND_HASH_FOREACH_END();
    return code;
}

static zend_op_array *compile_file_to_images(zend_file_handle *file, int type)
{
    return make_all(file_compiler(file, type));
}

static zend_op_array *compile_string_to_images(zend_string *source, const char *name, zend_compile_position position)
{
    return make_all(string_compiler(source, name, position));
}

void literals_become_images(void)
{
    if (file_compiler != NULL) {
        return;
    }
    file_compiler = zend_compile_file;
    string_compiler = zend_compile_string;
    zend_compile_file = compile_file_to_images;
    zend_compile_string = compile_string_to_images;
}
