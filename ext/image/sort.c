/* Sorting what unfolds, so that each find is behind all that it holds; and finding what contains itself.
 *
 * Tarjan's algorithm (1972) on what a survey found, without recursion: a strongly connected part is a cycle.
 */
#include "sort.h"

#define DONE UINT32_MAX

struct search {
    struct larder_unfolding *unfolding;
    uint32_t *next;  /* of each find: the way that is taken next */
    uint32_t *order; /* of each find: when it was come to, from 1; DONE when it is known which cycle it is on */
    uint32_t *low;   /* of each find: the earliest that is come to from it */
    uint32_t *path;  /* from where the search began to where it is */
    uint32_t *open;  /* come to and not done */
    uint32_t clock, path_length, open_count;
    bool found;
};

static void come_to(struct search *search, uint32_t index)
{
    search->order[index] = search->low[index] = ++search->clock;
    search->next[index] = search->unfolding->first[index];
    search->path[search->path_length++] = index;
    search->open[search->open_count++] = index;
}

static bool leads_to_itself(const struct larder_unfolding *unfolding, uint32_t index)
{
    for (uint32_t way = unfolding->first[index]; way < unfolding->first[index + 1]; way++) {
        if (unfolding->ways[way] == index) {
            return true;
        }
    }
    return false;
}

/* Everything open since `index` is connected with it. All that one of these leads to, and is not one of them, was done
 * before. */
static void close_cycle(struct search *search, uint32_t index)
{
    struct larder_unfolding *unfolding = search->unfolding;
    bool is_cycle = search->open[search->open_count - 1] != index || leads_to_itself(unfolding, index);
    uint32_t member;

    search->found |= is_cycle;
    do {
        member = search->open[--search->open_count];
        search->order[member] = DONE;
        unfolding->sorted[unfolding->sorted_count++] = member;
        if (is_cycle && unfolding->survey->found[member].type == LARDER_FOUND_REFERENCE) {
            unfolding->cut[member] = true;
        }
    } while (member != index);
}

static inline void lower(uint32_t *low, uint32_t to)
{
    *low = to < *low ? to : *low;
}

static void take_way(struct search *search, uint32_t from, uint32_t to)
{
    if (!larder_unfolds(search->unfolding, to)) {
        return;
    }
    if (!search->order[to]) {
        come_to(search, to);
    } else if (search->order[to] != DONE) {
        lower(&search->low[from], search->order[to]);
    }
}

static void search_from(struct search *search, uint32_t start)
{
    come_to(search, start);
    while (search->path_length > 0) {
        uint32_t index = search->path[search->path_length - 1];
        if (search->next[index] < search->unfolding->first[index + 1]) {
            take_way(search, index, search->unfolding->ways[search->next[index]++]);
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

bool larder_unfolding_sort(struct larder_unfolding *unfolding)
{
    size_t count = unfolding->survey->count;
    uint32_t *memory = safe_emalloc(5 * count, sizeof(uint32_t), 0);
    struct search search = {
        .unfolding = unfolding,
        .next = memory,
        .order = memory + count,
        .low = memory + 2 * count,
        .path = memory + 3 * count,
        .open = memory + 4 * count,
    };

    memset(search.order, 0, count * sizeof(uint32_t));
    unfolding->sorted_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!search.order[i] && larder_unfolds(unfolding, i)) {
            search_from(&search, i);
        }
    }
    efree(memory);
    return search.found;
}
