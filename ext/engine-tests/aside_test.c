/* Another user has made the directory that pools are to lie in. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRANGER 12345u

static larder_pool_config config_of_home(void)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.directory = path_of("d");
    return config;
}

static larder_pool *open_at_home(void)
{
    const larder_pool_config config = config_of_home();
    return pool_open_as(&config);
}

static void stranger_comes(void)
{
    REQUIRE(mkdir(path_of("d"), 0700) == 0 && chown(path_of("d"), STRANGER, STRANGER) == 0);
}

static void stranger_goes(void)
{
    REQUIRE(rmdir(path_of("d")) == 0);
}

static bool lies_in(const larder_pool *pool, const char *directory)
{
    return strcmp(pool->paths.directory, directory) == 0;
}

static void meet(void *context)
{
    larder_pool *pool = open_at_home();
    CHECK(lies_in(pool, context));
    CHECK(holds_text(pool, "k", "v"));
    EQUAL(put_text(pool, "k", "w"), LARDER_OK);
    larder_pool_close(pool);
}

static void note_name(void *context, const char *name)
{
    snprintf(context, LARDER_NAME_MAX + 1, "%s", name);
}

/* All that there is to a pool works there. */
static void expect_aside(const char *why)
{
    const larder_pool_config config = config_of_home();
    larder_error error = {.message = ""};
    char name[LARDER_NAME_MAX + 1] = "";
    struct stat status;
    larder_pool *pool = open_at_home();
    CHECK(pool->paths.aside && pool->paths.made_aside);
    CONTAINS(pool->paths.why_aside, why);
    CHECK(!lies_in(pool, path_of("d")));
    REQUIRE(lstat(pool->paths.directory, &status) == 0);
    EQUAL(status.st_mode & 07777, 0700);
    EQUAL(status.st_uid, geteuid());
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    child_run(meet, pool->paths.directory);
    CHECK(holds_text(pool, "k", "w"));
    CHECK(larder_pool_names(&config, note_name, name, &error));
    CHECK(strcmp(name, "p") == 0);
    EQUAL(larder_pool_remove(&config, &error), 1);
    larder_pool_doubt(pool);
    CHECK(!holds_text(pool, "k", "w"));
    unlink(pool->paths.full);
    REQUIRE(rmdir(pool->paths.directory) == 0);
    larder_pool_close(pool);
}

TEST(in_the_way,
     "whatever was put in the directory's place, pools lie beside it, in one that only their owner has made")
{
    struct stat status;
    stranger_comes();
    expect_aside("belongs to user 12345, not to user 0");
    stranger_goes();
    mkdir(path_of("real"), 0700);
    REQUIRE(symlink(path_of("real"), path_of("d")) == 0);
    expect_aside("not a directory");
    CHECK(stat(pool_path_of("real/p"), &status) != 0);
    unlink(path_of("d"));
    REQUIRE(symlink(path_of("nothing"), path_of("d")) == 0);
    expect_aside("not a directory");
    unlink(path_of("d"));
    close(open(path_of("d"), O_CREAT | O_WRONLY, 0600));
    expect_aside("not a directory");
}

TEST(foreign_aside, "what a stranger puts beside it is passed by, whatever it is called")
{
    stranger_comes();
    mkdir(path_of("d.aaaaaa"), 0700);
    REQUIRE(chown(path_of("d.aaaaaa"), STRANGER, STRANGER) == 0);
    REQUIRE(symlink(path_of("real"), path_of("d.aaaaab")) == 0);
    mkdir(path_of("d.aaaaac.too-long"), 0700);
    mkdir(path_of("d.aaaaad"), 0755); /* open to others */
    expect_aside("belongs to user 12345");
}

TEST(nowhere_else, "where nothing can be made beside it, the error says what is in the way")
{
    larder_pool_config config = config_of_home();
    REQUIRE(chmod(test_directory(), 0755) == 0);
    mkdir(path_of("d"), 0755);
    REQUIRE(setresuid(STRANGER, STRANGER, STRANGER) == 0);
    CONTAINS(pool_refusal(&config), "belongs to user 0");
}

TEST(comes_and_goes, "all processes use one directory, also when the stranger's goes, and comes again")
{
    stranger_comes();
    larder_pool *first = open_at_home();
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    stranger_goes();
    child_run(meet, first->paths.directory);
    CHECK(access(path_of("d"), F_OK) != 0); /* it has not made a second one */
    larder_pool_leave(first);
    CHECK(holds_text(first, "k", "w"));
    stranger_comes();
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    child_run(meet, first->paths.directory);
    larder_pool_close(first);
}

TEST(home_is_back, "a process beside goes home when its user has made that, at its next request at the latest")
{
    stranger_comes();
    larder_pool *away = open_at_home();
    EQUAL(put_text(away, "k", "old"), LARDER_OK);
    stranger_goes();
    REQUIRE(mkdir(path_of("d"), 0700) == 0);
    larder_pool *home = open_at_home();
    CHECK(lies_in(home, path_of("d")));
    EQUAL(put_text(home, "k", "new"), LARDER_OK);
    larder_pool_leave(away);
    CHECK(holds_text(away, "k", "new"));
    CHECK(!away->paths.aside);
    larder_pool_close(home);
    larder_pool_close(away);
}

/* ---- two that make one at once ---- */

static gate *other;
static char *made_by_other;

static void open_and_stay(void *context)
{
    (void)context;
    larder_pool *pool = open_at_home();
    snprintf(made_by_other, LARDER_PATH_MAX, "%s", pool->paths.directory);
    EQUAL(put_text(pool, "k", "of the other"), LARDER_OK);
    gate_open(other, 1);
    gate_wait(other, 2);
    CHECK(holds_text(pool, "k", "v")); /* in the very next operation, within the same request */
    CHECK(lies_in(pool, path_of("d")));
    larder_pool_close(pool);
}

static pid_t child;

static void other_makes_an_aside(void)
{
    stranger_comes();
    child = child_start(open_and_stay, NULL);
    gate_wait(other, 1);
    stranger_goes();
}

TEST(home_and_aside,
     "a process that makes the home while another makes one aside tells that one's users, which follow at once")
{
    other = shared_memory(sizeof *other);
    made_by_other = shared_memory(LARDER_PATH_MAX);
    fault_arm(LARDER_AT_DIRECTORY, 0, other_makes_an_aside);
    larder_pool *pool = open_at_home();
    CHECK(lies_in(pool, path_of("d")));
    CHECK(strcmp(made_by_other, path_of("d")) != 0);
    CHECK(access(made_by_other, F_OK) != 0);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    gate_open(other, 2);
    EQUAL(child_wait(child), 0);
    larder_pool_close(pool);
}

static void make_home(void *context)
{
    (void)context;
    larder_pool *pool = open_at_home();
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_close(pool);
}

static void other_makes_the_home(void)
{
    stranger_goes();
    child_run(make_home, NULL);
}

TEST(aside_and_home,
     "a process that makes one aside while another makes the home finds that, and leaves nothing behind")
{
    stranger_comes();
    fault_arm(LARDER_AT_DIRECTORY, 0, other_makes_the_home);
    larder_pool *pool = open_at_home();
    CHECK(lies_in(pool, path_of("d")));
    CHECK(!pool->paths.aside);
    CHECK(holds_text(pool, "k", "v"));
    EQUAL(test_files("d"), 1);
    larder_pool_close(pool);
}

static char aside[LARDER_PATH_MAX];

static void aside_goes(void)
{
    char command[LARDER_PATH_MAX + 32];
    stranger_goes();
    REQUIRE(mkdir(path_of("d"), 0700) == 0);
    snprintf(command, sizeof command, "rm -r '%s'", aside);
    REQUIRE(system(command) == 0);
}

TEST(goes_meanwhile, "a process about to make a pool in an aside that another takes away makes it where that one has")
{
    stranger_comes();
    larder_pool *first = open_at_home();
    char other_format[LARDER_PATH_MAX];
    snprintf(aside, sizeof aside, "%s", first->paths.directory);
    REQUIRE(snprintf(other_format, sizeof other_format, "%s/p@99", aside) > 0);
    unlink(first->paths.full);
    larder_pool_close(first);
    close(open(other_format, O_CREAT | O_WRONLY, 0600));
    fault_arm(LARDER_AT_TAKE_AWAY, 0, aside_goes); /* after it was found, and before anything is made there */
    larder_pool *pool = open_at_home();
    CHECK(lies_in(pool, path_of("d")));
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    EQUAL(test_files("d."), 0);
    larder_pool_close(pool);
}

static void open_once(void *context)
{
    gate *ready = context;
    gate_wait(ready, 1);
    larder_pool *pool = open_at_home();
    atomic_fetch_add(&ready[1].number, 1);
    gate_wait(ready, 2);
    larder_pool_leave(pool);
    int64_t now;
    const larder_key key = key_of("count");
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
    larder_pool_close(pool);
}

TEST(two_asides, "of eight that make one aside at once all come to use the same")
{
    for (int round = 0; round < 10; round++) {
        gate *ready = shared_memory(2 * sizeof *ready);
        pid_t children[8];
        stranger_comes();
        for (int i = 0; i < 8; i++) {
            children[i] = child_start(open_once, ready);
        }
        gate_open(ready, 1);
        while (atomic_load(&ready[1].number) < 8) {
            usleep(1000);
        }
        gate_open(ready, 2);
        for (int i = 0; i < 8; i++) {
            EQUAL(child_wait(children[i]), 0);
        }
        larder_pool *pool = open_at_home();
        larder_hit hit;
        size_t size;
        const larder_key key = key_of("count");
        REQUIRE(larder_get(pool, &key, &hit));
        EQUAL(larder_counter_value(larder_hit_value(pool, &hit, &size)), 8);
        larder_hit_drop(pool, &hit);
        EQUAL(test_files("d."), 1);
        unlink(pool->paths.full);
        REQUIRE(rmdir(pool->paths.directory) == 0);
        larder_pool_close(pool);
        stranger_goes();
    }
}
