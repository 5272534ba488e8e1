#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "formats.h"
#include "descriptor.h"
#include "directory.h"
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOOK_AGAIN_MS 60000u

/* Of this pool's name, in another format. */
static bool is_other(const larder_pool *pool, const char *file, uint32_t *format)
{
    char name[LARDER_NAME_MAX + 1];
    return larder_file_is_pool(file, name, format) && *format != LARDER_FORMAT && strcmp(name, pool->name) == 0;
}

/* Does a process use the file, this one included? A pool that cannot be opened is not ours to judge. */
static bool is_held(int directory, const char *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
    int fd = larder_open_at(directory, file, O_RDWR | O_NONBLOCK);
    if (fd < 0) {
        return errno != ENOENT;
    }
    bool held = fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    close(fd);
    return held;
}

static DIR *list(const larder_pool *pool, int directory, larder_error *error)
{
    DIR *listing = larder_directory_list(directory);
    if (listing == NULL) {
        larder_fail(error,
                    "The directory %s cannot be listed (%s), and another version's pool may be in it; raise the limit "
                    "on open files (ulimit -n).",
                    pool->paths.directory, strerror(errno));
    }
    return listing;
}

/* The next file of this pool in another format; NULL: none. */
static const char *next_other(const larder_pool *pool, DIR *listing, uint32_t *format)
{
    struct dirent *entry;
    do {
        entry = readdir(listing);
    } while (entry != NULL && !is_other(pool, entry->d_name, format));
    return entry == NULL ? NULL : entry->d_name;
}

/* The highest other format that there is of this pool; 0: none. */
static bool find_other(const larder_pool *pool, int directory, uint32_t *highest, larder_error *error)
{
    uint32_t format;
    DIR *listing = list(pool, directory, error);
    if (listing == NULL) {
        return false;
    }
    *highest = 0;
    while (next_other(pool, listing, &format) != NULL) {
        *highest = format > *highest ? format : *highest;
    }
    closedir(listing);
    return true;
}

/* Takes the file's name away, if no process holds it. A process that opens it meanwhile locks it, and then looks at
 * its name (larder_slot_take()): either that process finds the name gone, or we find its lock. */
static bool take_away(int directory, const char *file)
{
    static const char aside[] = ".new-other"; /* swept by the next maker if we are killed */
    if (is_held(directory, file)) {
        return false;
    }
    LARDER_FAULT(LARDER_AT_TAKE_AWAY);
    if (renameat(directory, file, directory, aside) != 0) {
        return false;
    }
    LARDER_FAULT(LARDER_AT_ASIDE);
    if (is_held(directory, aside)) {
        (void)!renameat(directory, aside, directory, file); /* else its users find out, as when the pool is removed */
        return false;
    }
    return unlinkat(directory, aside, 0) == 0;
}

bool larder_formats_sweep(const larder_pool *pool, int directory)
{
    bool done = true;
    uint32_t format;
    DIR *listing = larder_directory_list(directory);
    if (listing == NULL) {
        return false; /* next time, perhaps */
    }
    for (const char *file; (file = next_other(pool, listing, &format)) != NULL;) {
        done = take_away(directory, file) && done;
    }
    closedir(listing);
    return done;
}

/* U2, under the directory's lock. */
static bool begin_anew(const larder_pool *pool, int directory, larder_error *error)
{
    struct stat status;
    if (is_held(directory, pool->paths.file)) {
        return true;
    }
    int fd = larder_file_open(pool, directory, &status, error);
    if (fd < 0 && errno != ENOENT) {
        return false;
    }
    if (fd >= 0) {
        larder_file_retire(pool, directory, fd, &status);
        close(fd);
    }
    /* Now: a process that makes the pool may come when the other is gone, and know nothing of it. */
    return larder_snapshot_discard(pool, error) >= 0;
}

bool larder_formats_settle(larder_pool *pool, int directory, larder_error *error)
{
    uint32_t other;
    if (!find_other(pool, directory, &other, error)) {
        return false;
    }
    pool->attached.met_others = other != 0;
    pool->attached.others_at = pool->attached.met_others ? larder_pool_now(pool) + LOOK_AGAIN_MS : 0;
    if (!pool->attached.met_others) {
        return true;
    }
    if (pool->config.only_existing) {
        return is_held(directory, pool->paths.file) ||
               larder_fail(error,
                           "The pool \"%s\" is another version's of the extension (its format is %u, not %u), which "
                           "alone can use and save it; do that with the other version, or remove the pool "
                           "(Larder\\SharedMemory::remove('%s')).",
                           pool->name, other, LARDER_FORMAT, pool->name);
    }
    if (!larder_directory_lock(directory, pool->paths.directory, larder_lock_wait_ms(pool), error)) {
        return false;
    }
    bool settled = begin_anew(pool, directory, error);
    if (larder_formats_sweep(pool, directory)) {
        pool->attached.others_at = 0;
    }
    flock(directory, LOCK_UN);
    return settled;
}

void larder_formats_look_again(larder_pool *pool)
{
    larder_error error;
    uint64_t now = larder_pool_now(pool);
    if (pool->attached.others_at == 0 || now < pool->attached.others_at) {
        return;
    }
    int directory = larder_directory_open(pool->paths.directory, larder_owner_of(pool), &error);
    bool locked = directory >= 0 && larder_directory_lock(directory, pool->paths.directory, 0, &error);
    /* Not if it was saved or replaced in this moment: its successor has to meet them. */
    bool lives = atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == LARDER_LIVES;
    pool->attached.others_at = locked && lives && larder_formats_sweep(pool, directory) ? 0 : now + LOOK_AGAIN_MS;
    if (locked) {
        flock(directory, LOCK_UN);
    }
    if (directory >= 0) {
        close(directory);
    }
}

void larder_formats_clear(larder_pool *pool)
{
    uint32_t other = 0;
    int directory = larder_directory_open(pool->paths.directory, larder_owner_of(pool), &pool->request.trouble);
    pool->request.undone = directory < 0 || !find_other(pool, directory, &other, &pool->request.trouble);
    if (other != 0) {
        pool->request.undone = !larder_directory_lock(directory, pool->paths.directory, larder_lock_wait_ms(pool),
                                                      &pool->request.trouble) ||
                               larder_formats_remove(pool, directory, &pool->request.trouble) < 0;
        flock(directory, LOCK_UN);
    }
    if (directory >= 0) {
        close(directory);
    }
}

int larder_formats_remove(const larder_pool *pool, int directory, larder_error *error)
{
    int removed = 0;
    uint32_t format;
    DIR *listing = list(pool, directory, error);
    if (listing == NULL) {
        return -1;
    }
    for (const char *file; removed >= 0 && (file = next_other(pool, listing, &format)) != NULL;) {
        if (unlinkat(directory, file, 0) == 0) {
            removed++;
        } else if (errno != ENOENT) {
            larder_fail(error, "The pool file %s/%s cannot be removed (%s).", pool->paths.directory, file,
                        strerror(errno));
            removed = -1;
        }
    }
    closedir(listing);
    return removed;
}

int larder_formats_remove_all(const larder_pool *pool, int directory, larder_error *error)
{
    if (!larder_directory_lock(directory, pool->paths.directory, larder_lock_wait_ms(pool), error)) {
        return -1;
    }
    struct stat status;
    int discarded = larder_snapshot_discard(pool, error);
    int others = discarded < 0 ? -1 : larder_formats_remove(pool, directory, error);
    if (others < 0) {
        return -1;
    }
    int fd = larder_file_open(pool, directory, &status, error);
    if (fd >= 0) {
        larder_file_mark_dead(fd, &status);
        close(fd);
    }
    LARDER_FAULT(LARDER_AT_RETIRE);
    if (unlinkat(directory, pool->paths.file, 0) == 0) {
        return 1;
    }
    if (errno == ENOENT) {
        return discarded > 0 || others > 0;
    }
    larder_fail(error, "The pool file %s cannot be removed (%s).", pool->paths.full, strerror(errno));
    return -1;
}
