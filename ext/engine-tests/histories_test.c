/* Random histories: processes that are slow at every point, and stopped and woken at any instruction, do everything at
 * once to a few keys, and what they read is judged by the rule of staleness (history.h).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"
#include "history.h"

#include "engine/lease.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PROCESSES = 4,
    EVENTS = 12000 /* of a process in a round */,
    FILLERS = 50,
    LONGEST = 3 /* events in one step */
};

typedef struct log {
    size_t count;
    history_event event[EVENTS];
} log;

typedef struct common {
    gate go;
    _Atomic uint64_t moment;
    uint64_t seed;
    larder_pool *pool; /* each child's own after the fork */
    log logs[PROCESSES];
} common;

static common *world;

/* One of the processes. */
typedef struct worker {
    uint64_t number, requests, versions;
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
    return (history_event){.kind = kind, .key = (uint32_t)key, .request = w->number << 32 | w->requests};
}

static void record(worker *w, const history_event *e)
{
    if (w->log->count < EVENTS) {
        w->log->event[w->log->count++] = *e;
    }
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
    history_event e = event_of(w, HISTORY_READ, key);
    larder_hit hit;
    described what;
    e.begun = moment();
    enum reading seen = read_described(world->pool, key_number(key), key, &what, &hit);
    e.done = moment();
    if (seen == READ_TORN) {
        test_failed(__FILE__, __LINE__, "key %llu: torn or foreign", (unsigned long long)key);
        return true;
    }
    e.version = seen == READ_WHOLE ? what.version : 0;
    if (seen == READ_NOTHING && w->missed[key].since == 0) {
        w->missed[key].since = e.begun;
        w->missed[key].latest = e.done;
    }
    record(w, &e);
    return seen == READ_WHOLE;
}

static size_t random_size(rng *r)
{
    return DESCRIBED_LEAST + (rng_below(r, 20) == 0 ? rng_below(r, 60000) : rng_below(r, 1500));
}

/* `e` says what it claims to be, and since when it was computed if the caller took a token. */
static void store(worker *w, history_event *e, larder_terms *terms)
{
    uint64_t tags[HISTORY_TAGS];
    terms->tags = tags;
    terms->expiry = LARDER_NO_EXPIRY;
    for (unsigned tag = 0; tag < HISTORY_TAGS; tag++) {
        if (rng_below(&w->r, 3) == 0) {
            char name = (char)('a' + tag);
            tags[terms->tags_count++] = larder_tag_of(&name, 1);
            e->tags |= 1u << tag;
        }
    }
    e->version = (w->number + 1) << 40 | ++w->versions;
    described what = {
        .key = e->key, .version = e->version, .moments = &world->moment, .block = rng_below(&w->r, 2) == 0};
    e->begun = moment();
    enum larder_result result = put_described_under(world->pool, key_number(e->key), &what, random_size(&w->r), terms);
    e->done = moment();
    e->result = result == LARDER_OK ? HISTORY_DONE : result == LARDER_EXISTS ? HISTORY_EXISTS : HISTORY_REFUSED;
    if (e->latest == 0) { /* its computation is its own tick */
        e->since = e->begun;
        e->latest = what.written != 0 ? what.written : e->done;
    }
    w->missed[e->key].since = 0;
    record(w, e);
}

/* set() and add(): fills, if the request has missed the key. */
static void store_plainly(worker *w, uint64_t key, bool adds)
{
    history_event e = event_of(w, HISTORY_STORE, key);
    bool missed = w->missed[key].since != 0;
    e.verb = adds ? HISTORY_ADD : missed ? HISTORY_MISSED : HISTORY_WRITE;
    if (missed) {
        e.since = w->missed[key].since;
        e.latest = w->missed[key].latest;
    }
    store(w, &e, &(larder_terms){.mode = adds ? LARDER_ADD : LARDER_SET, .verb = LARDER_AS_MISSED});
}

/* With a token of its own: fill(), and set() of what was read, changed and is written back. */
static void store_with_token(worker *w, uint64_t key, bool judged)
{
    history_event e = event_of(w, HISTORY_STORE, key);
    e.verb = judged ? HISTORY_JUDGED : HISTORY_FILL;
    e.since = moment();
    const larder_terms taken = {.verb = judged ? LARDER_JUDGED : LARDER_FILL,
                                .token = larder_now_logical(world->pool->header),
                                .life = world->pool->life};
    e.latest = moment();
    do_something_else(w);
    e.request = event_of(w, HISTORY_STORE, key).request; /* what an earlier one did counts as others' doing */
    larder_terms terms = taken;
    store(w, &e, &terms);
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
    history_event e = event_of(w, HISTORY_DELETE, number);
    const larder_key key = key_number(number);
    e.begun = moment();
    larder_delete(world->pool, &key);
    e.done = moment();
    w->missed[number].since = 0;
    record(w, &e);
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
    e.begun = moment();
    larder_invalidate(world->pool, tags, count);
    e.done = moment();
    record(w, &e);
}

static void clear(worker *w)
{
    history_event e = event_of(w, HISTORY_CLEAR, 0);
    e.begun = moment();
    larder_clear(world->pool);
    e.done = moment();
    record(w, &e);
}

/* What leaves segments that are partly dead, and so are compacted, or, in a pool that evicts, emptied. */
static void churn(worker *w)
{
    static const char filler[60000];
    size_t most = world->pool->geometry.evict != 0 ? sizeof filler : 16000;
    for (int i = 0; i < 4; i++) {
        const larder_key other = key_number(1000 + w->number * 1000 + rng_below(&w->r, FILLERS));
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

static void work(void *context)
{
    uint64_t number = (uint64_t)(uintptr_t)context;
    worker w = {.number = number, .r = {world->seed + number * 1000003}, .log = &world->logs[number]};
    gate_wait(&world->go, 1);
    fault_jitter(rng_next(&w.r));
    while (w.log->count + LONGEST * 2 < EVENTS && test_failures() == 0) {
        do_something(&w);
        pass_time(&w);
    }
    fault_disarm();
    larder_pool_leave(world->pool);
}

static void judge_round(bool evicts)
{
    static history_event all[PROCESSES * EVENTS];
    char verdict[1024];
    size_t count = 0;
    for (int i = 0; i < PROCESSES; i++) {
        memcpy(all + count, world->logs[i].event, world->logs[i].count * sizeof *all);
        count += world->logs[i].count;
    }
    if (!history_judge(all, count, evicts, verdict, sizeof verdict)) {
        test_failed(__FILE__, __LINE__, "seed %llu: %s", (unsigned long long)world->seed, verdict);
    }
}

static bool is_running(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    REQUIRE(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    return info.si_pid == 0;
}

/* One after the other is stopped wherever it is, and woken after a while in which the others mostly do something, at
 * times more than the 10 ms for which they wait for the segment lock. Until one of them has ended: the rest is theirs.
 */
static void stop_and_wake(const pid_t *pids)
{
    rng r = {world->seed};
    for (pid_t pid = pids[0]; is_running(pid); pid = pids[rng_below(&r, PROCESSES)]) {
        REQUIRE(kill(pid, SIGSTOP) == 0);
        usleep((useconds_t)rng_below(&r, rng_below(&r, 20) == 0 ? 20000 : 2000));
        REQUIRE(kill(pid, SIGCONT) == 0);
        usleep((useconds_t)rng_below(&r, 3000));
    }
}

static void play(uint64_t rounds, bool evicts)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = evicts;
    world = shared_memory(sizeof *world);
    for (uint64_t round = 0; round < rounds && test_failures() == 0; round++) {
        pid_t pids[PROCESSES];
        memset(world, 0, sizeof *world);
        world->seed = test_seed() + round;
        world->pool = pool_open_as(&config);
        for (uintptr_t i = 0; i < PROCESSES; i++) {
            pids[i] = child_start(work, (void *)i);
        }
        gate_open(&world->go, 1);
        stop_and_wake(pids);
        for (int i = 0; i < PROCESSES; i++) {
            EQUAL(child_wait(pids[i]), 0);
        }
        judge_round(evicts);
        CHECK_POOL(world->pool);
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
    play(test_scale(), false);
}

TEST(histories_while_evicting, "no history breaks it in a pool that evicts meanwhile, either")
{
    play(test_scale(), true);
}
