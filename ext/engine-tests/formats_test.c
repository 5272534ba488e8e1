/* formats.h: pools of one name in different formats. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "saving.h"

#include "engine/directory.h"
#include "engine/formats.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHER "p@99" /* all that is known of another format: the file's name, and that its users lock some of it */

static void make_other(const char *file)
{
    int fd = open(path_of(file), O_CREAT | O_WRONLY, 0600);
    REQUIRE(fd >= 0 && write(fd, "whatever is in there", 20) == 20);
    close(fd);
}

static bool own_is_there(void)
{
    return access(pool_path_of("p"), F_OK) == 0;
}

/* A process of another version, from gate 1 to gate 2. */
static void use_other(void *context)
{
    gate *g = context;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 70, .l_len = 1};
    int fd = open(path_of(OTHER), O_RDWR);
    REQUIRE(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
    gate_open(g, 1);
    gate_wait(g, 2);
}

static pid_t start_other(gate *g)
{
    make_other(OTHER);
    pid_t other = child_start(use_other, g);
    gate_wait(g, 1);
    return other;
}

static void end_other(gate *g, pid_t other)
{
    gate_open(g, 2);
    EQUAL(child_wait(other), 0);
}

static unsigned names_seen;
static void see_name(void *context, const char *name)
{
    CHECK(strcmp(name, context) == 0);
    names_seen++;
}

TEST(unheld, "an unused pool of another format is removed by the next process that opens one of its name")
{
    make_other(OTHER);
    make_other("p@0");
    make_other("q@99");
    larder_pool_close(pool_open("p", 4 * MIB));
    CHECK(!is_there(OTHER) && !is_there("p@0"));
    CHECK(is_there("q@99"));
    CHECK(own_is_there());
}

static void lock_other(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 70, .l_len = 1};
    int fd = open(path_of(OTHER), O_RDWR); /* for as long as the test lasts */
    REQUIRE(fd >= 0 && fcntl(fd, F_OFD_SETLK, &lock) == 0);
}

TEST(held_meanwhile, "a pool of another format that is opened while it is being removed keeps its name")
{
    make_other(OTHER);
    fault_arm(LARDER_AT_TAKE_AWAY, 0, lock_other);
    larder_pool *pool = pool_open("p", 4 * MIB);
    fault_disarm();
    CHECK(is_there(OTHER));
    larder_pool_close(pool);
}

static void die(void)
{
    raise(SIGKILL);
}

static void open_and_die(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_ASIDE, 0, die);
    larder_pool_close(pool_open("p", 4 * MIB));
}

TEST(killed_aside, "a pool of another format whose remover was killed halfway is gone when the next pool is made")
{
    make_other(OTHER);
    EQUAL(child_wait(child_start(open_and_die, NULL)), 256 + SIGKILL);
    CHECK(!is_there(OTHER) && is_there(".new-other"));
    larder_pool *pool = pool_open("p", 4 * MIB);
    CHECK(!is_there(".new-other"));
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_close(pool);
    EQUAL(test_files(""), 1);
}

/* As another version does that has seen no lock. */
static void take_name_away(void)
{
    REQUIRE(unlink(pool_path_of("p")) == 0);
}

TEST(taken_away, "a process that opens a pool while another version takes it away does not go on with it")
{
    struct stat status;
    larder_pool_close(pool_open("p", 4 * MIB));
    fault_arm(LARDER_AT_SLOT_TAKE, 0, take_name_away);
    larder_pool *pool = pool_open("p", 4 * MIB);
    fault_disarm();
    REQUIRE(stat(pool_path_of("p"), &status) == 0);
    EQUAL(status.st_ino, pool->attached.inode);
    larder_pool_close(pool);
}

TEST(held, "a pool of another format is left alone while it is used, and removed within a minute of the end of that")
{
    gate *g = shared_memory(sizeof *g);
    pid_t other = start_other(g);
    larder_pool *pool = pool_timed(4 * MIB, true);
    REQUIRE(larder_pool_enter(pool));
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_leave(pool);
    for (int i = 0; i < 3; i++) {
        clock_ms += 61000;
        REQUIRE(larder_pool_enter(pool));
        CHECK(holds_text(pool, "k", "v"));
        larder_pool_leave(pool);
        CHECK(is_there(OTHER));
    }
    EQUAL(fault_count(LARDER_AT_TAKE_AWAY), 0); /* nor is it gone for a moment, in which its users would make another */
    end_other(g, other);
    clock_ms += 61000;
    REQUIRE(larder_pool_enter(pool));
    CHECK(holds_text(pool, "k", "v"));
    CHECK(!is_there(OTHER));
    larder_pool_close(pool);
}

TEST(visited, "a mere visitor of a pool that found another format looks for that again, too")
{
    gate *g = shared_memory(sizeof *g);
    larder_error error;
    larder_pool *pool = pool_timed(4 * MIB, true);
    EQUAL(pool_remove("p", &error), 1);
    larder_pool *next = pool_open("p", 4 * MIB);
    pid_t other = start_other(g);
    REQUIRE(larder_pool_visit(pool));
    larder_pool_leave(pool);
    end_other(g, other);
    clock_ms += 61000;
    REQUIRE(larder_pool_enter(pool));
    CHECK(!is_there(OTHER));
    larder_pool_close(pool);
    larder_pool_close(next);
}

TEST(anew, "a pool without a holder while there was another format is not used again; a held one is")
{
    gate *g = shared_memory(sizeof *g);
    pid_t other = start_other(g);
    larder_pool *first = pool_open("p", 4 * MIB);
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    larder_pool *second = pool_open("p", 4 * MIB);
    CHECK(holds_text(second, "k", "v"));
    larder_pool_close(second);
    larder_pool_close(first);
    first = pool_open("p", 4 * MIB);
    CHECK(!holds_text(first, "k", "v"));
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    larder_pool_close(first);
    end_other(g, other);
    first = pool_open("p", 4 * MIB);
    CHECK(!holds_text(first, "k", "v"));
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    larder_pool_close(first);
    first = pool_open("p", 4 * MIB);
    CHECK(holds_text(first, "k", "v"));
    larder_pool_close(first);
}

TEST(removed, "removing a pool removes it in all formats, and its name is told while there is one")
{
    larder_error error;
    larder_pool_config config = pool_config("p", 0);
    make_other(OTHER);
    make_other("p@0");
    char expected[] = "p";
    CHECK(larder_pool_names(&config, see_name, expected, &error));
    EQUAL(names_seen, 2);
    EQUAL(pool_remove("p", &error), 1);
    CHECK(!is_there(OTHER) && !is_there("p@0"));
    EQUAL(pool_remove("p", &error), 0);
}

TEST(cleared, "clearing a pool takes the name away from those in other formats, also from held ones")
{
    gate *g = shared_memory(sizeof *g);
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    pid_t other = start_other(g);
    larder_clear(pool);
    CHECK(!pool->request.undone && !is_there(OTHER) && own_is_there());
    larder_pool_close(pool);
    end_other(g, other);
}

static void let_open(struct rlimit *limit, rlim_t files)
{
    struct rlimit less = *limit;
    less.rlim_cur = files;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &less) == 0);
}

TEST(not_listed, "where the directory cannot be listed, clearing or removing a pool does not say that it is done")
{
    larder_error error = {.message = ""};
    struct rlimit limit;
    larder_pool *pool = pool_open("p", 4 * MIB);
    make_other(OTHER);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    int next = dup(0); /* the directory's number; there is none for a listing */
    close(next);
    let_open(&limit, (rlim_t)next + 1);
    larder_clear(pool);
    bool undone = pool->request.undone;
    int removed = pool_remove("p", &error);
    let_open(&limit, limit.rlim_cur);
    CHECK(undone && strstr(pool->request.trouble.message, "cannot be listed") != NULL);
    EQUAL(removed, -1);
    CHECK(strstr(error.message, "cannot be listed") != NULL);
    CHECK(is_there(OTHER));
    larder_pool_close(pool);
}

TEST(saved, "what was saved while there was another format is not loaded, and the pool says so")
{
    gate *g = shared_memory(sizeof *g);
    larder_error error;
    larder_saved saved;
    larder_pool_config config = saving_config("p");
    larder_pool *pool = pool_open_as(&config);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    EQUAL(larder_pool_save(&config, &saved, &error), 1);
    larder_pool_close(pool);
    pid_t other = start_other(g);
    pool = pool_open_as(&config);
    CHECK(!holds_text(pool, "k", "v"));
    CHECK(strstr(pool->header->reason, "another version") != NULL);
    CHECK(!is_there("kept/p.snapshot"));
    larder_pool_close(pool);
    end_other(g, other);
}

TEST(saved_and_gone, "what was saved while there was another format is not loaded when that has gone, either")
{
    gate *g = shared_memory(sizeof *g);
    larder_error error;
    larder_saved saved;
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    pid_t other = start_other(g);
    larder_pool *pool = pool_open_as(&config);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_leave(pool);
    EQUAL(larder_pool_save(&config, &saved, &error), 1);
    end_other(g, other); /* having deleted "k" in its own */
    clock_ms += 61000;
    larder_formats_look_again(pool); /* as if it had been saved a moment ago, when its user had looked */
    CHECK(is_there(OTHER));
    REQUIRE(larder_pool_enter(pool));
    CHECK(!holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}

TEST(saved_and_swept,
     "what was saved while there was another format is not loaded if the sweeper of that makes no pool, either")
{
    larder_error error;
    larder_saved saved;
    larder_pool_config config = saving_config("p");
    larder_pool *pool = pool_open_as(&config);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_close(pool);
    EQUAL(larder_pool_save(&config, &saved, &error), 1);
    make_other(OTHER);
    config.size = UINT64_C(1) << 40;
    CHECK(pool_refusal(&config)[0] != '\0');
    CHECK(!is_there(OTHER));
    config.size = 4 * MIB;
    pool = pool_open_as(&config);
    CHECK(!holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}

TEST(saved_beside, "a save of a pool removes those of another format that came and went while it was held")
{
    larder_error error;
    larder_saved saved;
    larder_pool_config config = saving_config("p");
    larder_pool *pool = pool_open_as(&config);
    make_other(OTHER);
    EQUAL(larder_pool_save(&config, &saved, &error), 1);
    CHECK(!is_there(OTHER));
    larder_pool_close(pool);
}

TEST(not_saved, "a pool that only another version can save stays as it is, and that is said")
{
    larder_error error = {.message = ""};
    larder_saved saved;
    larder_pool_config config = saving_config("p");
    make_other(OTHER);
    EQUAL(larder_pool_save(&config, &saved, &error), -1);
    CHECK(strstr(error.message, "another version") != NULL);
    CHECK(is_there(OTHER));
    CHECK(!own_is_there());
}

TEST(names, "a file is a pool's if its name is a pool's name, an at sign and a number")
{
    static const char *const none[] = {"p",    "p@",    "@4",       "p@4x",  "p@-4",
                                       "p@ 4", "p@4@4", ".new-4@4", "a b@4", "p@1234567890"};
    char name[LARDER_NAME_MAX + 1], long_one[LARDER_NAME_MAX + 8];
    uint32_t format;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        CHECK(!larder_file_is_pool(none[i], name, &format));
    }
    CHECK(larder_file_is_pool("a.b_c-d@12", name, &format));
    CHECK(strcmp(name, "a.b_c-d") == 0);
    EQUAL(format, 12);
    memset(long_one, 'n', LARDER_NAME_MAX + 1);
    memcpy(long_one + LARDER_NAME_MAX, "@4", sizeof "@4");
    CHECK(larder_file_is_pool(long_one, name, &format));
    memcpy(long_one + LARDER_NAME_MAX, "n@4", sizeof "n@4");
    CHECK(!larder_file_is_pool(long_one, name, &format));
}
