/* Saving a pool to a snapshot (snapshot.h), and giving one another size by saving it and loading it again. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "larder.h"
#include "attach.h"
#include "descriptor.h"
#include "directory.h"
#include "formats.h"
#include "geometry.h"
#include "handle.h"
#include "index.h"
#include "lock.h"
#include "segment.h"
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define BUFFER (1u << 20)

/* The file being written. */
typedef struct writer {
    larder_pool *pool;
    int fd;
    uint8_t *buffer;
    size_t used;
    larder_snapshot_header header;
    bool failed;
} writer;

static void flush(writer *w)
{
    size_t done = 0;
    w->header.records_sum = larder_snapshot_sum(w->header.records_sum, w->buffer, w->used);
    while (done < w->used && !w->failed) {
        ssize_t written = write(w->fd, w->buffer + done, w->used - done);
        w->failed = written < 0 && errno != EINTR;
        done += written > 0 ? (size_t)written : 0;
    }
    w->header.bytes += w->used;
    w->used = 0;
}

/* Everything is written in whole words: the checksum counts in them, and so does the buffer. */
static void append(writer *w, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    while (size > 0 && !w->failed) {
        size_t part = size < BUFFER - w->used ? size : BUFFER - w->used;
        memcpy(w->buffer + w->used, at, part);
        w->used += part;
        at += part;
        size -= part;
        if (w->used == BUFFER) {
            flush(w);
        }
    }
}

static void pad(writer *w)
{
    static const uint8_t zeros[sizeof(uint64_t)];
    append(w, zeros, (sizeof zeros - w->used % sizeof zeros) % sizeof zeros);
}

/* Does a word of the index lead to the item at that offset? */
static bool is_indexed(const larder_pool *pool, const larder_item *item, uint64_t offset)
{
    const char *key = larder_item_key(item);
    larder_place place = larder_place_of(pool, larder_hash(key, item->key_length));
    const larder_bucket *buckets[2] = {place.first, place.second};
    for (uint32_t i = 0; i < 2 * LARDER_BUCKET_WORDS; i++) {
        /* acquire: the item was complete before its word was placed. */
        uint64_t word = atomic_load_explicit(&buckets[i / LARDER_BUCKET_WORDS]->word[i % LARDER_BUCKET_WORDS],
                                             memory_order_acquire);
        uint32_t segment = larder_word_segment(pool, word);
        if (segment < pool->segment_count && larder_word_offset(pool, word) == offset &&
            word >> 48 == place.fingerprint && !larder_is_void(pool, segment, larder_word_generation(word))) {
            return true;
        }
    }
    return false;
}

/* model/save.pml: saver() */
static void append_item(writer *w, const larder_item *item, uint64_t offset, uint32_t segment)
{
    larder_pool *pool = w->pool;
    size_t value_at = larder_item_value_at(item->tags, item->key_length, item->kind);
    larder_snapshot_record record = {
        .address = pool->geometry.base + offset + value_at,
        .size = larder_item_bytes(pool, item) - value_at - item->spare,
        .version = item->version,
        .expiry = larder_told_expiry(&item->expiry),
        .cost = item->cost,
        .key_length = item->key_length,
        .tags = item->tags,
        .kind = item->kind,
        .abi = item->traits & LARDER_ABI_MASK,
        .queue = pool->segments[segment].queue,
        .visited = atomic_load_explicit(&item->visited, memory_order_relaxed),
        .level = larder_item_level(item),
    };
    record.bytes = larder_snapshot_value_at(record.tags, record.key_length) + larder_snapshot_padded(record.size);
    LARDER_FAULT(LARDER_AT_RECORD);
    append(w, &record, sizeof record);
    if (record.tags > 0) {
        append(w, larder_item_tags(item), record.tags * sizeof(uint64_t));
    }
    append(w, larder_item_key(item), record.key_length);
    pad(w);
    if (item->kind == LARDER_COUNTER_KIND) {
        /* Its number, as it is now, whatever a mover may have marked there. */
        uint64_t counter = (uint64_t)atomic_load_explicit((const _Atomic uint64_t *)((const uint8_t *)item + value_at),
                                                          memory_order_acquire);
        counter &= ~UINT64_C(1);
        append(w, &counter, sizeof counter);
    } else {
        append(w, (const uint8_t *)item + value_at, record.size);
    }
    pad(w);
    w->header.items++;
}

/* Is this an item, as far as one can tell? */
static bool is_whole(const larder_pool *pool, const larder_item *item, uint64_t room)
{
    size_t bytes = larder_item_bytes(pool, item);
    return bytes <= room && item->key_length > 0 && item->tags <= LARDER_TAGS_MAX &&
           larder_item_value_at(item->tags, item->key_length, item->kind) + item->spare <= bytes &&
           (item->kind != LARDER_COUNTER_KIND ||
            larder_item_value_at(item->tags, item->key_length, item->kind) + sizeof(uint64_t) <= bytes);
}

static void append_segment(writer *w, uint32_t segment)
{
    larder_pool *pool = w->pool;
    uint64_t first = ((uint64_t)segment << pool->segment_shift) / 8, bits = larder_segment_bytes(pool) / 8;
    uint64_t end = larder_segment_offset(pool, segment) + larder_run_bytes(pool, segment);
    for (uint64_t bit = first; bit < first + bits && !w->failed; bit += 64) {
        /* acquire: a marked item is complete. */
        uint64_t starts = atomic_load_explicit(&pool->starts[bit / 64], memory_order_acquire);
        for (; starts != 0; starts &= starts - 1) {
            uint64_t offset = pool->segments_at + (bit + (uint64_t)__builtin_ctzll(starts)) * 8;
            const larder_item *item = (const larder_item *)(pool->rw + offset);
            if (offset + sizeof *item <= end && is_whole(pool, item, end - offset) && is_indexed(pool, item, offset) &&
                larder_is_alive(pool, item)) {
                append_item(w, item, offset, segment);
            }
        }
    }
}

/* Items that were used again first, and of either queue the oldest first: in the order in which it came. */
static int compare_segments(const void *left, const void *right, void *segments)
{
    const larder_segment *a = (const larder_segment *)segments + *(const uint32_t *)left;
    const larder_segment *b = (const larder_segment *)segments + *(const uint32_t *)right;
    if (a->queue != b->queue) {
        return a->queue == LARDER_MAIN ? -1 : 1;
    }
    return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static bool append_segments(writer *w)
{
    larder_pool *pool = w->pool;
    uint32_t count = 0;
    uint32_t *order = calloc(pool->segment_count, sizeof *order);
    if (order == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < pool->segment_count; i++) {
        uint32_t state = atomic_load_explicit(&pool->segments[i].state, memory_order_acquire);
        if (state == LARDER_OPEN || state == LARDER_SEALED) {
            order[count++] = i;
        }
    }
    qsort_r(order, count, sizeof *order, compare_segments, pool->segments);
    for (uint32_t i = 0; i < count && !w->failed; i++) {
        append_segment(w, order[i]);
    }
    free(order);
    return !w->failed;
}

/* The header comes last: a file without one is none. */
static bool write_all(writer *w)
{
    larder_pool *pool = w->pool;
    larder_snapshot_header *header = &w->header;
    *header = (larder_snapshot_header){.magic = LARDER_SNAPSHOT_MAGIC,
                                       .version = LARDER_SNAPSHOT_VERSION,
                                       .format = LARDER_FORMAT,
                                       .saved = larder_pool_now(pool)};
    snprintf(header->name, sizeof header->name, "%s", pool->name);
    if (!larder_snapshot_identify(w->fd, header) || lseek(w->fd, sizeof *header, SEEK_SET) < 0 || !append_segments(w)) {
        return false;
    }
    flush(w);
    for (uint32_t i = 0; i < LARDER_ABIS; i++) {
        header->abis[i] = atomic_load_explicit(&pool->header->abis[i], memory_order_acquire);
    }
    header->clock = larder_now_logical(pool->header); /* after the items: no version among them is younger */
    header->sum = larder_snapshot_sum(0, header, offsetof(larder_snapshot_header, sum));
    return !w->failed && pwrite(w->fd, header, sizeof *header, 0) == (ssize_t)sizeof *header && fsync(w->fd) == 0;
}

/* A power cut may bring a name back that was taken away: the file is none any more, then. */
static void spoil(int fd)
{
    static const larder_snapshot_header none;
    if (fd >= 0 && pwrite(fd, &none, sizeof none, 0) == (ssize_t)sizeof none) {
        (void)!fsync(fd); /* where that fails, too, there is nothing left to try */
    }
}

/* model/save.pml: saver() */
static bool write_snapshot(larder_pool *pool, int snapshots, larder_saved *saved, larder_error *error)
{
    char temporary[LARDER_NAME_MAX + 32], final[LARDER_NAME_MAX + 32];
    larder_snapshot_name(pool, ".new-", temporary);
    larder_snapshot_name(pool, "", final);
    snprintf(saved->path, sizeof saved->path, "%s/%s", pool->paths.snapshots, final);
    writer w = {
        .pool = pool, .fd = larder_open_at(snapshots, temporary, O_RDWR | O_CREAT | O_EXCL), .buffer = malloc(BUFFER)};
    errno = w.fd >= 0 && w.buffer == NULL ? ENOMEM : errno;
    larder_limit limit;
    larder_limit_begin(&limit);
    bool written = w.fd >= 0 && w.buffer != NULL && larder_owner_take(larder_owner_of(pool), w.fd) && write_all(&w);
    LARDER_FAULT(LARDER_AT_SNAPSHOT);
    written = written && renameat(snapshots, temporary, snapshots, final) == 0 && fsync(snapshots) == 0;
    if (!written) {
        int code = errno;
        larder_fail(error,
                    code == EFBIG
                        ? "The snapshot %s cannot be written (%s); raise the limit on the size of files that "
                          "this process may make (ulimit -f, or LimitFSIZE= of a systemd unit)."
                        : "The snapshot %s cannot be written (%s); make room there, or set larder.snapshot to "
                          "another directory.",
                    saved->path, strerror(code));
        unlinkat(snapshots, temporary, 0);
        unlinkat(snapshots, final, 0); /* it may have its name, and then not for good */
        spoil(w.fd);
    }
    larder_limit_end(&limit);
    if (w.fd >= 0) {
        close(w.fd);
    }
    free(w.buffer);
    saved->items = w.header.items;
    saved->bytes = w.header.bytes + sizeof w.header;
    return written;
}

/* A save waits longer than a store: the lock's owner may only have to wait for a processor. */
static bool lock_waiting(larder_pool *pool)
{
    const struct timespec moment = {.tv_sec = 0, .tv_nsec = 10000000};
    for (int tries = 0; tries < (pool->config.does_not_wait ? 1 : 500); tries++) {
        if (larder_lock(pool)) {
            return true;
        }
        pool->writer.stuck_owner = 0;
        nanosleep(&moment, NULL);
    }
    return false;
}

/* Under the directory's lock. Closes the pool, and opens it again if it cannot be saved. model/save.pml: saver() */
static bool close_and_write(larder_pool *pool, int directory, int snapshots, larder_saved *saved, larder_error *error)
{
    /* No process moves items or recycles segments while we read. */
    if (!lock_waiting(pool)) {
        larder_fail(error,
                    "Another process makes room in the pool \"%s\" and does not go on; if it is stopped, end it, and "
                    "save again.",
                    pool->name);
        error->waited = true;
        return false;
    }
    if (larder_snapshot_discard(pool, error) < 0) {
        larder_unlock(pool);
        return false; /* killed from now on, we would leave one that is older than what was invalidated since */
    }
    LARDER_FAULT(LARDER_AT_CLOSE);
    /* seq_cst, and a fence: what an operation has written that does not see the mark, we see. */
    atomic_store_explicit(&pool->header->dead, LARDER_CLOSED, memory_order_seq_cst);
    atomic_thread_fence(memory_order_seq_cst);
    bool written = write_snapshot(pool, snapshots, saved, error);
    if (written) {
        LARDER_FAULT(LARDER_AT_CLOSED);
        unlinkat(directory, pool->paths.file, 0); /* else the next to open it replaces it: it is marked */
        /* One that came while this one was held: left alone with the name, it would pass for the only one (U2). */
        (void)larder_formats_sweep(pool, directory);
    } else {
        LARDER_FAULT(LARDER_AT_REOPEN);
        atomic_store_explicit(&pool->header->dead, LARDER_LIVES, memory_order_seq_cst);
    }
    larder_unlock(pool);
    if (written) {
        larder_pool_give_back(pool);
    }
    return written;
}

static bool still_has_its_name(const larder_pool *pool, int directory)
{
    struct stat status;
    return atomic_load_explicit(&pool->header->dead, memory_order_seq_cst) == LARDER_LIVES &&
           fstatat(directory, pool->paths.file, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           status.st_dev == pool->attached.device && status.st_ino == pool->attached.inode;
}

/* ---- another size ------------------------------------------------------------------------------------------
 *
 *     lock the directory | is there room? | save, which closes the pool | make the next one, which claims the snapshot
 *     | unlock | attach to it, which loads
 *
 * It is a save and an opening, with no other process in between, so that the next pool has the size that is asked for.
 * Whatever fails before the pool is closed leaves it as it was. From then on the snapshot has all of it: if the next
 * pool cannot be made in the new size, it is made in the old one, and if not even that, the next process to open it
 * makes and loads it.
 */

/* Does a pool that must not evict hold more than the next one takes? An eighth is left for the ends of segments. */
static bool holds_too_much(larder_pool *pool, uint64_t size, larder_error *error)
{
    larder_stats stats;
    larder_geometry next;
    larder_geometry_plan(&next, size);
    uint64_t room = ((uint64_t)next.segment_count << next.segment_shift) / 8 * 7;
    if (pool->geometry.evict != 0 || !larder_stats_read(pool, &stats) || stats.bytes <= room) {
        return false;
    }
    larder_fail(
        error,
        "The pool \"%s\" was made not to evict and holds %llu bytes, of which a pool of %llu has room for %llu; "
        "ask for a larger one, or delete something first.",
        pool->name, (unsigned long long)stats.bytes, (unsigned long long)size, (unsigned long long)room);
    return true;
}

/* Is there room for the next pool, when this one has given its segments back? Its tables stay until its last user has
 * noticed. */
static bool has_room(const larder_pool *pool, int directory, larder_error *error)
{
    struct statvfs space;
    uint64_t size = pool->config.size, limit = larder_limit_bytes();
    uint64_t own = (uint64_t)pool->geometry.segment_count << pool->segment_shift;
    if (size > limit) {
        return larder_fail(
            error,
            "The pool \"%s\" cannot get %llu bytes, because this process may not make files of more than "
            "%llu bytes; raise that limit (ulimit -f, or LimitFSIZE= of a systemd unit).",
            pool->name, (unsigned long long)size, (unsigned long long)limit);
    }
    if (fstatvfs(directory, &space) != 0) {
        return larder_fail(error, "%s cannot be asked how much room it has (%s).", pool->paths.directory,
                           strerror(errno));
    }
    uint64_t room = (uint64_t)space.f_bavail * (uint64_t)space.f_frsize + own;
    return size <= room ||
           larder_fail(
               error,
               "The pool \"%s\" cannot get %llu bytes: %s has room for %llu, with what the pool itself would give "
               "back; ask for less, or enlarge it (mount -o remount,size=… /dev/shm; in Docker --shm-size=…).",
               pool->name, (unsigned long long)size, pool->paths.directory, (unsigned long long)room);
}

/* Under the directory's lock, which it gives back: the pool was saved. Its snapshot is claimed by whichever is made. */
static bool make_next(larder_pool *pool, int directory, larder_error *error)
{
    larder_error second;
    pool->config.evict = pool->geometry.evict != 0;
    if (larder_make(pool, directory, error)) {
        return true;
    }
    pool->config.size = pool->geometry.size;
    (void)larder_make(pool, directory, &second); /* if it fails, too, the next to open the pool does this */
    return false;
}

/* ---- both -------------------------------------------------------------------------------------------------- */

/* With a size in the pool's configuration, the next pool is made at once. */
static int save_open(larder_pool *pool, larder_saved *saved, larder_error *error)
{
    int directory = larder_directory_open(pool->paths.directory, larder_owner_of(pool), error), snapshots = -1,
        result = -1;
    bool renewed = pool->config.size != 0;
    unsigned wait_ms = pool->config.does_not_wait ? 0 : LARDER_LOCK_WAIT_MS;
    if (directory >= 0 && larder_directory_lock(directory, pool->paths.directory, wait_ms, error)) {
        snapshots = larder_directory_open(pool->paths.snapshots, larder_owner_of(pool), error);
        if (!still_has_its_name(pool, directory)) {
            result = 0; /* replaced in this very moment */
        } else if (snapshots >= 0 && (!renewed || has_room(pool, directory, error)) &&
                   close_and_write(pool, directory, snapshots, saved, error)) {
            result = !renewed || make_next(pool, directory, error) ? 1 : -1;
        }
        flock(directory, LOCK_UN);
    }
    if (snapshots >= 0) {
        close(snapshots);
    }
    if (directory >= 0) {
        close(directory);
    }
    return result;
}

/* NULL: there is none, or `error`. */
static larder_pool *open_existing(const larder_pool_config *config, uint64_t size, larder_error *error)
{
    larder_pool_config existing = *config;
    existing.only_existing = true;
    existing.size = size;
    error->message[0] = '\0';
    if (config->snapshots == NULL) {
        larder_fail(error,
                    "The pool \"%s\" cannot be saved: snapshots are switched off; set larder.snapshot to a "
                    "directory on a disk.",
                    config->name);
        return NULL;
    }
    return larder_pool_open(&existing, error);
}

int larder_pool_save(const larder_pool_config *config, larder_saved *saved, larder_error *error)
{
    larder_pool *pool = open_existing(config, 0, error);
    if (pool == NULL) {
        return error->message[0] == '\0' ? 0 : -1;
    }
    int result = save_open(pool, saved, error);
    larder_pool_close(pool);
    return result;
}

/* Attaches to the next pool, and loads what it claimed. */
static bool load_next(larder_pool *pool, larder_resized *resized, larder_error *error)
{
    larder_detach(pool);
    if (!larder_attach(pool, error)) {
        return larder_fail(error, "The pool \"%s\" was resized, and cannot be opened; open it again.", pool->name);
    }
    /* acquire: the account of the loading is complete. */
    bool loaded = atomic_load_explicit(&pool->header->began, memory_order_acquire) == LARDER_LOADED;
    resized->size = pool->geometry.size;
    resized->loaded = pool->header->snapshot_items;
    resized->dropped = pool->header->snapshot_dropped;
    return loaded || larder_fail(error, "The pool \"%s\" was resized, but began with nothing. %s", pool->name,
                                 pool->header->reason);
}

static int resize_open(larder_pool *pool, larder_resized *resized, larder_error *error)
{
    larder_saved saved;
    *resized = (larder_resized){.before = pool->geometry.size, .size = pool->geometry.size};
    if (pool->config.size == pool->geometry.size) {
        return 1;
    }
    if (pool->attached.met_others) {
        larder_fail(
            error,
            "The pool \"%s\" cannot be resized while another version of the extension has one of its name; wait "
            "until the upgrade is complete.",
            pool->name);
        return -1;
    }
    if (holds_too_much(pool, pool->config.size, error)) {
        return -1;
    }
    larder_error second;
    int result = save_open(pool, &saved, error);
    if (result == 1) {
        return load_next(pool, resized, error) ? 1 : -1;
    }
    if (pool->attached.snapshot_fd >= 0) {
        (void)load_next(pool, resized, &second); /* it was made as large as before, and why is in `error` */
    }
    return result;
}

int larder_pool_resize(const larder_pool_config *config, larder_resized *resized, larder_error *error)
{
    larder_pool *pool = open_existing(config, config->size, error);
    if (pool == NULL) {
        return error->message[0] == '\0' ? 0 : -1;
    }
    int result = resize_open(pool, resized, error);
    larder_pool_close(pool);
    return result;
}
