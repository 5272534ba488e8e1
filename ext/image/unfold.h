/* Which references are variables, and which arrays are written once for each place. */
#ifndef LARDER_UNFOLD_H
#define LARDER_UNFOLD_H

#include "found.h"

/* How many arrays and private references may be written once more because of that. */
#define LARDER_UNFOLDED_MOST (1u << 18)

/* What unfolding a value comes to. */
enum larder_unfolded {
    LARDER_UNFOLDED_AS_IT_IS, /* what the survey found is what is to be written */
    LARDER_UNFOLDED_BOUND,    /* it is to be found again, with some bound */
    LARDER_UNFOLDED_UNKNOWN,  /* it is to be found again, with all references */
    LARDER_UNFOLDED_TOO_MUCH, /* more would be written once more than may be */
};

/* Which references are variables, and which arrays are written once for each place: see unfold.c. Enters them if they
 * are to be bound. */
enum larder_unfolded larder_survey_unfold(const struct larder_survey *survey, struct larder_seen *bound);

#endif
