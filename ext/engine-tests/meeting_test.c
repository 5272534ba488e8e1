/* Two operations on one key that meet: whichever point the first has reached when the second comes in between, what both
 * were told, and what is there after both, is as if one had come after the other. The engine itself says what that
 * would be. One that is refused may also count as not called.
 */
#include "requests.h"

#include "engine/larder.h"
#include "engine/tag.h"

#define LATER UINT64_C(9000000000000)

enum verb {
    SET,
    SET_AS_MISSED,
    SET_JUDGED,
    SET_FILL,
    ADD,
    ADD_AS_MISSED,
    ADD_JUDGED,
    ADD_FILL,
    REPLACE,
    REPLACE_JUDGED,
    SET_EXPECTED, /* in the place of what was met */
    ADD_EXPECTED, /* ... which the caller cannot read */
    UPDATE,       /* made of what was met, or of nothing */
    DELETE,
    TOUCH,
    COUNT,
    COUNT_ON, /* only if there is a number */
    COUNT_AS, /* what was met, as a number */
    TAKE,
    COMPUTE, /* under a lease */
    INVALIDATE,
    CLEAR,
    VERBS
};

enum before { NONE, TEXT, TAGGED, COUNTER, DEAD, BEFORES };

/* One of the two. */
typedef struct party {
    larder_pool *pool;
    enum verb verb;
    const char *text;
    /* What it has met. */
    uint64_t token;
    larder_met met;
    bool any;
    int64_t told; /* what it was told */
} party;

static char name[32];
static uint64_t numbered;
static party first, second;
static bool prepared_late, happened;

static larder_key the_key(void)
{
    return key_of(name);
}

static void prepare(party *its)
{
    const larder_key key = the_key();
    larder_hit hit;
    its->token = token_now(its->pool);
    its->any = larder_get_briefly(its->pool, &key, &hit);
    its->met = (larder_met){.version = 0};
    if (its->any) {
        its->met =
            (larder_met){.version = hit.item->version, .word = hit.word, .attachment = its->pool->attached.number};
        larder_hit_drop(its->pool, &hit);
    }
    if (its->verb == SET_AS_MISSED || its->verb == ADD_AS_MISSED || its->verb == COMPUTE) {
        char text[16];
        size_t size;
        take(its->pool, key, text, sizeof text, &size);
    }
}

static int64_t store(party *its, enum larder_mode mode, enum larder_verb verb)
{
    larder_terms terms = {.mode = mode,
                          .verb = verb,
                          .token = its->token,
                          .attachment = its->pool->attached.number,
                          .expiry = LARDER_NO_EXPIRY};
    if (its->verb == SET_EXPECTED || its->verb == ADD_EXPECTED) {
        terms.expected = its->met.word;
    }
    if (its->verb == UPDATE) {
        terms.made_of = its->any ? its->met.version : LARDER_OF_NOTHING;
        terms.mode = its->any ? LARDER_SET : LARDER_ADD;
    }
    return put_under(its->pool, name, its->text, &terms);
}

static int64_t count(party *its, bool creates, bool as)
{
    const larder_key key = the_key();
    int64_t sum = 0;
    const larder_counting how = {.by = its == &first ? 1 : 10,
                                 .least = INT64_MIN,
                                 .creates = creates,
                                 .expiry = LARDER_NO_EXPIRY,
                                 .taken_from = as ? its->met.version : 0,
                                 .taken_as = 100};
    enum larder_counted counted = larder_count_up(its->pool, &key, &how, &sum);
    return counted == LARDER_COUNTED ? 1000 + sum : -(int64_t)counted;
}

static int64_t compute(party *its)
{
    const larder_key key = the_key();
    char text[16];
    size_t size;
    int64_t told = -1;
    enum larder_lease_result lease = larder_lease_take(its->pool, &key, 1000);
    if (lease == LARDER_LEASE_TAKEN && !take(its->pool, key, text, sizeof text, &size)) {
        told = store(its, LARDER_SET, LARDER_AS_MISSED);
    }
    larder_lease_give_back(its->pool, &key);
    return told;
}

static void act(party *its)
{
    const larder_key key = the_key();
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    int64_t counter = 0;
    switch (its->verb) {
    case SET:
        its->told = store(its, LARDER_SET, LARDER_WRITE);
        break;
    case SET_AS_MISSED:
        its->told = store(its, LARDER_SET, LARDER_AS_MISSED);
        break;
    case SET_JUDGED:
    case UPDATE:
        its->told = store(its, LARDER_SET, LARDER_JUDGED);
        break;
    case SET_FILL:
        its->told = store(its, LARDER_SET, LARDER_FILL);
        break;
    case ADD:
    case ADD_EXPECTED:
        its->told = store(its, LARDER_ADD, LARDER_WRITE);
        break;
    case ADD_AS_MISSED:
        its->told = store(its, LARDER_ADD, LARDER_AS_MISSED);
        break;
    case ADD_JUDGED:
        its->told = store(its, LARDER_ADD, LARDER_JUDGED);
        break;
    case ADD_FILL:
        its->told = store(its, LARDER_ADD, LARDER_FILL);
        break;
    case REPLACE:
        its->told = store(its, LARDER_REPLACE, LARDER_WRITE);
        break;
    case REPLACE_JUDGED:
        its->told = store(its, LARDER_REPLACE, LARDER_JUDGED);
        break;
    case SET_EXPECTED:
        its->told = store(its, LARDER_SET, LARDER_WRITE);
        break;
    case DELETE:
        its->told = larder_delete(its->pool, &key);
        break;
    case TOUCH:
        its->told = larder_touch(its->pool, &key, LATER + (its == &first));
        break;
    case COUNT:
        its->told = count(its, true, false);
        break;
    case COUNT_ON:
        its->told = count(its, false, false);
        break;
    case COUNT_AS:
        its->told = count(its, true, true);
        break;
    case TAKE:
        its->told = its->any && larder_take(its->pool, &key, &its->met, &counter);
        its->told = its->told ? 1000 + counter : -1;
        break;
    case COMPUTE:
        its->told = compute(its);
        break;
    case INVALIDATE:
        larder_invalidate(its->pool, tags, 1);
        its->told = 0;
        break;
    case CLEAR:
        larder_clear(its->pool);
        its->told = 0;
        break;
    case VERBS:
        break;
    }
}

static bool is_store(enum verb verb)
{
    return verb <= UPDATE || (verb >= COUNT && verb <= COUNT_AS) || verb == COMPUTE;
}

/* May it count as not called? It was refused, or is a fill, which is told to be stored where a younger item serves as
 * well. */
static bool is_refused(const party *its, int64_t told)
{
    switch (its->verb) {
    case SET_AS_MISSED:
    case SET_FILL:
    case COMPUTE:
        return true;
    case UPDATE:
    case SET_EXPECTED:
        return told == LARDER_ABSENT || told == LARDER_OVERTAKEN || told == LARDER_BUSY;
    case COUNT:
    case COUNT_ON:
    case COUNT_AS:
        return told == -(int64_t)LARDER_NOT_A_COUNTER || told == -(int64_t)LARDER_COUNT_BUSY ||
               told == -(int64_t)LARDER_NO_COUNTER;
    case TAKE:
        return told == -1;
    default:
        return its->verb <= UPDATE && (told == LARDER_OVERTAKEN || told == LARDER_BUSY);
    }
}

/* What is there, in words. */
static void describe(char *to, size_t most)
{
    const larder_key key = the_key();
    larder_hit hit;
    size_t size;
    if (!larder_get_pinned(here, &key, &hit)) {
        snprintf(to, most, "nothing");
        return;
    }
    const void *value = larder_hit_value(here, &hit, &size);
    uint64_t expiry = atomic_load_explicit(&hit.item->expiry, memory_order_relaxed);
    long long until = expiry == LARDER_NO_EXPIRY ? 0 : (long long)(expiry - LATER) + 1;
    if (hit.item->kind == LARDER_COUNTER_KIND) {
        snprintf(to, most, "%lld until %lld", (long long)larder_counter_value(value), until);
    } else {
        snprintf(to, most, "%.*s until %lld", (int)size, (const char *)value, until);
    }
    larder_hit_drop(here, &hit);
}

typedef struct outcome {
    int64_t first, second;
    char there[48];
} outcome;

static void begin(enum before before)
{
    const uint64_t tags[] = {larder_tag_of("a", 1)};
    snprintf(name, sizeof name, "k%llu", (unsigned long long)numbered++);
    const larder_key key = the_key();
    larder_terms terms = {
        .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = before == TAGGED};
    put_text(here, "other",
             "opens a segment, as a clear has sealed the last one"); /* under a lock: no process stops there */
    if (before == COUNTER) {
        int64_t sum;
        const larder_counting how = {.by = 5, .least = INT64_MIN, .creates = true, .expiry = LARDER_NO_EXPIRY};
        larder_count_up(here, &key, &how, &sum);
    } else if (before != NONE) {
        terms.expiry = before == DEAD ? clock_ms - 1 : LARDER_NO_EXPIRY;
        put_under(here, name, "old", &terms);
    }
    larder_pool_leave(here);
    larder_pool_leave(there);
}

static outcome end(void)
{
    outcome result = {.first = first.told, .second = second.told};
    describe(result.there, sizeof result.there);
    delete_key(here, name);
    return result;
}

static void come_between(void)
{
    happened = true;
    if (prepared_late) {
        prepare(&second);
    }
    act(&second);
}

static bool is_same(const outcome *one, const outcome *other)
{
    return one->first == other->first && one->second == other->second && strcmp(one->there, other->there) == 0;
}

static outcome in_turn(enum before before, bool reversed, bool anew)
{
    begin(before);
    prepare(&first);
    if (!prepared_late) {
        prepare(&second);
    }
    if (!reversed) {
        act(&first);
    }
    if (prepared_late) {
        prepare(&second);
    }
    act(&second);
    if (reversed) {
        if (anew) {
            prepare(&first);
        }
        act(&first);
    }
    return end();
}

static outcome alone(enum before before, party *its)
{
    begin(before);
    first.told = second.told = 0;
    prepare(its);
    act(its);
    return end();
}

static outcome meet(enum before before, uint64_t skip)
{
    begin(before);
    prepare(&first);
    if (!prepared_late) {
        prepare(&second);
    }
    happened = false;
    fault_arm(first.verb == CLEAR ? LARDER_AT_CLEAR : 0, skip, come_between);
    act(&first);
    fault_disarm();
    return end();
}

/* What each would do alone, and both in turn. */
typedef struct outcomes {
    outcome forth, back, anew, first, second;
} outcomes;

/* Only keeps what was computed, so that of two that are as old as each other the last stays. */
static bool is_fill(enum verb verb)
{
    return verb == SET_AS_MISSED || verb == SET_FILL || (verb >= ADD_AS_MISSED && verb <= ADD_FILL) || verb == COMPUTE;
}

static bool is_allowed(const outcome *both, const outcomes *in)
{
    if (is_same(both, &in->forth) || is_same(both, &in->back) || is_same(both, &in->anew)) {
        return true;
    }
    bool as_second = both->second == in->second.second && strcmp(both->there, in->second.there) == 0;
    if (is_fill(first.verb) && is_fill(second.verb) && strcmp(both->there, in->first.there) == 0) {
        return true;
    }
    bool as_first = both->first == in->first.first && strcmp(both->there, in->first.there) == 0;
    if ((as_second && is_refused(&first, both->first)) || (as_first && is_refused(&second, both->second))) {
        return true;
    }
    /* An invalidation and a clear tick twice, and kill what was stored between. */
    if (first.verb == INVALIDATE || first.verb == CLEAR) {
        return strcmp(both->there, "nothing") == 0;
    }
    /* What was stored with the later tick stays: ../PROOFS.md, Limits. */
    return as_second && is_store(second.verb) && (is_store(first.verb) || first.verb == DELETE);
}

static void meet_everywhere(enum before before)
{
    const outcomes in = {.forth = in_turn(before, false, false),
                         .back = in_turn(before, true, false),
                         .anew = in_turn(before, true, true),
                         .first = alone(before, &first),
                         .second = alone(before, &second)};
    happened = true;
    for (uint64_t skip = 0; happened; skip++) {
        const outcome both = meet(before, skip);
        if (happened && !CHECK(is_allowed(&both, &in))) {
            printf("    verb %d, at its fault point %llu, meets verb %d, before: %d. Told %lld and %lld, %s\n",
                   (int)first.verb, (unsigned long long)skip, (int)second.verb, (int)before, (long long)both.first,
                   (long long)both.second, both.there);
        }
    }
}

static void meet_all(void)
{
    here = pool_timed(4 * MIB, false);
    there = pool_timed(4 * MIB, false);
    for (int i = 0; i < VERBS * VERBS * BEFORES; i++) {
        first = (party){.pool = here, .verb = (enum verb)(i % VERBS), .text = "first"};
        second = (party){.pool = there, .verb = (enum verb)(i / VERBS % VERBS), .text = "second"};
        meet_everywhere((enum before)(i / VERBS / VERBS));
    }
    CHECK_POOL(here);
    close_two();
    pool_remove("p", NULL);
}

TEST(two_meet, "two operations on a key that meet at any moment do what they do one after the other")
{
    prepared_late = false;
    meet_all();
    prepared_late = true;
    meet_all();
}
