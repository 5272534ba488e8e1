#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "directory.h"
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

larder_owner larder_owner_of(const larder_pool *pool)
{
    return (larder_owner){.shared = pool->config.shared, .group = pool->config.group};
}

bool larder_owner_has(larder_owner owner, const struct stat *status)
{
    /* The user that gave it to the group is a member, and members trust each other. */
    return owner.shared ? status->st_gid == owner.group && (status->st_mode & 07) == 0
                        : status->st_uid == geteuid() && (status->st_mode & 077) == 0;
}

const char *larder_owner_name(larder_owner owner)
{
    static _Thread_local char name[48];
    snprintf(name, sizeof name, owner.shared ? "the members of group %u" : "user %u",
             owner.shared ? (unsigned)owner.group : (unsigned)geteuid());
    return name;
}

bool larder_owner_take(larder_owner owner, int fd)
{
    struct stat status;
    if (!owner.shared) {
        return true; /* made so */
    }
    /* The mode after the group: giving a file away may clear bits of it. */
    return fstat(fd, &status) == 0 && (status.st_gid == owner.group || fchown(fd, (uid_t)-1, owner.group) == 0) &&
           fchmod(fd, S_ISDIR(status.st_mode) ? 02770 : 0660) == 0;
}

static bool cannot_make(const char *path, int code, larder_error *error)
{
    return larder_fail(error, "The directory %s cannot be made (%s); make its parent, and let this user write there.",
                       path, strerror(code));
}

/* Under another name first, so that no process finds it before it is the group's. */
static bool make_shared(const char *path, larder_owner owner, bool *is_new, larder_error *error)
{
    char temporary[LARDER_PATH_MAX + 16];
    const char *slash = strrchr(path, '/');
    int parent = slash == NULL ? 0 : (int)(slash + 1 - path);
    snprintf(temporary, sizeof temporary, "%.*s.%s.XXXXXX", parent, path, path + parent);
    if (mkdtemp(temporary) == NULL) {
        return cannot_make(path, errno, error);
    }
    int fd = larder_open(temporary, O_RDONLY | O_DIRECTORY);
    bool made = (fd >= 0 && larder_owner_take(owner, fd)) ||
                larder_fail(error,
                            "The directory %s cannot be given to group %u (%s); add user %u to it, or set larder.group "
                            "to a group that this user belongs to.",
                            path, (unsigned)owner.group, strerror(errno), (unsigned)geteuid());
    if (fd >= 0) {
        close(fd);
    }
    *is_new = made && syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, 1u /* RENAME_NOREPLACE */) == 0;
    if (!*is_new) {
        /* It is as good if another process was faster. */
        made = made && (errno == EEXIST || cannot_make(path, errno, error));
        rmdir(temporary);
    }
    return made;
}

bool larder_directory_make(const char *path, larder_owner owner, bool *is_new, larder_error *error)
{
    struct stat status;
    *is_new = false;
    if (owner.shared) {
        return lstat(path, &status) == 0 || make_shared(path, owner, is_new, error);
    }
    *is_new = mkdir(path, 0700) == 0;
    return *is_new || errno == EEXIST || cannot_make(path, errno, error);
}

static enum larder_directory judge(int fd, const char *path, larder_owner owner, larder_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0) {
        larder_fail(error, "The directory %s cannot be looked at (%s).", path, strerror(errno));
        return LARDER_DIRECTORY_TROUBLE;
    }
    bool loose = !owner.shared && status.st_uid == geteuid() && (status.st_mode & 077) != 0;
    if (larder_owner_has(owner, &status) || (loose && fchmod(fd, 0700) == 0)) {
        return LARDER_DIRECTORY_OURS;
    }
    if (loose) {
        larder_fail(
            error,
            "The directory %s is open to other users and could not be closed to them (%s); run chmod 0700 on it.", path,
            strerror(errno));
        return LARDER_DIRECTORY_TROUBLE;
    }
    if (owner.shared) {
        larder_fail(error,
                    "The directory %s is not one that only the members of group %u can use; run chgrp %u and chmod "
                    "02770 on it, or have its owner, user %u, remove it.",
                    path, (unsigned)owner.group, (unsigned)owner.group, (unsigned)status.st_uid);
        /* Only a member can have given it to the group, and it is a member's to set right. */
        return status.st_gid == owner.group ? LARDER_DIRECTORY_TROUBLE : LARDER_DIRECTORY_FOREIGN;
    }
    larder_fail(error,
                "The directory %s belongs to user %u, not to user %u who runs this process; have its owner remove it.",
                path, (unsigned)status.st_uid, (unsigned)geteuid());
    return LARDER_DIRECTORY_FOREIGN;
}

static enum larder_directory judge_unopened(const char *path, int code, larder_owner owner, larder_error *error)
{
    struct stat status;
    bool there = lstat(path, &status) == 0;
    if (code == ENOENT) {
        larder_fail(error, "The directory %s is not there.", path);
        return LARDER_DIRECTORY_ABSENT;
    }
    if (code == ELOOP || code == ENOTDIR) {
        larder_fail(error, "%s is not a directory but a link or file that does not belong there; remove it.", path);
        return there && !S_ISDIR(status.st_mode) ? LARDER_DIRECTORY_FOREIGN : LARDER_DIRECTORY_TROUBLE;
    }
    if (owner.shared && code == EACCES && there && status.st_gid == owner.group) {
        larder_fail(error,
                    "The directory %s is open to the members of group %u only, and user %u is none; add it to the "
                    "group, or set larder.group to another.",
                    path, (unsigned)owner.group, (unsigned)geteuid());
        return LARDER_DIRECTORY_TROUBLE;
    }
    if (code == EACCES && there && status.st_uid != geteuid()) {
        larder_fail(error, "The directory %s belongs to user %u, not to %s; have its owner remove it.", path,
                    (unsigned)status.st_uid, larder_owner_name(owner));
        return LARDER_DIRECTORY_FOREIGN;
    }
    larder_fail(error, "The directory %s cannot be opened (%s); %s.", path, strerror(code),
                larder_remedy(code, "check who owns it"));
    return LARDER_DIRECTORY_TROUBLE;
}

int larder_directory_try(const char *path, larder_owner owner, enum larder_directory *what, larder_error *error)
{
    int fd = larder_open(path, O_RDONLY | O_DIRECTORY);
    *what = fd < 0 ? judge_unopened(path, errno, owner, error) : judge(fd, path, owner, error);
    if (fd >= 0 && *what != LARDER_DIRECTORY_OURS) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int larder_directory_open(const char *path, larder_owner owner, larder_error *error)
{
    bool is_new;
    enum larder_directory what;
    return larder_directory_make(path, owner, &is_new, error) ? larder_directory_try(path, owner, &what, error) : -1;
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

larder_deadline larder_deadline_in(unsigned wait_ms)
{
    return (larder_deadline){.end_ms = monotonic_ms() + wait_ms};
}

unsigned larder_time_left_ms(const larder_deadline *deadline)
{
    uint64_t now = monotonic_ms();
    return now < deadline->end_ms ? (unsigned)(deadline->end_ms - now) : 0;
}

#define NAP_MS 10u

bool larder_wait(const larder_deadline *deadline)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * 1000000L};
    bool goes_on = larder_time_left_ms(deadline) > 0;
    if (goes_on) {
        nanosleep(&nap, NULL);
    }
    return goes_on;
}

#define BRIEF_WAIT_MS 20u

unsigned larder_lock_wait_ms(const larder_pool *pool)
{
    return pool->config.does_not_wait                              ? 0
           : pool->attached.checked_at == 0 || pool->request.waits ? LARDER_LOCK_WAIT_MS
                                                                   : BRIEF_WAIT_MS;
}

bool larder_directory_lock(int directory, const char *path, unsigned wait_ms, larder_error *error)
{
    const larder_deadline deadline = larder_deadline_in(wait_ms);
    while (flock(directory, LOCK_EX | LOCK_NB) != 0) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || !larder_wait(&deadline)) {
            larder_fail(error,
                        "Another process has been making, saving or replacing a pool in %s for %u ms; if that does not "
                        "change, find out whether it is stopped (fuser -v %s) and end it.",
                        path, wait_ms, path);
            error->waited = true;
            return false;
        }
    }
    return true;
}

bool larder_name_is_sound(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > LARDER_NAME_MAX || name[0] == '.' || name[0] == '-') {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

bool larder_file_is_pool(const char *file, char name[LARDER_NAME_MAX + 1], uint32_t *format)
{
    const char *at = strchr(file, '@');
    size_t length = at == NULL ? 0 : (size_t)(at - file), digits = at == NULL ? 0 : strlen(at + 1);
    if (length > LARDER_NAME_MAX || digits == 0 || digits > 9 || strspn(at + 1, "0123456789") != digits) {
        return false;
    }
    memcpy(name, file, length);
    name[length] = '\0';
    *format = (uint32_t)strtoul(at + 1, NULL, 10);
    return larder_name_is_sound(name);
}

DIR *larder_directory_list(int directory)
{
    int copy = larder_open_at(directory, ".", O_RDONLY | O_DIRECTORY);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (listing == NULL && copy >= 0) {
        close(copy);
    }
    return listing;
}

void larder_directory_sweep(int directory)
{
    DIR *listing = larder_directory_list(directory);
    if (listing == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strncmp(entry->d_name, ".new-", 5) == 0) {
            unlinkat(directory, entry->d_name, 0);
        }
    }
    closedir(listing);
}

/* ---- the file of a pool ------------------------------------------------------------------------------------------ */

static sigset_t only_limit(void)
{
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGXFSZ);
    return only;
}

void larder_limit_begin(larder_limit *limit)
{
    sigset_t only = only_limit(), pending;
    pthread_sigmask(SIG_BLOCK, &only, &limit->before);
    limit->pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

/* The kernel has sent it to this thread, if it has. */
void larder_limit_end(const larder_limit *limit)
{
    const struct timespec at_once = {.tv_sec = 0};
    sigset_t only = only_limit();
    int code = errno;
    while (!limit->pending && sigtimedwait(&only, NULL, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
    errno = code;
}

uint64_t larder_limit_bytes(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

int larder_file_open(const larder_pool *pool, int directory, struct stat *status, larder_error *error)
{
    int fd = larder_open_at(directory, pool->paths.file, O_RDWR | O_NONBLOCK);
    if (fd < 0) {
        if (errno != ENOENT) {
            int code = errno;
            if (code == ELOOP) {
                larder_fail(error, "%s is a symbolic link that does not belong there; remove it.", pool->paths.full);
            } else {
                larder_fail(error, "The pool file %s cannot be opened (%s); %s.", pool->paths.full, strerror(code),
                            larder_remedy(code, "check who owns it"));
            }
            errno = code;
        }
        return -1;
    }
    if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode) || !larder_owner_has(larder_owner_of(pool), status)) {
        larder_fail(error, "%s is not a file that only %s can read and write; remove it.", pool->paths.full,
                    larder_owner_name(larder_owner_of(pool)));
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

enum larder_verdict larder_file_judge(int fd, const struct stat *status, larder_geometry *geometry)
{
    uint32_t dead;
    /* A pool that is marked dead and still has its name: the process that was about to remove the name died. */
    if (pread(fd, geometry, sizeof *geometry, 0) != (ssize_t)sizeof *geometry ||
        pread(fd, &dead, sizeof dead, offsetof(larder_header, dead)) != (ssize_t)sizeof dead || dead != LARDER_LIVES) {
        return LARDER_DAMAGED;
    }
    return larder_geometry_judge(geometry, (uint64_t)status->st_size);
}

/* Tells every process that has this file open that its name goes to another. But one that was closed stays so: its
 * saver was killed, perhaps when the snapshot was complete, and operations that are in flight in it have to find out.
 * model/save.pml: maker() */
void larder_file_mark_dead(int fd, const struct stat *status)
{
    const uint32_t dead = LARDER_DEAD;
    const off_t at = offsetof(larder_header, dead);
    uint32_t now = LARDER_LIVES;
    if ((uint64_t)status->st_size < LARDER_PAGE) {
        return;
    }
    if (pread(fd, &now, sizeof now, at) == (ssize_t)sizeof now && now != LARDER_CLOSED) {
        larder_limit limit;
        larder_limit_begin(&limit);
        LARDER_FAULT(LARDER_AT_DEAD);
        /* The file is about to lose its name: a failure here costs its users only the time until they look. */
        (void)!pwrite(fd, &dead, sizeof dead, at);
        larder_limit_end(&limit);
    }
}

void larder_file_retire(const larder_pool *pool, int directory, int fd, const struct stat *status)
{
    larder_file_mark_dead(fd, status);
    LARDER_FAULT(LARDER_AT_RETIRE);
    unlinkat(directory, pool->paths.file, 0);
}
