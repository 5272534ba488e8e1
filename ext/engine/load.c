#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "load.h"
#include "directory.h"
#include "snapshot.h"
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Says that this process loads the snapshot. False: the others have gone on without it. model/save.pml: loader() */
static bool begin(larder_pool *pool)
{
    uint64_t comes = LARDER_LOADER_COMES,
             own = (uint64_t)pool->writer.incarnation << 32 | (pool->writer.slot_index + 1);
    LARDER_FAULT(LARDER_AT_BEGIN);
    /* seq_cst: as above. */
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
    /* release: what is told is complete. */
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
static bool is_sound(const larder_snapshot_header *header, const uint8_t *records)
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
    } else if (!begin(pool)) {
        tell(pool, LARDER_BEGAN_EMPTY, 0, 0,
             "The process that was to load the snapshot came too late: its pool had been in use for a while.");
    } else if (!is_sound(&header, (const uint8_t *)file + sizeof header)) {
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
