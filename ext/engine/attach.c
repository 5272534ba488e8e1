#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "attach.h"
#include "aside.h"
#include "descriptor.h"
#include "directory.h"
#include "formats.h"
#include "geometry.h"
#include "index.h"
#include "lock.h"
#include "map.h"
#include "quota.h"
#include "segment.h"
#include "slot.h"
#include "snapshot.h"
#include "larder.h"
#include "token.h"

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
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- making the file ------------------------------------------------------------------------------------------ */

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

/* ---- attaching ------------------------------------------------------------------------------------------------ */

static bool check_wishes(const larder_pool *pool, const larder_geometry *geometry, larder_error *error)
{
    /* Another size serves as well: larder_pool_resize() may have changed it. */
    if (!pool->config.only_existing && pool->config.evict != (geometry->evict != 0)) {
        return larder_fail(error,
                           "The pool \"%s\" was made %s, and is now asked for %s; use another name, or remove the pool "
                           "first (Larder\\SharedMemory::remove('%s'), or delete %s).",
                           pool->name, geometry->evict != 0 ? "to evict" : "not to evict",
                           pool->config.evict ? "with eviction" : "without eviction", pool->name, pool->paths.full);
    }
    return true;
}

static void point_into(larder_pool *pool)
{
    const larder_geometry *g = &pool->geometry;
    pool->header = (larder_header *)pool->rw;
    pool->slots = (larder_slot *)(pool->rw + g->slots_at);
    pool->pins = (_Atomic uint64_t *)(pool->rw + g->pins_at);
    larder_quota_begin(pool);
    pool->buckets = (larder_bucket *)(pool->rw + g->buckets_at);
    pool->deletions = (_Atomic uint64_t *)(pool->rw + g->deletions_at);
    pool->tags = (_Atomic uint64_t *)(pool->rw + g->tags_at);
    pool->recent = (larder_recent *)(pool->rw + g->recent_at);
    pool->carried = (_Atomic uint64_t *)(pool->rw + g->carried_at);
    pool->windows = (larder_window *)(pool->rw + g->windows_at);
    pool->leases = (larder_lease *)(pool->rw + g->leases_at);
    pool->ghosts = (_Atomic uint32_t *)(pool->rw + g->ghosts_at);
    pool->segments = (larder_segment *)(pool->rw + g->table_at);
    pool->generations = (_Atomic uint32_t *)(pool->rw + g->generations_at);
    pool->starts = (_Atomic uint64_t *)(pool->rw + g->starts_at);
    pool->seed = g->seed;
    pool->segments_at = g->segments_at;
    pool->size = g->size;
    pool->segment_count = g->segment_count;
    pool->bucket_count = g->bucket_count;
    pool->deletion_count = g->deletion_count;
    pool->unit_shift = g->unit_shift;
    pool->segment_shift = g->segment_shift;
}

/* 1 + the index of this PHP's ABI in the pool's list; 0 if 16 others were here before. */
static uint8_t register_abi(larder_header *header, uint32_t abi)
{
    for (uint32_t i = 0; abi != 0 && i < LARDER_ABIS; i++) {
        uint32_t seen = 0;
        LARDER_FAULT(LARDER_AT_ABI);
        /* seq_cst: one process's entry is seen by the next before it chooses; and by every write that began before we
         * look at the clock for the first time (see clear_others() in publish.c). */
        if (atomic_compare_exchange_strong_explicit(&header->abis[i], &seen, abi, memory_order_seq_cst,
                                                    memory_order_seq_cst) ||
            seen == abi) {
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

static bool allocate_pin_lists(larder_pool *pool, larder_error *error)
{
    uint32_t count = pool->geometry.segment_count;
    free(pool->request.pinned_list);
    pool->request.pinned_list = calloc(count, sizeof *pool->request.pinned_list);
    pool->request.pinned_count = 0;
    pool->request.kept_count = 0;
    return pool->request.pinned_list != NULL ||
           larder_fail(error, "There is no memory for the list of pins of the pool \"%s\".", pool->name);
}

void larder_detach(larder_pool *pool)
{
    larder_slot_release(pool);
    larder_map_give_marks_back(pool);
    larder_mapping *mapping = pool->attached.mapping;
    pool->attached.mapping = NULL; /* first: in the child of another thread's fork this handle is closed once more */
    larder_unmap(mapping);
    pool->ro = NULL;
    pool->rw = NULL;
    memset(pool->request.leases_held, 0, sizeof pool->request.leases_held);
    if (pool->attached.fd >= 0) {
        close(pool->attached.fd);
        pool->attached.fd = -1;
    }
}

/* Are the tables sound? Makes the lists of a new pool. */
static bool start_segments(larder_pool *pool)
{
    if (!larder_segments_are_sound(pool) || !larder_index_is_sound(pool)) {
        return false;
    }
    if (larder_lock(pool)) { /* else another process works with them, and finds by itself that they are unsound */
        if (!larder_lists_are_sound(pool)) {
            larder_segments_recover(pool);
        }
        larder_unlock(pool);
    }
    return true;
}

/* Was it removed, replaced or saved between our opening it and our taking a slot? */
static bool has_lost_its_name(const larder_pool *pool)
{
    return atomic_load_explicit(&pool->header->dead, memory_order_relaxed) != LARDER_LIVES ||
           !larder_slot_has_its_name(pool);
}

/* Where nothing is evicted, a miss says that nothing is there, and a counter or a session would begin anew over the one
 * that is still to come. So a process that does not load has no such pool before all is loaded. It waits with neither
 * a slot nor the segment lock, which the loader needs. */
static bool await_loader(larder_pool *pool, const larder_deadline *deadline, larder_error *error)
{
    while (pool->geometry.evict == 0 && !larder_snapshot_is_ours(pool) && larder_pool_is_loading(pool) &&
           /* relaxed: it only says that there is nothing to wait for. */
           atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == LARDER_LIVES) {
        if (!larder_wait(deadline)) {
            larder_fail(error, "The pool \"%s\" is being loaded from its snapshot; try again in a moment.", pool->name);
            error->waited = true;
            return false;
        }
    }
    return true;
}

enum attached { ATTACHED, VANISHED, FAILED };

/* Attaches to the file of the pool's name; VANISHED: there is none, or a damaged one. */
static enum attached attach_existing(larder_pool *pool, int directory, const larder_deadline *deadline,
                                     larder_error *error)
{
    struct stat status;
    int fd = larder_file_open(pool, directory, &status, error);
    if (fd < 0) {
        return errno == ENOENT ? VANISHED : FAILED;
    }
    if (larder_file_judge(fd, &status, &pool->geometry) != LARDER_SOUND) {
        close(fd);
        return VANISHED;
    }
    pool->attached.fd = fd;
    pool->attached.device = status.st_dev;
    pool->attached.inode = status.st_ino;
    if (!check_wishes(pool, &pool->geometry, error) || !allocate_pin_lists(pool, error) ||
        !larder_map(pool, fd, error)) {
        larder_detach(pool);
        return FAILED;
    }
    point_into(pool);
    if (pool->zero_copy) {
        larder_stray_watch();
    }
    if (!await_loader(pool, deadline, error)) {
        larder_detach(pool);
        return FAILED;
    }
    if (!larder_slot_take(pool, error)) {
        bool vanished = has_lost_its_name(pool);
        larder_detach(pool);
        return vanished ? VANISHED : FAILED;
    }
    pool->abi = register_abi(pool->header, pool->config.abi);
    if (!start_segments(pool)) {
        /* Its tables make no sense: it goes the way of a damaged header. */
        uint32_t lives = LARDER_LIVES;
        LARDER_FAULT(LARDER_AT_CONDEMN);
        atomic_compare_exchange_strong_explicit(&pool->header->dead, &lives, LARDER_DEAD, memory_order_release,
                                                memory_order_relaxed);
        pool->header->geometry.magic = 0;
        larder_detach(pool);
        return VANISHED;
    }
    if (!larder_snapshot_forget(pool, directory, error)) {
        larder_detach(pool);
        return FAILED;
    }
    /* What the request remembers is about another pool. */
    larder_memory_outlive(pool->memory);
    pool->attached.number++;
    pool->attached.had_size = pool->geometry.size;
    pool->attached.checked_at = pool->attached.named_at = larder_pool_now(pool);
    return ATTACHED;
}

static bool attach_in(larder_pool *pool, int directory, const larder_deadline *deadline, larder_error *error)
{
    if (!larder_formats_settle(pool, directory, error)) {
        return false;
    }
    /* A pool may be replaced between our looking and our locking; no process replaces pools ten times in a row. */
    enum attached result = VANISHED;
    for (int tries = 0; tries < 10 && result == VANISHED; tries++) {
        result = attach_existing(pool, directory, deadline, error);
        if (result == VANISHED && pool->config.only_existing) {
            error->message[0] = '\0'; /* that there is none is no error */
            result = FAILED;
        } else if (result == VANISHED && !larder_make(pool, directory, error)) {
            result = FAILED;
        }
    }
    if (result == VANISHED) {
        result = attach_existing(pool, directory, deadline, error);
        if (result == VANISHED) {
            larder_fail(error, "The pool file %s is removed or damaged again and again; find out by whom.",
                        pool->paths.full);
        }
    }
    return result == ATTACHED;
}

/* Another directory may be the one meanwhile: see aside.h. */
static bool was_retired(int directory)
{
    struct stat status;
    return fstat(directory, &status) == 0 && status.st_nlink == 0;
}

bool larder_attach(larder_pool *pool, larder_error *error)
{
    const larder_deadline deadline = larder_deadline_in(larder_lock_wait_ms(pool));
    bool attached = false, again = true;
    for (int tries = 0; again && tries < 3; tries++) {
        int directory = larder_find_directory(pool, true, error);
        if (directory < 0) {
            return false;
        }
        attached = attach_in(pool, directory, &deadline, error);
        again = !attached && was_retired(directory);
        close(directory);
    }
    if (attached) {
        larder_snapshot_load(pool);
        larder_memory_watch_loading(pool);
    }
    return attached;
}
