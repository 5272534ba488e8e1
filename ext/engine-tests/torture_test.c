/* Many processes that do anything to one pool at once, and what deaths and stops of theirs leave behind. Values
 * describe themselves, so that anything torn, stale or foreign is seen by its reader.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "crowd.h"
#include "judged.h"

#include "engine/evict.h"
#include "engine/larder.h"
#include "engine/lease.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <sched.h>

enum { KEYS = 4000, TAGS = 8, TAGGED = 5 /* every so many keys */ };

/* What the processes know beside the pool. */
static struct world {
    _Atomic uint64_t next_version[KEYS];
    _Atomic uint64_t floor[KEYS]; /* no version below may be read any more */
    _Atomic uint64_t reads, hits, conflicts, stores;
    uint64_t clears; /* once in so many times that it could; 0: never */
} * world;

static void open_for(uint64_t size, bool evict)
{
    crowd_open(size, evict);
    world = shared_memory(sizeof *world);
    judged_begin();
}

/* ---- what they do -------------------------------------------------------------------------------------------- */

static void raise_floor(uint64_t key, uint64_t version)
{
    larder_raise(&world->floor[key], version);
}

static size_t random_size(rng *r)
{
    uint64_t dice = rng_below(r, 1000);
    return DESCRIBED_LEAST + (dice == 0   ? 300000 + rng_below(r, 500000) /* up to 13 segments in a run */
                              : dice < 30 ? rng_below(r, 60000)
                                          : rng_below(r, 1500));
}

/* The floor is read first: a delete that had returned by then is binding. */
static void read_one(uint64_t key)
{
    uint64_t least = atomic_load(&world->floor[key]);
    larder_hit hit;
    described what;
    enum reading seen = read_described(all->pool, key_number(key), key, &what, &hit);
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
    larder_delete(all->pool, &k);
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
    larder_invalidate(all->pool, &tag, 1);
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
    enum larder_result result = put_described_under(all->pool, key_number(key), &what, random_size(r), &terms);
    atomic_fetch_add(&world->stores, 1);
    atomic_fetch_add(&world->conflicts, result == LARDER_OVERTAKEN);
    if (alone && result != LARDER_OVERTAKEN && !was_undone(all->pool, result)) {
        /* The only writer of this key: unless the store was undone, what was there before is gone. */
        raise_floor(key, result == LARDER_OK ? what.version : atomic_load(&world->next_version[key]));
    }
}

/* fill(), or a write with a token. Its version is given out after the token: those given out before a delete began
 * belong to what was computed before, too. */
static void store_with_token(uint64_t key, rng *r)
{
    if (!larder_pool_enter(all->pool)) {
        return;
    }
    const uint64_t tag = tag_of(key);
    const larder_terms terms = {.verb = rng_below(r, 2) == 0 ? LARDER_FILL : LARDER_JUDGED,
                                .token = larder_now_logical(all->pool->header),
                                .attachment = all->pool->attached.number,
                                .expiry = LARDER_NO_EXPIRY,
                                .tags = &tag,
                                .tags_count = key % TAGGED == 0 ? 1 : 0};
    described what = {
        .key = key, .version = atomic_fetch_add(&world->next_version[key], 1), .block = rng_below(r, 2) == 0};
    if (rng_below(r, 8) == 0) {
        sched_yield(); /* it is being computed */
    }
    put_described_under(all->pool, key_number(key), &what, random_size(r), &terms);
}

/* As remember() does. The holder of the lease computes; the others wait for a moment, and then do something else. */
static void compute_one(uint64_t key, rng *r)
{
    const larder_key k = key_number(key);
    switch (larder_lease_take(all->pool, &k, 5)) {
    case LARDER_LEASE_TAKEN:
        store_with_token(key, r);
        larder_lease_give_back(all->pool, &k);
        break;
    case LARDER_LEASE_HELD:
        larder_lease_wait(all->pool, &k, 1);
        break;
    case LARDER_LEASE_OURS:
    case LARDER_LEASE_NOWHERE:
        break;
    }
}

static void clear_all(void)
{
    uint64_t given[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) {
        given[i] = atomic_load(&world->next_version[i]);
    }
    larder_clear(all->pool);
    for (uint64_t i = 0; i < KEYS; i++) {
        raise_floor(i, given[i]);
    }
}

static bool see_key(void *context, const char *key, size_t length)
{
    char number[32] = "";
    snprintf(number, sizeof number, "%.*s", (int)(length < 31 ? length : 31), key);
    if (strncmp(number, "key-", 4) != 0 || strtoull(number + 4, NULL, 10) >= KEYS) {
        test_failed(__FILE__, __LINE__, "%s is listed among the keys", number);
    }
    return --*(unsigned *)context > 0;
}

/* All that neither reads a value nor changes one. */
static void look_around(const larder_key *key, rng *r)
{
    unsigned most = 200;
    larder_hit hit;
    larder_stats stats;
    larder_exists(all->pool, key);
    if (larder_get_stale(all->pool, key, 1000, &hit, &(larder_serving){.stale = false})) {
        larder_hit_drop(all->pool, &hit);
    }
    if (rng_below(r, 20) == 0) {
        larder_each_key(all->pool, "key-", 4, see_key, &most);
        larder_stats_read(all->pool, &stats);
        larder_pool_begin_another(all->pool);
        larder_keep_house(all->pool, 100);
    }
}

static void do_anything(uint64_t number, rng *r)
{
    uint64_t key = rng_below(r, rng_below(r, 2) == 0 ? KEYS : 20);
    bool alone = key % 2 == 0; /* even keys have one writer each */
    const larder_key k = key_number(key);
    switch (rng_below(r, 19)) {
    case 0:
        delete_one(key);
        break;
    case 1:
        larder_touch(all->pool, &k, rng_below(r, 2) == 0 ? LARDER_NO_EXPIRY : larder_wall_ms() + rng_below(r, 100));
        judged_touch(all->pool, r, number);
        break;
    case 2:
        judged_count(all->pool, r);
        break;
    case 3:
        if (rng_below(r, 6) == 0) {
            larder_pool_leave(all->pool);
        }
        if (world->clears != 0 && rng_below(r, world->clears) == 0) {
            clear_all();
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
    case 9:
        look_around(&k, r);
        break;
    case 10:
        if (!alone) {
            store_with_token(key, r);
            break;
        }
        __attribute__((fallthrough));
    case 5:
    case 6:
    case 7:
    case 8:
        if (!alone || (key / 2) % CROWD == number) {
            store_one(key, r, alone);
            break;
        } /* else read it */
        __attribute__((fallthrough));
    default:
        read_one(key);
    }
}

/* Some are slow at every point, so that others come in between. */
static void work_steadily(uint64_t number, rng *r)
{
    bool slow = number < 3;
    if (slow) {
        fault_jitter(rng_next(r));
    }
    for (uint64_t i = 0; i < (slow ? all->rounds / 10 : all->rounds); i++) {
        do_anything(number, r);
    }
    larder_pool_leave(all->pool);
}

static void check_all_at_once(uint64_t size, bool evict)
{
    open_for(size, evict);
    all->rounds = 80000 * test_scale() + 3000;
    world->clears = evict ? 3000 : 0;
    judged_begin_round(all->pool, !evict);
    crowd_run(work_steadily);
    judged_end_round(all->pool);
    CHECK_POOL(all->pool);
    COMPARE(world->hits, >, world->reads / 20);
    COMPARE(world->conflicts * 10, <, world->stores);
    larder_stats stats;
    larder_stats_read(all->pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >, 0);
    EQUAL(stats.processes, 1);
    for (uint64_t i = 0; i < KEYS; i++) {
        read_one(i);
    }
    crowd_close();
    pool_remove("p", &(larder_error){.message = ""});
}

TEST(nothing_stale, "many processes that store, delete, touch, count and clear at once read nothing torn, foreign or "
                    "deleted, and lose no count or touch")
{
    check_all_at_once(4 * MIB, true);
    check_all_at_once(6 * MIB, false);
}

static void work_until_killed(uint64_t number, rng *r)
{
    while (!atomic_load(&all->stop)) {
        do_anything(number, r);
    }
    larder_pool_leave(all->pool);
}

/* Every other round is one without a clear. */
static void begin_round(uint64_t round)
{
    world->clears = round % 2 == 0 ? 300 : 0;
    judged_begin_round(all->pool, round % 2 != 0 && !all->pool->config.evict);
}

static bool look_at_all(uint64_t round)
{
    judged_end_round(all->pool);
    if (!CHECK_POOL_AFTER_DEATHS(all->pool)) {
        return false;
    }
    for (uint64_t i = 0; i < KEYS; i++) {
        read_one(i);
    }
    begin_round(round + 1);
    larder_pool_leave(all->pool);
    return test_failures() == 0;
}

static void meet_in_rounds(enum fate fate, uint64_t rounds)
{
    judged_may_die();
    begin_round(0);
    larder_pool_leave(all->pool);
    crowd_meets(fate, rounds, work_until_killed, look_at_all);
}

TEST(killed_writers,
     "writers killed at any instruction leave a sound pool, in which the others go on, and nothing torn")
{
    open_for(4 * MIB, true);
    meet_in_rounds(KILLED, 100 * test_scale() + 10);
    larder_stats stats;
    larder_stats_read(all->pool, &stats);
    EQUAL(stats.processes, 1);
    for (uint64_t i = 0; i < 5000; i++) { /* all of its memory is there */
        described what = {.key = i};
        EQUAL(put_described(all->pool, key_number(i), &what, 2000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    }
    larder_stats_read(all->pool, &stats);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
    COMPARE(stats.bytes, >=, stats.capacity / 100 * 85);
    crowd_close();
}

TEST(killed_without_eviction,
     "writers killed at any instruction cost a pool that does not evict no more than what they were writing")
{
    open_for(12 * MIB, false);
    meet_in_rounds(KILLED, 50 * test_scale() + 10);
    for (uint64_t i = 0; i < KEYS; i++) {
        const larder_key key = key_number(i);
        larder_delete(all->pool, &key);
    }
    uint64_t stored = 0;
    for (uint64_t i = 0; i < 8000; i++) {
        described what = {.key = i};
        stored += put_described(all->pool, key_number(i), &what, 2000, LARDER_SET, LARDER_NO_EXPIRY) == LARDER_OK;
    }
    COMPARE(stored * 2000, >=,
            (uint64_t)all->pool->geometry.segment_count * larder_segment_bytes(all->pool) / 100 * 85);
    crowd_close();
}

TEST(stopped_writers, "writers stopped at any instruction and woken later undo nothing that was done meanwhile")
{
    open_for(4 * MIB, true);
    meet_in_rounds(STOPPED, 50 * test_scale() + 3);
    CHECK_POOL(all->pool);
    crowd_close();
}

TEST(killed_and_stopped,
     "writers killed beside others that are stopped and woken later leave a sound pool all the same")
{
    open_for(4 * MIB, true);
    meet_in_rounds(EITHER, 20 * test_scale() + 3);
    crowd_close();
}
