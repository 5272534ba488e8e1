/* Deciding what is where in the image, when everything was found. */
#ifndef LARDER_SETTLE_H
#define LARDER_SETTLE_H

#include "found.h"

void larder_survey_settle(struct larder_survey *survey);

#endif
