/* Random histories: processes that are slow at every point, and stopped and woken, or killed, at any instruction, do
 * everything at once to a few keys, and what they read is judged by the rule of staleness (history.h).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"
#include "history.h"
#include "relay.h"

#include "engine/larder.h"
#include "engine/lease.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

enum {
    EVENTS = 12000 /* of a process in a round */,
    FILLERS = 50,
    LONGEST = 3 /* events in one step */
};

/* What one process did, and those that took its place when it was killed. Outlives them. */
typedef struct log {
    _Atomic size_t count;
    history_event event[EVENTS];
} log;

typedef struct common {
    _Atomic uint64_t moment;
    uint64_t seed;
    bool deaths;
    larder_pool *pool; /* each child's own after the fork */
    log logs[RELAY_PLACES];
} common;

static common *world;

/* One of the processes. */
typedef struct worker {
    uint64_t incarnation, requests, versions;
    rng r;
    log *log;
    struct {
        uint64_t since, latest; /* of its miss in this request; 0: none */
    } missed[HISTORY_KEYS];
    unsigned depth;
} worker;

static uint64_t moment(void)
{
    return atomic_fetch_add(&world->moment, 1) + 1;
}

static history_event event_of(const worker *w, enum history_kind kind, uint64_t key)
{
    return (history_event){.kind = kind, .key = (uint32_t)key, .request = w->incarnation << 32 | w->requests};
}

/* Written down before it begins, for its process may not live to tell of it. */
static history_event *begin(worker *w, history_event e)
{
    size_t count = atomic_load(&w->log->count);
    REQUIRE(count < EVENTS);
    history_event *at = &w->log->event[count];
    e.begun = moment();
    e.done = HISTORY_NEVER;
    e.result = HISTORY_UNKNOWN;
    e.since = e.since == 0 ? e.begun : e.since;
    *at = e;
    /* release: a reader of the log after our death finds it whole; and so below. */
    atomic_store_explicit(&w->log->count, count + 1, memory_order_release);
    return at;
}

static void end(history_event *e, enum history_result result)
{
    e->result = result;
    __atomic_store_n(&e->done, moment(), __ATOMIC_RELEASE);
}

/* Where an application would compute something, or is not given a processor. */
static void pass_time(worker *w)
{
    switch (rng_below(&w->r, 8)) {
    case 0:
        usleep((useconds_t)rng_below(&w->r, 300));
        break;
    case 1:
    case 2:
        sched_yield();
        break;
    default:
        break;
    }
}

static void do_something(worker *w);

static void do_something_else(worker *w)
{
    pass_time(w);
    if (w->depth == 0 && rng_below(&w->r, 3) == 0) {
        w->depth++;
        do_something(w);
        w->depth--;
    }
}

static bool look_up(worker *w, uint64_t key)
{
    history_event *e = begin(w, event_of(w, HISTORY_READ, key));
    larder_hit hit;
    described what;
    enum reading seen = read_described(world->pool, key_number(key), key, &what, &hit);
    if (seen == READ_TORN) {
        test_failed(__FILE__, __LINE__, "key %llu: torn or foreign", (unsigned long long)key);
        return true;
    }
    e->version = seen == READ_WHOLE ? what.version : 0;
    end(e, HISTORY_DONE);
    if (seen == READ_NOTHING && w->missed[key].since == 0) {
        w->missed[key].since = e->begun;
        w->missed[key].latest = e->done;
    }
    if (seen == READ_WHOLE) {
        const larder_key read = key_number(key);
        larder_was_read(world->pool, &read);
        w->missed[key].since = 0;
    }
    return seen == READ_WHOLE;
}

static size_t random_size(rng *r)
{
    return DESCRIBED_LEAST + (rng_below(r, 20) == 0 ? rng_below(r, 60000) : rng_below(r, 1500));
}

static enum history_result result_of(enum larder_result result, const larder_terms *terms)
{
    bool was_overtaken = result == LARDER_OVERTAKEN && terms->verb == LARDER_JUDGED;
    if (was_overtaken || was_undone(world->pool, result)) {
        return HISTORY_UNDONE;
    }
    return result == LARDER_OK ? HISTORY_DONE : result == LARDER_EXISTS ? HISTORY_EXISTS : HISTORY_REFUSED;
}

/* `claim` says what it claims to be, and since when it was computed if the caller took a token. */
static void store(worker *w, history_event claim, larder_terms *terms)
{
    uint64_t tags[HISTORY_TAGS];
    terms->tags = tags;
    terms->expiry = LARDER_NO_EXPIRY;
    for (unsigned tag = 0; tag < HISTORY_TAGS; tag++) {
        if (rng_below(&w->r, 3) == 0) {
            char name = (char)('a' + tag);
            tags[terms->tags_count++] = larder_tag_of(&name, 1);
            claim.tags |= 1u << tag;
        }
    }
    claim.version = (w->incarnation + 1) << 40 | ++w->versions;
    described what = {
        .key = claim.key, .version = claim.version, .moments = &world->moment, .block = rng_below(&w->r, 2) == 0};
    size_t size = random_size(&w->r);
    history_event *e = begin(w, claim);
    enum larder_result result = put_described_under(world->pool, key_number(e->key), &what, size, terms);
    e->latest = e->latest == 0 ? what.written : e->latest; /* its computation is its own tick */
    end(e, result_of(result, terms));
    w->missed[e->key].since = 0;
}

/* set() and add(): fills, if the request has missed the key. */
static void store_plainly(worker *w, uint64_t key, bool adds)
{
    history_event e = event_of(w, HISTORY_STORE, key);
    bool missed = w->missed[key].since != 0;
    e.verb = adds ? HISTORY_ADD : missed ? HISTORY_FILL : HISTORY_WRITE;
    if (missed) {
        e.since = w->missed[key].since;
        e.latest = w->missed[key].latest;
    }
    store(w, e, &(larder_terms){.mode = adds ? LARDER_ADD : LARDER_SET, .verb = LARDER_AS_MISSED});
}

/* With a token of its own: fill(), and set() of what was read, changed and is written back. */
static void store_with_token(worker *w, uint64_t key, bool judged)
{
    history_event e = event_of(w, HISTORY_STORE, key);
    e.verb = judged ? HISTORY_JUDGED : HISTORY_FILL;
    e.since = moment();
    const larder_terms taken = {.verb = judged ? LARDER_JUDGED : LARDER_FILL,
                                .token = larder_now_logical(world->pool->header),
                                .attachment = world->pool->attached.number};
    e.latest = moment();
    do_something_else(w);
    e.request = event_of(w, HISTORY_STORE, key).request; /* what an earlier one did counts as others' doing */
    larder_terms terms = taken;
    store(w, e, &terms);
}

/* As remember() in ext/remember.c. */
static void remember(worker *w, uint64_t number)
{
    const larder_key key = key_number(number);
    if (look_up(w, number)) {
        return;
    }
    enum larder_lease_result lease = larder_lease_take(world->pool, &key, 20);
    if (lease == LARDER_LEASE_HELD) {
        larder_lease_wait(world->pool, &key, 5);
    }
    if (!look_up(w, number)) {
        store_with_token(w, number, false);
    }
    if (lease == LARDER_LEASE_TAKEN) {
        larder_lease_give_back(world->pool, &key);
    }
}

static void remove_one(worker *w, uint64_t number)
{
    const larder_key key = key_number(number);
    history_event *e = begin(w, event_of(w, HISTORY_DELETE, number));
    larder_delete(world->pool, &key);
    end(e, HISTORY_DONE);
    w->missed[number].since = 0;
}

static void invalidate(worker *w)
{
    history_event e = event_of(w, HISTORY_INVALIDATE, 0);
    uint64_t tags[2], count = 1 + rng_below(&w->r, 2);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t tag = rng_below(&w->r, HISTORY_TAGS);
        char name = (char)('a' + tag);
        tags[i] = larder_tag_of(&name, 1);
        e.tags |= 1u << tag;
    }
    history_event *begun = begin(w, e);
    larder_invalidate(world->pool, tags, count);
    end(begun, HISTORY_DONE);
}

static void clear(worker *w)
{
    history_event *e = begin(w, event_of(w, HISTORY_CLEAR, 0));
    larder_clear(world->pool);
    end(e, HISTORY_DONE);
}

/* What leaves segments that are partly dead, and so are compacted, or, in a pool that evicts, emptied. */
static void churn(worker *w)
{
    static const char filler[60000];
    size_t most = world->pool->geometry.evict != 0 ? sizeof filler : 16000;
    for (int i = 0; i < 4; i++) {
        const larder_key other = key_number(1000 + w->incarnation % RELAY_PLACES * 1000 + rng_below(&w->r, FILLERS));
        if (rng_below(&w->r, 3) == 0) {
            larder_delete(world->pool, &other);
        } else {
            put_bytes(world->pool, other, filler, rng_below(&w->r, most));
        }
    }
}

static void begin_request(worker *w, void (*how)(larder_pool *pool))
{
    how(world->pool);
    w->requests++;
    memset(w->missed, 0, sizeof w->missed);
}

static void do_something(worker *w)
{
    uint64_t key = rng_below(&w->r, HISTORY_KEYS), dice = rng_below(&w->r, 100);
    if (dice < 40) {
        look_up(w, key);
    } else if (dice < 54) {
        store_plainly(w, key, dice >= 50);
    } else if (dice < 68) {
        store_with_token(w, key, dice < 60);
    } else if (dice < 74) {
        remember(w, key);
    } else if (dice < 78) {
        remove_one(w, key);
    } else if (dice < 82) {
        invalidate(w);
    } else if (dice == 82 && rng_below(&w->r, 4) == 0) {
        clear(w);
    } else if (dice < 90) {
        begin_request(w, dice < 86 ? larder_pool_leave : larder_pool_begin_another);
    } else {
        churn(w);
    }
}

/* Some die at the next of some points, most anywhere. */
static void live(uint64_t place, uint64_t incarnation)
{
    worker w = {.incarnation = incarnation, .r = {world->seed + incarnation * 1000003}, .log = &world->logs[place]};
    fault_jitter(rng_next(&w.r));
    if (world->deaths) {
        bool anywhere = incarnation < RELAY_PLACES || rng_below(&w.r, 4) != 0;
        unsigned point = anywhere ? 0 : (unsigned)(1 + rng_below(&w.r, LARDER_WORKING_POINTS - 1));
        fault_arm(point, rng_below(&w.r, anywhere ? 20000 : 10), fault_die);
    }
    while (atomic_load(&w.log->count) + LONGEST * 2 < EVENTS && test_failures() == 0) {
        do_something(&w);
        pass_time(&w);
    }
    fault_disarm();
    larder_pool_leave(world->pool);
}

static void judge_round(bool evicts)
{
    static history_event all[RELAY_PLACES * EVENTS];
    char verdict[1024];
    size_t count = 0;
    for (unsigned i = 0; i < RELAY_PLACES; i++) {
        memcpy(all + count, world->logs[i].event, world->logs[i].count * sizeof *all);
        count += world->logs[i].count;
    }
    if (!history_judge(all, count, evicts, verdict, sizeof verdict)) {
        test_failed(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)world->seed, verdict);
    }
}

/* What it was in the middle of has been done by now, or never will be. */
static void note_death(uint64_t place)
{
    log *l = &world->logs[place];
    size_t count = atomic_load(&l->count);
    if (count > 0 && l->event[count - 1].done == HISTORY_NEVER) {
        l->event[count - 1].dead = moment();
    }
}

static void play(uint64_t rounds, bool evicts, bool deaths)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = evicts;
    world = shared_memory(sizeof *world);
    for (uint64_t round = 0; round < rounds && test_failures() == 0; round++) {
        memset(world, 0, sizeof *world);
        world->seed = test_seed() + round;
        world->deaths = deaths;
        world->pool = pool_open_as(&config);
        relay all = {.deaths = deaths, .r = {world->seed}, .live = live, .has_died = note_death};
        uint64_t begun = relay_run(&all);
        judge_round(evicts);
        if (deaths) {
            CHECK_POOL_AFTER_DEATHS(world->pool);
            COMPARE(begun, >, RELAY_PLACES);
        } else {
            CHECK_POOL(world->pool);
        }
        larder_stats stats;
        larder_stats_read(world->pool, &stats);
        COMPARE(stats.counters[LARDER_HITS], >, EVENTS / 4);
        COMPARE(stats.counters[LARDER_CONFLICTS], >, EVENTS / 200);
        larder_pool_close(world->pool);
        pool_remove("p", &(larder_error){.message = ""});
    }
}

TEST(histories, "no history of reads, fills, writes, deletes, invalidations and clears breaks the rule of staleness")
{
    play(test_scale(), false, false);
}

TEST(histories_while_evicting, "no history breaks it in a pool that evicts meanwhile, either")
{
    play(test_scale(), true, false);
}

TEST(histories_with_deaths, "no history breaks it in which processes are killed in the middle of anything")
{
    play(test_scale(), false, true);
}

TEST(histories_with_deaths_while_evicting, "nor does one with such deaths in a pool that evicts")
{
    play(test_scale(), true, true);
}
