/* A pool is used while its snapshot is still being loaded, by another process or by none. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "saving.h"
#include "waiting.h"

#include "engine/index.h"
#include "engine/larder.h"
#include "engine/tag.h"

#include <signal.h>
#include <unistd.h>

static larder_pool *open_timed(void)
{
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    return pool_open_as(&config);
}

/* A snapshot in which "k" is old. */
static void make_snapshot(void)
{
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    larder_pool *pool = open_timed();
    EQUAL(put_text(pool, "other", "saved"), LARDER_OK);
    EQUAL(put_text(pool, "k", "old"), LARDER_OK);
    larder_pool_close(pool);
    EQUAL(save_as(&config).items, 2);
}

static bool misses(larder_pool *pool, const char *name)
{
    const larder_key key = key_of(name);
    larder_hit hit;
    return !larder_get(pool, &key, &hit);
}

static unsigned times_called;

/* Another process misses the key before it is loaded, and stores what is then evicted. */
static void set_after_a_miss(void)
{
    larder_pool *other = open_timed();
    const larder_key key = key_of("k");
    const larder_place place = larder_place_of(other, key.hash);
    times_called++;
    CHECK(misses(other, "k"));
    EQUAL(put_text(other, "k", "new"), LARDER_OK);
    CHECK(holds_text(other, "k", "new"));
    larder_drop(other, &place, &key); /* as an eviction does */
    CHECK(misses(other, "k"));
    larder_pool_close(other);
}

TEST(undone,
     "what a set after a miss replaced while the snapshot was loaded does not come back when the new value is evicted")
{
    make_snapshot();
    fault_arm(LARDER_AT_LOAD, 0, set_after_a_miss);
    larder_pool *pool = open_timed();
    fault_disarm();
    EQUAL(times_called, 1);
    CHECK(!holds_text(pool, "k", "old"));
    CHECK(holds_text(pool, "other", "saved"));
    CHECK_POOL(pool);
}

/* A set after a miss is refused for a tag that what is saved does not have. */
static void be_refused(void)
{
    const uint64_t tag = larder_tag_of("t", 1);
    larder_pool *other = open_timed(), *third = open_timed();
    const larder_terms terms = {.expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    times_called++;
    CHECK(misses(other, "k"));
    larder_invalidate(third, &tag, 1);
    EQUAL(put_under(other, "k", "new", &terms), LARDER_OVERTAKEN);
    larder_pool_close(other);
    larder_pool_close(third);
}

TEST(refused, "what a refused set after a miss was to replace is not loaded from the snapshot")
{
    make_snapshot();
    fault_arm(LARDER_AT_LOAD, 0, be_refused);
    larder_pool *pool = open_timed();
    fault_disarm();
    EQUAL(times_called, 1);
    CHECK(!holds_text(pool, "k", "old"));
    CHECK(holds_text(pool, "other", "saved"));
}

/* Others store the key while its snapshot is being loaded, and then a set after a miss is refused. */
static void be_refused_by_newer(void)
{
    larder_pool *other = open_timed(), *third = open_timed();
    times_called++;
    CHECK(misses(other, "k"));
    EQUAL(put_text(third, "k", "newer"), LARDER_OK);
    EQUAL(put_text(other, "k", "stale"), LARDER_OVERTAKEN);
    larder_pool_close(other);
    larder_pool_close(third);
}

TEST(newer, "a refused set after a miss leaves what was stored while the snapshot was loaded")
{
    make_snapshot();
    fault_arm(LARDER_AT_LOAD, 0, be_refused_by_newer);
    larder_pool *pool = open_timed();
    fault_disarm();
    EQUAL(times_called, 1);
    CHECK(holds_text(pool, "k", "newer"));
    CHECK(holds_text(pool, "other", "saved"));
}

static void open_and_die(void *point)
{
    fault_arm(*(unsigned *)point, 0, fault_die);
    larder_pool_close(open_timed());
}

static void open_and_stay(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_LOAD, 0, fault_stay);
    larder_pool_close(open_timed());
}

/* Of two fills that overlap the later stays, as always when nothing is being loaded. A process that came while something
 * was finds out by a miss, which is in doubt itself, as are those at the same tick. */
static void expect_fills_of(larder_pool *pool, larder_pool *other)
{
    CHECK(misses(pool, "missed first"));
    CHECK(misses(other, "missed first"));
    EQUAL(put_text(pool, "a tick", "v"), LARDER_OK);
    CHECK(misses(pool, "filled"));
    CHECK(misses(other, "filled"));
    EQUAL(put_text(pool, "filled", "one"), LARDER_OK);
    EQUAL(put_text(other, "filled", "two"), LARDER_OK);
    CHECK(holds_text(pool, "filled", "two"));
}

static larder_pool *early; /* has missed the key while the snapshot was being loaded */

static void miss_early(void)
{
    times_called++;
    early = open_timed();
    CHECK(misses(early, "k"));
}

TEST(early_miss, "what came after a miss out of the snapshot goes when a set after that miss is refused")
{
    const uint64_t tag = larder_tag_of("t", 1);
    const larder_terms terms = {.expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    make_snapshot();
    fault_arm(LARDER_AT_LOAD, 0, miss_early);
    larder_pool *pool = open_timed();
    fault_disarm();
    EQUAL(times_called, 1);
    CHECK(holds_text(pool, "k", "old"));
    larder_invalidate(pool, &tag, 1);
    EQUAL(put_under(early, "k", "new", &terms), LARDER_OVERTAKEN);
    CHECK(!holds_text(pool, "k", "old"));
    CHECK(holds_text(pool, "other", "saved"));
    expect_fills_of(pool, early);
    larder_pool_close(early);
}

static void expect_fills(larder_pool *pool)
{
    larder_pool *other = open_timed();
    expect_fills_of(pool, other);
    larder_pool_close(other);
}

TEST(killed, "when the loader has been killed, sets after misses do not refuse each other any more")
{
    make_snapshot();
    fault_gate = shared_memory(sizeof *fault_gate);
    pid_t loader = child_start(open_and_stay, NULL);
    gate_wait(fault_gate, 1);
    larder_pool *pool = open_timed(), *other = open_timed(); /* before, so that neither takes the loader's slot */
    EQUAL(atomic_load(&pool->header->began), LARDER_LOADING);
    kill(loader, SIGKILL);
    EQUAL(child_wait(loader), 256 + SIGKILL);
    expect_fills_of(pool, other);
    larder_pool_close(other);
    CHECK_POOL_AFTER_DEATHS(pool);
}

TEST(followed, "when the loader has been killed and another process has its slot, they do not either")
{
    unsigned point = LARDER_AT_LOAD;
    make_snapshot();
    EQUAL(child_wait(child_start(open_and_die, &point)), 256 + SIGKILL);
    larder_pool *pool = open_timed();
    EQUAL(atomic_load(&pool->header->began), LARDER_LOADING);
    expect_fills(pool);
    CHECK_POOL_AFTER_DEATHS(pool);
}

TEST(loaded, "when all is loaded, sets after misses do not refuse each other")
{
    make_snapshot();
    larder_pool *pool = open_timed();
    EQUAL(atomic_load(&pool->header->began), LARDER_LOADED);
    expect_fills(pool);
}

TEST(nobody_comes,
     "if the process that was to load the snapshot dies before it began, it is waited for ten seconds at most")
{
    unsigned point = LARDER_AT_SLOT_TAKE; /* the pool has its name then */
    make_snapshot();
    EQUAL(child_wait(child_start(open_and_die, &point)), 256 + SIGKILL);
    larder_pool *pool = open_timed();
    EQUAL(atomic_load(&pool->header->began), LARDER_LOADING);
    clock_ms += 10001;
    expect_fills(pool);
}

static pid_t loader;

static void save_and_begin_to_load(void)
{
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    EQUAL(save_as(&config).items, 1);
    loader = child_start(open_and_stay, NULL);
    gate_wait(fault_gate, 1);
}

TEST(saved_under_it, "what a set after a miss was to replace while its pool was saved is not loaded into the next one")
{
    fault_gate = shared_memory(sizeof *fault_gate);
    larder_pool *pool = open_timed(), *other = open_timed();
    CHECK(misses(pool, "k"));
    CHECK(misses(other, "k"));
    EQUAL(put_text(other, "k", "old"), LARDER_OK); /* a fill, too */
    larder_pool_close(other);
    fault_arm(LARDER_AT_REPLACE, 0, save_and_begin_to_load);
    EQUAL(put_text(pool, "k", "new"), LARDER_BUSY);
    fault_disarm();
    gate_open(fault_gate, 2);
    EQUAL(child_wait(loader), 0);
    CHECK(!holds_text(pool, "k", "old"));
    CHECK_POOL(pool);
}

/* The maker of the pool is away for long before it loads the snapshot. */
static void not_wait(void)
{
    larder_pool *other = open_timed();
    times_called++;
    clock_ms += 10001;
    expect_fills(other);
    CHECK(misses(other, "k"));
    EQUAL(put_with(other, key_of("k"), "new", 3, LARDER_SET, clock_ms + 1000), LARDER_OK);
    clock_ms += 2000;
    larder_pool_close(other);
}

TEST(late, "a process so late to load a snapshot that others went on without it does not load it")
{
    make_snapshot();
    fault_arm(LARDER_AT_SLOT_TAKE, 0, not_wait);
    larder_pool *pool = open_timed();
    fault_disarm();
    EQUAL(times_called, 1);
    EQUAL(atomic_load(&pool->header->began), LARDER_BEGAN_EMPTY);
    CONTAINS(pool->header->reason, "too late");
    CHECK(!holds_text(pool, "k", "old"));
    CHECK(!holds_text(pool, "other", "saved"));
    CHECK_POOL(pool);
}

static larder_pool_config config_of_one_that_keeps(void)
{
    larder_pool_config config = saving_config("p");
    config.evict = false;
    config.now = clock_now;
    return config;
}

/* Nothing is evicted, so a counter may only begin anew where there is none. */
static larder_pool *make_snapshot_of_a_counter(void)
{
    larder_pool_config config = config_of_one_that_keeps();
    larder_pool *pool = pool_open_as(&config);
    const larder_key n = key_of("n");
    int64_t sum = 0;
    EQUAL(larder_increment(pool, &n, 1, 4, LARDER_NO_EXPIRY, &sum), LARDER_COUNTED);
    EQUAL(sum, 5);
    EQUAL(save_as(&config).items, 1);
    return pool;
}

static larder_pool *earlier;

static void be_kept_out(void)
{
    larder_pool_config config = config_of_one_that_keeps();
    const larder_key n = key_of("n");
    larder_error error = {.message = ""};
    int64_t sum = 0;
    times_called++;
    config.does_not_wait = true;
    uint64_t slots = fault_count(LARDER_AT_SLOT_TAKE), locks = fault_count(LARDER_AT_LOCK);
    CHECK(larder_pool_open(&config, &error) == NULL);
    CONTAINS(error.message, "is being loaded from its snapshot; try again in a moment");
    CHECK(error.waited);
    /* However many wait, the loader has a slot, and waits for none of them. */
    EQUAL(fault_count(LARDER_AT_SLOT_TAKE), slots);
    EQUAL(fault_count(LARDER_AT_LOCK), locks);
    CHECK(larder_increment(earlier, &n, 1, 0, LARDER_NO_EXPIRY, &sum) != LARDER_COUNTED);
    CHECK(misses(earlier, "n"));
}

TEST(kept_out, "a pool that does not evict is not used by others before all is loaded")
{
    const larder_key n = key_of("n");
    int64_t sum = 0;
    larder_pool_config config = config_of_one_that_keeps();
    earlier = make_snapshot_of_a_counter();
    fault_arm(LARDER_AT_LOAD, 0, be_kept_out);
    larder_pool *pool = pool_open_as(&config);
    fault_disarm();
    EQUAL(times_called, 1);
    clock_ms += 100; /* it was looked for a moment ago */
    EQUAL(larder_increment(earlier, &n, 1, 0, LARDER_NO_EXPIRY, &sum), LARDER_COUNTED);
    EQUAL(sum, 6);
    CHECK_POOL(pool);
}

static void open_one_that_keeps(void *context)
{
    (void)context;
    larder_pool_config config = config_of_one_that_keeps();
    fault_arm(LARDER_AT_LOAD, 0, fault_die);
    larder_pool_close(pool_open_as(&config));
}

TEST(let_in, "where the loader has been killed, others use a pool that does not evict")
{
    larder_pool_config config = config_of_one_that_keeps();
    config.does_not_wait = true;
    larder_pool_close(make_snapshot_of_a_counter());
    EQUAL(child_wait(child_start(open_one_that_keeps, NULL)), 256 + SIGKILL);
    larder_pool *pool = pool_open_as(&config);
    CHECK(misses(pool, "n"));
    EQUAL(put_text(pool, "k", "new"), LARDER_OK);
    CHECK_POOL_AFTER_DEATHS(pool);
}

static void remove_under_the_waiter(void)
{
    larder_pool_config config = config_of_one_that_keeps();
    larder_error error = {.message = ""};
    times_called++;
    EQUAL(larder_pool_remove(&config, &error), 1);
}

static void wait_for_one_that_goes(void)
{
    larder_pool_config config = config_of_one_that_keeps();
    waiting_meddle(remove_under_the_waiter);
    larder_pool *next = pool_open_as(&config);
    waiting_meddle(NULL);
    CHECK(misses(next, "n"));
    EQUAL(put_text(next, "k", "new"), LARDER_OK);
    larder_pool_close(next);
}

TEST(removed_meanwhile, "a process that waits until a pool is loaded goes on when the pool is removed")
{
    larder_pool_config config = config_of_one_that_keeps();
    larder_pool_close(make_snapshot_of_a_counter());
    fault_arm(LARDER_AT_LOAD, 0, wait_for_one_that_goes);
    uint64_t waited = waited_ns();
    larder_pool *pool = pool_open_as(&config);
    waited = waited_ns() - waited;
    fault_disarm();
    COMPARE(waited, <, 1000000000); /* the loader goes on, too, without another word of its snapshot */
    EQUAL(times_called, 1);
    CHECK(misses(pool, "n"));
    CHECK(holds_text(pool, "k", "new"));
    CHECK_POOL(pool);
}

/* A machine so busy that a nap takes as long as the whole wait. */
static void oversleep(void)
{
    times_called++;
    usleep(30000);
}

static void wait_briefly(void)
{
    const larder_key n = key_of("n");
    int64_t sum = 0;
    waiting_meddle(oversleep);
    CHECK(larder_increment(earlier, &n, 1, 0, LARDER_NO_EXPIRY, &sum) != LARDER_COUNTED);
    waiting_meddle(NULL);
}

TEST(by_the_clock, "a wait for another process ends by the clock, however long naps take")
{
    larder_pool_config config = config_of_one_that_keeps();
    earlier = make_snapshot_of_a_counter();
    fault_arm(LARDER_AT_LOAD, 0, wait_briefly);
    larder_pool_close(pool_open_as(&config));
    fault_disarm();
    EQUAL(times_called, 1);
}
