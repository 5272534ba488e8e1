/* The contents of an array or an object that shall be written: found by measure, used by write.
 *
 * Both go through what was found in the same order (breadth first, a plain list, no recursion) and count
 * strings and finds in the same way, so that write knows where everything goes without being told for each.
 *
 * survey.c finds. When all is found it calls unfold.c (with sort.c) and settle.c, which read and complete the same
 * struct (found.h) and call nothing of survey.c's.
 */
#ifndef LARDER_SURVEY_H
#define LARDER_SURVEY_H

#include "ask.h"
#include "found.h"
#include "refusal.h"

void larder_survey_init(struct larder_survey *survey);
void larder_survey_free(struct larder_survey *survey);

/* Finds everything in `value`, an array or object, given what objects in it told; false with `refusal` filled in if
 * something cannot be stored. Runs no code. */
bool larder_survey_run(struct larder_survey *survey, zval *value, struct larder_answers *answers,
                       larder_image_refusal *refusal);

#endif
