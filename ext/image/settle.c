/* When all parts of a value were found: which are made anew on each read, in which order they lie, how much room they
 * take.
 */
#include "settle.h"

/* One that was met once only is no part: its value stands in its place. */
static void settle_references(struct larder_survey *survey)
{
    for (uint32_t i = 0; survey->has_references && i < survey->count; i++) {
        struct larder_found *found = &survey->found[i];
        if (found->type == LARDER_FOUND_REFERENCE) {
            found->plain = found->live == 1;
            if (!found->plain) {
                larder_rebuild_upwards(survey, i);
            }
        }
    }
}

/* An array that was met again may turn out later to have objects in it; those who had met it must know. Few
 * values have both, and the loop ends after as many rounds as such arrays lie inside one another. */
static void settle_shared(struct larder_survey *survey)
{
    bool again = survey->objects > 0 || survey->has_shared_references;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < survey->shared_count; i++) {
            const struct larder_shared *shared = &survey->shared[i];
            if (survey->found[shared->child].rebuilt && !survey->found[shared->parent].rebuilt) {
                larder_rebuild_upwards(survey, shared->parent);
                again = true;
            }
        }
    }
}

static int by_turn(const void *one, const void *other)
{
    const struct larder_found *const *a = one, *const *b = other;
    return (*a)->turn < (*b)->turn ? -1 : (*a)->turn > (*b)->turn;
}

/* Of those that were asked some may be in the value no more: the turns of the others are made to follow one another. */
static void settle_turns(struct larder_survey *survey)
{
    struct larder_found **waiting = safe_emalloc(survey->turns, sizeof(struct larder_found *), 0);
    uint32_t count = 0;

    for (uint32_t i = 0; i < survey->count; i++) {
        if (survey->found[i].turn) {
            waiting[count++] = &survey->found[i];
        }
    }
    qsort(waiting, count, sizeof(struct larder_found *), by_turn);
    for (uint32_t i = 0; i < count; i++) {
        waiting[i]->turn = i + 1;
    }
    efree(waiting);
}

static size_t size_of_found(const struct larder_found *found)
{
    switch (found->type) {
    case LARDER_FOUND_OBJECT:
        return larder_object_size((uint32_t)((zend_object *)found->source)->ce->default_properties_count);
    case LARDER_FOUND_TELLER:
        return sizeof(struct larder_teller_part);
    case LARDER_FOUND_DATE:
        return sizeof(struct larder_date_part);
    case LARDER_FOUND_REFERENCE:
        return sizeof(struct larder_reference_part);
    case LARDER_FOUND_CASE:
        return sizeof(struct larder_case_part);
    case LARDER_FOUND_CLASS:
        return sizeof(struct larder_class_part);
    default:
        return sizeof(zend_array) + (found->packed
                                         ? HT_HASH_SIZE(HT_MIN_MASK) + found->elements * sizeof(zval)
                                         : larder_hash_size(found->elements) + found->elements * sizeof(Bucket));
    }
}

/* Parts that are made anew on each read come first, so that a reader can stop behind it. How many parts are those? */
static uint32_t lay_out(struct larder_survey *survey)
{
    uint32_t rebuilt_parts = 0;
    for (int rebuilt = 1; rebuilt >= 0; rebuilt--) {
        rebuilt_parts = survey->part_count;
        for (uint32_t i = 0; i < survey->count; i++) {
            struct larder_found *found = &survey->found[i];
            if (found->rebuilt == rebuilt && !found->plain) {
                found->offset = survey->parts;
                found->number = survey->part_count++;
                survey->parts += size_of_found(found);
            }
        }
    }
    return rebuilt_parts;
}

/* Most objects have no others inside, nor themselves: an object, its class, and a table if it has dynamic properties is
 * all that is made anew. PHP has one table for properties of both kinds, so an object with both is not such a one. */
static bool is_lone_object(const struct larder_survey *survey, uint32_t rebuilt_parts)
{
    const struct larder_found *found = &survey->found[0];
    if (found->type != LARDER_FOUND_OBJECT || found->turn || survey->objects > 1) {
        return false;
    }
    const zend_object *object = found->source;
    bool dynamic = larder_has_dynamic_properties(object);
    return rebuilt_parts == 2u + dynamic && !(dynamic && object->ce->default_properties_count > 0);
}

void larder_survey_settle(struct larder_survey *survey)
{
    settle_references(survey);
    settle_shared(survey);
    if (survey->turns) {
        settle_turns(survey);
    }
    survey->is_lone_object = is_lone_object(survey, lay_out(survey));
}
