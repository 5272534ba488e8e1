#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "snapshot.h"
#include "descriptor.h"
#include "directory.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
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

/* The directory of snapshots; it is not made. `sound`: the files there may be loaded. If not, but the directory is
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

/* Opens the snapshot and reads its header. Every refusal is for good: a snapshot that is not loaded now never will
 * be. */
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

/* A file that cannot be looked at may be there. */
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

/* ---- loading --------------------------------------------------------------------------------------------- */

/* Says that this process loads the snapshot. False: the others have gone on without it. model/save.pml: loader() */
static bool begin_loading(larder_pool *pool)
{
    uint64_t comes = LARDER_LOADER_COMES,
             own = (uint64_t)pool->writer.incarnation << 32 | (pool->writer.slot_index + 1);
    LARDER_FAULT(LARDER_AT_BEGIN);
    /* seq_cst: as in larder_slot_loads(). */
    return atomic_compare_exchange_strong_explicit(&pool->header->loader, &comes, own, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

static void tell(larder_pool *pool, enum larder_beginning began, uint64_t items, uint64_t dropped, const char *reason)
{
    larder_header *header = pool->header;
    header->snapshot_items = items;
    header->snapshot_dropped = dropped;
    snprintf(header->reason, sizeof header->reason, "%s", reason);
    LARDER_FAULT(LARDER_AT_TELL);
    /* release: the account is complete. */
    atomic_store_explicit(&header->began, began, memory_order_release);
}

/* The record at that place, if all of it is there and its parts fit in it. */
static const larder_snapshot_record *record_at(const uint8_t *records, uint64_t at, uint64_t end)
{
    const larder_snapshot_record *record = (const larder_snapshot_record *)(const void *)(records + at);
    if (end - at < sizeof *record || record->bytes > end - at || record->key_length == 0 ||
        record->key_length > LARDER_KEY_MAX || record->tags > LARDER_TAGS_MAX || record->queue >= LARDER_QUEUES ||
        record->level > LARDER_LEVEL_MAX || record->abi > LARDER_ABIS || record->size > record->bytes) {
        return NULL;
    }
    uint64_t value_at = larder_snapshot_value_at(record->tags, record->key_length);
    bool whole = record->bytes == value_at + larder_snapshot_padded(record->size) &&
                 (record->kind != LARDER_COUNTER_KIND || record->size == sizeof(uint64_t));
    return whole ? record : NULL;
}

/* All of it, before any of it is used. */
static bool records_are_sound(const larder_snapshot_header *header, const uint8_t *records)
{
    uint64_t items = 0;
    if (larder_snapshot_sum(0, records, header->bytes) != header->records_sum) {
        return false;
    }
    for (uint64_t at = 0; at < header->bytes; items++) {
        const larder_snapshot_record *record = record_at(records, at, header->bytes);
        if (record == NULL || record->version > header->clock) {
            return false;
        }
        at += record->bytes;
    }
    return items == header->items;
}

typedef struct image {
    const larder_pool *pool;
    const larder_snapshot_record *record;
    const uint8_t *bytes;
} image;

static void write_image(const void *context, void *to, uintptr_t address)
{
    const image *from = context;
    memcpy(to, from->bytes, from->record->size);
    if (from->record->abi != 0) {
        from->pool->config.ops.moved(to, from->record->size, from->record->kind,
                                     (intptr_t)(address - from->record->address));
    }
}

/* Values of another PHP's ABI cannot be moved by this one. */
static bool is_of_use(const larder_pool *pool, const larder_snapshot_header *header,
                      const larder_snapshot_record *record, uint64_t now)
{
    bool ours = record->abi == 0 || (pool->config.abi != 0 && header->abis[record->abi - 1] == pool->config.abi);
    return ours && (record->expiry == LARDER_NO_EXPIRY || now < record->expiry);
}

/* Where it was removed, the lock is not to be had any more, however long one waits. */
static bool is_still_the_pool(const larder_pool *pool)
{
    /* relaxed: a process that takes the pool's name does not depend on what we do here. */
    return atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == LARDER_LIVES;
}

#define WAITS_MS 5000u

/* Another process holds the segment lock, mostly for a moment: that is no reason to lose what lived. `left_ms` is for
 * the whole load, so that a stopped process delays it once. */
static enum larder_result store_waiting(larder_pool *pool, const larder_key *key, const larder_value *value,
                                        const larder_terms *terms, unsigned *left_ms)
{
    larder_claim as;
    enum larder_result result = larder_store_entered(pool, key, value, terms, &as);
    if (result == LARDER_BUSY) {
        const larder_deadline deadline = larder_deadline_in(*left_ms);
        while (result == LARDER_BUSY && is_still_the_pool(pool) && larder_wait(&deadline)) {
            pool->writer.stuck_owner = 0; /* it is waited for again */
            result = larder_store_entered(pool, key, value, terms, &as);
        }
        *left_ms = larder_time_left_ms(&deadline);
    }
    return result;
}

/* Through the ordinary writer, as a fill that is judged by the clock at which the pool was closed: what others have
 * done with this pool since it was made refuses it. model/save.pml: loader() */
static bool load_record(larder_pool *pool, const larder_snapshot_header *header, const larder_snapshot_record *record,
                        unsigned *left_ms)
{
    const uint8_t *at = (const uint8_t *)record;
    const char *name = (const char *)(at + larder_snapshot_key_at(record->tags));
    const image from = {pool, record, at + larder_snapshot_value_at(record->tags, record->key_length)};
    const larder_key key = {name, record->key_length, larder_hash(name, record->key_length)};
    larder_value value = {.kind = record->kind,
                          .has_abi = record->abi != 0,
                          .size = record->size,
                          .write = write_image,
                          .context = &from};
    if (record->kind == LARDER_COUNTER_KIND) {
        memcpy(&value.counter, from.bytes, sizeof value.counter);
        value.counter >>= 1;
    }
    const larder_past past = {.version = record->version,
                              .queue = (enum larder_list)record->queue,
                              .visited = record->visited != 0,
                              .level = record->level};
    const larder_terms terms = {.mode = LARDER_ADD,
                                .verb = LARDER_FILL,
                                .token = header->clock,
                                .attachment = pool->attached.number,
                                .expiry = record->expiry,
                                .cost = record->cost,
                                .tags_count = record->tags,
                                .tags = (const uint64_t *)(const void *)(at + sizeof *record),
                                .past = &past};
    LARDER_FAULT(LARDER_AT_LOAD);
    return store_waiting(pool, &key, &value, &terms, left_ms) == LARDER_OK;
}

static void load_records(larder_pool *pool, const larder_snapshot_header *header, const uint8_t *records)
{
    uint64_t loaded = 0, dropped = 0, now = larder_pool_now(pool);
    unsigned left_ms = WAITS_MS;
    for (uint64_t at = 0; at < header->bytes; at += record_at(records, at, header->bytes)->bytes) {
        const larder_snapshot_record *record = record_at(records, at, header->bytes);
        if (!is_still_the_pool(pool)) {
            return;
        }
        bool done = is_of_use(pool, header, record, now) && load_record(pool, header, record, &left_ms);
        loaded += done;
        dropped += !done;
    }
    tell(pool, LARDER_LOADED, loaded, dropped, "");
}

/* model/save.pml: loader() */
void larder_snapshot_load(larder_pool *pool)
{
    larder_snapshot_header header;
    int fd = pool->attached.snapshot_fd;
    if (fd < 0) {
        return;
    }
    bool ours = larder_snapshot_is_ours(pool); /* else another made one meanwhile, not for this snapshot */
    pool->attached.snapshot_fd = -1;
    bool whole = ours && pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header;
    uint64_t size = whole ? sizeof header + header.bytes : 0;
    void *file = whole ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (file == MAP_FAILED) {
        if (ours) {
            tell(pool, LARDER_BEGAN_EMPTY, 0, 0, "The snapshot could not be read; save again.");
        }
    } else if (!begin_loading(pool)) {
        tell(pool, LARDER_BEGAN_EMPTY, 0, 0,
             "The process that was to load the snapshot came too late: its pool had been in use for a while.");
    } else if (!records_are_sound(&header, (const uint8_t *)file + sizeof header)) {
        tell(pool, LARDER_BEGAN_EMPTY, 0, 0, "The snapshot was damaged; save again.");
    } else {
        load_records(pool, &header, (const uint8_t *)file + sizeof header);
    }
    if (file != MAP_FAILED) {
        munmap(file, size);
    }
    if (ours) {
        LARDER_FAULT(LARDER_AT_LOADED);
        /* release: all that was loaded. */
        atomic_store_explicit(&pool->header->loader, 0, memory_order_release);
    }
    close(fd);
}
