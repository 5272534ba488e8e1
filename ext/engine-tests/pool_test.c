/* Opening and making pools, and those of others, links and other things in their place. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/larder.h"
#include "engine/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/resource.h>
#include <unistd.h>

#define STRANGER 12345

TEST(made_once, "a pool is made once, and found by the next to open it")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(put_text(pool, "k", "value"), LARDER_OK);
    larder_pool_close(pool);
    pool = pool_open("p", 4 * MIB);
    CHECK(holds_text(pool, "k", "value"));
    larder_pool_close(pool);
    pool = pool_open("p", 0); /* no wish: what is there */
    EQUAL(pool->geometry.size, 4 * MIB);
    CHECK(holds_text(pool, "k", "value"));
    larder_pool_close(pool);
    EQUAL(test_files(""), 1);
}

TEST(private_file, "the directory is made 0700, the file 0600, and the file has all its memory from the start")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.directory = path_of("new");
    larder_pool *pool = pool_open_as(&config);
    struct stat status;
    EQUAL(stat(path_of("new"), &status), 0);
    EQUAL(status.st_mode & 07777, 0700);
    EQUAL(stat(pool_path_of("new/p"), &status), 0);
    EQUAL(status.st_mode & 07777, 0600);
    EQUAL(status.st_size, 4 * MIB);
    COMPARE(status.st_blocks * 512, >=, 4 * MIB);
    larder_pool_close(pool);
}

TEST(other_size, "an existing pool opened with another size is used as it is, and one that is made next has that size")
{
    larder_pool *first = pool_open("p", 4 * MIB), *other = pool_open("p", 8 * MIB);
    EQUAL(other->geometry.size, 4 * MIB);
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    CHECK(holds_text(other, "k", "v"));
    larder_error error;
    EQUAL(pool_remove("p", &error), 1);
    larder_pool_doubt(other);
    CHECK(!holds_text(other, "k", "v"));
    EQUAL(other->geometry.size, 8 * MIB);
    larder_pool_doubt(first);
    EQUAL(put_text(first, "k", "v"), LARDER_OK);
    EQUAL(first->geometry.size, 8 * MIB);
}

TEST(other_evict, "an existing pool opened with another choice of eviction is an error that says so")
{
    larder_pool_close(pool_open("p", 4 * MIB));
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = false;
    const char *message = pool_refusal(&config);
    CONTAINS(message, "to evict");
    CONTAINS(message, "without eviction");
    config.name = "q";
    larder_pool_close(pool_open_as(&config));
    config.evict = true;
    CONTAINS(pool_refusal(&config), "not to evict");
}

TEST(sizes_refused, "a size below 4 MiB or above 1 TiB is refused, and says the bounds")
{
    static const uint64_t sizes[] = {1, LARDER_SIZE_MIN - 1, LARDER_SIZE_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const larder_pool_config config = pool_config("p", sizes[i]);
        CONTAINS(pool_refusal(&config), "between 4194304 (4 MiB) and 1099511627776 (1 TiB)");
    }
    EQUAL(test_files(""), 0);
}

TEST(names_refused, "a name that could leave the directory, hide in it or is too long is refused")
{
    static const char *const names[] = {"",
                                        ".",
                                        "..",
                                        ".new-1",
                                        "-a",
                                        "a/b",
                                        "../a",
                                        "a b",
                                        "a\n",
                                        "\xc3\xa4",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const larder_pool_config config = pool_config(names[i], 4 * MIB);
        CONTAINS(pool_refusal(&config), "is no name for a pool");
    }
    larder_pool_close(pool_open("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 4 * MIB));
    larder_pool_close(pool_open("_A.b-9", 4 * MIB));
}

TEST(does_not_fit, "a pool that does not fit says how much is free and leaves nothing behind")
{
    const char *place = path_of("small");
    char free_bytes[32];
    mkdir(place, 0700);
    /* Needs root, or a container's. In a name space of its own, the mount goes when this process does. In a chroot, /
     * is no mount that could be made private; its maker has seen to it. */
    REQUIRE(unshare(CLONE_NEWNS) == 0);
    (void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    REQUIRE(mount("none", place, "tmpfs", 0, "size=6m,mode=0700") == 0);
    larder_pool_config config = pool_config("p", 8 * MIB);
    config.directory = place;
    snprintf(free_bytes, sizeof free_bytes, "%llu bytes free", (unsigned long long)(6 * MIB));
    const char *message = pool_refusal(&config);
    CONTAINS(message, free_bytes);
    CONTAINS(message, "8388608");
    CONTAINS(message, "enlarge");
    config.size = 0; /* the default: three quarters of what is free */
    larder_pool *pool = pool_open_as(&config);
    EQUAL(pool->geometry.size, 6 * MIB / 4 * 3);
    larder_pool_close(pool);
    config.name = "q"; /* a quarter is left, too little for any */
    CONTAINS(pool_refusal(&config), "three quarters at most, and 4194304 are the least");
}

static void limit(__rlimit_resource_t which, rlim_t most)
{
    struct rlimit now;
    REQUIRE(getrlimit(which, &now) == 0);
    now.rlim_cur = most;
    REQUIRE(setrlimit(which, &now) == 0);
}

TEST(file_size_limited, "where files may not be so large, making a pool is an error that says so, and no signal")
{
    larder_pool_config config = pool_config("p", 8 * MIB);
    sigset_t only, pending;
    for (rlim_t most = 0; most <= MIB; most += MIB) {
        limit(RLIMIT_FSIZE, most);
        const char *message = pool_refusal(&config);
        CONTAINS(message, "ulimit -f");
        CONTAINS(message, most == 0 ? " 0 bytes" : " 1048576 bytes");
        EQUAL(test_files(""), 0);
        EQUAL(test_files(".new"), 0);
    }
    /* One that was in flight before is the process's own affair. */
    sigemptyset(&only);
    sigaddset(&only, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &only, NULL);
    raise(SIGXFSZ);
    CONTAINS(pool_refusal(&config), "ulimit -f");
    sigpending(&pending);
    EQUAL(sigismember(&pending, SIGXFSZ), 1);
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    larder_pool_close(pool_open("p", 8 * MIB));
    /* What is there already is used, and removed. */
    limit(RLIMIT_FSIZE, 0);
    larder_pool *pool = pool_open("p", 8 * MIB);
    larder_error error;
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    EQUAL(pool_remove("p", &error), 1);
    larder_pool_close(pool);
}

TEST(no_descriptors, "a process that has too few descriptors left is told so, however few there are")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.snapshots = test_directory();
    struct rlimit before;
    unsigned refused = 0;
    larder_pool_close(pool_open_as(&config));
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    int first = dup(2);
    close(first);
    for (rlim_t left = 0; left < 8; left++) {
        limit(RLIMIT_NOFILE, (rlim_t)first + left);
        const char *message = pool_refusal(&config);
        if (message[0] != '\0') {
            CONTAINS(message, "Too many open files");
            CONTAINS(message, "ulimit -n");
            refused++;
        }
        limit(RLIMIT_NOFILE, before.rlim_cur);
    }
    COMPARE(refused, >=, 3); /* for the directory, the pool, and the place in it */
    COMPARE(refused, <, 8);
    pool_remove("p", &(larder_error){.message = ""});
    for (rlim_t left = 0; left < refused; left++) {
        limit(RLIMIT_NOFILE, (rlim_t)first + left);
        CONTAINS(pool_refusal(&config), "ulimit -n");
        limit(RLIMIT_NOFILE, before.rlim_cur);
    }
}

/* ---- foreign things in its place ------------------------------------------------------------------------- */

TEST(file_link, "a symbolic link in the file's place is refused, and its target left alone")
{
    int fd = open(path_of("victim"), O_CREAT | O_RDWR, 0600);
    REQUIRE(write(fd, "precious", 8) == 8);
    REQUIRE(symlink(path_of("victim"), pool_path_of("p")) == 0);
    const larder_pool_config config = pool_config("p", 4 * MIB);
    CONTAINS(pool_refusal(&config), "symbolic link");
    char text[16];
    EQUAL(pread(fd, text, sizeof text, 0), 8);
    EQUAL(memcmp(text, "precious", 8), 0);
    close(fd);
}

TEST(other_kinds_of_file,
     "a directory, a pipe or a hard-linked foreign file in the file's place is refused, without waiting")
{
    const larder_pool_config config = pool_config("p", 4 * MIB);
    mkdir(pool_path_of("p"), 0700);
    CONTAINS(pool_refusal(&config), "p");
    rmdir(pool_path_of("p"));
    REQUIRE(mkfifo(pool_path_of("p"), 0600) == 0);
    CONTAINS(pool_refusal(&config), "remove it");
}

TEST(foreign_file, "a pool file of another user in our directory is refused, and left as it is")
{
    larder_pool_close(pool_open("p", 4 * MIB));
    REQUIRE(chown(pool_path_of("p"), STRANGER, STRANGER) == 0);
    const larder_pool_config config = pool_config("p", 4 * MIB);
    CONTAINS(pool_refusal(&config), "only user 0 can read and write");
    struct stat status;
    EQUAL(stat(pool_path_of("p"), &status), 0);
    EQUAL(status.st_uid, STRANGER);
}

TEST(loose_file, "a pool file that others may read or write is refused")
{
    static const mode_t modes[] = {0644, 0620, 0602, 0666};
    larder_pool_close(pool_open("p", 4 * MIB));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        REQUIRE(chmod(pool_path_of("p"), modes[i]) == 0);
        const larder_pool_config config = pool_config("p", 4 * MIB);
        CONTAINS(pool_refusal(&config), "only user 0 can read and write");
    }
}

TEST(loose_directory, "an own directory that others may enter is closed to them")
{
    REQUIRE(chmod(test_directory(), 0777) == 0);
    larder_pool_close(pool_open("p", 4 * MIB));
    struct stat status;
    EQUAL(stat(test_directory(), &status), 0);
    EQUAL(status.st_mode & 07777, 0700);
}

/* ---- making ---------------------------------------------------------------------------------------------- */

static void make_and_die(void *context)
{
    (void)context;
    signal(SIGPROF, SIG_DFL);
    larder_pool *pool = pool_open("p", 16 * MIB);
    larder_pool_close(pool);
}

TEST(makers_killed, "makers killed at any time leave nothing that hinders the next, nor files of theirs")
{
    rng r = {test_seed()};
    unsigned killed = 0;
    for (uint64_t i = 0; i < 150 + 200 * test_scale(); i++) {
        pool_remove("p", &(larder_error){.message = ""});
        pid_t pid = child_start(make_and_die, NULL);
        usleep((useconds_t)rng_below(&r, 12000));
        kill(pid, SIGKILL);
        killed += child_wait(pid) == 256 + SIGKILL;
        if (i % 4 == 0) {
            larder_pool *pool = pool_open("p", 16 * MIB);
            EQUAL(put_text(pool, "k", "v"), LARDER_OK);
            CHECK(holds_text(pool, "k", "v"));
            CHECK_POOL(pool);
            larder_pool_close(pool);
        }
    }
    COMPARE(killed, >, 20);
    larder_error error;
    pool_remove("p", &error);
    larder_pool_close(pool_open("p", 4 * MIB)); /* the maker of one sweeps first */
    EQUAL(test_files(".new-"), 0);
}

typedef struct race {
    gate go;
    _Atomic uint32_t ready;
    uint8_t id[8][16];
} race;

static race *racing;

static void make_at_once(void *context)
{
    uintptr_t number = (uintptr_t)context;
    atomic_fetch_add(&racing->ready, 1);
    gate_wait(&racing->go, 1);
    larder_pool *pool = pool_open("p", 4 * MIB);
    memcpy(racing->id[number], pool->geometry.id, 16);
    larder_pool_close(pool);
}

TEST(made_at_once, "eight processes that make a pool at once all get the same one")
{
    racing = shared_memory(sizeof *racing);
    for (int round = 0; round < 10; round++) {
        pid_t pids[8];
        atomic_store(&racing->ready, 0);
        atomic_store(&racing->go.number, 0);
        for (uintptr_t i = 0; i < 8; i++) {
            pids[i] = child_start(make_at_once, (void *)i);
        }
        while (atomic_load(&racing->ready) < 8) {
            usleep(100);
        }
        gate_open(&racing->go, 1);
        for (int i = 0; i < 8; i++) {
            EQUAL(child_wait(pids[i]), 0);
            EQUAL(memcmp(racing->id[i], racing->id[0], 16), 0);
        }
        pool_remove("p", &(larder_error){.message = ""});
        EQUAL(test_files(""), 0);
    }
}

static void hold_directory(void *context)
{
    int fd = open(test_directory(), O_RDONLY | O_DIRECTORY);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    gate_open(context, 1);
    raise(SIGSTOP);
}

TEST(stopped_maker,
     "a stopped process that holds the directory is waited for a bounded time, or not at all, and named as the cause")
{
    gate *g = shared_memory(sizeof *g);
    larder_pool_close(pool_open("there", 4 * MIB));
    pid_t pid = child_start(hold_directory, g);
    gate_wait(g, 1);
    larder_pool_close(pool_open("there", 4 * MIB)); /* what exists needs no lock */
    larder_pool_config config = pool_config("p", 4 * MIB);
    CONTAINS(pool_refusal(&config), "Another process");
    config.does_not_wait = true; /* it has been waited for */
    config.name = "there";
    config.snapshots = path_of("snapshots");
    larder_error error = {.message = ""};
    larder_saved saved;
    EQUAL(larder_pool_remove(&config, &error), -1);
    CONTAINS(error.message, "for 0 ms; if that does not change, find out whether it is stopped");
    error.waited = false;
    EQUAL(larder_pool_save(&config, &saved, &error), -1);
    CONTAINS(error.message, "for 0 ms; if that does not change, find out whether it is stopped");
    CHECK(error.waited);
    kill(pid, SIGKILL);
    child_wait(pid);
    larder_pool_close(pool_open("p", 4 * MIB));
}

#define LARGE (64 * MIB)

static volatile sig_atomic_t came_half_way; /* a signal, when a part of the file was there */

static void look_at_files(int signal)
{
    (void)signal;
    int code = errno; /* of the code that the signal interrupts */
    for (int fd = 3; fd < 24; fd++) {
        struct stat status;
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= (off_t)(4 * MIB) &&
            status.st_size < (off_t)LARGE) {
            came_half_way = 1;
        }
    }
    errno = code;
}

/* While a timer interrupts it all the time. */
static void make_large(void)
{
    const struct sigaction action = {.sa_handler = look_at_files}, none = {.sa_handler = SIG_DFL};
    const struct itimerval often = {{.tv_usec = 200}, {.tv_usec = 200}}, never = {{.tv_usec = 0}, {.tv_usec = 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    larder_pool_config config = pool_config("p", LARGE);
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(&config, &error);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &none, NULL);
    REQUIRE(pool != NULL);
    larder_pool_close(pool);
}

TEST(made_amid_signals, "signals do not keep a pool from being made, nor wait until it is")
{
    larder_error error;
    for (int tries = 0; tries < 20 && !came_half_way; tries++) { /* once, unless there was no time for signals */
        make_large();
        EQUAL(pool_remove("p", &error), 1);
    }
    CHECK(came_half_way);
}
