/* Processes that save, remove, make and open one pool all the time, and use it meanwhile, are killed and stopped
 * wherever they are. Deaths and stops at each store of these protocols are in lifecycle_test.c; here several are in flight
 * at once.
 */
#include "judged.h"
#include "saving.h"

#include "engine/larder.h"
#include "engine/tag.h"

#include <unistd.h>

enum { KEYS = 400, TAGGED = 4 /* every so many keys */ };

/* What the processes know beside the pools. */
static struct world {
    _Atomic uint64_t given;       /* the next version */
    _Atomic uint64_t least[KEYS]; /* no version below may be read any more */
    _Atomic uint64_t saved, removed, loaded;
} * world;

static larder_pool *pool; /* this process's own */
static unsigned meddled;  /* how often this process has meddled with them */
static bool evicts;

static larder_pool_config config(void)
{
    larder_pool_config config = saving_config("p");
    config.evict = evicts;
    return config;
}

static uint64_t tag(void)
{
    return larder_tag_of("t", 1);
}

/* A store's version is given out after its tick: those given out before something began that ends it belong to stores
 * that are older. */
static uint64_t given(void)
{
    return atomic_load(&world->given);
}

/* The version, 0: nothing is there. */
static uint64_t read_one(uint64_t key)
{
    uint64_t least = atomic_load(&world->least[key]);
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(key), key, &what, &hit);
    CHECK(seen != READ_TORN);
    if (seen == READ_WHOLE && what.version < least) {
        test_failed(__FILE__, __LINE__, "key %llu: version %llu is read, and those below %llu are no more",
                    (unsigned long long)key, (unsigned long long)what.version, (unsigned long long)least);
    }
    return seen == READ_WHOLE ? what.version : 0;
}

static void store_one(uint64_t key, rng *r)
{
    const uint64_t tags[1] = {tag()};
    const larder_terms terms = {.expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = key % TAGGED == 0 ? 1 : 0};
    described what = {.key = key, .versions = &world->given, .block = rng_below(r, 2) == 0};
    size_t size = rng_below(r, 200) == 0 ? 200000 : DESCRIBED_LEAST + rng_below(r, 6000);
    put_described_under(pool, key_number(key), &what, size, &terms);
}

/* What says that it was not done says nothing. */
static void delete_one(uint64_t key)
{
    uint64_t began = given();
    const larder_key k = key_number(key);
    larder_delete(pool, &k);
    if (!pool->request.undone) {
        larder_raise(&world->least[key], began);
    }
}

/* Of every so many keys. */
static void end_all(uint64_t began, uint64_t step)
{
    for (uint64_t key = 0; key < KEYS; key += step) {
        larder_raise(&world->least[key], began);
    }
}

static void invalidate(void)
{
    const uint64_t tags[1] = {tag()}, began = given();
    larder_invalidate(pool, tags, 1);
    if (!pool->request.undone) {
        end_all(began, TAGGED);
    }
}

static void clear(void)
{
    uint64_t began = given();
    larder_clear(pool);
    if (!pool->request.undone) {
        end_all(began, 1);
    }
}

/* ---- the pool's file --------------------------------------------------------------------------------------------- */

/* Others may be saving or removing it, or have done so. */
static void save_it(void)
{
    const larder_pool_config its = config();
    larder_saved saved;
    larder_error error = {.message = ""};
    if (larder_pool_save(&its, &saved, &error) == 1) {
        atomic_fetch_add(&world->saved, 1);
    }
}

static void remove_it(void)
{
    const larder_pool_config its = config();
    larder_error error = {.message = ""};
    uint64_t began = given();
    if (larder_pool_remove(&its, &error) == 1) {
        larder_pool_abandon(pool);
        atomic_fetch_add(&world->removed, 1);
        end_all(began, 1);
    }
}

/* It fails where the process that makes or saves it is stopped for too long. */
static void open_it(void)
{
    const larder_pool_config its = config();
    larder_error error = {.message = ""};
    larder_pool *opened = larder_pool_open(&its, &error);
    if (opened != NULL) {
        larder_pool_close(pool);
        pool = opened;
        atomic_fetch_add(&world->loaded, atomic_load(&pool->header->began) == LARDER_LOADED);
    }
}

static void live(rng *r)
{
    meddled++;
    switch (rng_below(r, 5)) {
    case 0:
    case 1:
        save_it();
        break;
    case 2:
        remove_it();
        break;
    default:
        open_it();
    }
}

static void do_anything(uint64_t number, rng *r)
{
    uint64_t key = rng_below(r, KEYS);
    switch (rng_below(r, 14)) {
    case 0:
        delete_one(key);
        break;
    case 1:
        if (rng_below(r, 20) == 0) {
            rng_below(r, 10) == 0 ? clear() : invalidate();
        }
        break;
    case 2:
        judged_count(pool, r);
        break;
    case 3:
        judged_touch(pool, r, number);
        break;
    case 4:
        rng_below(r, 2) == 0 ? larder_pool_leave(pool) : larder_pool_begin_another(pool);
        break;
    case 5:
        if (rng_below(r, 20) == 0) {
            live(r);
        }
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        store_one(key, r);
        break;
    default:
        read_one(key);
    }
}

static void work(uint64_t number, rng *r)
{
    bool is_met = number < CROWD - 2;
    pool = all->pool;
    meddled = 0;
    while (!atomic_load(&all->stop) || (!is_met && meddled < 8)) { /* however slow the machine is */
        do_anything(number, r);
    }
    larder_pool_close(pool);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* No process works now: a save takes along whatever is there, and only that. */
static void save_quietly(void)
{
    const larder_pool_config its = config();
    uint64_t was[KEYS];
    for (uint64_t key = 0; key < KEYS; key++) {
        was[key] = read_one(key);
    }
    larder_pool_leave(pool);
    save_as(&its);
    for (uint64_t key = 0; key < KEYS; key++) {
        EQUAL(read_one(key), was[key]);
    }
    EQUAL(atomic_load(&pool->header->began), LARDER_LOADED);
    EQUAL(pool->header->reason[0], 0);
}

/* All processes have the same pool, whose file is the only one, and which can be saved whole. */
static bool look_at_all(uint64_t round)
{
    const larder_key one = key_number(KEYS);
    const larder_pool_config its = config();
    pool = all->pool;
    larder_pool_leave(pool); /* its next request */
    judged_end_round(pool);
    EQUAL(put_described(pool, one, &(described){.key = KEYS, .version = round}, 400, LARDER_SET, LARDER_NO_EXPIRY),
          LARDER_OK);
    larder_pool *other = pool_open_as(&its);
    CHECK(larder_exists(other, &one));
    larder_pool_close(other);
    CHECK(!is_there("kept/p.snapshot"));
    EQUAL(test_files("p"), 1);
    CHECK_POOL_AFTER_DEATHS(pool);
    save_quietly();
    CHECK_POOL(pool);
    judged_begin_round(pool, false);
    larder_pool_leave(pool);
    return test_failures() == 0;
}

static void live_in_rounds(enum fate fate, bool evict, uint64_t rounds)
{
    evicts = evict;
    const larder_pool_config its = config();
    crowd_open_as(&its);
    world = shared_memory(sizeof *world);
    world->given = 1;
    judged_begin();
    judged_begin_round(all->pool, false);
    larder_pool_leave(all->pool);
    crowd_meets(fate, rounds, work, look_at_all);
    COMPARE(world->saved, >, 0);
    COMPARE(world->removed, >, 0);
    COMPARE(world->loaded, >, 0);
    crowd_close();
    remove_pool();
}

TEST(killed_in_lifecycle, "processes that are killed while they save, remove and open a pool leave one pool, in which "
                          "nothing is older than it may be")
{
    live_in_rounds(KILLED, true, 20 * test_scale() + 5);
    live_in_rounds(KILLED, false, 5 * test_scale());
}

TEST(stopped_in_lifecycle,
     "nor do processes undo anything that are stopped while they save, remove and open a pool, and woken later")
{
    live_in_rounds(STOPPED, true, 8 * test_scale() + 2);
    live_in_rounds(EITHER, true, 8 * test_scale() + 2);
}
