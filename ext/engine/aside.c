#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "aside.h"
#include "descriptor.h"
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#define LETTERS 6u

bool larder_settle_in(larder_pool *pool, const char *directory)
{
    size_t length = strlen(directory);
    if (length + LARDER_FILE_MAX + 2 > sizeof pool->paths.full) {
        return false;
    }
    snprintf(pool->paths.directory, sizeof pool->paths.directory, "%s", directory);
    snprintf(pool->paths.full, sizeof pool->paths.full, "%s/%s@%u", directory, pool->name, LARDER_FORMAT);
    pool->paths.file = pool->paths.full + length + 1;
    return true;
}

/* The name of an owner's directory, with the longest number. */
#define OWN_NAME_MAX (sizeof "/larder-g4294967295")

static void name_after_owner(const larder_pool *pool, char *name)
{
    bool shared = pool->config.shared;
    snprintf(name, OWN_NAME_MAX, "/larder-%s%u", shared ? "g" : "",
             (unsigned)(shared ? pool->config.group : geteuid()));
}

/* `parent` itself, or the owner's directory in it. */
static bool name_place(const larder_pool *pool, char path[LARDER_PATH_MAX], const char *parent, bool is_owners)
{
    size_t length = strlen(parent);
    if (length + OWN_NAME_MAX > LARDER_PATH_MAX) {
        return false;
    }
    memcpy(path, parent, length + 1);
    if (is_owners) {
        name_after_owner(pool, path + length);
    }
    return true;
}

bool larder_name_places(larder_pool *pool, const larder_pool_config *config, larder_error *error)
{
    larder_paths *paths = &pool->paths;
    bool is_owners = config->directory == NULL;
    paths->user = is_owners && !config->shared ? geteuid() : LARDER_NO_USER;
    if (!name_place(pool, paths->home, is_owners ? "/dev/shm" : config->directory, is_owners) ||
        !larder_settle_in(pool, paths->home)) {
        return larder_fail(error, "The directory for the pool \"%s\" has too long a path.", pool->name);
    }
    if (config->snapshots != NULL && !name_place(pool, paths->snapshots, config->snapshots, is_owners)) {
        return larder_fail(error,
                           "The directory of snapshots has too long a path; set larder.snapshot to a shorter one.");
    }
    pool->config.directory = paths->home;
    pool->config.snapshots = config->snapshots == NULL ? NULL : paths->snapshots;
    return true;
}

bool larder_user_is_another(const larder_pool *pool)
{
    return pool->paths.user != LARDER_NO_USER && pool->paths.user != geteuid();
}

void larder_follow_user(larder_pool *pool)
{
    pool->paths.user = geteuid();
    name_after_owner(pool, strrchr(pool->paths.home, '/'));
    if (pool->config.snapshots != NULL) {
        name_after_owner(pool, strrchr(pool->paths.snapshots, '/'));
    }
    pool->paths.made_aside = false;
    larder_settle_in(pool, pool->paths.home); /* which is as long as it may be */
}

/* Splits the home's path: its parent, and its name. */
static const char *split(const char *home, char parent[LARDER_PATH_MAX])
{
    const char *slash = strrchr(home, '/');
    snprintf(parent, LARDER_PATH_MAX, "%.*s", slash == NULL || slash == home ? 1 : (int)(slash - home),
             slash == NULL ? "." : home);
    return slash == NULL ? home : slash + 1;
}

static bool is_aside(const char *name, const char *home_name)
{
    size_t length = strlen(home_name);
    return strncmp(name, home_name, length) == 0 && name[length] == '.' && strlen(name) == length + 1 + LETTERS;
}

/* The first of the owner's asides whose name comes after that one (NULL: the very first). */
static bool next_aside(const larder_pool *pool, const char *after, char found[LARDER_PATH_MAX])
{
    char parent[LARDER_PATH_MAX], first[LARDER_PATH_MAX] = "";
    const char *name = split(pool->paths.home, parent);
    DIR *listing = opendir(parent);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        struct stat status;
        if (is_aside(entry->d_name, name) && (first[0] == '\0' || strcmp(entry->d_name, first) < 0) &&
            (after == NULL || strcmp(entry->d_name, strrchr(after, '/') + 1) > 0) &&
            fstatat(dirfd(listing), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
            larder_owner_has(larder_owner_of(pool), &status)) {
            snprintf(first, sizeof first, "%s", entry->d_name);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return first[0] != '\0' && snprintf(found, LARDER_PATH_MAX, "%s/%s", parent, first) < (int)LARDER_PATH_MAX;
}

/* Another directory is the one. A process that uses a pool in this one finds out by its mark; a process that is about
 * to make one waits for the lock, and then finds that it cannot. */
static void retire(const larder_pool *pool, const char *path)
{
    larder_error error;
    int directory = larder_directory_open(path, larder_owner_of(pool), &error);
    if (directory < 0) {
        return;
    }
    bool locked = larder_directory_lock(directory, path, larder_lock_wait_ms(pool), &error);
    DIR *listing = larder_directory_list(directory);
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        char name[LARDER_NAME_MAX + 1];
        uint32_t format;
        struct stat status;
        int fd = larder_file_is_pool(entry->d_name, name, &format)
                     ? larder_open_at(directory, entry->d_name, O_RDWR | O_NONBLOCK)
                     : -1;
        if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
            larder_file_mark_dead(fd, &status);
            unlinkat(directory, entry->d_name, 0);
        }
        if (fd >= 0) {
            close(fd);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    if (locked) {
        larder_directory_sweep(directory);
    }
    rmdir(path);
    close(directory);
}

static void retire_all_but(const larder_pool *pool, const char *chosen)
{
    char path[LARDER_PATH_MAX], last[LARDER_PATH_MAX];
    for (bool more = next_aside(pool, NULL, path); more; more = next_aside(pool, last, path)) {
        snprintf(last, sizeof last, "%s", path);
        if (strcmp(path, chosen) != 0) {
            retire(pool, path);
        }
    }
}

/* Under a name that no process has foreseen. */
static bool make_aside(const larder_pool *pool, char path[LARDER_PATH_MAX], larder_error *error)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    bool is_new = false, done = true;
    for (int tries = 0; done && !is_new && tries < 10; tries++) {
        uint8_t random[LETTERS];
        char suffix[LETTERS + 1] = "";
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
            return larder_fail(error, "The system gave no random bytes for a directory beside %s.", pool->paths.home);
        }
        for (uint32_t i = 0; i < LETTERS; i++) {
            suffix[i] = letters[random[i] % 64];
        }
        if (snprintf(path, LARDER_PATH_MAX, "%s.%s", pool->paths.home, suffix) >= (int)LARDER_PATH_MAX) {
            return larder_fail(error, "The directory %s has too long a path.", pool->paths.home);
        }
        done = larder_directory_make(path, larder_owner_of(pool), &is_new, error);
    }
    return done && is_new;
}

/* Opens the first of the owner's directories, whose path goes to `path`. -1: there is none, or it cannot be opened. */
static int open_first(const larder_pool *pool, char path[LARDER_PATH_MAX], enum larder_directory *home,
                      larder_error *error)
{
    larder_owner owner = larder_owner_of(pool);
    int fd = larder_directory_try(pool->paths.home, owner, home, error);
    if (fd >= 0) {
        snprintf(path, LARDER_PATH_MAX, "%s", pool->paths.home);
    }
    for (int tries = 0; fd < 0 && *home != LARDER_DIRECTORY_TROUBLE && tries < 10; tries++) {
        larder_error about_aside;
        enum larder_directory found;
        if (!next_aside(pool, NULL, path)) {
            break;
        }
        fd = larder_directory_try(path, owner, &found, &about_aside);
        if (found == LARDER_DIRECTORY_TROUBLE) {
            *error = about_aside;
            *home = found;
        }
    }
    return fd;
}

int larder_find_directory(larder_pool *pool, bool make, larder_error *error)
{
    char path[LARDER_PATH_MAX], made[LARDER_PATH_MAX] = "";
    larder_error why = {.message = ""};
    for (int tries = 0; tries < 10; tries++) {
        enum larder_directory home;
        int fd = open_first(pool, path, &home, &why);
        if (fd < 0 && home == LARDER_DIRECTORY_TROUBLE) {
            *error = why;
            return -1;
        }
        if (fd < 0 && !make) {
            error->message[0] = '\0';
            return -1;
        }
        if (fd < 0 && home == LARDER_DIRECTORY_ABSENT) {
            bool is_new;
            LARDER_FAULT(LARDER_AT_DIRECTORY);
            if (!larder_directory_make(pool->paths.home, larder_owner_of(pool), &is_new, error)) {
                return -1;
            }
            snprintf(made, sizeof made, "%s", is_new ? pool->paths.home : "");
            continue;
        }
        if (fd < 0) {
            LARDER_FAULT(LARDER_AT_DIRECTORY);
            if (!make_aside(pool, made, error)) {
                *error = why; /* the one in the way has to go */
                return -1;
            }
            continue;
        }
        if (made[0] != '\0' && strcmp(made, path) == 0) {
            retire_all_but(pool, path);
        } else if (made[0] != '\0') {
            rmdir(made);
        }
        bool aside = strcmp(path, pool->paths.home) != 0;
        if (!larder_settle_in(pool, path)) {
            close(fd);
            larder_fail(error, "The directory for the pool \"%s\" has too long a path.", pool->name);
            return -1;
        }
        pool->paths.aside = aside;
        pool->paths.made_aside |= aside && strcmp(made, path) == 0;
        snprintf(pool->paths.why_aside, sizeof pool->paths.why_aside, "%s", aside ? why.message : "");
        return fd;
    }
    larder_fail(error, "The directory %s is made and removed again and again; find out by whom.", pool->paths.home);
    return -1;
}

bool larder_home_is_back(const larder_pool *pool)
{
    struct stat status;
    return pool->paths.aside && lstat(pool->paths.home, &status) == 0 && S_ISDIR(status.st_mode) &&
           larder_owner_has(larder_owner_of(pool), &status);
}
