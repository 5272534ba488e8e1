/* Life of a pool file. Making, replacing and removing happen under a lock on the directory, so that two processes
 * never both make "the" pool. A pool gets its name by rename() when it is complete; it loses it by being marked dead
 * first. A process that has it open notices by the mark, or because the name leads to another inode.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "pool.h"
#include "geometry.h"
#include "pin.h"
#include "segment.h"
#include "slot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define DEFAULT_SIZE      (UINT64_C(64) << 20)
#define LOCK_PATIENCE_MS  5000u /* how long opening waits for another process that makes a pool */
#define BRIEF_PATIENCE_MS 20u   /* ... and a request that is already running */
#define CHECK_EVERY_MS    100u  /* how long a pool may be gone before a long-running process looks */
#define CHECK_EVERY_CALLS 16    /* ... and operations, when they come quickly */

static bool fail(larder_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- the directory ------------------------------------------------------------------------------------- */

static int open_directory(const char *path, larder_error *error)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        fail(error, "The directory %s for pools cannot be made (%s); make its parent writable, or mount a tmpfs there.",
             path, strerror(errno));
        return -1;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        fail(error,
             errno == ELOOP || errno == ENOTDIR
                 ? "%s is not a directory but a link or file that somebody put there (%s); remove it."
                 : "The directory %s for pools cannot be opened (%s); check who owns it.",
             path, strerror(errno));
        return -1;
    }
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_uid != geteuid()) {
        fail(error,
             "The directory %s belongs to user %u, not to user %u who runs this process; have its owner remove it.",
             path, (unsigned)status.st_uid, (unsigned)geteuid());
        close(fd);
        return -1;
    }
    if ((status.st_mode & 077) != 0 && fchmod(fd, 0700) != 0) {
        fail(error,
             "The directory %s is open to other users and could not be closed to them (%s); run chmod 0700 on it.",
             path, strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static void pause_ms(long milliseconds)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

/* Waits a bounded time: whoever holds the lock may be stopped. */
static bool lock_directory(int directory, const char *path, unsigned patience, larder_error *error)
{
    for (unsigned waited = 0; flock(directory, LOCK_EX | LOCK_NB) != 0; waited += 10) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= patience) {
            return fail(error,
                        "Another process has been making or replacing a pool in %s for %u ms; if that does not "
                        "change, find out whether it is stopped (fuser -v %s) and end it.",
                        path, waited, path);
        }
        pause_ms(10);
    }
    return true;
}

static bool name_is_sound(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > LARDER_NAME_MAX || name[0] == '.' || name[0] == '-') {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

/* ---- an existing file ---------------------------------------------------------------------------------- */

/* Opens the file of that name if it is ours alone. -1 with errno ENOENT: there is none. */
static int open_file(const larder_pool *pool, int directory, struct stat *status, larder_error *error)
{
    int fd = openat(directory, pool->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (errno != ENOENT) {
            int code = errno;
            fail(error,
                 code == ELOOP ? "%s is a symbolic link that somebody put there (%s); remove it."
                               : "The pool file %s cannot be opened (%s); check who owns it.",
                 pool->path, strerror(code));
            errno = code;
        }
        return -1;
    }
    if (fstat(fd, status) != 0 || !S_ISREG(status->st_mode) || status->st_uid != geteuid() ||
        (status->st_mode & 077) != 0) {
        fail(error, "%s is not a file that only user %u can read and write; remove it.", pool->path,
             (unsigned)geteuid());
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

static enum larder_verdict judge_file(int fd, const struct stat *status, larder_geometry *geometry)
{
    uint32_t dead;
    /* One that is marked dead and still has its name lost whoever was about to take that away. */
    if (pread(fd, geometry, sizeof *geometry, 0) != (ssize_t)sizeof *geometry ||
        pread(fd, &dead, sizeof dead, offsetof(larder_header, dead)) != (ssize_t)sizeof dead || dead != 0) {
        return LARDER_DAMAGED;
    }
    return larder_geometry_judge(geometry, (uint64_t)status->st_size);
}

/* Tells every process that has this file open that its name goes to another. */
static void mark_dead(int fd, const struct stat *status)
{
    if ((uint64_t)status->st_size < LARDER_PAGE) {
        return;
    }
    uint32_t dead = 1;
    /* The file is about to lose its name: a failure here costs its users only the time until they look. */
    (void)!pwrite(fd, &dead, sizeof dead, offsetof(larder_header, dead));
}

/* ---- making one ---------------------------------------------------------------------------------------- */

/* Where pools may be mapped: parts of the address space that programs, their heaps, libraries and sanitizers leave
 * alone. The last is for kernels with 39 bits of address space. */
static const struct {
    uint64_t from, to;
} address_ranges[] = {
    {UINT64_C(0x110000000000), UINT64_C(0x500000000000)},
    {UINT64_C(0x002000000000), UINT64_C(0x004000000000)},
};

typedef struct address_use {
    uint64_t from, to;
} address_use;

/* The addresses that other pools of this directory are mapped at: a process may open several. */
static size_t addresses_in_use(int directory, const char *own_name, address_use *uses, size_t most)
{
    size_t count = 0;
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (listing == NULL) {
        if (copy >= 0) {
            close(copy);
        }
        return 0;
    }
    for (struct dirent *entry; count < most && (entry = readdir(listing)) != NULL;) {
        struct stat status;
        larder_geometry geometry;
        if (!name_is_sound(entry->d_name) || strcmp(entry->d_name, own_name) == 0) {
            continue;
        }
        int fd = openat(directory, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) {
            continue;
        }
        if (fstat(fd, &status) == 0 && judge_file(fd, &status, &geometry) == LARDER_SOUND) {
            uses[count++] = (address_use){geometry.base, geometry.base + geometry.size + LARDER_MARGIN};
        }
        close(fd);
    }
    closedir(listing);
    return count;
}

static bool overlaps(uint64_t from, uint64_t to, const address_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (from < uses[i].to && uses[i].from < to) {
            return true;
        }
    }
    return false;
}

static bool address_is_free(uint64_t address, uint64_t size)
{
    size += LARDER_MARGIN;
    void *at = mmap((void *)(uintptr_t)address, size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    munmap(at, size);
    return (uintptr_t)at == address; /* a kernel before 4.17 takes the address as a wish */
}

/* 0: nowhere in this process. The pool is then made for the first range, and this process copies. */
static uint64_t choose_base(int directory, const char *name, uint64_t size)
{
    address_use uses[256];
    size_t used = addresses_in_use(directory, name, uses, sizeof uses / sizeof uses[0]);
    for (size_t r = 0; r < sizeof address_ranges / sizeof address_ranges[0]; r++) {
        uint64_t step = (size + LARDER_MARGIN + (UINT64_C(1) << 30) - 1) >> 30 << 30;
        unsigned tries = 0;
        for (uint64_t at = address_ranges[r].from; at + step <= address_ranges[r].to && tries < 512;
             at += step, tries++) {
            if (!overlaps(at, at + size + LARDER_MARGIN, uses, used) && address_is_free(at, size)) {
                return at;
            }
        }
    }
    return address_ranges[0].from;
}

/* What an interrupted maker left behind. We hold the lock, so nobody is making anything now. */
static void sweep_directory(int directory)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (listing == NULL) {
        if (copy >= 0) {
            close(copy);
        }
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strncmp(entry->d_name, ".new-", 5) == 0) {
            unlinkat(directory, entry->d_name, 0);
        }
    }
    closedir(listing);
}

static bool choose_size(const larder_pool *pool, int directory, uint64_t *size, larder_error *error)
{
    struct statvfs space;
    uint64_t available =
        fstatvfs(directory, &space) == 0 ? (uint64_t)space.f_bavail * (uint64_t)space.f_frsize : UINT64_MAX;
    uint64_t wanted = pool->config.size;
    if (wanted == 0) {
        wanted = available / 4 * 3 < DEFAULT_SIZE ? available / 4 * 3 / LARDER_PAGE * LARDER_PAGE : DEFAULT_SIZE;
        if (wanted < LARDER_SIZE_MIN) {
            return fail(error,
                        "%s has %llu bytes free, too little for a pool of %llu; enlarge it (mount -o "
                        "remount,size=256m /dev/shm; in Docker --shm-size=256m) or remove what fills it.",
                        pool->directory, (unsigned long long)available, (unsigned long long)LARDER_SIZE_MIN);
        }
    }
    if (wanted > available) {
        return fail(error,
                    "A pool of %llu bytes does not fit in %s, which has %llu bytes free; ask for less (larder.size) or "
                    "enlarge it (mount -o remount,size=… /dev/shm; in Docker --shm-size=…).",
                    (unsigned long long)wanted, pool->directory, (unsigned long long)available);
    }
    *size = wanted;
    return true;
}

static bool write_header(const larder_pool *pool, int directory, int fd, uint64_t size, larder_error *error)
{
    larder_header *header = mmap(NULL, LARDER_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (header == MAP_FAILED) {
        return fail(error, "The new pool for %s cannot be mapped (%s).", pool->path, strerror(errno));
    }
    larder_geometry *geometry = &header->geometry;
    larder_geometry_plan(geometry, size);
    bool random = getrandom(geometry->id, sizeof geometry->id, 0) == (ssize_t)sizeof geometry->id &&
                  getrandom(&geometry->seed, sizeof geometry->seed, 0) == (ssize_t)sizeof geometry->seed;
    geometry->base = choose_base(directory, pool->name, size);
    geometry->created = larder_pool_now(pool);
    geometry->evict = pool->config.evict;
    geometry->checksum = larder_geometry_checksum(geometry);
    atomic_store_explicit(&header->clock, 1, memory_order_relaxed); /* stamp 0 is before everything */
    atomic_store_explicit(&header->small_target,
                          ((uint64_t)(geometry->segment_count - 2) << geometry->segment_shift) / 10,
                          memory_order_relaxed);
    munmap(header, LARDER_PAGE);
    return random || fail(error, "The system gave no random bytes for the new pool %s.", pool->path);
}

/* The file is complete but for the segments' lists, which need it mapped: larder_segments_recover() makes them from
 * the table, in which all zeros say "free". */
static bool make_file(larder_pool *pool, int directory, larder_error *error)
{
    uint64_t size = 0;
    char temporary[64];
    uint64_t random = 0;
    if (!choose_size(pool, directory, &size, error)) {
        return false;
    }
    (void)!getrandom(&random, sizeof random, 0);
    snprintf(temporary, sizeof temporary, ".new-%016llx", (unsigned long long)random);
    int fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail(error, "A pool file cannot be made in %s (%s).", pool->directory, strerror(errno));
    }
    /* All of it now: a tmpfs that fills up later would kill us with SIGBUS in the middle of a store. */
    int code = posix_fallocate(fd, 0, (off_t)size);
    bool made =
        code == 0
            ? write_header(pool, directory, fd, size, error)
            : fail(error, "A pool of %llu bytes does not fit in %s (%s); ask for less (larder.size) or enlarge it.",
                   (unsigned long long)size, pool->directory, strerror(code));
    if (made && renameat(directory, temporary, directory, pool->name) != 0) {
        made = fail(error, "The new pool file cannot be named %s (%s).", pool->path, strerror(errno));
    }
    if (!made) {
        unlinkat(directory, temporary, 0);
    }
    close(fd);
    return made;
}

/* Under the directory's lock: make the pool unless a sound one has appeared meanwhile. */
static bool make_or_replace(larder_pool *pool, int directory, larder_error *error)
{
    struct stat status;
    larder_geometry geometry;
    if (!lock_directory(directory, pool->directory, pool->checked_at == 0 ? LOCK_PATIENCE_MS : BRIEF_PATIENCE_MS,
                        error)) {
        return false;
    }
    sweep_directory(directory);
    bool done = true;
    int fd = open_file(pool, directory, &status, error);
    if (fd < 0 && errno != ENOENT) {
        done = false;
    } else if (fd < 0) {
        done = make_file(pool, directory, error);
    } else {
        enum larder_verdict verdict = judge_file(fd, &status, &geometry);
        if (verdict != LARDER_SOUND) {
            if (verdict == LARDER_DAMAGED) { /* where another format keeps its mark is not for us to know */
                mark_dead(fd, &status);
            }
            unlinkat(directory, pool->name, 0); /* first, so that its memory can be the new one's */
            done = make_file(pool, directory, error);
        }
        close(fd);
    }
    flock(directory, LOCK_UN);
    return done;
}

/* ---- mapping ------------------------------------------------------------------------------------------- */

static bool check_wishes(const larder_pool *pool, const larder_geometry *geometry, larder_error *error)
{
    if (pool->config.size != 0 && pool->config.size != geometry->size) {
        return fail(error,
                    "The pool \"%s\" exists with %llu bytes, not the %llu asked for; ask for that size, or remove "
                    "the pool first (Larder\\SharedMemory::remove('%s'), or delete %s).",
                    pool->name, (unsigned long long)geometry->size, (unsigned long long)pool->config.size, pool->name,
                    pool->path);
    }
    if (pool->config.evict != (geometry->evict != 0)) {
        return fail(error,
                    "The pool \"%s\" was made %s, and is now asked for %s; use another name, or remove the pool "
                    "first (Larder\\SharedMemory::remove('%s'), or delete %s).",
                    pool->name, geometry->evict != 0 ? "to evict" : "not to evict",
                    pool->config.evict ? "with eviction" : "without eviction", pool->name, pool->path);
    }
    return true;
}

static void unmap(const uint8_t *ro, uint8_t *rw, uint64_t size)
{
    if (ro != NULL) {
        munmap((void *)(uintptr_t)ro, size + LARDER_MARGIN);
    }
    if (rw != NULL) {
        munmap(rw, size + LARDER_MARGIN);
    }
}

/* Maps the file with LARDER_MARGIN of zeros behind it; at that address, if one is given, or nowhere. */
static void *map_at(uint64_t address, uint64_t size, int fd, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address == 0 ? 0 : MAP_FIXED_NOREPLACE);
    void *at = mmap((void *)(uintptr_t)address, size + LARDER_MARGIN, PROT_READ, flags, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    bool there = address == 0 || (uintptr_t)at == address; /* a kernel before 4.17 takes the address as a wish */
    if (!there || mmap(at, size, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(at, size + LARDER_MARGIN);
        return NULL;
    }
    return at;
}

static bool map_file(larder_pool *pool, int fd, larder_error *error)
{
    const larder_geometry *g = &pool->geometry;
    void *rw = map_at(0, g->size, fd, PROT_READ | PROT_WRITE);
    void *ro = rw == NULL ? NULL : map_at(g->base, g->size, fd, PROT_READ);
    if (rw != NULL && ro == NULL) {
        ro = map_at(0, g->size, fd, PROT_READ);
    }
    if (ro == NULL) {
        fail(error, "The pool %s cannot be mapped (%s); raise the limit on address space (ulimit -v).", pool->path,
             strerror(errno));
        unmap(NULL, rw, g->size);
        return false;
    }
    pool->rw = rw;
    pool->ro = ro;
    pool->shift = (intptr_t)((uintptr_t)ro - g->base);
    pool->zero_copy = pool->shift == 0 && pool->config.zero_copy != LARDER_ZERO_COPY_OFF;
    if (pool->config.protect_unpinned) {
        mprotect((uint8_t *)ro + g->segments_at, g->size - g->segments_at, PROT_NONE);
    }
    return true;
}

static void point_into(larder_pool *pool)
{
    const larder_geometry *g = &pool->geometry;
    pool->header = (larder_header *)pool->rw;
    pool->slots = (larder_slot *)(pool->rw + g->slots_at);
    pool->pins = (_Atomic uint64_t *)(pool->rw + g->pins_at);
    pool->buckets = (larder_bucket *)(pool->rw + g->buckets_at);
    pool->deletions = (_Atomic uint64_t *)(pool->rw + g->deletions_at);
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
    pool->pinned_most = g->segment_count / 4;
}

/* 1 + the index of this PHP's layout in the pool's list; 0 if 16 others were here before. */
static uint8_t register_layout(larder_header *header, uint32_t layout)
{
    for (uint32_t i = 0; layout != 0 && i < LARDER_LAYOUTS; i++) {
        uint32_t seen = 0;
        /* acq_rel: one process's entry is seen by the next before it chooses. */
        if (atomic_compare_exchange_strong_explicit(&header->layouts[i], &seen, layout, memory_order_acq_rel,
                                                    memory_order_acquire) ||
            seen == layout) {
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

static bool allocate_pin_lists(larder_pool *pool, larder_error *error)
{
    uint32_t count = pool->geometry.segment_count;
    free(pool->pinned);
    free(pool->pinned_list);
    pool->pinned = calloc(count, sizeof *pool->pinned);
    pool->pinned_list = calloc(count, sizeof *pool->pinned_list);
    pool->pinned_count = 0;
    return (pool->pinned != NULL && pool->pinned_list != NULL) ||
           fail(error, "There is no memory for the list of pins of the pool \"%s\".", pool->name);
}

static void detach(larder_pool *pool)
{
    larder_slot_release(pool);
    unmap(pool->ro, pool->rw, pool->geometry.size);
    pool->ro = NULL;
    pool->rw = NULL;
    if (pool->fd >= 0) {
        close(pool->fd);
        pool->fd = -1;
    }
}

enum attached { ATTACHED, VANISHED, FAILED };

/* Attaches to the file of the pool's name; VANISHED: there is none, or a damaged one. */
static enum attached attach_existing(larder_pool *pool, int directory, larder_error *error)
{
    struct stat status;
    int fd = open_file(pool, directory, &status, error);
    if (fd < 0) {
        return errno == ENOENT ? VANISHED : FAILED;
    }
    if (judge_file(fd, &status, &pool->geometry) != LARDER_SOUND) {
        close(fd);
        return VANISHED;
    }
    pool->fd = fd;
    pool->device = status.st_dev;
    pool->inode = status.st_ino;
    if (!check_wishes(pool, &pool->geometry, error) || !allocate_pin_lists(pool, error) || !map_file(pool, fd, error)) {
        detach(pool);
        return FAILED;
    }
    point_into(pool);
    if (!larder_slot_take(pool, error)) {
        detach(pool);
        return FAILED;
    }
    pool->layout = register_layout(pool->header, pool->config.layout);
    if (!larder_segments_start(pool)) {
        /* Its tables make no sense: it goes the way of a damaged header. */
        uint32_t dead = 1;
        atomic_store_explicit(&pool->header->dead, dead, memory_order_release);
        pool->header->geometry.magic = 0;
        detach(pool);
        return VANISHED;
    }
    pool->checked_at = larder_pool_now(pool);
    return ATTACHED;
}

static bool attach(larder_pool *pool, larder_error *error)
{
    int directory = open_directory(pool->directory, error);
    if (directory < 0) {
        return false;
    }
    /* A pool may be replaced between our looking and our locking; nobody replaces pools three times in a row. */
    enum attached result = VANISHED;
    for (int tries = 0; tries < 3 && result == VANISHED; tries++) {
        result = attach_existing(pool, directory, error);
        if (result == VANISHED && !make_or_replace(pool, directory, error)) {
            result = FAILED;
        }
    }
    if (result == VANISHED) {
        result = attach_existing(pool, directory, error);
        if (result == VANISHED) {
            fail(error, "The pool file %s is removed or damaged again and again; find out by whom.", pool->path);
        }
    }
    close(directory);
    return result == ATTACHED;
}

/* ---- handles ------------------------------------------------------------------------------------------- */

static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static larder_pool *handles; /* of all threads; for fork, which duplicates them all */

static void before_fork(void)
{
    pthread_mutex_lock(&handles_lock);
    for (larder_pool *pool = handles; pool != NULL; pool = pool->next) {
        larder_slot_before_fork(pool);
    }
}

static void in_parent(void)
{
    for (larder_pool *pool = handles; pool != NULL; pool = pool->next) {
        larder_slot_in_parent(pool);
    }
    pthread_mutex_unlock(&handles_lock);
}

static void in_child(void)
{
    for (larder_pool *pool = handles; pool != NULL; pool = pool->next) {
        larder_slot_in_child(pool);
        pool->entered->known = 1;
        pool->entered->countdown = 0;
    }
    pthread_mutex_unlock(&handles_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

static bool fill_in(larder_pool *pool, const larder_pool_config *config, larder_error *error)
{
    if (!name_is_sound(config->name)) {
        return fail(error,
                    "\"%.80s\" is no name for a pool: it takes 1 to %u letters, digits, dots, dashes and "
                    "underscores, and begins with a letter, digit or underscore.",
                    config->name, LARDER_NAME_MAX);
    }
    if (config->size != 0 && (config->size < LARDER_SIZE_MIN || config->size > LARDER_SIZE_MAX)) {
        return fail(
            error, "A pool of %llu bytes cannot be made: the size must be between %llu (4 MiB) and %llu (1 TiB).",
            (unsigned long long)config->size, (unsigned long long)LARDER_SIZE_MIN, (unsigned long long)LARDER_SIZE_MAX);
    }
    pool->config = *config;
    pool->config.size = config->size == 0 ? 0 : larder_round_size(config->size);
    pool->config.now = config->now == NULL ? larder_wall_ms : config->now;
    snprintf(pool->name, sizeof pool->name, "%s", config->name);
    pool->config.name = pool->name;
    int length = config->directory != NULL
                     ? snprintf(pool->directory, sizeof pool->directory, "%s", config->directory)
                     : snprintf(pool->directory, sizeof pool->directory, "/dev/shm/larder-%u", (unsigned)geteuid());
    pool->config.directory = pool->directory;
    if (length < 0 || (size_t)length + LARDER_NAME_MAX + 2 > sizeof pool->path) {
        return fail(error, "The directory for the pool \"%s\" has too long a path.", pool->name);
    }
    size_t used = (size_t)length;
    memcpy(pool->path, pool->directory, used);
    pool->path[used] = '/';
    memcpy(pool->path + used + 1, pool->name, strlen(pool->name) + 1);
    return true;
}

larder_pool *larder_pool_open(const larder_pool_config *config, larder_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    larder_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        fail(error, "There is no memory for another pool.");
        return NULL;
    }
    pool->fd = pool->slot_fd = pool->spare_fd = pool->inherited_fd = -1;
    if (!fill_in(pool, config, error)) {
        free(pool);
        return NULL;
    }
    pool->entered = mmap(NULL, LARDER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pool->entered == MAP_FAILED || !attach(pool, error)) {
        if (pool->entered == MAP_FAILED) {
            fail(error, "There is no memory for another pool.");
        } else {
            munmap((void *)pool->entered, LARDER_PAGE);
        }
        free(pool->pinned);
        free(pool->pinned_list);
        free(pool);
        return NULL;
    }
    pool->entered->known = 1;
    madvise((void *)pool->entered, LARDER_PAGE, MADV_WIPEONFORK); /* without it, fork() alone is noticed */
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&handles_lock);
    pool->next = handles;
    handles = pool;
    pthread_mutex_unlock(&handles_lock);
    return pool;
}

bool larder_pool_contains(const larder_pool *pool, const void *address)
{
    bool contains = (uintptr_t)address - (uintptr_t)pool->ro < pool->geometry.size;
    for (const larder_grave *grave = pool->graves; grave != NULL && !contains; grave = grave->next) {
        contains = (uintptr_t)address - (uintptr_t)grave->ro < grave->size;
    }
    return contains;
}

static void bury_graves(larder_pool *pool)
{
    while (pool->graves != NULL) {
        larder_grave *grave = pool->graves;
        pool->graves = grave->next;
        unmap(grave->ro, grave->rw, grave->size);
        if (grave->inherited_fd >= 0) {
            close(grave->inherited_fd);
        }
        if (grave->slot_fd >= 0) {
            close(grave->slot_fd);
        }
        free(grave);
    }
}

void larder_pool_close(larder_pool *pool)
{
    pthread_mutex_lock(&handles_lock);
    for (larder_pool **at = &handles; *at != NULL; at = &(*at)->next) {
        if (*at == pool) {
            *at = pool->next;
            break;
        }
    }
    pthread_mutex_unlock(&handles_lock);
    if (pool->slot != NULL && !pool->pins_shared) {
        larder_pins_drop(pool);
    }
    bury_graves(pool);
    detach(pool);
    munmap((void *)pool->entered, LARDER_PAGE);
    free(pool->pinned);
    free(pool->pinned_list);
    free(pool);
}

int larder_pool_remove(const char *directory, const char *name, larder_error *error)
{
    larder_pool place = {.fd = -1};
    const larder_pool_config config = {.directory = directory, .name = name, .evict = true};
    if (!fill_in(&place, &config, error)) {
        return -1;
    }
    int fd_directory = open_directory(place.directory, error);
    if (fd_directory < 0) {
        return -1;
    }
    int removed = -1;
    if (lock_directory(fd_directory, place.directory, LOCK_PATIENCE_MS, error)) {
        struct stat status;
        int fd = open_file(&place, fd_directory, &status, error);
        if (fd >= 0) {
            mark_dead(fd, &status);
            close(fd);
        }
        removed = unlinkat(fd_directory, place.name, 0) == 0 ? 1 : errno == ENOENT ? 0 : -1;
        if (removed < 0) {
            fail(error, "The pool file %s cannot be removed (%s).", place.path, strerror(errno));
        }
    }
    close(fd_directory);
    return removed;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

/* The pool is no longer the one of its name. Values that this request holds stay where they are until it ends. */
static bool reattach(larder_pool *pool)
{
    if ((pool->pinned_count > 0 || pool->inherited_fd >= 0) && pool->in_request) {
        larder_grave *grave = malloc(sizeof *grave);
        if (grave == NULL) {
            return false;
        }
        *grave = (larder_grave){.next = pool->graves,
                                .ro = pool->ro,
                                .rw = pool->rw,
                                .size = pool->geometry.size,
                                .slot_fd = pool->slot_fd,
                                .inherited_fd = pool->inherited_fd};
        pool->graves = grave;
        pool->inherited_fd = -1;
        pool->slot_fd = -1;
        pool->slot = NULL;
        pool->ro = NULL;
        pool->rw = NULL;
        larder_pins_forget(pool);
    }
    detach(pool);
    return attach(pool, &pool->trouble);
}

static bool is_sound(const larder_pool *pool)
{
    struct stat status;
    return atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == 0 && stat(pool->path, &status) == 0 &&
           status.st_dev == pool->device && status.st_ino == pool->inode &&
           (uint64_t)status.st_size == pool->geometry.size &&
           memcmp(&pool->header->geometry, &pool->geometry, sizeof pool->geometry) == 0;
}

/* A child that came into being without fork(), and so without its handlers. */
static void adopt_orphan(larder_pool *pool)
{
    if (pool->entered->known == 0) {
        pool->spare_index = LARDER_NO_SLOT;
        larder_slot_in_child(pool);
        pool->entered->known = 1;
    }
}

/* At the start of a request, and each CHECK_EVERY_MS: is this the pool to work with, and if not, which one is? */
static bool settle(larder_pool *pool)
{
    larder_error *trouble = &pool->trouble;
    bool sound = pool->rw != NULL && !pool->fork_lost_file && is_sound(pool);
    bool better =
        sound && !pool->in_request && pool->shift != 0 && address_is_free(pool->geometry.base, pool->geometry.size);
    pool->fork_lost_file = false;
    if ((!sound || better) && !reattach(pool)) {
        return false;
    }
    return pool->slot != NULL || larder_slot_take(pool, trouble);
}

bool larder_pool_is_due(const larder_pool *pool)
{
    return larder_pool_now(pool) - pool->checked_at >= CHECK_EVERY_MS;
}

bool larder_pool_enter_slowly(larder_pool *pool)
{
    uint64_t now = larder_pool_now(pool);
    bool begins = pool->entered->countdown < 0;
    pool->entered->countdown = 0;
    adopt_orphan(pool);
    bool lost = pool->rw == NULL || pool->slot == NULL;
    bool recent = now - pool->checked_at < CHECK_EVERY_MS;
    if (lost && recent && pool->in_request) {
        return false; /* tried a moment ago */
    }
    if (begins || lost || !recent || atomic_load_explicit(&pool->header->dead, memory_order_relaxed) != 0) {
        pool->checked_at = now;
        bool settled = settle(pool);
        pool->in_request = true;
        if (!settled) {
            return false;
        }
    }
    /* As long as calls come quickly, the clock is read at every 16th. */
    pool->entered->countdown = now - pool->counted_at <= 1 ? CHECK_EVERY_CALLS : 1;
    pool->counted_at = now;
    return true;
}

void larder_pool_leave(larder_pool *pool)
{
    if (pool->slot != NULL) {
        if (pool->pins_shared) {
            /* A child still relies on them: the slot is left to it, and buried when it ends. */
            larder_pins_forget(pool);
            larder_slot_release(pool);
        } else {
            larder_pins_drop(pool);
        }
    }
    if (pool->inherited_fd >= 0) {
        close(pool->inherited_fd);
        pool->inherited_fd = -1;
    }
    bury_graves(pool);
    pool->in_request = false;
    pool->entered->countdown = 0;
}
