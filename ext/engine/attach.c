#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "attach.h"
#include "aside.h"
#include "directory.h"
#include "file.h"
#include "formats.h"
#include "load.h"
#include "lock.h"
#include "make.h"
#include "map.h"
#include "quota.h"
#include "recover.h"
#include "slot.h"
#include "snapshot.h"
#include "stray.h"
#include "token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool check_wishes(const larder_pool *pool, const larder_geometry *geometry, larder_error *error)
{
    /* Another size serves as well: larder_pool_resize() may have changed it. */
    if (!pool->config.only_existing && pool->config.evict != (geometry->evict != 0)) {
        return larder_fail(error,
                           "The pool \"%s\" was made %s, and is now asked for %s; use another name, or remove the pool "
                           "first (Larder\\SharedMemory::remove('%s'), or delete %s).",
                           pool->name, geometry->evict != 0 ? "to evict" : "not to evict",
                           pool->config.evict ? "with eviction" : "without eviction", pool->name, pool->path);
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

/* 1 + the index of this PHP's layout in the pool's list; 0 if 16 others were here before. */
static uint8_t register_layout(larder_header *header, uint32_t layout)
{
    for (uint32_t i = 0; layout != 0 && i < LARDER_LAYOUTS; i++) {
        uint32_t seen = 0;
        LARDER_FAULT(LARDER_AT_LAYOUT);
        /* seq_cst: one process's entry is seen by the next before it chooses; and by every write that began before we
         * look at the clock for the first time (see clear_others() in publish.c). */
        if (atomic_compare_exchange_strong_explicit(&header->layouts[i], &seen, layout, memory_order_seq_cst,
                                                    memory_order_seq_cst) ||
            seen == layout) {
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

static bool allocate_pin_lists(larder_pool *pool, larder_error *error)
{
    uint32_t count = pool->geometry.segment_count;
    free(pool->pinned_list);
    pool->pinned_list = calloc(count, sizeof *pool->pinned_list);
    pool->pinned_count = 0;
    pool->kept_count = 0;
    return pool->pinned_list != NULL ||
           larder_fail(error, "There is no memory for the list of pins of the pool \"%s\".", pool->name);
}

void larder_detach(larder_pool *pool)
{
    larder_slot_release(pool);
    larder_map_give_marks_back(pool);
    larder_mapping *mapping = pool->mapping;
    pool->mapping = NULL; /* first: in the child of another thread's fork this handle is closed once more */
    larder_unmap(mapping);
    pool->ro = NULL;
    pool->rw = NULL;
    memset(pool->leases_held, 0, sizeof pool->leases_held);
    if (pool->fd >= 0) {
        close(pool->fd);
        pool->fd = -1;
    }
}

/* Are the tables sound? Makes the lists of a new pool. */
static bool start_segments(larder_pool *pool)
{
    if (!larder_segments_are_sound(pool) || !larder_index_is_sound(pool)) {
        return false;
    }
    if (larder_lock(pool)) { /* else somebody works with them, and will find them unsound himself if they are */
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

enum attached { ATTACHED, VANISHED, FAILED };

/* Attaches to the file of the pool's name; VANISHED: there is none, or a damaged one. */
static enum attached attach_existing(larder_pool *pool, int directory, larder_error *error)
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
    pool->fd = fd;
    pool->device = status.st_dev;
    pool->inode = status.st_ino;
    if (!check_wishes(pool, &pool->geometry, error) || !allocate_pin_lists(pool, error) ||
        !larder_map(pool, fd, error)) {
        larder_detach(pool);
        return FAILED;
    }
    point_into(pool);
    if (pool->zero_copy) {
        larder_stray_watch();
    }
    if (!larder_slot_take(pool, error)) {
        bool vanished = has_lost_its_name(pool);
        larder_detach(pool);
        return vanished ? VANISHED : FAILED;
    }
    pool->layout = register_layout(pool->header, pool->config.layout);
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
    pool->life++;
    pool->had_size = pool->geometry.size;
    pool->checked_at = pool->named_at = larder_pool_now(pool);
    return ATTACHED;
}

static bool attach_in(larder_pool *pool, int directory, larder_error *error)
{
    if (!larder_formats_settle(pool, directory, error)) {
        return false;
    }
    /* A pool may be replaced between our looking and our locking; nobody replaces pools ten times in a row. */
    enum attached result = VANISHED;
    for (int tries = 0; tries < 10 && result == VANISHED; tries++) {
        result = attach_existing(pool, directory, error);
        if (result == VANISHED && pool->config.only_existing) {
            error->message[0] = '\0'; /* that there is none is no error */
            result = FAILED;
        } else if (result == VANISHED && !larder_make(pool, directory, error)) {
            result = FAILED;
        }
    }
    if (result == VANISHED) {
        result = attach_existing(pool, directory, error);
        if (result == VANISHED) {
            larder_fail(error, "The pool file %s is removed or damaged again and again; find out by whom.", pool->path);
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
    bool attached = false, again = true;
    for (int tries = 0; again && tries < 3; tries++) {
        int directory = larder_find_directory(pool, true, error);
        if (directory < 0) {
            return false;
        }
        attached = attach_in(pool, directory, error);
        again = !attached && was_retired(directory);
        close(directory);
    }
    if (attached) {
        larder_snapshot_load(pool);
    }
    return attached;
}
