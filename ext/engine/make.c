#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "make.h"
#include "descriptor.h"
#include "directory.h"
#include "geometry.h"
#include "map.h"
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define DEFAULT_SIZE      (UINT64_C(64) << 20)
#define ALLOCATED_AT_ONCE (UINT64_C(16) << 20)

static bool choose_size(const larder_pool *pool, int directory, uint64_t *size, larder_error *error)
{
    struct statvfs space;
    uint64_t available =
        fstatvfs(directory, &space) == 0 ? (uint64_t)space.f_bavail * (uint64_t)space.f_frsize : UINT64_MAX;
    uint64_t wanted = pool->config.size;
    if (wanted == 0 && pool->attached.had_size <= available) {
        wanted = pool->attached.had_size; /* 0: there was none yet */
    }
    if (wanted == 0) {
        wanted = available / 4 * 3 < DEFAULT_SIZE ? available / 4 * 3 / LARDER_PAGE * LARDER_PAGE : DEFAULT_SIZE;
        if (wanted < LARDER_SIZE_MIN) {
            return larder_fail(
                error,
                "%s has %llu bytes free, of which a pool takes three quarters at most, and %llu are the least "
                "that it needs; enlarge it (mount -o remount,size=256m /dev/shm; in Docker "
                "--shm-size=256m) or remove what fills it.",
                pool->paths.directory, (unsigned long long)available, (unsigned long long)LARDER_SIZE_MIN);
        }
    }
    if (wanted > available) {
        return larder_fail(
            error,
            "A pool of %llu bytes does not fit in %s, which has %llu bytes free; ask for less (larder.size) or "
            "enlarge it (mount -o remount,size=… /dev/shm; in Docker --shm-size=…).",
            (unsigned long long)wanted, pool->paths.directory, (unsigned long long)available);
    }
    *size = wanted;
    return true;
}

static bool write_header(larder_pool *pool, int directory, int fd, uint64_t size, larder_error *error)
{
    larder_header *header = mmap(NULL, LARDER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED) {
        return larder_fail(error, "The new pool for %s cannot be mapped (%s).", pool->paths.full, strerror(errno));
    }
    larder_geometry *geometry = &header->geometry;
    larder_geometry_plan(geometry, size);
    bool random = getrandom(geometry->id, sizeof geometry->id, 0) == (ssize_t)sizeof geometry->id &&
                  getrandom(&geometry->seed, sizeof geometry->seed, 0) == (ssize_t)sizeof geometry->seed;
    geometry->base = larder_choose_base(directory, pool->name, size);
    geometry->created = larder_pool_now(pool);
    geometry->evict = pool->config.evict;
    geometry->checksum = larder_geometry_checksum(geometry);
    atomic_store_explicit(&header->clock, 1, memory_order_relaxed); /* version 0 is before everything */
    atomic_store_explicit(&header->small_target,
                          ((uint64_t)(geometry->segment_count - 2) << geometry->segment_shift) / 10,
                          memory_order_relaxed);
    if (random) {
        larder_snapshot_claim(pool, header);
    }
    munmap(header, LARDER_PAGE);
    return random || larder_fail(error, "The system gave no random bytes for the new pool %s.", pool->paths.full);
}

/* All of it now: a tmpfs that fills up later would kill us with SIGBUS in the middle of a store. Signals wait, but for
 * no more than a piece: at one of them, a profiler's or that of a child's end, the tmpfs of some kernels gives up and
 * undoes what it did; and tens of GiB take seconds, in which a process that is told to end must be able to. */
static int allocate(int fd, uint64_t size)
{
    sigset_t all, before;
    larder_limit limit;
    int code = 0;
    sigfillset(&all);
    larder_limit_begin(&limit);
    for (uint64_t at = 0; at < size && code == 0; at += ALLOCATED_AT_ONCE) {
        uint64_t rest = size - at;
        pthread_sigmask(SIG_SETMASK, &all, &before);
        code = posix_fallocate(fd, (off_t)at, (off_t)(rest < ALLOCATED_AT_ONCE ? rest : ALLOCATED_AT_ONCE));
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    larder_limit_end(&limit);
    return code;
}

static bool cannot_allocate(const larder_pool *pool, uint64_t size, int code, larder_error *error)
{
    if (code == EFBIG) {
        return larder_fail(
            error,
            "A pool of %llu bytes cannot be made in %s, because this process may not make files of more "
            "than %llu bytes; raise that limit (ulimit -f, or LimitFSIZE= of a systemd unit), or ask for "
            "less (larder.size).",
            (unsigned long long)size, pool->paths.directory, (unsigned long long)larder_limit_bytes());
    }
    return larder_fail(error, "A pool of %llu bytes does not fit in %s (%s); ask for less (larder.size) or enlarge it.",
                       (unsigned long long)size, pool->paths.directory, strerror(code));
}

/* The file is complete but for the segments' lists, which need it mapped: larder_segments_recover() makes them from
 * the table, in which all zeros say "free". model/save.pml: maker() */
static bool make(larder_pool *pool, int directory, larder_error *error)
{
    uint64_t size = 0;
    char temporary[64];
    uint64_t random = 0;
    if (!choose_size(pool, directory, &size, error)) {
        return false;
    }
    (void)!getrandom(&random, sizeof random, 0);
    snprintf(temporary, sizeof temporary, ".new-%016llx", (unsigned long long)random);
    int fd = larder_open_at(directory, temporary, O_RDWR | O_CREAT | O_EXCL);
    if (fd < 0) {
        int code = errno;
        return larder_fail(error, "A pool file cannot be made in %s (%s); %s.", pool->paths.directory, strerror(code),
                           larder_remedy(code, "check who may write there"));
    }
    if (!larder_owner_take(larder_owner_of(pool), fd)) {
        larder_fail(error, "The new pool for %s cannot be given to %s (%s).", pool->paths.full,
                    larder_owner_name(larder_owner_of(pool)), strerror(errno));
        unlinkat(directory, temporary, 0);
        close(fd);
        return false;
    }
    int code = allocate(fd, size);
    bool made = code == 0 ? write_header(pool, directory, fd, size, error) : cannot_allocate(pool, size, code, error);
    LARDER_FAULT(LARDER_AT_NAME);
    if (made && renameat(directory, temporary, directory, pool->paths.file) != 0) {
        made = larder_fail(error, "The new pool file cannot be named %s (%s).", pool->paths.full, strerror(errno));
    }
    if (!made) {
        unlinkat(directory, temporary, 0);
    }
    close(fd);
    return made;
}

bool larder_make(larder_pool *pool, int directory, larder_error *error)
{
    struct stat status;
    larder_geometry geometry;
    if (!larder_directory_lock(directory, pool->paths.directory, larder_lock_wait_ms(pool), error)) {
        return false;
    }
    larder_directory_sweep(directory);
    bool done = true;
    int fd = larder_file_open(pool, directory, &status, error);
    if (fd < 0 && errno != ENOENT) {
        done = false;
    } else if (fd < 0) {
        done = make(pool, directory, error);
    } else {
        if (larder_file_judge(fd, &status, &geometry) != LARDER_SOUND) {
            larder_file_retire(pool, directory, fd, &status); /* first, so that its memory can be the new one's */
            done = make(pool, directory, error);
        }
        close(fd);
    }
    flock(directory, LOCK_UN);
    return done;
}
