/* The graph of what a survey found, for the questions of unfold.c, and sorting it. */
#ifndef LARDER_SORT_H
#define LARDER_SORT_H

#include "found.h"

struct larder_unfolding {
    const struct larder_survey *survey;
    uint32_t *memory; /* all of the following */
    uint32_t *first;  /* of each find: the first of its ways, which end where those of the next find begin */
    uint32_t *ways;   /* finds, each as often as it is met there */
    uint32_t *sorted; /* what unfolds, each find behind all that it holds */
    uint32_t sorted_count;
    uint32_t *places; /* of each find: in how many places it is when all is unfolded; the limit and one: in more */
    bool *cut;        /* of each find: a private reference on a cycle, which is a variable */
    bool *apart;      /* of each find: an array with a variable below it that is in two places */
};

/* Private: no other element or property holds it, neither in the value nor outside. */
static inline bool larder_is_private(const struct larder_found *found)
{
    return GC_REFCOUNT((zend_reference *)found->source) == 1;
}

/* Is it written out at each of its places? */
static inline bool larder_unfolds(const struct larder_unfolding *unfolding, uint32_t index)
{
    const struct larder_found *found = &unfolding->survey->found[index];
    return larder_found_array(found) ||
           (found->type == LARDER_FOUND_REFERENCE && larder_is_private(found) && !unfolding->cut[index]);
}

/* Sorts what unfolds. True: some of it contains itself. The private references on such cycles are cut then, and it has
 * to be sorted again. */
bool larder_unfolding_sort(struct larder_unfolding *unfolding);

#endif
