/* What a value with references means, and which arrays an image has once for each place because of it.
 *
 * Two things are one wherever a value has them: an object, and a variable. Arrays are values. PHP keeps an array once
 * for all its places, and copies it when one of them is written to. The copy shares those references that something
 * else holds, too. Of a private reference, which only the array holds, it gets what is referred to. So
 *
 *     $held = [&$x]; $value = [$held, $held];
 *
 * has one variable in two places as long as $x is there, and serialize() writes it as that.
 *
 * To unfold a value is to write arrays, and what private references refer to, at each of their places. Objects and
 * other references are written once. Then a reference is a VARIABLE of the value
 *
 *   - if it is not private, and is met twice when the value is unfolded;
 *   - or if it is private, and on a cycle of nothing but arrays and private references. Unfolding that would have no
 *     end. PHP copies it for ever, a step for each write. An image has variables there: it reads the same.
 *
 * Any other reference is no more than what it refers to: it is met once, or PHP drops it with the first copy.
 *
 * Unfolding ends: each cycle has a reference, as only these can make an array contain itself. If one of them is not
 * private it is written once. If all are, all are cut.
 *
 * The image keeps this: AN ARRAY WITH A VARIABLE BELOW IT, through arrays alone, IS IN ONE PLACE. Such arrays stand
 * apart: they are written once for each place that they have in the unfolded value. If one is below another, that other
 * one stands apart, too. All other arrays may be shared, as it cannot be told whether they are. A reader counts what it
 * makes by the places in the image. So each variable has a count of two or more, the arrays above it have one each, and
 * PHP drops the variable only when all its places but one are gone. The value that is read unfolds to the stored one,
 * which unfolds to the same once more.
 *
 * Nested arrays with two places each have as many places as two to the power of their depth, here as after
 * unserialize(). So there is a limit to what is written more than once.
 */
#include "unfold.h"
#include "sort.h"

static void enter_way(struct larder_unfolding *unfolding, uint32_t from, uint32_t to, bool counting)
{
    const struct larder_found *found = &unfolding->survey->found[to];

    if (!larder_found_array(found) && found->type != LARDER_FOUND_REFERENCE) {
        return;
    }
    if (counting) {
        unfolding->first[from]++;
    } else {
        unfolding->ways[--unfolding->first[from]] = to;
    }
}

static void enter_ways(struct larder_unfolding *unfolding, bool counting)
{
    const struct larder_survey *survey = unfolding->survey;

    for (uint32_t i = 1; i < survey->count; i++) {
        enter_way(unfolding, survey->found[i].parent, i, counting);
    }
    for (uint32_t i = 0; i < survey->shared_count; i++) {
        enter_way(unfolding, survey->shared[i].parent, survey->shared[i].child, counting);
    }
}

/* Counts the ways of each find and adds them up. Entering them backwards leaves `first` as it is to be. */
static void begin(struct larder_unfolding *unfolding, const struct larder_survey *survey)
{
    size_t count = survey->count;
    uint32_t *memory = safe_emalloc(4 * count + survey->shared_count + 1, sizeof(uint32_t), 0);

    *unfolding = (struct larder_unfolding){
        .survey = survey,
        .memory = memory,
        .first = memory,
        .sorted = memory + count + 1,
        .places = memory + 2 * count + 1,
        .ways = memory + 3 * count + 1,
        .cut = ecalloc(count, sizeof(bool)),
        .apart = ecalloc(count, sizeof(bool)),
    };
    memset(unfolding->first, 0, (count + 1) * sizeof(uint32_t));
    enter_ways(unfolding, true);
    for (size_t i = 0; i < count; i++) {
        unfolding->first[i + 1] += unfolding->first[i];
    }
    enter_ways(unfolding, false);
}

static void end(struct larder_unfolding *unfolding)
{
    efree(unfolding->memory);
    efree(unfolding->cut);
    efree(unfolding->apart);
}

static void add_places(struct larder_unfolding *unfolding, uint32_t index, uint32_t more)
{
    uint32_t *places = &unfolding->places[index];
    *places = *places + more > LARDER_UNFOLDED_MOST ? LARDER_UNFOLDED_MOST + 1 : *places + more;
}

static void add_places_of_held(struct larder_unfolding *unfolding, uint32_t index, uint32_t more)
{
    for (uint32_t way = unfolding->first[index]; way < unfolding->first[index + 1]; way++) {
        add_places(unfolding, unfolding->ways[way], more);
    }
}

/* A part that is written once gives one place to each that it holds; one that unfolds gives one for each of its own.
 * `as_written`: arrays that PHP shares, and that do not stand apart, are written once as well. */
static void count_places(struct larder_unfolding *unfolding, bool as_written)
{
    const struct larder_survey *survey = unfolding->survey;

    memset(unfolding->places, 0, survey->count * sizeof(uint32_t));
    unfolding->places[0] = 1;
    for (uint32_t i = 0; i < survey->count; i++) {
        if (!larder_unfolds(unfolding, i)) {
            add_places_of_held(unfolding, i, 1);
        }
    }
    for (uint32_t i = unfolding->sorted_count; i > 0; i--) {
        uint32_t index = unfolding->sorted[i - 1];
        if (as_written && !unfolding->apart[index] && larder_found_array(&survey->found[index]) &&
            larder_may_be_shared(&((zend_array *)survey->found[index].source)->gc)) {
            unfolding->places[index] = 1;
        }
        add_places_of_held(unfolding, index, unfolding->places[index]);
    }
}

static bool is_variable(const struct larder_unfolding *unfolding, uint32_t index)
{
    const struct larder_found *found = &unfolding->survey->found[index];
    return found->type == LARDER_FOUND_REFERENCE &&
           (unfolding->cut[index] || (unfolding->places[index] > 1 && !larder_is_private(found)));
}

/* Marks what has a variable below it and is in two places; `apart` of a private reference only leads on. */
static bool find_apart(struct larder_unfolding *unfolding)
{
    bool found = false;

    for (uint32_t i = 0; i < unfolding->sorted_count; i++) {
        uint32_t index = unfolding->sorted[i];
        for (uint32_t way = unfolding->first[index]; way < unfolding->first[index + 1]; way++) {
            uint32_t to = unfolding->ways[way];
            unfolding->apart[index] |=
                unfolding->places[index] > 1 && (unfolding->apart[to] || is_variable(unfolding, to));
        }
        found |= unfolding->apart[index];
    }
    return found;
}

static void enter_bound(const struct larder_unfolding *unfolding, struct larder_seen *bound)
{
    for (uint32_t i = 0; i < unfolding->survey->count; i++) {
        const struct larder_found *found = &unfolding->survey->found[i];
        if (is_variable(unfolding, i)) {
            larder_seen_place(bound, found->source, LARDER_BOUND_VARIABLE);
        } else if (unfolding->apart[i] && larder_found_array(found)) {
            larder_seen_place(bound, found->source, LARDER_BOUND_APART);
        }
    }
}

static bool is_too_much(struct larder_unfolding *unfolding)
{
    uint32_t more = 0;

    count_places(unfolding, true);
    for (uint32_t i = 0; i < unfolding->sorted_count && more <= LARDER_UNFOLDED_MOST; i++) {
        more += unfolding->places[unfolding->sorted[i]] - 1;
    }
    return more > LARDER_UNFOLDED_MOST;
}

/* A survey that looked through private references does not know which of them are on a cycle. */
static enum larder_unfolded unfold(struct larder_unfolding *unfolding, struct larder_seen *bound)
{
    bool has_cycle = larder_unfolding_sort(unfolding);

    if (has_cycle && !unfolding->survey->finds_all_references) {
        return LARDER_UNFOLDED_UNKNOWN;
    }
    if (has_cycle) {
        larder_unfolding_sort(unfolding);
    }
    count_places(unfolding, false);
    if (!find_apart(unfolding) && !has_cycle) {
        return LARDER_UNFOLDED_AS_IT_IS;
    }
    enter_bound(unfolding, bound);
    return is_too_much(unfolding) ? LARDER_UNFOLDED_TOO_MUCH : LARDER_UNFOLDED_BOUND;
}

enum larder_unfolded larder_survey_unfold(const struct larder_survey *survey, struct larder_seen *bound)
{
    struct larder_unfolding unfolding;

    begin(&unfolding, survey);
    enum larder_unfolded unfolded = unfold(&unfolding, bound);
    end(&unfolding);
    return unfolded;
}
