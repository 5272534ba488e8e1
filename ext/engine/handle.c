#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "handle.h"
#include "aside.h"
#include "attach.h"
#include "directory.h"
#include "file.h"
#include "formats.h"
#include "geometry.h"
#include "lease.h"
#include "map.h"
#include "pin.h"
#include "request.h"
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
    int length = config->directory != NULL
                     ? snprintf(pool->home, sizeof pool->home, "%s", config->directory)
                     : snprintf(pool->home, sizeof pool->home, "/dev/shm/larder-%s%u", config->shared ? "g" : "",
                                (unsigned)(config->shared ? config->group : geteuid()));
    pool->config.directory = pool->home;
    int kept =
        config->snapshots != NULL ? snprintf(pool->snapshots, sizeof pool->snapshots, "%s", config->snapshots) : 0;
    pool->config.snapshots = config->snapshots == NULL ? NULL : pool->snapshots;
    if (kept < 0 || (size_t)kept >= sizeof pool->snapshots) {
        return larder_fail(error,
                           "The directory of snapshots has too long a path; set larder.snapshot to a shorter one.");
    }
    return (length >= 0 && (size_t)length < sizeof pool->home && larder_settle_in(pool, pool->home)) ||
           larder_fail(error, "The directory for the pool \"%s\" has too long a path.", pool->name);
}

static void free_handle(larder_pool *pool)
{
    if (pool->entered != MAP_FAILED) {
        munmap((void *)pool->entered, LARDER_PAGE);
    }
    larder_memory_free(pool->memory);
    if (pool->snapshot_fd >= 0) {
        close(pool->snapshot_fd);
    }
    free(pool->pinned_list);
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
    pool->fd = pool->slot_fd = pool->spare_fd = pool->inherited_fd = pool->snapshot_fd = -1;
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
    if (pool->slot != NULL && !pool->pins_shared) {
        larder_pins_drop(pool);
    }
    larder_graves_bury(pool);
    larder_leases_end(pool);
    larder_detach(pool);
    free_handle(pool);
}

bool larder_pool_names(const larder_pool_config *config, void (*visit)(void *context, const char *name), void *context,
                       larder_error *error)
{
    larder_pool place = {.fd = -1};
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
    larder_pool place = {.fd = -1};
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
