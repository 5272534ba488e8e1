/* Arrays that contain themselves: PHP can make them of references that nothing else holds any more.
 *
 * Tarjan's algorithm (1972) on what a survey found, without recursion: what is strongly connected is a cycle. Those
 * that lead through an object, or through a reference that the value has twice, are of no concern: those may have them.
 */
#include "survey.h"

#define DONE UINT32_MAX

struct search {
    const struct larder_survey *survey;
    struct larder_seen *references; /* where those on cycles are entered, or NULL */
    uint32_t *first;                /* of each find: the first of its ways, which end where the next one's begin */
    uint32_t *ways;
    uint32_t *next;  /* of each find: the way that is taken next */
    uint32_t *order; /* of each find: when it was come to, from 1; DONE when it is known which cycle it is on */
    uint32_t *low;   /* of each find: the earliest that is come to from it */
    uint32_t *path;  /* from where the search began to where it is */
    uint32_t *open;  /* come to and not done */
    uint32_t clock, path_length, open_count;
    bool found;
};

/* An array, or a reference that was met once: what it refers to would stand in its place. */
static bool is_array(const struct larder_survey *survey, uint32_t index)
{
    const struct larder_found *found = &survey->found[index];
    return larder_found_array(found) || (found->type == LARDER_FOUND_REFERENCE && found->live == 1);
}

/* Counts the ways of each find if `ways` is NULL, else enters them. Backwards, so that `first` ends as what it says. */
static void enter_way(struct search *search, uint32_t from, uint32_t to)
{
    if (is_array(search->survey, from) && is_array(search->survey, to)) {
        if (search->ways) {
            search->ways[--search->first[from]] = to;
        } else {
            search->first[from]++;
        }
    }
}

static void enter_ways(struct search *search)
{
    const struct larder_survey *survey = search->survey;

    for (uint32_t i = 1; i < survey->count; i++) {
        enter_way(search, survey->found[i].parent, i);
    }
    for (uint32_t i = 0; i < survey->shared_count; i++) {
        enter_way(search, survey->shared[i].parent, survey->shared[i].child);
    }
}

static void come_to(struct search *search, uint32_t index)
{
    search->order[index] = search->low[index] = ++search->clock;
    search->next[index] = search->first[index];
    search->path[search->path_length++] = index;
    search->open[search->open_count++] = index;
}

static bool leads_to_itself(const struct search *search, uint32_t index)
{
    for (uint32_t way = search->first[index]; way < search->first[index + 1]; way++) {
        if (search->ways[way] == index) {
            return true;
        }
    }
    return false;
}

/* Everything open since `index` is connected with it. */
static void close_cycle(struct search *search, uint32_t index)
{
    bool is_cycle = search->open[search->open_count - 1] != index || leads_to_itself(search, index);
    uint32_t member;

    search->found |= is_cycle;
    do {
        member = search->open[--search->open_count];
        search->order[member] = DONE;
        if (is_cycle && search->references && search->survey->found[member].type == LARDER_FOUND_REFERENCE) {
            larder_seen_place(search->references, search->survey->found[member].source, LARDER_BOUND_ON_CYCLE);
        }
    } while (member != index);
}

static inline void lower(uint32_t *low, uint32_t to)
{
    *low = to < *low ? to : *low;
}

static void search_from(struct search *search, uint32_t start)
{
    come_to(search, start);
    while (search->path_length > 0) {
        uint32_t index = search->path[search->path_length - 1];
        if (search->next[index] < search->first[index + 1]) {
            uint32_t to = search->ways[search->next[index]++];
            if (!search->order[to]) {
                come_to(search, to);
            } else if (search->order[to] != DONE) {
                lower(&search->low[index], search->order[to]);
            }
            continue;
        }
        search->path_length--;
        if (search->path_length > 0) {
            lower(&search->low[search->path[search->path_length - 1]], search->low[index]);
        }
        if (search->low[index] == search->order[index]) {
            close_cycle(search, index);
        }
    }
}

bool larder_survey_has_cycle(const struct larder_survey *survey, struct larder_seen *references)
{
    size_t count = survey->count;
    uint32_t *memory = safe_emalloc(7 * count + survey->shared_count + 1, sizeof(uint32_t), 0);
    struct search search = {
        .survey = survey,
        .references = references,
        .first = memory,
        .next = memory + count + 1,
        .order = memory + 2 * count + 1,
        .low = memory + 3 * count + 1,
        .path = memory + 4 * count + 1,
        .open = memory + 5 * count + 1,
    };

    memset(memory, 0, (3 * count + 1) * sizeof(uint32_t));
    enter_ways(&search);
    for (size_t i = 0; i < count; i++) {
        search.first[i + 1] += search.first[i];
    }
    search.ways = memory + 6 * count + 1;
    enter_ways(&search);
    for (uint32_t i = 0; i < count; i++) {
        if (!search.order[i] && is_array(survey, i)) {
            search_from(&search, i);
        }
    }
    efree(memory);
    return search.found;
}
