/* Arrays that contain themselves: PHP can make them of references that nothing else holds any more.
 *
 * Kahn's algorithm (1962) on what a survey found: take away arrays that no array contains until none is left, or
 * only cycles are. A survey lists finds, and arrays met again, by ascending parent, so that the children of each
 * are near one another in both lists. Cycles that lead through an object, or through a reference that the value has
 * twice, are of no concern: those may have them.
 */
#include "survey.h"

struct sorting {
    const struct larder_survey *survey;
    uint32_t *containers;   /* of each find: arrays that contain it and were not taken away yet */
    uint32_t *first_child;  /* of each find: the first find that has it for a parent */
    uint32_t *first_shared; /* of each find: the first entry of `shared` that does */
    uint32_t *ready;        /* arrays that no array left contains */
    uint32_t ready_count;
};

/* An array, or a reference that was met once: what it refers to will stand in its place. */
static bool is_array(const struct larder_survey *survey, uint32_t index)
{
    const struct larder_found *found = &survey->found[index];
    return larder_found_array(found) || (found->type == LARDER_FOUND_REFERENCE && found->live == 1);
}

/* Fills in what the sorting starts from; the number of arrays. */
static uint32_t count_containers(struct sorting *sorting)
{
    const struct larder_survey *survey = sorting->survey;
    uint32_t arrays = 0;

    for (uint32_t i = survey->count; i-- > 1;) {
        uint32_t parent = survey->found[i].parent;
        sorting->first_child[parent] = i;
        sorting->containers[i] += is_array(survey, parent);
    }
    for (uint32_t i = survey->shared_count; i-- > 0;) {
        uint32_t parent = survey->shared[i].parent;
        sorting->first_shared[parent] = i;
        sorting->containers[survey->shared[i].child] += is_array(survey, parent);
    }
    for (uint32_t i = 0; i < survey->count; i++) {
        if (is_array(survey, i)) {
            arrays++;
            if (sorting->containers[i] == 0) {
                sorting->ready[sorting->ready_count++] = i;
            }
        }
    }
    return arrays;
}

static void leave(struct sorting *sorting, uint32_t child)
{
    if (--sorting->containers[child] == 0 && is_array(sorting->survey, child)) {
        sorting->ready[sorting->ready_count++] = child;
    }
}

static bool is_reference(const struct larder_survey *survey, uint32_t index)
{
    return survey->found[index].type == LARDER_FOUND_REFERENCE;
}

/* What a reference refers to is listed right behind it, between its neighbours. */
static void take_away(struct sorting *sorting, uint32_t parent)
{
    const struct larder_survey *survey = sorting->survey;
    uint32_t child = sorting->first_child[parent];
    uint32_t shared = sorting->first_shared[parent];
    bool only_one = is_reference(survey, parent);

    for (; child && child < survey->count; child++) {
        uint32_t listed_for = survey->found[child].parent;
        if (listed_for == parent) {
            leave(sorting, child);
        }
        if (only_one || (listed_for != parent && !is_reference(survey, listed_for))) {
            break;
        }
    }
    for (; shared < survey->shared_count; shared++) {
        uint32_t listed_for = survey->shared[shared].parent;
        if (listed_for == parent) {
            leave(sorting, survey->shared[shared].child);
        }
        if (only_one || (listed_for != parent && !is_reference(survey, listed_for))) {
            break;
        }
    }
}

bool larder_survey_has_cycle(const struct larder_survey *survey)
{
    uint32_t *memory = safe_emalloc(survey->count, 4 * sizeof(uint32_t), 0);
    struct sorting sorting = {
        .survey = survey,
        .containers = memory,
        .first_child = memory + survey->count,
        .first_shared = memory + 2 * (size_t)survey->count,
        .ready = memory + 3 * (size_t)survey->count,
    };
    memset(memory, 0, 3 * (size_t)survey->count * sizeof(uint32_t));
    memset(sorting.first_shared, 0xff, survey->count * sizeof(uint32_t));

    uint32_t arrays = count_containers(&sorting);
    uint32_t taken = 0;
    while (taken < sorting.ready_count) {
        take_away(&sorting, sorting.ready[taken++]);
    }
    efree(memory);
    return taken < arrays;
}
