/* Many processes on one pool: who wins, what is counted, what may be read after a delete, and what deaths leave behind.
 * Values describe themselves, so that anything torn, stale or foreign is seen by whoever reads it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/lease.h"
#include "engine/tag.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 8, KEYS = 4000, TAGS = 8, TAGGED = 5 /* every so many keys */ };

/* What the processes know beside the pool. */
typedef struct common {
    gate go;
    _Atomic uint32_t ready;
    _Atomic uint64_t turn, won[200000];
    _Atomic int64_t counted[KEYS];
    _Atomic uint64_t next_version[KEYS];
    _Atomic uint64_t floor[KEYS]; /* no version below may be read any more */
    _Atomic uint64_t reads, hits, conflicts, stores;
    _Atomic bool stop;
    uint64_t seed, rounds;
    larder_pool *pool; /* each child's own after the fork */
} common;

static common *world;

static common *new_world(uint64_t size, bool evict)
{
    larder_pool_config config = pool_config("p", size);
    config.evict = evict;
    world = shared_memory(sizeof *world);
    world->seed = test_seed();
    world->pool = pool_open_as(&config);
    return world;
}

typedef void (*work)(uint64_t number, rng *r);
static work working;

static void begin_work(void *context)
{
    uint64_t number = (uint64_t)(uintptr_t)context;
    rng r = {world->seed + number * 1000003};
    atomic_fetch_add(&world->ready, 1);
    gate_wait(&world->go, 1);
    working(number, &r);
}

static void start_all(pid_t *pids, work what)
{
    working = what;
    for (uintptr_t i = 0; i < PROCESSES; i++) {
        pids[i] = child_start(begin_work, (void *)i);
    }
    while (atomic_load(&world->ready) < PROCESSES) {
        usleep(200);
    }
    gate_open(&world->go, 1);
}

static void run_all(work what)
{
    pid_t pids[PROCESSES];
    start_all(pids, what);
    for (int i = 0; i < PROCESSES; i++) {
        EQUAL(child_wait(pids[i]), 0);
    }
}

/* ---- adding ---------------------------------------------------------------------------------------------- */

/* All at the same key at any time. */
static void add_each(uint64_t number, rng *r)
{
    (void)r;
    for (uint64_t i; (i = atomic_load(&world->turn)) < world->rounds;) {
        described what = {.key = i, .version = number};
        if (put_described(world->pool, key_number(i), &what, 100, LARDER_ADD, LARDER_NO_EXPIRY) == LARDER_OK) {
            atomic_fetch_add(&world->won[i], 1);
        }
        atomic_compare_exchange_strong(&world->turn, &i, i + 1);
    }
}

TEST(one_winner, "of many processes that add a key exactly one wins")
{
    new_world(64 * MIB, true);
    /* So few that they fit even if all processes reserve room for each: else some are evicted, rightly. */
    world->rounds = 40000;
    run_all(add_each);
    for (uint64_t i = 0; i < world->rounds; i++) {
        larder_hit hit;
        described what;
        EQUAL(world->won[i], 1);
        EQUAL(read_described(world->pool, key_number(i), i, &what, &hit), READ_WHOLE);
    }
    CHECK_POOL(world->pool);
    larder_pool_close(world->pool);
}

/* ---- counting -------------------------------------------------------------------------------------------- */

enum { COUNTERS = 200 };

static void count_and_churn(uint64_t number, rng *r)
{
    static char filler[2000];
    for (uint64_t i = 0; i < world->rounds; i++) {
        uint64_t which = rng_below(r, COUNTERS);
        const larder_key counter = key_number(which), other = key_number(1000 + number * 1000 + rng_below(r, 200));
        int64_t by = 1 + (int64_t)rng_below(r, 5), now;
        REQUIRE(larder_increment(world->pool, &counter, by, 0, LARDER_NO_EXPIRY, &now) == LARDER_COUNTED);
        atomic_fetch_add(&world->counted[which], by);
        /* What makes the counters move: segments that are partly dead, in a pool that is nearly full. */
        if (rng_below(r, 2) == 0) {
            put_bytes(world->pool, other, filler, rng_below(r, sizeof filler));
        } else {
            larder_delete(world->pool, &other);
        }
    }
}

TEST(nothing_uncounted, "increments by many processes lose nothing while their counters are being moved")
{
    new_world(4 * MIB, false);
    world->rounds = 15000 * test_scale() + 5000;
    run_all(count_and_churn);
    larder_stats stats;
    larder_stats_read(world->pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >, 10); /* how many depends on how the processes take turns */
    for (uint64_t i = 0; i < COUNTERS; i++) {
        const larder_key key = key_number(i);
        int64_t now;
        EQUAL(larder_increment(world->pool, &key, 0, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
        EQUAL(now, world->counted[i]);
    }
    CHECK_POOL(world->pool);
    larder_pool_close(world->pool);
}

static void count_across(uint64_t number, rng *r)
{
    /* Each crossing is a store, which is refused where too many others keep the segment lock busy for too long. */
    for (uint64_t i = 0; number < 3 && i < world->rounds; i++) {
        const larder_key key = key_of("border");
        int64_t by = (int64_t)rng_below(r, 1001) - 500, now;
        REQUIRE(larder_increment(world->pool, &key, by, 0, LARDER_NO_EXPIRY, &now) == LARDER_COUNTED);
        atomic_fetch_add(&world->counted[0], by);
    }
}

TEST(nothing_lost_at_the_border,
     "increments by many processes lose nothing where a counter becomes a plain int and back")
{
    new_world(4 * MIB, true);
    world->rounds = 15000 * test_scale() + 5000;
    const larder_key key = key_of("border");
    int64_t now;
    EQUAL(larder_increment(world->pool, &key, LARDER_COUNTER_MAX, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
    run_all(count_across);
    EQUAL(larder_increment(world->pool, &key, 0, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
    EQUAL(now - LARDER_COUNTER_MAX, world->counted[0]);
    CHECK_POOL(world->pool);
    larder_pool_close(world->pool);
}

/* ---- anything at once ------------------------------------------------------------------------------------- */

static void raise_floor(uint64_t key, uint64_t version)
{
    larder_raise(&world->floor[key], version);
}

static size_t random_size(rng *r)
{
    uint64_t dice = rng_below(r, 1000);
    return DESCRIBED_LEAST + (dice == 0 ? 500000 : dice < 30 ? rng_below(r, 60000) : rng_below(r, 1500));
}

/* The floor is read first: a delete that had returned by then is binding. */
static void read_one(uint64_t key)
{
    uint64_t least = atomic_load(&world->floor[key]);
    larder_hit hit;
    described what;
    enum reading seen = read_described(world->pool, key_number(key), key, &what, &hit);
    atomic_fetch_add(&world->reads, 1);
    if (seen == READ_TORN) {
        test_failed(__FILE__, __LINE__, "key %llu: torn or foreign", (unsigned long long)key);
    }
    if (seen == READ_WHOLE) {
        atomic_fetch_add(&world->hits, 1);
        if (what.version < least) {
            test_failed(__FILE__, __LINE__, "key %llu: version %llu is read, and those below %llu are no more",
                        (unsigned long long)key, (unsigned long long)what.version, (unsigned long long)least);
        }
    }
}

/* Versions are given out in the middle of the store, after its tick: those given out before a delete began belong to
 * stores that it overtakes. */
static void delete_one(uint64_t key)
{
    uint64_t given = atomic_load(&world->next_version[key]);
    const larder_key k = key_number(key);
    larder_delete(world->pool, &k);
    raise_floor(key, given);
}

static uint64_t tag_of(uint64_t key)
{
    char name[16];
    return larder_tag_of(name, (size_t)snprintf(name, sizeof name, "tag %u", (unsigned)(key / TAGGED % TAGS)));
}

/* As for a delete, of all keys that carry the tag. */
static void invalidate_one(uint64_t number)
{
    uint64_t given[KEYS];
    const uint64_t tag = tag_of(number * TAGGED);
    for (uint64_t key = number * TAGGED; key < KEYS; key += TAGGED * TAGS) {
        given[key] = atomic_load(&world->next_version[key]);
    }
    larder_invalidate(world->pool, &tag, 1);
    for (uint64_t key = number * TAGGED; key < KEYS; key += TAGGED * TAGS) {
        raise_floor(key, given[key]);
    }
}

static void store_one(uint64_t key, rng *r, bool alone)
{
    described what = {.key = key, .versions = &world->next_version[key], .block = rng_below(r, 2) == 0};
    enum larder_mode mode = alone || rng_below(r, 4) != 0 ? LARDER_SET
                            : rng_below(r, 2) == 0        ? LARDER_ADD
                                                          : LARDER_REPLACE;
    const uint64_t tag = tag_of(key);
    const larder_terms terms = {.mode = mode,
                                .expiry = rng_below(r, 8) == 0 ? larder_wall_ms() + rng_below(r, 50) : LARDER_NO_EXPIRY,
                                .tags = &tag,
                                .tags_count = key % TAGGED == 0 ? 1 : 0};
    enum larder_result result = put_described_under(world->pool, key_number(key), &what, random_size(r), &terms);
    atomic_fetch_add(&world->stores, 1);
    atomic_fetch_add(&world->conflicts, result == LARDER_OVERTAKEN);
    if (alone && result != LARDER_OVERTAKEN) {
        /* The only writer of this key: whatever became of the store, what was there before is gone. */
        raise_floor(key, result == LARDER_OK ? what.version : atomic_load(&world->next_version[key]));
    }
}

/* As remember() does. Whoever has the lease computes; the others do something else. */
static void compute_one(uint64_t key, rng *r)
{
    const larder_key k = key_number(key);
    if (larder_lease_take(world->pool, &k, 5) == LARDER_LEASE_TAKEN) {
        store_one(key, r, false);
        larder_lease_give_back(world->pool, &k);
    }
}

static void do_anything(uint64_t number, rng *r, bool clears)
{
    uint64_t key = rng_below(r, rng_below(r, 2) == 0 ? KEYS : 20);
    bool alone = key % 2 == 0; /* even keys have one writer each */
    const larder_key k = key_number(key);
    int64_t now;
    const larder_key counter = key_number(KEYS + rng_below(r, 20));
    switch (rng_below(r, 17)) {
    case 0:
        delete_one(key);
        break;
    case 1:
        larder_touch(world->pool, &k, rng_below(r, 2) == 0 ? LARDER_NO_EXPIRY : larder_wall_ms() + rng_below(r, 100));
        break;
    case 2:
        larder_increment(world->pool, &counter, 1, 0, LARDER_NO_EXPIRY, &now);
        break;
    case 3:
        if (rng_below(r, 6) == 0) {
            larder_pool_leave(world->pool);
        }
        if (clears && rng_below(r, 3000) == 0) {
            uint64_t given[KEYS];
            for (uint64_t i = 0; i < KEYS; i++) {
                given[i] = atomic_load(&world->next_version[i]);
            }
            larder_clear(world->pool);
            for (uint64_t i = 0; i < KEYS; i++) {
                raise_floor(i, given[i]);
            }
        }
        break;
    case 4:
        if (!alone) {
            compute_one(key, r);
        }
        if (rng_below(r, 20) == 0) {
            invalidate_one(rng_below(r, TAGS));
        }
        break;
    case 5:
    case 6:
    case 7:
    case 8:
        if (!alone || (key / 2) % PROCESSES == number) {
            store_one(key, r, alone);
            break;
        } /* else read it */
        __attribute__((fallthrough));
    default:
        read_one(key);
    }
}

static void work_steadily(uint64_t number, rng *r)
{
    for (uint64_t i = 0; i < world->rounds; i++) {
        do_anything(number, r, true);
    }
    larder_pool_leave(world->pool);
}

static void check_all_at_once(uint64_t size, bool evict)
{
    new_world(size, evict);
    world->rounds = 80000 * test_scale() + 3000;
    run_all(work_steadily);
    CHECK_POOL(world->pool);
    COMPARE(world->hits, >, world->reads / 20);
    COMPARE(world->conflicts * 10, <, world->stores);
    larder_stats stats;
    larder_stats_read(world->pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >, 0);
    EQUAL(stats.processes, 1);
    for (uint64_t i = 0; i < KEYS; i++) {
        read_one(i);
    }
    larder_pool_close(world->pool);
    pool_remove("p", &(larder_error){.message = ""});
}

TEST(nothing_stale,
     "many processes that store, delete, touch, count and clear at once read nothing torn, foreign or deleted")
{
    check_all_at_once(4 * MIB, true);
    check_all_at_once(6 * MIB, false);
}

static void work_until_killed(uint64_t number, rng *r)
{
    while (!atomic_load(&world->stop)) {
        do_anything(number, r, false);
    }
    larder_pool_leave(world->pool);
}

static void kill_in_rounds(uint64_t rounds, int signal_number)
{
    rng r = {world->seed};
    for (uint64_t round = 0; round < rounds; round++) {
        pid_t pids[PROCESSES];
        bool dead[PROCESSES] = {false};
        world->seed = rng_next(&r);
        atomic_store(&world->stop, false);
        atomic_store(&world->ready, 0);
        atomic_store(&world->go.number, 0);
        start_all(pids, work_until_killed);
        for (int kills = 0; kills < PROCESSES - 2; kills++) {
            usleep((useconds_t)rng_below(&r, 6000));
            kill(pids[kills], signal_number);
            dead[kills] = true;
        }
        usleep((useconds_t)rng_below(&r, 15000));
        if (signal_number == SIGSTOP) {
            for (int i = 0; i < PROCESSES - 2; i++) {
                kill(pids[i], SIGCONT);
            }
        }
        atomic_store(&world->stop, true);
        for (int i = 0; i < PROCESSES; i++) {
            EQUAL(child_wait(pids[i]), dead[i] && signal_number == SIGKILL ? 256 + SIGKILL : 0);
        }
        if (!CHECK_POOL_AFTER_DEATHS(world->pool)) {
            return;
        }
        for (uint64_t i = 0; i < KEYS; i++) {
            read_one(i);
        }
        larder_pool_leave(world->pool);
    }
}

TEST(killed_writers,
     "writers killed at any instruction leave a sound pool, in which the others go on, and nothing torn")
{
    new_world(4 * MIB, true);
    kill_in_rounds(100 * test_scale() + 10, SIGKILL);
    larder_stats stats;
    larder_stats_read(world->pool, &stats);
    EQUAL(stats.processes, 1);
    for (uint64_t i = 0; i < 5000; i++) { /* all of its memory is there */
        described what = {.key = i};
        EQUAL(put_described(world->pool, key_number(i), &what, 2000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    }
    larder_stats_read(world->pool, &stats);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
    COMPARE(stats.bytes, >=, stats.capacity / 100 * 85);
    larder_pool_close(world->pool);
}

TEST(killed_without_eviction,
     "writers killed at any instruction cost a pool that does not evict no more than what they were writing")
{
    new_world(12 * MIB, false);
    kill_in_rounds(50 * test_scale() + 10, SIGKILL);
    for (uint64_t i = 0; i < KEYS + 20; i++) {
        const larder_key key = key_number(i);
        larder_delete(world->pool, &key);
    }
    uint64_t stored = 0;
    for (uint64_t i = 0; i < 8000; i++) {
        described what = {.key = i};
        stored += put_described(world->pool, key_number(i), &what, 2000, LARDER_SET, LARDER_NO_EXPIRY) == LARDER_OK;
    }
    COMPARE(stored * 2000, >=,
            (uint64_t)world->pool->geometry.segment_count * larder_segment_bytes(world->pool) / 100 * 85);
    larder_pool_close(world->pool);
}

TEST(stopped_writers, "writers stopped at any instruction and woken later undo nothing that was done meanwhile")
{
    new_world(4 * MIB, true);
    kill_in_rounds(50 * test_scale() + 3, SIGSTOP);
    CHECK_POOL(world->pool);
    larder_pool_close(world->pool);
}
