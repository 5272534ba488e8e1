/* Snapshots that are not loaded: damaged, old, copied, or not only its owner's. None waits for a better day. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "saving.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRANGER 12345

static void make_snapshot(uint64_t items)
{
    larder_pool *pool = open_saving("p");
    for (uint64_t i = 0; i < items; i++) {
        put_described(pool, key_number(i), &(described){.key = i}, 300, LARDER_SET, LARDER_NO_EXPIRY);
    }
    larder_pool_close(pool);
    save();
}

TEST(damaged, "a snapshot with any byte changed, or cut anywhere, is not loaded at all, and the pool says so")
{
    rng r = {test_seed()};
    for (int i = 0; i < 60; i++) {
        make_snapshot(20);
        struct stat status = {0};
        const char *path = path_of("kept/p.snapshot");
        int fd = open(path, O_RDWR);
        REQUIRE(fd >= 0);
        REQUIRE(fstat(fd, &status) == 0);
        uint64_t size = (uint64_t)status.st_size, at = i % 2 == 0 ? rng_below(&r, size) : rng_below(&r, 300);
        if (i % 5 == 4) {
            EQUAL(ftruncate(fd, (off_t)at), 0);
        } else {
            uint8_t byte;
            EQUAL(pread(fd, &byte, 1, (off_t)at), 1);
            byte ^= (uint8_t)(1u << rng_below(&r, 8));
            EQUAL(pwrite(fd, &byte, 1, (off_t)at), 1);
        }
        close(fd);
        larder_pool *pool = open_saving("p");
        expect_empty(pool, "The snapshot");
        larder_pool_close(pool);
        CHECK(!is_there("kept/p.snapshot"));
        remove_pool();
        if (test_failures() > 0) {
            printf("    byte %llu of %llu\n", (unsigned long long)at, (unsigned long long)size);
            test_give_up();
        }
    }
}

TEST(longer, "a snapshot with something behind its end is not loaded")
{
    make_snapshot(5);
    int fd = open(path_of("kept/p.snapshot"), O_WRONLY | O_APPEND);
    EQUAL(write(fd, "12345678", 8), 8);
    close(fd);
    expect_empty(open_saving("p"), "truncated");
}

static void copy_file(const char *from, const char *to)
{
    static char bytes[1 << 20];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t size = read(in, bytes, sizeof bytes);
    CHECK(size > 0 && write(out, bytes, (size_t)size) == size);
    close(in);
    close(out);
}

TEST(backup, "a copy of a snapshot, as a backup has it, is not loaded")
{
    make_snapshot(5);
    copy_file(path_of("kept/p.snapshot"), path_of("copy"));
    larder_pool_close(open_saving("p"));
    remove_pool();
    copy_file(path_of("copy"), path_of("kept/p.snapshot"));
    expect_empty(open_saving("p"), "backup");
}

TEST(set_back,
     "a snapshot that was not written within the last day, as a machine has it that is set back, is not loaded")
{
    static const int64_t later[] = {24 * 3600000 - 1, 24 * 3600000, 400LL * 24 * 3600000, -60000, -60001};
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    for (size_t i = 0; i < sizeof later / sizeof later[0]; i++) {
        larder_error error = {.message = ""};
        larder_saved saved;
        larder_pool *pool = pool_open_as(&config);
        put_text(pool, "k", "v");
        larder_pool_close(pool);
        EQUAL(larder_pool_save(&config, &saved, &error), 1);
        clock_ms += (uint64_t)later[i];
        pool = pool_open_as(&config);
        if (i == 0 || i == 3) {
            CHECK(holds_text(pool, "k", "v"));
        } else {
            expect_empty(pool, "last 24 hours");
        }
        CHECK(!is_there("kept/p.snapshot"));
        larder_pool_close(pool);
        EQUAL(larder_pool_remove(&config, &error), 1);
    }
}

TEST(opened_up, "in a directory that others were let into, or that cannot be read, no snapshot waits for a better day")
{
    make_snapshot(5);
    EQUAL(chmod(path_of("kept"), 0755), 0);
    larder_pool *pool = open_saving("p");
    expect_empty(pool, "not one that only");
    CHECK(!is_there("kept/p.snapshot"));
    larder_pool_close(pool);
    remove_pool();
    EQUAL(chmod(path_of("kept"), 0700), 0);
    expect_empty(open_saving("p"), "no snapshot");
}

TEST(renamed, "a snapshot of another pool's is not loaded")
{
    make_snapshot(5);
    EQUAL(rename(path_of("kept/p.snapshot"), path_of("kept/q.snapshot")), 0);
    expect_empty(open_saving("q"), "a copy");
}

TEST(strangers, "another user's snapshot, a link, a directory and one that others can write are not loaded")
{
    make_snapshot(5);
    if (geteuid() == 0) {
        EQUAL(chown(path_of("kept/p.snapshot"), STRANGER, STRANGER), 0);
        larder_pool *pool = open_saving("p");
        expect_empty(pool, "only user 0");
        larder_pool_close(pool);
        remove_pool();
        make_snapshot(5);
        EQUAL(chown(path_of("kept"), STRANGER, STRANGER), 0);
        pool = open_saving("p");
        expect_empty(pool, "not one that only user 0");
        larder_pool_close(pool);
        remove_pool();
        EQUAL(chown(path_of("kept"), 0, 0), 0);
        unlink(path_of("kept/p.snapshot"));
        make_snapshot(5);
    }
    EQUAL(chmod(path_of("kept/p.snapshot"), 0620), 0);
    larder_pool *pool = open_saving("p");
    expect_empty(pool, "only user");
    larder_pool_close(pool);
    remove_pool();
    make_snapshot(5);
    EQUAL(rename(path_of("kept/p.snapshot"), path_of("elsewhere")), 0);
    EQUAL(symlink(path_of("elsewhere"), path_of("kept/p.snapshot")), 0);
    pool = open_saving("p");
    expect_empty(pool, "cannot be opened");
    CHECK(is_there("elsewhere"));
    CHECK(!is_there("kept/p.snapshot"));
}

TEST(in_the_way,
     "something that cannot be removed where a snapshot belongs is an error of the next process that opens the pool")
{
    larder_pool_close(open_saving("p"));
    mkdir(path_of("kept"), 0700);
    mkdir(path_of("kept/p.snapshot"), 0700);
    const larder_pool_config config = saving_config("p");
    CONTAINS(pool_refusal(&config), "cannot be removed");
    rmdir(path_of("kept/p.snapshot"));
    CHECK(strcmp(pool_refusal(&config), "") == 0);
}

TEST(removed, "removing a pool that was saved removes its snapshot")
{
    const larder_pool_config config = saving_config("p");
    larder_error error = {.message = ""};
    make_snapshot(5);
    EQUAL(larder_pool_remove(&config, &error), 1);
    CHECK(!is_there("kept/p.snapshot"));
    EQUAL(larder_pool_remove(&config, &error), 0);
    expect_empty(open_saving("p"), "no snapshot");
}

TEST(outlived, "a snapshot that lies about while its pool lives is removed by the next process that opens the pool")
{
    make_snapshot(5);
    larder_pool_config config = pool_config("p", 4 * MIB); /* one who has no snapshots */
    larder_pool *other = pool_open_as(&config), *pool;
    CHECK(is_there("kept/p.snapshot"));
    EQUAL(put_text(other, "k", "younger"), LARDER_OK);
    pool = open_saving("p");
    CHECK(!is_there("kept/p.snapshot"));
    CHECK(holds_text(pool, "k", "younger"));
    EQUAL(count_items(pool), 1);
}
