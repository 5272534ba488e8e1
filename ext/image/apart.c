/* References in arrays that the value has twice: `$held = [&$x]; [$held, $held]`.
 *
 * PHP copies such an array when one of the two places is written to. The copy keeps the reference, and so the variable
 * stays one. It forgets a reference that only one array holds. An image therefore has such an array once for each
 * place, as after unserialize(): the reference is then one that the value has twice.
 */
#include "survey.h"

static bool is_bound(struct larder_seen *bound, const struct larder_found *found)
{
    return found->type == LARDER_FOUND_REFERENCE &&
           (found->live > 1 || (bound && larder_seen_slot(bound, found->source)->key));
}

/* A way up ends at what the value has but once: an object, or a variable. */
static bool leads_up(struct larder_seen *bound, const struct larder_found *found)
{
    return larder_found_array(found) || (found->type == LARDER_FOUND_REFERENCE && !is_bound(bound, found));
}

/* Those that PHP may copy while they are in two places. What an array was found in comes before it. Returns whether
 * one of them holds a reference that its copy would share, and enters such references. */
static bool find_twice(const struct larder_survey *survey, struct larder_seen *bound, bool *twice)
{
    bool has = false;

    for (uint32_t i = 0; i < survey->shared_count; i++) {
        twice[survey->shared[i].child] = true;
    }
    for (uint32_t i = 0; i < survey->count; i++) {
        const struct larder_found *found = &survey->found[i];
        bool in_twice = i > 0 && twice[found->parent];
        if (found->type == LARDER_FOUND_REFERENCE && in_twice && GC_REFCOUNT((zend_reference *)found->source) > 1) {
            has = true;
            if (bound) {
                larder_seen_place(bound, found->source, LARDER_BOUND_TWICE);
            }
        }
        twice[i] = leads_up(bound, found) && (twice[i] || in_twice);
    }
    for (uint32_t i = 0; i < survey->shared_count; i++) {
        const struct larder_shared *shared = &survey->shared[i];
        has |= twice[shared->parent] && survey->found[shared->child].type == LARDER_FOUND_REFERENCE;
    }
    return has;
}

static bool mark(bool *holding, uint32_t index)
{
    bool is_new = !holding[index];
    holding[index] = true;
    return is_new;
}

/* Arrays with a variable inside, be it in another array. The loop ends after as many rounds as shared arrays lie inside
 * one another. */
static void find_holding(const struct larder_survey *survey, struct larder_seen *bound, bool *holding)
{
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t i = survey->count - 1; i > 0; i--) {
            const struct larder_found *found = &survey->found[i];
            if (is_bound(bound, found) || (holding[i] && leads_up(bound, found))) {
                mark(holding, found->parent);
            }
        }
        for (uint32_t i = 0; i < survey->shared_count; i++) {
            const struct larder_shared *shared = &survey->shared[i];
            const struct larder_found *child = &survey->found[shared->child];
            if (is_bound(bound, child) || (holding[shared->child] && leads_up(bound, child))) {
                again |= mark(holding, shared->parent);
            }
        }
    }
}

bool larder_survey_has_apart(const struct larder_survey *survey, struct larder_seen *bound)
{
    bool *twice = ecalloc(survey->count, sizeof *twice);
    bool has = find_twice(survey, bound, twice);

    efree(twice);
    if (has && bound) {
        bool *holding = ecalloc(survey->count, sizeof *holding);
        find_holding(survey, bound, holding);
        for (uint32_t i = 0; i < survey->count; i++) {
            if (holding[i] && larder_found_array(&survey->found[i])) {
                larder_seen_place(bound, survey->found[i].source, LARDER_BOUND_APART);
            }
        }
        efree(holding);
    }
    return has;
}
