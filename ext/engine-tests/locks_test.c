/* A key as a lock: of all who add it one wins, and owns it until it deletes it. The processes give way at random points
 * of every protocol, and some of the keys that they store and delete besides share the locks' group of deletions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

enum { PROCESSES = 6, LOCKS = 2, NEIGHBOURS = 32, STRANGERS = 30 };

typedef struct contest {
    gate go;
    _Atomic uint32_t owner[LOCKS]; /* number + 1 of the process that owns it; 0: no process */
    _Atomic uint64_t won;
    uint64_t rounds, other[NEIGHBOURS + STRANGERS];
    larder_pool *pool;
} contest;

static contest *common;

static void own(uint32_t self, uint64_t lock, rng *r)
{
    const larder_key key = key_number(lock);
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&common->owner[lock], &nobody, self)) {
        test_failed(__FILE__, __LINE__, "%u added lock %u, which %u owns", self, (unsigned)lock, nobody);
    }
    atomic_fetch_add(&common->won, 1);
    if (rng_below(r, 4) == 0) {
        char found[8];
        size_t size;
        CHECK(take(common->pool, key, found, sizeof found, &size));
    }
    atomic_store(&common->owner[lock], 0);
    if (!larder_delete(common->pool, &key)) {
        test_failed(__FILE__, __LINE__, "%u owned lock %u, which was gone", self, (unsigned)lock);
    }
}

static void work_beside(rng *r)
{
    static const char filler[6000];
    const larder_key other = key_number(common->other[rng_below(r, NEIGHBOURS + STRANGERS)]);
    if (rng_below(r, 3) == 0) {
        larder_delete(common->pool, &other);
    } else {
        put_bytes(common->pool, other, filler, rng_below(r, sizeof filler));
    }
}

static void compete(void *number)
{
    static const char filler[640];
    uint32_t self = (uint32_t)(uintptr_t)number + 1;
    rng r = {test_seed() + self * UINT64_C(1000003)};
    gate_wait(&common->go, 1);
    fault_jitter(rng_next(&r));
    for (uint64_t i = 0; i < common->rounds && test_failures() == 0; i++) {
        uint64_t lock = rng_below(&r, LOCKS);
        size_t size = 40 + rng_below(&r, sizeof filler - 40);
        if (put_with(common->pool, key_number(lock), filler, size, LARDER_ADD, LARDER_NO_EXPIRY) == LARDER_OK) {
            own(self, lock, &r);
        } else if (rng_below(&r, 2) == 0) {
            work_beside(&r);
        }
        if (rng_below(&r, 50) == 0) {
            larder_pool_leave(common->pool);
        }
    }
    fault_disarm();
}

static void choose_others(void)
{
    const _Atomic uint64_t *group = larder_place_of(common->pool, key_number(0).hash).deletion;
    uint64_t number = LOCKS;
    for (int found = 0; found < NEIGHBOURS; number++) {
        if (larder_place_of(common->pool, key_number(number).hash).deletion == group) {
            common->other[found++] = number;
        }
    }
    for (int i = NEIGHBOURS; i < NEIGHBOURS + STRANGERS; i++) {
        common->other[i] = number++;
    }
}

static void contend(bool evict)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = evict;
    common = shared_memory(sizeof *common);
    common->rounds = 60000 * test_scale() + 1000;
    common->pool = pool_open_as(&config);
    choose_others();
    pid_t pids[PROCESSES];
    for (uintptr_t i = 0; i < PROCESSES; i++) {
        pids[i] = child_start(compete, (void *)i);
    }
    gate_open(&common->go, 1);
    for (int i = 0; i < PROCESSES; i++) {
        EQUAL(child_wait(pids[i]), 0);
    }
    larder_stats stats;
    larder_stats_read(common->pool, &stats);
    EQUAL(stats.counters[LARDER_EVICTIONS], 0); /* all that lives fits many times */
    COMPARE(common->won, >, common->rounds / 10);
    CHECK_POOL(common->pool);
    larder_pool_close(common->pool);
}

TEST(locks, "the process that added a key owns it until it deletes it, whichever adds it too and whatever becomes of "
            "keys beside it")
{
    contend(true);
}

TEST(locks_without_eviction,
     "the process that added a key owns it, too, in a pool that does not evict and moves what is alive")
{
    contend(false);
}
