#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "attach.h"
#include "aside.h"
#include "directory.h"
#include "formats.h"
#include "index.h"
#include "load.h"
#include "lock.h"
#include "make.h"
#include "map.h"
#include "quota.h"
#include "segment.h"
#include "slot.h"
#include "snapshot.h"
#include "larder.h"
#include "token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the segments and the index as they are found ----------------------------------------------------------- */

/* Is every segment one? Others may be working on it meanwhile: what is only odd for a moment is no damage. */
static bool segments_are_sound(const larder_pool *pool)
{
    const larder_geometry *g = &pool->geometry;
    for (uint32_t i = 0; i < g->segment_count; i++) {
        const larder_segment *segment = &pool->segments[i];
        uint32_t state = atomic_load_explicit(&segment->state, memory_order_relaxed);
        if (state >= LARDER_SEGMENT_STATES || segment->run > g->segment_count || segment->queue >= LARDER_QUEUES ||
            atomic_load_explicit(&pool->generations[i], memory_order_relaxed) > LARDER_GENERATION_MASK ||
            (segment->next >= g->segment_count && segment->next != LARDER_NO_SEGMENT && segment->next != 0) ||
            (segment->prev >= g->segment_count && segment->prev != LARDER_NO_SEGMENT && segment->prev != 0)) {
            return false;
        }
    }
    return true;
}

/* So many buckets and deletions are looked at, all over the index: what has overwritten it is seldom as small as what
 * is between two. To look at all would take as long as to read a sixteenth of the pool. */
#define SAMPLES 64u

/* No tick is younger than the clock. */
static bool is_past(const larder_pool *pool, const _Atomic uint64_t *tick)
{
    /* seq_cst: the clock has ticked before the tick was written anywhere, and is loaded after it. */
    uint64_t seen = atomic_load_explicit(tick, memory_order_seq_cst);
    return seen <= atomic_load_explicit(&pool->header->clock, memory_order_seq_cst);
}

static bool is_possible(const larder_pool *pool, uint64_t word)
{
    return (word & LARDER_PENDING) != 0 ? (uint32_t)word < pool->geometry.slot_count
                                        : larder_word_segment(pool, word) != LARDER_NO_SEGMENT;
}

/* False: a word is none. Counts those that there are. */
static bool are_possible(const larder_pool *pool, const larder_bucket *bucket, uint64_t *words)
{
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        /* relaxed: it is only looked at. */
        uint64_t word = atomic_load_explicit(&bucket->word[i], memory_order_relaxed);
        if (word != 0 && !is_possible(pool, word)) {
            return false;
        }
        *words += word != 0;
    }
    return true;
}

/* Where much lives and no word is left that leads to it, nothing of it can be deleted, and perhaps not evicted. */
static bool may_be_empty(const larder_pool *pool)
{
    uint64_t bytes = 0, words = 0;
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        enum larder_segment_state state = larder_segment_state_of(&pool->segments[i]);
        bool is_used = state == LARDER_OPEN || state == LARDER_SEALED;
        bytes += is_used ? larder_segment_live_units(&pool->segments[i]) << pool->unit_shift : 0;
    }
    for (uint32_t i = 0; bytes > pool->size / 4 && words == 0 && i < pool->bucket_count; i++) {
        if (!are_possible(pool, &pool->buckets[i], &words)) {
            return false;
        }
    }
    return bytes <= pool->size / 4 || words > 0;
}

/* Can the index be one, as far as a few places tell? What was overwritten has ticks that are still to come, which would
 * refuse whatever is stored. */
static bool index_is_sound(const larder_pool *pool)
{
    uint64_t buckets = pool->bucket_count, deletions = pool->deletion_count, words = 0;
    uint64_t samples = buckets < SAMPLES ? buckets : SAMPLES;
    for (uint64_t i = 0; i < samples; i++) {
        const larder_bucket *bucket = &pool->buckets[buckets * i / samples];
        if (!is_past(pool, &bucket->key_version) || !are_possible(pool, bucket, &words) ||
            !is_past(pool, &pool->deletions[deletions * i / samples])) {
            return false;
        }
    }
    return words > 0 || may_be_empty(pool);
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
    if (!segments_are_sound(pool) || !index_is_sound(pool)) {
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
    while (pool->geometry.evict == 0 && !larder_snapshot_is_ours(pool) && larder_snapshot_is_loading(pool) &&
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
