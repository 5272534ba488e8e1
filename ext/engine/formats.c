#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "formats.h"
#include "directory.h"
#include "file.h"
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

/* Does a process use the file, this one included? What cannot be opened is not ours to judge. */
static bool is_held(int directory, const char *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 0};
    int fd = openat(directory, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return errno != ENOENT;
    }
    bool held = fcntl(fd, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
    close(fd);
    return held;
}

/* The highest other format that there is of this pool; 0: none. */
static uint32_t highest_other(const larder_pool *pool, int directory)
{
    uint32_t highest = 0, format;
    DIR *listing = larder_directory_list(directory);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        if (is_other(pool, entry->d_name, &format) && format > highest) {
            highest = format;
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return highest;
}

/* Takes the file's name away, if nobody holds it. Whoever opens it meanwhile locks it, and then looks at its name
 * (larder_slot_take()): either he finds that gone, or we his lock. */
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
    if (is_held(directory, aside)) {
        (void)!renameat(directory, aside, directory, file); /* else its users find out, as when somebody removes it */
        return false;
    }
    return unlinkat(directory, aside, 0) == 0;
}

/* U1, under the directory's lock. How many are left. */
static uint32_t sweep(const larder_pool *pool, int directory)
{
    uint32_t left = 0, format;
    DIR *listing = larder_directory_list(directory);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        if (is_other(pool, entry->d_name, &format) && !take_away(directory, entry->d_name)) {
            left++;
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return left;
}

/* U2, under the directory's lock. */
static bool begin_anew(const larder_pool *pool, int directory, larder_error *error)
{
    struct stat status;
    if (is_held(directory, pool->file)) {
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
    /* Now: whoever makes the pool may come when the other is gone, and know nothing of it. */
    return larder_snapshot_discard(pool, error) >= 0;
}

bool larder_formats_settle(larder_pool *pool, int directory, larder_error *error)
{
    uint32_t other = highest_other(pool, directory);
    pool->others_at = 0;
    pool->met_others = other != 0;
    if (!pool->met_others) {
        return true;
    }
    if (pool->config.only_existing) {
        return is_held(directory, pool->file) ||
               larder_fail(error,
                           "The pool \"%s\" is another version's of the extension (its format is %u, not %u), which "
                           "alone can use and save it; do that with the other version, or remove the pool "
                           "(Larder\\SharedMemory::remove('%s')).",
                           pool->name, other, LARDER_FORMAT, pool->name);
    }
    if (!larder_directory_lock(directory, pool->directory, larder_patience(pool), error)) {
        return false;
    }
    bool settled = begin_anew(pool, directory, error);
    if (sweep(pool, directory) > 0) {
        pool->others_at = larder_pool_now(pool) + LOOK_AGAIN_MS;
    }
    flock(directory, LOCK_UN);
    return settled;
}

void larder_formats_look_again(larder_pool *pool)
{
    larder_error error;
    uint64_t now = larder_pool_now(pool);
    if (pool->others_at == 0 || now < pool->others_at) {
        return;
    }
    int directory = larder_directory_open(pool->directory, larder_owner_of(pool), &error);
    bool locked = directory >= 0 && larder_directory_lock(directory, pool->directory, 0, &error);
    /* Not if it was saved or replaced in this moment: its successor has to meet them. */
    bool lives = atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == LARDER_LIVES;
    pool->others_at = locked && lives && sweep(pool, directory) == 0 ? 0 : now + LOOK_AGAIN_MS;
    if (locked) {
        flock(directory, LOCK_UN);
    }
    if (directory >= 0) {
        close(directory);
    }
}

void larder_formats_clear(larder_pool *pool)
{
    int directory = larder_directory_open(pool->directory, larder_owner_of(pool), &pool->trouble);
    pool->undone = directory < 0;
    if (directory >= 0 && highest_other(pool, directory) != 0) {
        pool->undone = !larder_directory_lock(directory, pool->directory, larder_patience(pool), &pool->trouble) ||
                       larder_formats_remove(pool, directory, &pool->trouble) < 0;
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
    DIR *listing = larder_directory_list(directory);
    for (struct dirent *entry; listing != NULL && removed >= 0 && (entry = readdir(listing)) != NULL;) {
        if (!is_other(pool, entry->d_name, &format)) {
            continue;
        }
        if (unlinkat(directory, entry->d_name, 0) == 0) {
            removed++;
        } else if (errno != ENOENT) {
            larder_fail(error, "The pool file %s/%s cannot be removed (%s).", pool->directory, entry->d_name,
                        strerror(errno));
            removed = -1;
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return removed;
}
