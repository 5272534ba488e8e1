#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "handle.h"
#include "larder.h"
#include "aside.h"
#include "attach.h"
#include "directory.h"
#include "formats.h"
#include "geometry.h"
#include "lease.h"
#include "lock.h"
#include "map.h"
#include "pin.h"
#include "quota.h"
#include "segment.h"
#include "slot.h"
#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing in this process uses values of replaced pools any more: unmaps them. */
static void bury_graves(larder_pool *pool)
{
    while (pool->graves != NULL) {
        larder_grave *grave = pool->graves;
        pool->graves = grave->next;
        larder_unmap(grave->mapping);
        if (grave->inherited_fd >= 0) {
            close(grave->inherited_fd);
        }
        if (grave->slot_fd >= 0) {
            close(grave->slot_fd);
        }
        free(grave);
    }
}

/* ---- forks --------------------------------------------------------------------------------------------- */

static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;
static larder_pool *handles; /* of all threads; for fork, which duplicates them all */

static bool is_ours(const larder_pool *pool)
{
    return pthread_equal(pool->thread, pthread_self());
}

static void before_fork(void)
{
    pthread_mutex_lock(&handles_lock);
    larder_map_before_fork();
    for (larder_pool *pool = handles; pool != NULL; pool = pool->next) {
        /* Only the thread that forks lives on in the child; the others go on using their handles meanwhile. */
        if (is_ours(pool)) {
            larder_slot_before_fork(pool);
        }
    }
}

static void in_parent(void)
{
    for (larder_pool *pool = handles; pool != NULL; pool = pool->next) {
        if (is_ours(pool)) {
            larder_slot_in_parent(pool);
        }
    }
    larder_map_after_fork();
    pthread_mutex_unlock(&handles_lock);
}

static void in_child(void)
{
    for (larder_pool *pool = handles; pool != NULL; pool = pool->next) {
        if (is_ours(pool)) {
            larder_slot_in_child(pool);
            pool->entered->known = 1;
            pool->entered->countdown = 0;
        } else {
            larder_slot_of_lost_thread(pool);
        }
    }
    larder_map_after_fork();
    pthread_mutex_unlock(&handles_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

/* ---- handles ------------------------------------------------------------------------------------------- */

static bool fill_in(larder_pool *pool, const larder_pool_config *config, larder_error *error)
{
    if (!larder_name_is_sound(config->name)) {
        return larder_fail(error,
                           "\"%.80s\" is no name for a pool: it takes 1 to %u letters, digits, dots, dashes and "
                           "underscores, and begins with a letter, digit or underscore.",
                           config->name, LARDER_NAME_MAX);
    }
    if (config->size != 0 && (config->size < LARDER_SIZE_MIN || config->size > LARDER_SIZE_MAX)) {
        return larder_fail(
            error, "A pool of %llu bytes cannot be made: the size must be between %llu (4 MiB) and %llu (1 TiB).",
            (unsigned long long)config->size, (unsigned long long)LARDER_SIZE_MIN, (unsigned long long)LARDER_SIZE_MAX);
    }
    pool->config = *config;
    pool->config.size = config->size == 0 ? 0 : larder_round_size(config->size);
    pool->config.now = config->now == NULL ? larder_wall_ms : config->now;
    snprintf(pool->name, sizeof pool->name, "%s", config->name);
    pool->config.name = pool->name;
    return larder_name_places(pool, config, error);
}

static void free_handle(larder_pool *pool)
{
    if (pool->entered != MAP_FAILED) {
        munmap((void *)pool->entered, LARDER_PAGE);
    }
    larder_memory_free(pool->memory);
    if (pool->attached.snapshot_fd >= 0) {
        close(pool->attached.snapshot_fd);
    }
    free(pool->request.pinned_list);
    free(pool);
}

larder_pool *larder_pool_open(const larder_pool_config *config, larder_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    larder_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        larder_fail(error, "There is no memory for another pool.");
        return NULL;
    }
    pool->attached.fd = pool->attached.slot_fd = pool->attached.spare_fd = pool->attached.inherited_fd =
        pool->attached.snapshot_fd = -1;
    if (!fill_in(pool, config, error)) {
        free(pool);
        return NULL;
    }
    pool->thread = pthread_self();
    pool->memory = larder_memory_make();
    pool->entered = mmap(NULL, LARDER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool room = pool->memory != NULL && pool->entered != MAP_FAILED;
    if (pool->entered != MAP_FAILED) {
        pool->entered->known = 1;
        madvise((void *)pool->entered, LARDER_PAGE, MADV_WIPEONFORK); /* without it, fork() alone is noticed */
    }
    if (!room || !larder_attach(pool, error)) {
        if (!room) {
            larder_fail(error, "There is no memory for another pool.");
        }
        free_handle(pool);
        return NULL;
    }
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&handles_lock);
    pool->next = handles;
    handles = pool;
    pthread_mutex_unlock(&handles_lock);
    return pool;
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
    if (pool->slot != NULL && !pool->attached.pins_shared) {
        larder_pins_drop(pool);
    }
    bury_graves(pool);
    larder_leases_end(pool);
    larder_detach(pool);
    free_handle(pool);
}

bool larder_pool_names(const larder_pool_config *config, void (*visit)(void *context, const char *name), void *context,
                       larder_error *error)
{
    larder_pool place = {.attached.fd = -1};
    larder_pool_config any = *config;
    any.name = "any";
    if (!fill_in(&place, &any, error)) {
        return false;
    }
    struct stat status;
    int fd = larder_find_directory(&place, false, error);
    if (fd < 0 && error->message[0] == '\0') {
        return true; /* there is none */
    }
    DIR *listing = fd < 0 ? NULL : larder_directory_list(fd);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        char name[LARDER_NAME_MAX + 1];
        uint32_t format;
        if (larder_file_is_pool(entry->d_name, name, &format) &&
            fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
            visit(context, name);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

int larder_pool_remove(const larder_pool_config *config, larder_error *error)
{
    larder_pool place = {.attached.fd = -1};
    if (!fill_in(&place, config, error)) {
        return -1;
    }
    int fd_directory = larder_find_directory(&place, true, error);
    if (fd_directory < 0) {
        return -1;
    }
    int removed = larder_formats_remove_all(&place, fd_directory, error);
    close(fd_directory);
    return removed;
}

/* ---- the end of a request -------------------------------------------------------------------------------------- */

bool larder_pool_contains(const larder_pool *pool, const void *address)
{
    bool contains = (uintptr_t)address - (uintptr_t)pool->ro < pool->geometry.size;
    for (const larder_grave *grave = pool->graves; grave != NULL && !contains; grave = grave->next) {
        contains = (uintptr_t)address - (uintptr_t)grave->ro < grave->size;
    }
    return contains;
}

/* What a request did and must not do to the next. */
static void end_what_it_began(larder_pool *pool)
{
    larder_memory_forget(pool->memory);
    if (pool->slot != NULL) {
        larder_leases_end(pool);
    }
}

void larder_pool_begin_another(larder_pool *pool)
{
    end_what_it_began(pool);
    larder_pool_doubt(pool);
}

void larder_pool_leave(larder_pool *pool)
{
    end_what_it_began(pool);
    if (pool->slot != NULL) {
        if (pool->attached.pins_shared) {
            /* A child still relies on them: the slot is left to it, and buried when it ends. */
            larder_pins_forget(pool);
            larder_slot_release(pool);
        } else {
            larder_quota_end(pool);
        }
    }
    if (pool->attached.inherited_fd >= 0) {
        close(pool->attached.inherited_fd);
        pool->attached.inherited_fd = -1;
    }
    bury_graves(pool);
    larder_map_reunite(pool);
    pool->request.in_request = false;
    pool->entered->countdown = 0;
}

/* ---- giving back the memory of a pool that was removed or saved, while processes may still have it mapped --------
 *
 * A file's memory is given back when no process maps it any more, which is when each of its processes has looked at the
 * path again; a process that removes pool after pool would have them all until its request ends, because it may be
 * using values in place, and idle workers keep one that was saved until their next request, so that there might be no
 * room for its successor. So a process that removes or saves a pool frees its segments at once, but for those that are
 * pinned, by the protocol of pin.h: the generation is raised, and only then are the pins looked at. A reader that has
 * not noticed yet finds that every word is void. No process opens a segment any more, because the lock is not to be had
 * (lock.c): so none is written to without a pin.
 */

void larder_pool_give_back(larder_pool *pool)
{
    if (!larder_lock_whatever(pool)) {
        return; /* its memory goes with the last mapping */
    }
    for (uint32_t i = 0, run; i < pool->geometry.segment_count; i += run) {
        uint32_t generation = atomic_load_explicit(&pool->generations[i], memory_order_relaxed);
        run = larder_segment_state_of(&pool->segments[i]) == LARDER_FREE ? 1 : larder_run_of(pool, i);
        LARDER_FAULT(LARDER_AT_GIVE_BACK);
        /* seq_cst, before the pins: as in larder_empty_segment(). model/pin.pml: raise_generation() */
        atomic_store_explicit(&pool->generations[i], (generation + 1) & LARDER_GENERATION_MASK, memory_order_seq_cst);
        if (!larder_pinned_by_any(pool, i)) {
            (void)!fallocate(pool->attached.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             (off_t)larder_segment_offset(pool, i), (off_t)((uint64_t)run << pool->segment_shift));
        }
    }
    larder_unlock(pool);
}

void larder_pool_abandon(larder_pool *pool)
{
    larder_pool_doubt(pool);
    if (pool->slot == NULL || atomic_load_explicit(&pool->header->dead, memory_order_acquire) != LARDER_DEAD) {
        return;
    }
    larder_pool_give_back(pool);
    if (pool->request.pinned_count == 0 && pool->attached.inherited_fd < 0 && !pool->attached.pins_shared) {
        larder_leases_end(pool);
        larder_detach(pool);
        pool->attached.checked_at = 0; /* the next operation looks for the next pool, however soon it comes */
    }
}

const char *larder_pool_owner(const larder_pool *pool)
{
    return larder_owner_name(larder_owner_of(pool));
}
