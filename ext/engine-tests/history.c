#include "history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events in the order in which they were over. */
typedef struct list {
    const history_event **at;
    size_t count;
} list;

/* A store, and when it was read. */
typedef struct stored {
    const history_event *store;
    uint64_t first, last; /* the first read that returned it was done, the last had begun */
} stored;

typedef struct trial {
    list reads, stores;
    list of_key[HISTORY_KEYS]; /* what makes older values of the key untrue */
    list of_tag[HISTORY_TAGS], clears;
    stored *by_version;
    char *verdict;
    size_t size;
} trial;

/* From then on it does nothing any more. */
static uint64_t over(const history_event *e)
{
    return e->done != HISTORY_NEVER ? e->done : e->dead;
}

static uint64_t latest(const history_event *store)
{
    return store->latest != 0 ? store->latest : over(store);
}

/* ---- telling --------------------------------------------------------------------------------------------- */

static void tell(const history_event *e, char *words, size_t size)
{
    static const char *verbs[] = {"write", "judged write", "fill", "add"};
    static const char *kinds[] = {"read", "", "delete", "invalidation", "clear"};
    static const char *results[] = {"", ", refused", ", refused", ", killed", ", undone"};
    int length =
        snprintf(words, size, "%s of key %" PRIu32 " by %" PRIx64 " from %" PRIu64 " to %" PRIu64,
                 e->kind == HISTORY_STORE ? verbs[e->verb] : kinds[e->kind], e->key, e->request, e->begun, over(e));
    if (e->kind == HISTORY_STORE && length > 0 && (size_t)length < size) {
        snprintf(words + length, size - (size_t)length,
                 " (version %" PRIx64 ", tags %" PRIx32 ", computed since %" PRIu64 " to %" PRIu64 "%s)", e->version,
                 e->tags, e->since, latest(e), results[e->result]);
    }
}

static bool wrong(const trial *t, const char *what, const history_event *one, const history_event *other)
{
    char first[256], second[256] = "";
    tell(one, first, sizeof first);
    if (other != NULL) {
        tell(other, second, sizeof second);
    }
    snprintf(t->verdict, t->size, "%s: %s; %s", what, first, second);
    return false;
}

/* ---- sorting --------------------------------------------------------------------------------------------- */

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_end(const void *a, const void *b)
{
    return compare(over(a), over(b));
}

static int by_version(const void *a, const void *b)
{
    return compare(((const stored *)a)->store->version, ((const stored *)b)->store->version);
}

static int by_first(const void *a, const void *b)
{
    return compare(((const stored *)a)->first, ((const stored *)b)->first);
}

static int by_begun(const void *a, const void *b)
{
    return compare((*(const history_event *const *)a)->begun, (*(const history_event *const *)b)->begun);
}

static list room_for(size_t count)
{
    return (list){.at = (const history_event **)calloc(count + 1, sizeof(void *))};
}

static void append(list *to, const history_event *e)
{
    to->at[to->count++] = e;
}

/* Has what it says made older values of its key untrue? A refused write has, too, unless it was undone. */
static bool is_new_truth(const history_event *e)
{
    return e->kind == HISTORY_DELETE || (e->kind == HISTORY_STORE && e->result != HISTORY_UNDONE &&
                                         (e->verb == HISTORY_WRITE || e->verb == HISTORY_JUDGED));
}

static void sort_out(trial *t, history_event *events, size_t count)
{
    list *lists[] = {&t->reads, &t->stores, &t->clears};
    for (int i = 0; i < 3; i++) {
        *lists[i] = room_for(count);
    }
    for (int i = 0; i < HISTORY_KEYS; i++) {
        t->of_key[i] = room_for(count);
    }
    for (int i = 0; i < HISTORY_TAGS; i++) {
        t->of_tag[i] = room_for(count);
    }
    qsort(events, count, sizeof *events, by_end);
    for (size_t i = 0; i < count; i++) {
        const history_event *e = &events[i];
        if (e->kind == HISTORY_STORE) {
            append(&t->stores, e);
        }
        if (e->done == HISTORY_NEVER) {
            continue; /* it says nothing, and makes nothing untrue */
        }
        if (e->kind == HISTORY_READ) {
            append(&t->reads, e);
        }
        if (is_new_truth(e)) {
            append(&t->of_key[e->key], e);
        }
        for (uint32_t tag = 0; e->kind == HISTORY_INVALIDATE && tag < HISTORY_TAGS; tag++) {
            if ((e->tags & 1u << tag) != 0) {
                append(&t->of_tag[tag], e);
            }
        }
        if (e->kind == HISTORY_CLEAR) {
            append(&t->clears, e);
        }
    }
    t->by_version = calloc(t->stores.count + 1, sizeof *t->by_version);
    for (size_t i = 0; i < t->stores.count; i++) {
        t->by_version[i] = (stored){.store = t->stores.at[i], .first = UINT64_MAX};
    }
    qsort(t->by_version, t->stores.count, sizeof *t->by_version, by_version);
}

static void throw_away(trial *t)
{
    free((void *)t->reads.at);
    free((void *)t->stores.at);
    free((void *)t->clears.at);
    for (int i = 0; i < HISTORY_KEYS; i++) {
        free((void *)t->of_key[i].at);
    }
    for (int i = 0; i < HISTORY_TAGS; i++) {
        free((void *)t->of_tag[i].at);
    }
    free(t->by_version);
}

/* How many of them were over before. */
static size_t over_before(const list *events, uint64_t moment)
{
    size_t low = 0, high = events->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (over(events->at[middle]) < moment) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- H1 to H4 -------------------------------------------------------------------------------------------- */

static stored *find_version(const trial *t, uint64_t version)
{
    const history_event wanted = {.version = version};
    const stored key = {.store = &wanted};
    return bsearch(&key, t->by_version, t->stores.count, sizeof key, by_version);
}

/* Did it make untrue what that store brought? */
static bool kills(const history_event *killer, const history_event *store)
{
    bool own = killer->request == store->request && killer->done < store->begun;
    bool judged = store->since < store->begun;
    /* Writes are not judged by other writes, so nothing is known of two that overlap. */
    bool any_order = killer->kind == HISTORY_STORE && !judged;
    return killer != store && !own && killer->begun > (any_order ? over(store) : latest(store));
}

static const history_event *killer_among(const list *events, const history_event *store, uint64_t before)
{
    for (size_t i = over_before(events, before); i-- > 0 && events->at[i]->done > latest(store);) {
        if (kills(events->at[i], store)) {
            return events->at[i];
        }
    }
    return NULL;
}

/* What made untrue what the store brought, and had returned before that moment. */
static const history_event *killer_of(const trial *t, const history_event *store, uint64_t before)
{
    const history_event *killer = killer_among(&t->of_key[store->key], store, before);
    if (killer == NULL) {
        killer = killer_among(&t->clears, store, before);
    }
    for (uint32_t tag = 0; killer == NULL && tag < HISTORY_TAGS; tag++) {
        if ((store->tags & 1u << tag) != 0) {
            killer = killer_among(&t->of_tag[tag], store, before);
        }
    }
    return killer;
}

static bool judge_read(const trial *t, const history_event *read)
{
    stored *found = find_version(t, read->version);
    if (found == NULL || found->store->key != read->key || found->store->begun > read->done) {
        return wrong(t, "H1, what was read was never stored", read, found == NULL ? NULL : found->store);
    }
    const history_event *store = found->store;
    if (store->result != HISTORY_DONE && store->done < read->begun) {
        return wrong(t, "H2, what was refused was read", read, store);
    }
    const history_event *killer = killer_of(t, store, read->begun);
    if (killer != NULL) {
        char words[256];
        tell(read, words, sizeof words);
        wrong(t, "H3, something stale was read", store, killer);
        size_t length = strlen(t->verdict);
        snprintf(t->verdict + length, t->size - length, "; %s", words);
        return false;
    }
    found->first = read->done < found->first ? read->done : found->first;
    found->last = read->begun > found->last ? read->begun : found->last;
    return true;
}

static bool judge_store(const trial *t, const history_event *store)
{
    const history_event *killer = store->result == HISTORY_DONE ? killer_of(t, store, store->begun) : NULL;
    return killer == NULL || wrong(t, "H4, what came too late was not refused", store, killer);
}

/* ---- H5 -------------------------------------------------------------------------------------------------- */

/* Was there a value that was read before this one and after it? Of those whose reads have begun, the two that were read
 * last are enough to know: one of them is another. */
static bool nothing_comes_back(const trial *t, uint32_t key)
{
    list reads = room_for(t->reads.count);
    stored *known = calloc(t->stores.count + 1, sizeof *known);
    const stored *last[2] = {NULL, NULL};
    size_t count = 0, next = 0;
    bool right = true;
    for (size_t i = 0; i < t->stores.count; i++) {
        if (t->by_version[i].store->key == key && t->by_version[i].last != 0) {
            known[count++] = t->by_version[i];
        }
    }
    qsort(known, count, sizeof *known, by_first);
    for (size_t i = 0; i < t->reads.count; i++) {
        if (t->reads.at[i]->key == key && t->reads.at[i]->version != 0) {
            append(&reads, t->reads.at[i]);
        }
    }
    qsort(reads.at, reads.count, sizeof(void *), by_begun);
    for (size_t i = 0; right && i < reads.count; i++) {
        const history_event *read = reads.at[i];
        for (; next < count && known[next].first < read->begun; next++) {
            if (last[0] == NULL || known[next].last > last[0]->last) {
                last[1] = last[0];
                last[0] = &known[next];
            } else if (last[1] == NULL || known[next].last > last[1]->last) {
                last[1] = &known[next];
            }
        }
        for (int j = 0; right && j < 2; j++) {
            if (last[j] != NULL && last[j]->store->version != read->version && last[j]->last > read->done) {
                right = wrong(t, "H5, a value came back that was replaced", last[j]->store, read);
            }
        }
    }
    free((void *)reads.at);
    free(known);
    return right;
}

/* ---- H6 -------------------------------------------------------------------------------------------------- */

/* May it have taken what is stored under the key? A judged write does, for a moment; a refused fill does not. */
static bool disturbs(const history_event *e, uint32_t key)
{
    bool is_fill = e->verb == HISTORY_FILL || e->verb == HISTORY_ADD;
    bool may_be_refused = e->result == HISTORY_UNKNOWN || (e->result == HISTORY_REFUSED && !is_fill);
    bool takes =
        e->kind == HISTORY_DELETE || (e->kind == HISTORY_STORE && (may_be_refused || e->verb == HISTORY_JUDGED));
    return e->kind == HISTORY_INVALIDATE || e->kind == HISTORY_CLEAR || (e->key == key && takes);
}

static bool finds_nothing(const history_event *e)
{
    return (e->kind == HISTORY_READ && e->done != HISTORY_NEVER && e->version == 0) ||
           (e->kind == HISTORY_STORE && e->verb == HISTORY_ADD && e->result == HISTORY_DONE);
}

/* A store of the key that was computed after one moment, and done before another. */
static const history_event *stored_since(const trial *t, uint32_t key, uint64_t since, uint64_t before)
{
    for (size_t i = over_before(&t->stores, before); i-- > 0 && over(t->stores.at[i]) > since;) {
        const history_event *store = t->stores.at[i];
        if (store->key == key && store->result == HISTORY_DONE && store->since > since) {
            return store;
        }
    }
    return NULL;
}

/* Goes through the key's events as they ended: what disturbed is behind, or was in flight and is among those that
 * follow. */
static bool nothing_is_lost(const trial *t, const history_event *events, size_t count, uint32_t key)
{
    uint64_t disturbed = 0, *earliest = calloc(count + 1, sizeof *earliest);
    bool right = true;
    earliest[count] = UINT64_MAX; /* the earliest beginning of what disturbs, from here on */
    for (size_t i = count; i-- > 0;) {
        bool earlier = disturbs(&events[i], key) && events[i].begun < earliest[i + 1];
        earliest[i] = earlier ? events[i].begun : earliest[i + 1];
    }
    for (size_t i = 0; right && i < count; i++) {
        const history_event *e = &events[i];
        disturbed = disturbs(e, key) ? over(e) : disturbed;
        if (finds_nothing(e) && e->key == key && earliest[i] > e->done) {
            const history_event *store = stored_since(t, key, disturbed, e->begun);
            right = store == NULL || wrong(t, "H6, what was stored was not found", store, e);
        }
    }
    free(earliest);
    return right;
}

bool history_judge(history_event *events, size_t count, bool evicts, char *verdict, size_t size)
{
    trial t = {.verdict = verdict, .size = size};
    bool right = true;
    verdict[0] = '\0';
    sort_out(&t, events, count);
    for (size_t i = 0; right && i < t.reads.count; i++) {
        right = t.reads.at[i]->version == 0 || judge_read(&t, t.reads.at[i]);
    }
    for (size_t i = 0; right && i < t.stores.count; i++) {
        right = judge_store(&t, t.stores.at[i]);
    }
    for (uint32_t key = 0; right && key < HISTORY_KEYS; key++) {
        right = nothing_comes_back(&t, key) && (evicts || nothing_is_lost(&t, events, count, key));
    }
    throw_away(&t);
    return right;
}
