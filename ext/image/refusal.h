/* Saying what cannot be stored, and where in the value it is. */
#ifndef LARDER_REFUSAL_H
#define LARDER_REFUSAL_H

#include "image.h"

enum larder_step_type {
    LARDER_STEP_ELEMENT, /* of an array */
    LARDER_STEP_SLOT,    /* a declared property of an object */
    LARDER_STEP_NAME,    /* a property in a table of properties */
    LARDER_STEP_TOLD,    /* an element of what an object told of itself */
};

/* One step of the way from a value to a part of it. */
struct larder_step {
    enum larder_step_type type;
    uint32_t position;
    const void *holder;             /* zend_array or zend_object */
    const zend_class_entry *teller; /* TOLD: of the object that told it */
};

/* How what an object of this class told leads on. */
static inline enum larder_step_type larder_step_into_told(const zend_class_entry *teller)
{
    return teller->__serialize ? LARDER_STEP_TOLD : LARDER_STEP_NAME;
}

/* Says that what the steps lead to cannot be stored. */
void larder_refuse_value(larder_image_refusal *refusal, const struct larder_step *steps, uint32_t count,
                         const zval *value);

/* The same of what was met at `position` of the survey's find `index`. Returns false. */
struct larder_survey;
bool larder_refuse_found(const struct larder_survey *survey, uint32_t index, uint32_t position, const zval *value,
                         larder_image_refusal *refusal);

/* Says why an object could not be asked: the exception that is pending or, without one, `reason`. */
void larder_refuse_answer(larder_image_refusal *refusal, const struct larder_step *steps, uint32_t count,
                          const char *reason);

#endif
