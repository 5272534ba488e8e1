/* Usage: tests [-l] [TOPIC | TEXT]...
 *
 * Runs the tests of the topics (the files' names without _test.c), or those whose promise contains the text; without
 * arguments all. -l lists them instead.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PARENT          "/dev/shm"
#define PREFIX          "larder-tests-"
#define PRINTED         20  /* failures of one test that are shown */
#define STUCK_AFTER     900 /* seconds, and at scales above 10 in proportion; a backstop, not a promise */
#define DIRECTORY_BYTES 256

static test_case *first_test;
static test_case **last_test = &first_test;
static char root[DIRECTORY_BYTES / 2];
static char directory[DIRECTORY_BYTES];
static uint64_t seed;
static _Atomic uint32_t *failures;    /* of the test that runs, in all its processes */
static volatile sig_atomic_t running; /* its process group */

void test_register(test_case *test)
{
    *last_test = test;
    last_test = &test->next;
}

/* ---- checks ---------------------------------------------------------------------------------------------- */

bool test_failed(const char *file, int line, const char *format, ...)
{
    uint32_t count = atomic_fetch_add(failures, 1);
    if (count < PRINTED) {
        char text[1024];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        const char *name = strrchr(file, '/');
        printf("    %s:%d: %s\n", name == NULL ? file : name + 1, line, text);
        fflush(stdout);
    }
    return false;
}

uint32_t test_failures(void)
{
    return atomic_load(failures);
}

void test_give_up(void)
{
    _exit(1);
}

bool test_check(const char *file, int line, const char *words, bool holds)
{
    return holds || test_failed(file, line, "%s is false", words);
}

bool test_compare(const char *file, int line, const char *words, int64_t actual, int64_t expected, bool holds)
{
    return holds || test_failed(file, line, "%s does not hold: %" PRId64 " and %" PRId64, words, actual, expected);
}

bool test_contains(const char *file, int line, const char *text, const char *part)
{
    return strstr(text, part) != NULL || test_failed(file, line, "\"%s\" does not say \"%s\"", text, part);
}

const char *test_directory(void)
{
    return directory;
}

unsigned test_files(const char *prefix)
{
    unsigned count = 0;
    DIR *listing = opendir(test_directory());
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        count += entry->d_name[0] != '.' || strncmp(entry->d_name, ".new-", 5) == 0
                     ? strncmp(entry->d_name, prefix, strlen(prefix)) == 0
                     : 0;
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return count;
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 10);
}

uint64_t test_scale(void)
{
    return number_from("LARDER_TESTS_SCALE", 1);
}

uint64_t test_seed(void)
{
    return seed;
}

/* ---- directories ----------------------------------------------------------------------------------------- */

static void empty_directory(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *listing = fd < 0 ? NULL : fdopendir(fd);
    if (listing == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        if (unlinkat(fd, entry->d_name, 0) != 0 && errno != ENOENT) {
            empty_directory(fd, entry->d_name);
            unlinkat(fd, entry->d_name, AT_REMOVEDIR);
        }
    }
    closedir(listing);
}

static void remove_directory(const char *path)
{
    empty_directory(AT_FDCWD, path);
    unlinkat(AT_FDCWD, path, 0);
    unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

/* Directories of runs that were killed: no process holds the lock on them. */
static void sweep(void)
{
    DIR *listing = opendir(PARENT);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        char path[sizeof PARENT + 256];
        if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) != 0) {
            continue;
        }
        snprintf(path, sizeof path, PARENT "/%s", entry->d_name);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
            remove_directory(path);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
}

static void clean_up(int signal_number)
{
    if (running > 0) {
        kill(-running, SIGKILL);
    }
    remove_directory(root);
    if (signal_number != 0) {
        _exit(128 + signal_number);
    }
}

static void make_root(void)
{
    snprintf(root, sizeof root, PARENT "/" PREFIX "XXXXXX");
    int fd = mkdtemp(root) == NULL ? -1 : open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || chmod(root, 0711) != 0 || flock(fd, LOCK_EX) != 0) {
        perror(root);
        exit(2);
    }
    struct sigaction action = {.sa_handler = clean_up};
    sigfillset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* ---- running --------------------------------------------------------------------------------------------- */

static void run_here(const test_case *test)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    alarm((unsigned)(STUCK_AFTER * (test_scale() > 10 ? test_scale() : 10) / 10));
    test->run();
    exit(atomic_load(failures) != 0); /* not _exit(): the sanitizer looks for leaks now */
}

static bool run_test(const test_case *test, unsigned number)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    atomic_store(failures, 0);
    snprintf(directory, sizeof directory, "%s/%u", root, number);
    if (mkdir(directory, 0700) != 0) {
        perror(directory);
        exit(2);
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        run_here(test);
    }
    setpgid(pid, pid);
    running = pid;
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    kill(-pid, SIGKILL);
    running = 0;
    remove_directory(directory);
    if (WIFSIGNALED(status)) {
        test_failed(test->file, 0, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0 && atomic_load(failures) == 0) {
        test_failed(test->file, 0, "ended with status %d", WEXITSTATUS(status));
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    bool passed = atomic_load(failures) == 0;
    printf("%s  %s (%.2f s)\n", passed ? "ok    " : "FAILED", test->promise,
           (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return passed;
}

static bool is_topic(const test_case *test, const char *topic)
{
    const char *name = strrchr(test->file, '/');
    name = name == NULL ? test->file : name + 1;
    size_t length = strlen(topic);
    return strncmp(name, topic, length) == 0 && strcmp(name + length, "_test.c") == 0;
}

static bool names_topic(const char *wish)
{
    for (const test_case *test = first_test; test != NULL; test = test->next) {
        if (is_topic(test, wish)) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const test_case *test, int count, char **wishes)
{
    for (int i = 0; i < count; i++) {
        if (names_topic(wishes[i]) ? is_topic(test, wishes[i]) : strstr(test->promise, wishes[i]) != NULL) {
            return true;
        }
    }
    return count == 0;
}

int main(int count, char **arguments)
{
    unsigned passed = 0, failed = 0, number = 0;
    bool list = count > 1 && strcmp(arguments[1], "-l") == 0;
    int wishes = count - 1 - list;
    failures = mmap(NULL, sizeof *failures, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (failures == MAP_FAILED || getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
        perror("tests");
        return 2;
    }
    seed = number_from("LARDER_TESTS_SEED", seed % 1000000);
    sweep();
    make_root();
    for (const test_case *test = first_test; test != NULL; test = test->next) {
        if (!is_wanted(test, wishes, arguments + 1 + list)) {
            continue;
        }
        if (list) {
            printf("%s\n", test->promise);
        } else if (run_test(test, number++)) {
            passed++;
        } else {
            failed++;
        }
    }
    clean_up(0);
    if (!list) {
        printf("%u passed, %u failed (seed %" PRIu64 ")\n", passed, failed, seed);
    }
    return failed != 0 || (passed == 0 && !list);
}
