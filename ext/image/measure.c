/* Deciding how a value is stored. */
#include "image.h"
#include "serialize.h"
#include "survey.h"

/* Strings up to here are kept raw and copied on each read; longer ones are used in place. A copy that fits into
 * a page of PHP's heap costs 10 to 50 ns, about what a pin costs, and holds none; beyond, it grows with every KB. */
#define LARDER_SHORT_STRING (4096 - sizeof(zend_string))

/* PHP's unserialize() refuses what is deeper, and its serialize() recurses. */
#define LARDER_DEEPEST_TO_SERIALIZE 4096

/* Counters leave two bits of their word to the engine. */
#define LARDER_COUNTER_LIMIT (ZEND_LONG_MAX / 2 + 1)

static void plan_string(larder_image_plan *plan)
{
    size_t length = Z_STRLEN(plan->value);

    if (length <= LARDER_SHORT_STRING) {
        plan->kind = LARDER_KIND_BYTES;
        plan->size = length;
    } else {
        plan->kind = LARDER_KIND_STRING;
        plan->size = larder_string_size(length);
    }
}

static bool plan_serialized(larder_image_plan *plan, zval *value, larder_image_refusal *refusal)
{
    plan->kind = larder_serialize(&plan->value, value, refusal);
    plan->owned = plan->kind != 0;
    plan->size = plan->owned ? Z_STRLEN(plan->value) : 0;
    return plan->owned;
}

static bool plan_parts(larder_image_plan *plan, zval *value, larder_image_refusal *refusal)
{
    struct larder_survey *survey = emalloc(sizeof(*survey));
    bool storable = larder_survey_run(survey, value, refusal);

    if (storable && !survey->to_be_serialized) {
        plan->survey = survey;
        plan->size = survey->parts + survey->strings;
        if (Z_TYPE_P(value) == IS_OBJECT) {
            plan->kind = LARDER_KIND_OBJECT;
        } else {
            plan->kind = survey->found[0].rebuilt ? LARDER_KIND_ARRAY_OF_OBJECTS : LARDER_KIND_ARRAY;
        }
        return true;
    }
    if (storable && survey->depth > LARDER_DEEPEST_TO_SERIALIZE) {
        storable = false;
        snprintf(refusal->message, sizeof(refusal->message),
                 "the value has references or objects that must be serialised and is nested %u deep, deeper than "
                 "the %d that can be read back; store it in a flatter form",
                 survey->depth, LARDER_DEEPEST_TO_SERIALIZE);
    }
    larder_survey_free(survey);
    efree(survey);
    return storable && plan_serialized(plan, value, refusal);
}

bool larder_image_measure(larder_image_plan *plan, zval *value, larder_image_refusal *refusal)
{
    ZVAL_DEREF(value);
    ZVAL_COPY_VALUE(&plan->value, value);
    plan->owned = false;
    plan->survey = NULL;
    plan->size = 0;
    refusal->message[0] = '\0';

    switch (Z_TYPE_P(value)) {
    case IS_UNDEF:
    case IS_NULL:
        plan->kind = LARDER_KIND_NULL;
        return true;
    case IS_FALSE:
        plan->kind = LARDER_KIND_FALSE;
        return true;
    case IS_TRUE:
        plan->kind = LARDER_KIND_TRUE;
        return true;
    case IS_LONG:
        plan->size = sizeof(zend_long);
        plan->kind = Z_LVAL_P(value) >= -LARDER_COUNTER_LIMIT && Z_LVAL_P(value) < LARDER_COUNTER_LIMIT
                         ? LARDER_KIND_COUNTER
                         : LARDER_KIND_INT;
        return true;
    case IS_DOUBLE:
        plan->kind = LARDER_KIND_FLOAT;
        plan->size = sizeof(double);
        return true;
    case IS_STRING:
        plan_string(plan);
        return true;
    default:
        return plan_parts(plan, value, refusal);
    }
}

void larder_image_discard(larder_image_plan *plan)
{
    if (plan->survey) {
        larder_survey_free(plan->survey);
        efree(plan->survey);
        plan->survey = NULL;
    }
    if (plan->owned) {
        zval_ptr_dtor(&plan->value);
        plan->owned = false;
    }
}
