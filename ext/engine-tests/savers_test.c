/* Savers that fail, and savers and loaders that are killed: what they leave behind. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "saving.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- savers that fail ------------------------------------------------------------------------------------ */

/* The file has its name, and the disk fails: the saver's directory is one that cannot be written back any more. */
static void fail_after_rename(void)
{
    struct stat kept, other;
    EQUAL(stat(path_of("kept"), &kept), 0);
    EQUAL(link(path_of("kept/.new-p.snapshot"), path_of("stash")), 0);
    DIR *listing = opendir("/proc/self/fd");
    REQUIRE(listing != NULL);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] != '.' && fstat(fd, &other) == 0 && other.st_ino == kept.st_ino &&
            other.st_dev == kept.st_dev) {
            int useless = open(path_of("kept"), O_PATH | O_DIRECTORY);
            EQUAL(dup2(useless, fd), fd); /* fsync() of it fails */
            close(useless);
        }
    }
    closedir(listing);
}

TEST(not_on_disk, "what a save wrote that failed at the end is not loaded, even if a power cut brings its name back")
{
    const larder_pool_config config = saving_config("p");
    larder_error error = {.message = ""};
    larder_saved saved;
    larder_pool *pool = open_saving("p");
    put_text(pool, "k", "old");
    fault_arm(LARDER_AT_SNAPSHOT, 0, fail_after_rename);
    EQUAL(larder_pool_save(&config, &saved, &error), -1);
    fault_disarm();
    CONTAINS(error.message, "cannot be written");
    CHECK(!is_there("kept/p.snapshot"));
    larder_pool_doubt(pool);
    CHECK(holds_text(pool, "k", "old"));
    EQUAL(put_text(pool, "k", "new"), LARDER_OK);
    larder_pool_close(pool);
    unlink(pool_path_of("p"));
    EQUAL(rename(path_of("stash"), path_of("kept/p.snapshot")), 0);
    pool = open_saving("p");
    EQUAL(atomic_load(&pool->header->began), LARDER_BEGAN_EMPTY);
    CHECK(!holds_text(pool, "k", "old"));
}

/* ---- deaths ---------------------------------------------------------------------------------------------- */

typedef struct fate {
    unsigned point;
    uint64_t skip;
} fate;

static void save_and_die(void *context)
{
    const fate *its = context;
    fault_arm(its->point, its->skip, fault_die);
    save();
}

static void open_and_die(void *context)
{
    const fate *its = context;
    fault_arm(its->point, its->skip, fault_die);
    larder_pool_close(open_saving("p"));
}

static unsigned expect_truth(bool all)
{
    larder_pool *pool = open_saving("p");
    const larder_key deleted = key_of("deleted");
    unsigned found = 0;
    for (uint64_t i = 0; i < 50; i++) {
        described what;
        larder_hit hit;
        enum reading reading = read_described(pool, key_number(i), i, &what, &hit);
        CHECK(reading != READ_TORN);
        CHECK(reading == READ_NOTHING || what.version == 2);
        found += reading == READ_WHOLE;
    }
    CHECK(!larder_exists(pool, &deleted));
    CHECK(!all || found == 50);
    CHECK(!is_there("kept/p.snapshot"));
    larder_pool_leave(pool);
    CHECK_POOL_AFTER_DEATHS(pool);
    larder_pool_close(pool);
    return found;
}

TEST(left_behind,
     "what a killed saver was writing goes with the next pool of the name that is made, and with a removed one")
{
    fate its = {LARDER_AT_SNAPSHOT, 0};
    for (int removed = 0; removed < 2; removed++) {
        larder_pool_close(open_saving("p"));
        EQUAL(child_wait(child_start(save_and_die, &its)), 256 + SIGKILL);
        CHECK(is_there("kept/.new-p.snapshot"));
        if (removed) {
            remove_pool();
        } else {
            larder_pool_close(open_saving("p"));
        }
        CHECK(!is_there("kept/.new-p.snapshot"));
    }
}

TEST(killed,
     "a process killed anywhere in saving or loading leaves all of it, or a part, or nothing, and never what was dead")
{
    fate its;
    for (its.point = LARDER_AT_CLOSE; its.point <= LARDER_AT_LOAD; its.point++) {
        for (its.skip = 0; its.skip < 60; its.skip += 29) {
            larder_pool *pool = open_saving("p");
            const larder_key deleted = key_of("deleted");
            for (uint64_t i = 0; i < 50; i++) {
                for (uint64_t version = 1; version <= 2; version++) {
                    put_described(pool, key_number(i), &(described){.key = i, .version = version}, 400, LARDER_SET,
                                  LARDER_NO_EXPIRY);
                }
            }
            put_text(pool, "deleted", "v");
            larder_delete(pool, &deleted);
            larder_pool_close(pool);
            bool dies =
                its.skip == 0 || ((its.point == LARDER_AT_RECORD || its.point == LARDER_AT_LOAD) && its.skip < 50);
            int status = 0;
            if (its.point <= LARDER_AT_CLOSED) {
                status = child_wait(child_start(save_and_die, &its));
            } else {
                save();
                status = child_wait(child_start(open_and_die, &its));
            }
            EQUAL(status, dies ? 256 + SIGKILL : 0);
            expect_truth(!dies || its.point == LARDER_AT_CLOSE || its.point == LARDER_AT_CLOSED ||
                         its.point == LARDER_AT_CLAIM);
            unlink(pool_path_of("p")); /* the machine is switched off without a save */
            EQUAL(expect_truth(false), 0);
            remove_pool();
            if (test_failures() > 0) {
                printf("    at fault point %u, skip %llu\n", its.point, (unsigned long long)its.skip);
                test_give_up();
            }
        }
    }
}

static void delete_and_wait(void *context)
{
    larder_pool *pool = open_saving("p");
    const larder_key key = key_of("k");
    (void)context;
    fault_arm(LARDER_AT_CLEAR_WORD, 0, fault_stay);
    larder_delete(pool, &key);
    CHECK(!pool->request.undone);
    larder_pool_close(pool);
}

TEST(killed_late, "a delete that was in flight when a saver was killed with its work done is done in the next pool")
{
    fault_gate = shared_memory(sizeof *fault_gate);
    fate its = {LARDER_AT_CLOSED, 0};
    larder_pool *pool = open_saving("p");
    put_text(pool, "k", "v");
    larder_pool_close(pool);
    pid_t deleter = child_start(delete_and_wait, NULL);
    gate_wait(fault_gate, 1);
    EQUAL(child_wait(child_start(save_and_die, &its)), 256 + SIGKILL);
    pool = open_saving("p");
    CHECK(holds_text(pool, "k", "v")); /* it is not deleted yet */
    gate_open(fault_gate, 2);
    EQUAL(child_wait(deleter), 0);
    CHECK(!holds_text(pool, "k", "v"));
}
