#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "snapshot.h"
#include "descriptor.h"
#include "directory.h"
#include "slot.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t larder_snapshot_sum(uint64_t sum, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at + i, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* FNV-1a, by words; the shift brings high bits down */
        sum ^= sum >> 29;
    }
    return sum;
}

bool larder_snapshot_identify(int fd, larder_snapshot_header *header)
{
    struct statx status;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &status) != 0) {
        return false;
    }
    header->inode = status.stx_ino;
    header->birth = (status.stx_mask & STATX_BTIME) != 0
                        ? (uint64_t)status.stx_btime.tv_sec * UINT64_C(1000000000) + status.stx_btime.tv_nsec
                        : 0;
    return true;
}

void larder_snapshot_name(const larder_pool *pool, const char *prefix, char name[LARDER_NAME_MAX + 32])
{
    snprintf(name, LARDER_NAME_MAX + 32, "%s%s%s", prefix, pool->name, LARDER_SNAPSHOT_SUFFIX);
}

#define MINUTE_MS 60000u

#define NO_DIRECTORY      (-1) /* or another user's: no snapshot is ours */
#define UNKNOWN_DIRECTORY (-2) /* ours, but it cannot be looked into: there may be one */

/* The directory of snapshots; it is not made. `sound`: what lies there may be loaded. If not, but the directory is
 * ours, what lies there is still to be removed: one day its mode may be right again. */
static int open_directory(const larder_pool *pool, bool *sound, larder_error *why)
{
    struct stat status;
    *sound = false;
    if (pool->paths.snapshots[0] == '\0') {
        larder_fail(why, "Snapshots are switched off (larder.snapshot).");
        return NO_DIRECTORY;
    }
    int directory = larder_open(pool->paths.snapshots, O_RDONLY | O_DIRECTORY), trouble = errno;
    if (directory < 0) {
        if (lstat(pool->paths.snapshots, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != geteuid()) {
            return NO_DIRECTORY;
        }
        char readable[64];
        snprintf(readable, sizeof readable, "make it readable for user %u", (unsigned)geteuid());
        larder_fail(why,
                    "The directory of snapshots, %s, cannot be opened (%s), and may hold one that must not be used any "
                    "more; %s.",
                    pool->paths.snapshots, strerror(trouble), larder_remedy(trouble, readable));
        return UNKNOWN_DIRECTORY;
    }
    *sound = fstat(directory, &status) == 0 && larder_owner_has(larder_owner_of(pool), &status);
    if (!*sound) {
        larder_fail(
            why, "The directory of snapshots, %s, is not one that only %s can use; set larder.snapshot to such a one.",
            pool->paths.snapshots, larder_owner_name(larder_owner_of(pool)));
        if (status.st_uid != geteuid()) {
            close(directory);
            return NO_DIRECTORY;
        }
    }
    return directory;
}

/* A machine that is set back to an image of itself has its snapshots again, inode, birth and all. */
static bool is_recent(uint64_t now, uint64_t saved)
{
    return now + MINUTE_MS >= saved && now < saved + LARDER_SNAPSHOT_HOURS * 60 * MINUTE_MS;
}

/* Opens the snapshot and reads its header. Every refusal is for good: what is not loaded now never will be. */
static int open_sound(const larder_pool *pool, int directory, const char *file, larder_snapshot_header *header,
                      larder_error *why)
{
    struct stat status;
    larder_snapshot_header now;
    int fd = larder_open_at(directory, file, O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        int trouble = errno;
        larder_fail(why, "The snapshot %s/%s cannot be opened (%s); %s.", pool->paths.snapshots, file,
                    strerror(trouble), larder_remedy(trouble, "save again"));
        return -1;
    }
    bool sound = false;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || !larder_owner_has(larder_owner_of(pool), &status)) {
        larder_fail(why, "The snapshot %s/%s was not a file that only %s can use; find out who wrote it.",
                    pool->paths.snapshots, file, larder_owner_name(larder_owner_of(pool)));
    } else if (pread(fd, header, sizeof *header, 0) != (ssize_t)sizeof *header ||
               header->magic != LARDER_SNAPSHOT_MAGIC ||
               (header->version == LARDER_SNAPSHOT_VERSION &&
                header->sum != larder_snapshot_sum(0, header, offsetof(larder_snapshot_header, sum)))) {
        larder_fail(why, "The snapshot %s/%s was damaged; save again.", pool->paths.snapshots, file);
    } else if (header->version != LARDER_SNAPSHOT_VERSION || header->format != LARDER_FORMAT) {
        larder_fail(why, "The snapshot %s/%s was written by another version of the extension; save again.",
                    pool->paths.snapshots, file);
    } else if (!is_recent(larder_pool_now(pool), header->saved)) {
        larder_fail(why,
                    "The snapshot %s/%s was not written within the last %u hours by this machine's clock, and may come "
                    "from an image of the machine; save again.",
                    pool->paths.snapshots, file, LARDER_SNAPSHOT_HOURS);
    } else if (header->bytes != (uint64_t)status.st_size - sizeof *header) {
        larder_fail(why, "The snapshot %s/%s was truncated; save again.", pool->paths.snapshots, file);
    } else if (strncmp(header->name, pool->name, sizeof header->name) != 0 || !larder_snapshot_identify(fd, &now) ||
               now.inode != header->inode || now.birth != header->birth) {
        larder_fail(why,
                    "The snapshot %s/%s was a copy, or restored from a backup, and may be older than what was "
                    "invalidated since; save again.",
                    pool->paths.snapshots, file);
    } else {
        sound = true;
    }
    if (!sound) {
        close(fd);
        return -1;
    }
    return fd;
}

/* N2. model/save.pml: maker() */
static bool unlink_for_good(const larder_pool *pool, int directory, const char *file, larder_error *why)
{
    LARDER_FAULT(LARDER_AT_CLAIM);
    return (unlinkat(directory, file, 0) == 0 && fsync(directory) == 0) ||
           larder_fail(why,
                       "The old snapshot %s/%s cannot be removed (%s), and so must not be used; make it removable for "
                       "user %u.",
                       pool->paths.snapshots, file, strerror(errno), (unsigned)geteuid());
}

/* What cannot be looked at may be there. */
static bool exists(int directory, const char *file)
{
    struct stat status;
    return fstatat(directory, file, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* What a killed saver of this pool left behind. Under the lock of the pools' directory. */
static void sweep(const larder_pool *pool, int directory)
{
    char file[LARDER_NAME_MAX + 32];
    larder_snapshot_name(pool, ".new-", file);
    unlinkat(directory, file, 0);
}

/* model/save.pml: maker() */
void larder_snapshot_claim(larder_pool *pool, larder_header *header)
{
    char file[LARDER_NAME_MAX + 32];
    larder_snapshot_header found;
    larder_error why = {.message = "There was no snapshot."};
    bool sound;
    int fd = -1, directory = open_directory(pool, &sound, &why);
    larder_snapshot_name(pool, "", file);
    if (pool->attached.met_others && sound) {
        sound = false;
        larder_fail(&why,
                    "What was saved was not used, because another version of the extension has used a pool of this "
                    "name since, or still does; restart all that use it.");
    }
    if (directory >= 0 && exists(directory, file)) {
        fd = sound ? open_sound(pool, directory, file, &found, &why) : -1;
        if (!unlink_for_good(pool, directory, file, &why) && fd >= 0) {
            close(fd);
            fd = -1;
        }
    }
    if (directory >= 0) {
        sweep(pool, directory);
        close(directory);
    }
    if (fd >= 0) {
        /* Past where the clock of the pool stopped that was saved: all its versions, fills' as well, are older than
         * what happens from now on. */
        atomic_store_explicit(&header->clock, found.clock + 1, memory_order_relaxed);
        larder_fail(&why, "The process that was to load the snapshot has not done it.");
    }
    snprintf(header->reason, sizeof header->reason, "%.*s", (int)sizeof header->reason - 1, why.message);
    atomic_store_explicit(&header->began, fd >= 0 ? LARDER_LOADING : LARDER_BEGAN_EMPTY, memory_order_relaxed);
    atomic_store_explicit(&header->loader, fd >= 0 ? LARDER_LOADER_COMES : 0, memory_order_relaxed);
    if (pool->attached.snapshot_fd >= 0) {
        close(pool->attached.snapshot_fd);
    }
    pool->attached.snapshot_fd = fd;
    memcpy(pool->attached.snapshot_for, header->geometry.id, sizeof pool->attached.snapshot_for);
}

int larder_snapshot_discard(const larder_pool *pool, larder_error *error)
{
    char file[LARDER_NAME_MAX + 32];
    larder_error why = {.message = ""};
    bool sound;
    int result = 0, snapshots = open_directory(pool, &sound, &why);
    larder_snapshot_name(pool, "", file);
    if (snapshots == UNKNOWN_DIRECTORY) {
        *error = why;
        result = -1;
    } else if (snapshots >= 0 && exists(snapshots, file)) {
        result = unlink_for_good(pool, snapshots, file, error) ? 1 : -1;
    }
    if (snapshots >= 0) {
        sweep(pool, snapshots);
        close(snapshots);
    }
    return result;
}

bool larder_snapshot_forget(const larder_pool *pool, int directory, larder_error *error)
{
    char file[LARDER_NAME_MAX + 32];
    larder_error why = {.message = ""};
    bool sound;
    int snapshots = open_directory(pool, &sound, &why);
    larder_snapshot_name(pool, "", file);
    bool lies_about = snapshots == UNKNOWN_DIRECTORY || (snapshots >= 0 && exists(snapshots, file)), done = true;
    if (snapshots >= 0) {
        close(snapshots);
    }
    if (lies_about) {
        /* Not one that is just being written, or claimed by the maker of the next pool. */
        done = larder_directory_lock(directory, pool->paths.directory, larder_lock_wait_ms(pool), error);
        if (done && atomic_load_explicit(&pool->header->dead, memory_order_seq_cst) == LARDER_LIVES) {
            done = larder_snapshot_discard(pool, error) >= 0;
        }
        flock(directory, LOCK_UN);
    }
    return done;
}

/* model/save.pml: is_loading() */
bool larder_snapshot_is_loaded_by(larder_pool *pool, uint64_t loader)
{
    uint32_t slot = (uint32_t)loader - 1;
    bool gone;
    if (loader == LARDER_LOADER_COMES) {
        gone = larder_pool_now(pool) - pool->geometry.created >= LARDER_LOADER_COMES_MS;
    } else {
        /* acquire: as for the owner of the segment lock, before it is asked whether it lives. */
        gone = slot >= pool->geometry.slot_count ||
               atomic_load_explicit(&pool->slots[slot].incarnation, memory_order_acquire) != loader >> 32 ||
               !larder_slot_seems_alive(pool, slot);
    }
    if (!gone) {
        return true;
    }
    LARDER_FAULT(LARDER_AT_GIVE_UP);
    /* seq_cst: either the loader finds that the snapshot is no longer its own, or we find that it has begun. */
    return !atomic_compare_exchange_strong_explicit(&pool->header->loader, &loader, 0, memory_order_seq_cst,
                                                    memory_order_seq_cst);
}
