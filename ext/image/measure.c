/* Deciding how a value is stored. */
#include "image.h"
#include "survey.h"

/* Strings up to here are kept raw and copied on each read; longer ones are used in place. A copy that fits into
 * a page of PHP's heap costs 10 to 50 ns, about what a pin costs, and holds none; beyond, it grows with every KB. */
#define LARDER_SHORT_STRING (4096 - sizeof(zend_string))

/* Objects that make new objects each time they are asked could go on for ever. */
#define LARDER_ROUNDS_OF_ASKING 8

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

static bool survey_value(larder_image_plan *plan, larder_image_refusal *refusal)
{
    if (!larder_survey_run(plan->survey, &plan->value, plan->answers, refusal)) {
        return false;
    }
    plan->size = plan->survey->parts + plan->survey->strings;
    if (Z_TYPE(plan->value) == IS_OBJECT) {
        plan->kind = plan->survey->is_lone_object ? LARDER_KIND_LONE_OBJECT : LARDER_KIND_OBJECT;
    } else {
        plan->kind = plan->survey->found[0].rebuilt ? LARDER_KIND_ARRAY_OF_OBJECTS : LARDER_KIND_ARRAY;
    }
    return true;
}

static bool survey_again(larder_image_plan *plan, larder_image_refusal *refusal)
{
    larder_survey_free(plan->survey);
    larder_survey_init(plan->survey);
    return survey_value(plan, refusal);
}

static bool refuse_restless(larder_image_refusal *refusal)
{
    refusal->message = zend_string_init(
        ZEND_STRL("$value has other objects each time it is asked for its state; store plain data taken from it"),
        false);
    return false;
}

/* Keeps the value until discard, whatever becomes of the variable that it was in. */
static void hold(larder_image_plan *plan)
{
    Z_TRY_ADDREF(plan->value);
    plan->held = true;
}

/* The user's code that runs here may change the value, and the variable that it came from, so nothing is known of it
 * afterwards but the answer. */
static bool ask_and_survey_again(larder_image_plan *plan, larder_image_refusal *refusal)
{
    hold(plan);
    plan->answers = emalloc(sizeof(*plan->answers));
    larder_answers_init(plan->answers);
    for (int round = 0; round < LARDER_ROUNDS_OF_ASKING; round++) {
        if (!larder_ask(plan->answers, &plan->value, refusal) || !survey_again(plan, refusal)) {
            return false;
        }
        if (!plan->survey->has_unasked) {
            return true;
        }
    }
    return refuse_restless(refusal);
}

static bool plan_parts(larder_image_plan *plan, larder_image_refusal *refusal)
{
    plan->survey = emalloc(sizeof(*plan->survey));
    larder_survey_init(plan->survey);
    if (!survey_value(plan, refusal) || (plan->survey->has_unasked && !ask_and_survey_again(plan, refusal))) {
        larder_image_discard(plan);
        return false;
    }
    return true;
}

bool larder_image_measure(larder_image_plan *plan, zval *value, larder_image_refusal *refusal)
{
    ZVAL_DEREF(value);
    ZVAL_COPY_VALUE(&plan->value, value);
    plan->held = false;
    plan->survey = NULL;
    plan->answers = NULL;
    plan->size = 0;
    refusal->message = NULL;

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
        return plan_parts(plan, refusal);
    }
}

bool larder_image_measure_again(larder_image_plan *plan, larder_image_refusal *refusal)
{
    refusal->message = NULL;
    if (!plan->survey) {
        return true;
    }
    if (!survey_again(plan, refusal)) {
        return false;
    }
    return !plan->survey->has_unasked || refuse_restless(refusal);
}

void larder_image_discard(larder_image_plan *plan)
{
    if (plan->survey) {
        larder_survey_free(plan->survey);
        efree(plan->survey);
        plan->survey = NULL;
    }
    if (plan->answers) {
        larder_answers_free(plan->answers);
        efree(plan->answers);
        plan->answers = NULL;
    }
    if (plan->held) {
        zval_ptr_dtor(&plan->value);
        plan->held = false;
    }
}
