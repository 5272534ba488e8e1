/* Pools that get another size: what lives in them stays, what is deleted meanwhile stays deleted, and a failure loses
 * nothing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "saving.h"
#include "waiting.h"

#include "engine/larder.h"
#include "engine/lock.h"
#include "engine/tag.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int resize_as(const larder_pool_config *config, uint64_t size, larder_resized *resized, larder_error *error)
{
    larder_pool_config other = *config;
    other.size = size;
    error->message[0] = '\0';
    return larder_pool_resize(&other, resized, error);
}

/* Or ends the test. */
static larder_resized resize(uint64_t size)
{
    const larder_pool_config config = saving_config("p");
    larder_error error;
    larder_resized resized = {.before = 0};
    int result = resize_as(&config, size, &resized, &error);
    if (result != 1) {
        test_failed(__FILE__, __LINE__, "the pool was not resized: %d %s", result, error.message);
        test_give_up();
    }
    return resized;
}

/* Why it was not. */
static const char *refusal(const larder_pool_config *config, uint64_t size)
{
    static larder_error error;
    larder_resized resized;
    EQUAL(resize_as(config, size, &resized, &error), -1);
    return error.message;
}

static void fill(larder_pool *pool, uint64_t items)
{
    for (uint64_t i = 0; i < items; i++) {
        EQUAL(put_described(pool, key_number(i), &(described){.key = i, .version = i * 7}, 400, LARDER_SET,
                            LARDER_NO_EXPIRY),
              LARDER_OK);
    }
}

static uint64_t count_whole(larder_pool *pool, uint64_t items)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < items; i++) {
        described what;
        larder_hit hit;
        enum reading reading = read_described(pool, key_number(i), i, &what, &hit);
        CHECK(reading != READ_TORN);
        CHECK(reading == READ_NOTHING || what.version == i * 7);
        found += reading == READ_WHOLE;
    }
    return found;
}

TEST(keeps, "a pool that gets larger and smaller again keeps what lives in it, and its users go on with it")
{
    const uint64_t tag = larder_tag_of("red", 3);
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    const larder_key counter = key_of("counter"), deleted = key_of("deleted");
    int64_t number;
    larder_pool *pool = open_saving("p");
    fill(pool, 300);
    EQUAL(put_under(pool, "tagged", "value", &terms), LARDER_OK);
    EQUAL(larder_increment(pool, &counter, 41, 0, LARDER_NO_EXPIRY, &number), LARDER_COUNTED);
    EQUAL(put_text(pool, "deleted", "value"), LARDER_OK);
    larder_delete(pool, &deleted);
    static const uint64_t sizes[] = {9 * MIB, 64 * MIB, 4 * MIB};
    uint64_t before = 4 * MIB;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        larder_resized resized = resize(sizes[i]);
        EQUAL(resized.before, before);
        EQUAL(resized.size, sizes[i]);
        EQUAL(resized.loaded, 302);
        EQUAL(resized.dropped, 0);
        before = sizes[i];
        larder_pool_doubt(pool);
        CHECK(holds_text(pool, "tagged", "value"));
        EQUAL(pool->geometry.size, sizes[i]);
        CHECK(pool->geometry.evict);
        EQUAL(count_whole(pool, 300), 300);
        CHECK(!larder_exists(pool, &deleted));
        EQUAL(larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &number), LARDER_COUNTED);
        EQUAL(number, (int64_t)(42 + i));
        CHECK_POOL(pool);
        CHECK(!is_there("kept/p.snapshot"));
    }
    larder_invalidate(pool, &tag, 1);
    CHECK(!holds_text(pool, "tagged", "value"));
    EQUAL(resize(4 * MIB).loaded, 0); /* it has that size */
    EQUAL(count_whole(pool, 300), 300);
}

TEST(shrinks, "a pool that gets too small for all evicts, and keeps as much as one of that size holds")
{
    larder_pool_config config = saving_config("p");
    config.size = 16 * MIB;
    larder_pool *pool = pool_open_as(&config);
    fill(pool, 20000);
    larder_resized resized = resize(4 * MIB);
    EQUAL(resized.loaded + resized.dropped, 20000);
    larder_pool_doubt(pool);
    uint64_t found = count_whole(pool, 20000);
    COMPARE(found, >, 4000);
    COMPARE(found, <, 20000);
    EQUAL(pool->geometry.size, 4 * MIB);
    CHECK_POOL(pool);
}

TEST(refused, "what cannot be resized is an error that says why, and goes on as it was")
{
    larder_pool_config config = saving_config("p");
    larder_resized resized;
    larder_error error;
    EQUAL(resize_as(&config, 8 * MIB, &resized, &error), 0);
    EQUAL(error.message[0], '\0');
    CHECK(access(pool_path_of("p"), F_OK) != 0);
    config.evict = false;
    config.size = 16 * MIB;
    larder_pool *pool = pool_open_as(&config);
    fill(pool, 20000);
    CONTAINS(refusal(&config, 4 * MIB), "made not to evict");
    CONTAINS(refusal(&config, LARDER_SIZE_MIN - 1), "must be between");
    CONTAINS(refusal(&config, LARDER_SIZE_MAX + 1), "must be between");
    config.snapshots = NULL;
    CONTAINS(refusal(&config, 32 * MIB), "switched off");
    EQUAL(pool->geometry.size, 16 * MIB);
    EQUAL(count_whole(pool, 20000), 20000);
    config = saving_config("p");
    EQUAL(resize_as(&config, 32 * MIB, &resized, &error), 1);
    larder_pool_doubt(pool);
    EQUAL(count_whole(pool, 20000), 20000);
    CHECK(!pool->geometry.evict);
}

/* ---- room ------------------------------------------------------------------------------------------------ */

static const char *small_place(const char *options)
{
    const char *place = path_of("small");
    mkdir(place, 0700);
    /* As in pool_test.c. */
    REQUIRE(unshare(CLONE_NEWNS) == 0);
    (void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    REQUIRE(mount("none", place, "tmpfs", 0, options) == 0);
    return place;
}

TEST(too_little_room,
     "a pool that does not fit in the larger size is as it was: the same file, open, with all that lives in it")
{
    larder_pool_config config = saving_config("p");
    config.directory = small_place("size=12m,mode=0700");
    struct stat before, after;
    larder_pool *pool = pool_open_as(&config);
    fill(pool, 300);
    EQUAL(fstat(pool->attached.fd, &before), 0);
    const char *why = refusal(&config, 16 * MIB);
    CONTAINS(why, "16777216");
    CONTAINS(why, "enlarge");
    EQUAL(fstat(pool->attached.fd, &after), 0);
    EQUAL(after.st_nlink, 1);
    EQUAL(after.st_blocks, before.st_blocks);
    EQUAL(atomic_load(&pool->header->dead), LARDER_LIVES);
    CHECK(!is_there("kept/p.snapshot"));
    EQUAL(count_whole(pool, 300), 300);
    /* Both do not fit at once, but the larger one fits in the room of the other. */
    larder_error error;
    larder_resized resized;
    EQUAL(resize_as(&config, 9 * MIB, &resized, &error), 1);
    larder_pool_doubt(pool);
    EQUAL(count_whole(pool, 300), 300);
    EQUAL(pool->geometry.size, 9 * MIB);
}

static char filler[512];

static void fill_up(void)
{
    int fd = open(filler, O_RDWR | O_CREAT, 0600);
    EQUAL(posix_fallocate(fd, 0, (off_t)(5 * MIB)), 0);
    close(fd);
}

TEST(room_is_taken,
     "a pool whose room another program takes while it is saved gets its old size again, with all that lived in it")
{
    larder_pool_config config = saving_config("p");
    config.directory = small_place("size=12m,mode=0700");
    snprintf(filler, sizeof filler, "%s/filler", config.directory);
    larder_pool *pool = pool_open_as(&config);
    fill(pool, 300);
    fault_arm(LARDER_AT_CLOSED, 0, fill_up);
    CONTAINS(refusal(&config, 9 * MIB), "does not fit");
    fault_disarm();
    CHECK(access(pool->paths.full, F_OK) == 0);
    larder_pool_doubt(pool);
    EQUAL(count_whole(pool, 300), 300);
    EQUAL(pool->geometry.size, 4 * MIB);
    CHECK(!is_there("kept/p.snapshot"));
}

static void spoil_snapshot(void)
{
    EQUAL(truncate(path_of("kept/p.snapshot"), 1000), 0);
}

TEST(snapshot_is_lost, "a pool that was resized and could not load what was saved is an error that says why")
{
    const larder_pool_config config = saving_config("p");
    larder_pool *pool = open_saving("p");
    fill(pool, 300);
    fault_arm(LARDER_AT_CLOSED, 0, spoil_snapshot);
    const char *why = refusal(&config, 9 * MIB);
    fault_disarm();
    CONTAINS(why, "began with nothing");
    CONTAINS(why, "was truncated");
    larder_pool_doubt(pool);
    EQUAL(count_whole(pool, 300), 0);
    EQUAL(pool->geometry.size, 9 * MIB);
}

/* None of those with an odd number is there. A delete refuses the loads of all keys that share its key version, so that
 * some of the others may be missing: how many are there. */
static uint64_t count_even(larder_pool *pool, uint64_t items)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < items; i++) {
        const larder_key key = key_number(i);
        bool exists = larder_exists(pool, &key);
        CHECK(!exists || i % 2 == 0);
        found += exists;
    }
    return found;
}

/* ---- others, meanwhile ----------------------------------------------------------------------------------- */

#define PAIRS 100u

/* Deletes every second key. One that fails aloud is done again. */
static void delete_half(void *context)
{
    larder_pool *pool = open_saving("p");
    gate_open(context, 1);
    for (uint64_t i = 1; i < 2 * PAIRS; i += 2) {
        const larder_key key = key_number(i);
        do {
            larder_delete(pool, &key);
        } while (pool->request.undone);
    }
    larder_pool_close(pool);
}

TEST(deleted_meanwhile, "what is deleted while a pool is resized stays deleted, and hardly anything else is lost")
{
    static const uint64_t sizes[] = {8 * MIB, 4 * MIB};
    for (unsigned round = 0; round < 10 + 20 * test_scale(); round++) {
        gate *g = shared_memory(sizeof *g);
        larder_pool *pool = open_saving("p");
        fill(pool, 2 * PAIRS);
        pid_t deleter = child_start(delete_half, g);
        gate_wait(g, 1);
        EQUAL(resize(sizes[round % 2]).size, sizes[round % 2]);
        EQUAL(child_wait(deleter), 0);
        larder_pool_doubt(pool);
        COMPARE(count_even(pool, 2 * PAIRS), >, PAIRS / 4 * 3);
        CHECK_POOL(pool);
        larder_pool_close(pool);
    }
}

static void delete_loaded(void)
{
    larder_pool *pool = open_saving("p");
    for (uint64_t i = 1; i < 300; i += 2) {
        const larder_key key = key_number(i);
        larder_delete(pool, &key);
        CHECK(!pool->request.undone);
    }
    larder_pool_close(pool);
}

TEST(deleted_while_loaded,
     "what is deleted between the loads of two items stays deleted, whether or not it was loaded before")
{
    larder_pool *pool = open_saving("p");
    fill(pool, 300);
    fault_arm(LARDER_AT_LOAD, 150, delete_loaded);
    larder_resized resized = resize(8 * MIB);
    fault_disarm();
    EQUAL(resized.loaded + resized.dropped, 300);
    COMPARE(resized.dropped, >, 0);
    larder_pool_doubt(pool);
    COMPARE(count_even(pool, 300), >, 100);
}

static gate *holding;

static void hold_lock(void *stops)
{
    larder_pool *pool = open_saving("p");
    REQUIRE(larder_lock(pool));
    gate_open(holding, 1);
    if (stops != NULL) {
        raise(SIGSTOP);
    }
    usleep(300000);
    larder_unlock(pool);
    larder_pool_close(pool);
}

static pid_t holder;

static void start_holder(void)
{
    holder = child_start(hold_lock, NULL);
    gate_wait(holding, 1);
}

TEST(lock_is_held, "nothing is lost to another process that makes room for a moment while a pool is loaded")
{
    holding = shared_memory(sizeof *holding);
    larder_pool *pool = open_saving("p");
    fill(pool, 1000);
    fault_arm(LARDER_AT_LOAD, 50, start_holder);
    larder_resized resized = resize(5 * MIB);
    fault_disarm();
    EQUAL(child_wait(holder), 0);
    EQUAL(resized.loaded, 1000);
    EQUAL(resized.dropped, 0);
}

static void start_stopped_holder(void)
{
    holder = child_start(hold_lock, &holding);
    gate_wait(holding, 1);
}

TEST(lock_is_not_given_back, "a stopped process that makes room delays the loading of a pool once, by five seconds")
{
    holding = shared_memory(sizeof *holding);
    larder_pool *pool = open_saving("p");
    fill(pool, 1000);
    fault_arm(LARDER_AT_LOAD, 50, start_stopped_holder);
    uint64_t waited = waited_ns();
    larder_resized resized = resize(5 * MIB);
    waited = waited_ns() - waited;
    fault_disarm();
    kill(holder, SIGKILL);
    child_wait(holder);
    EQUAL(resized.loaded + resized.dropped, 1000);
    COMPARE(resized.dropped, >, 0);
    COMPARE(waited, <, UINT64_C(8000000000)); /* and a millisecond for each item that there is no room for */
}

/* ---- deaths ---------------------------------------------------------------------------------------------- */

typedef struct fate {
    unsigned point;
    uint64_t skip;
} fate;

static void resize_and_die(void *context)
{
    const fate *its = context;
    fault_arm(its->point, its->skip, fault_die);
    resize(8 * MIB);
}

TEST(killed,
     "a process that is killed anywhere in resizing leaves all of it, or a part, or nothing, and never what was dead")
{
    for (fate its = {LARDER_AT_CLOSE, 0}; its.point <= LARDER_AT_LOADED; its.point++) {
        for (its.skip = 0; its.skip < 60; its.skip += 29) {
            const larder_key deleted = key_of("deleted");
            larder_pool *pool = open_saving("p");
            fill(pool, 50);
            put_text(pool, "deleted", "v");
            larder_delete(pool, &deleted);
            larder_pool_close(pool);
            int status = child_wait(child_start(resize_and_die, &its));
            CHECK(status == 0 || status == 256 + SIGKILL);
            EQUAL(its.skip == 0 && status == 0, false);
            pool = open_saving("p");
            uint64_t found = count_whole(pool, 50);
            CHECK(!larder_exists(pool, &deleted));
            CHECK(status != 0 || found == 50);
            CHECK(its.point != LARDER_AT_CLOSE || found == 50);
            larder_pool_leave(pool);
            CHECK_POOL_AFTER_DEATHS(pool);
            larder_pool_close(pool);
            remove_pool();
            if (test_failures() > 0) {
                printf("    at fault point %u, skip %llu\n", its.point, (unsigned long long)its.skip);
                test_give_up();
            }
        }
    }
}
