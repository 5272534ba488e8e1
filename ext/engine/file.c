#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "file.h"
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

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
    int fd = openat(directory, pool->file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno != ENOENT) {
            int code = errno;
            if (code == ELOOP) {
                larder_fail(error, "%s is a symbolic link that somebody put there; remove it.", pool->path);
            } else {
                larder_fail(error, "The pool file %s cannot be opened (%s); %s.", pool->path, strerror(code),
                            larder_remedy(code, "check who owns it"));
            }
            errno = code;
        }
        return -1;
    }
    if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode) || !larder_owner_has(larder_owner_of(pool), status)) {
        larder_fail(error, "%s is not a file that only %s can read and write; remove it.", pool->path,
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
    /* One that is marked dead and still has its name lost whoever was about to take that away. */
    if (pread(fd, geometry, sizeof *geometry, 0) != (ssize_t)sizeof *geometry ||
        pread(fd, &dead, sizeof dead, offsetof(larder_header, dead)) != (ssize_t)sizeof dead || dead != LARDER_LIVES) {
        return LARDER_DAMAGED;
    }
    return larder_geometry_judge(geometry, (uint64_t)status->st_size);
}

/* Tells every process that has this file open that its name goes to another. But one that was closed stays so: its
 * saver was killed, perhaps when the snapshot was complete, and operations that are under way in it have to find out.
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
    unlinkat(directory, pool->file, 0);
}
