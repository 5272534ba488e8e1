#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

larder_owner larder_owner_of(const larder_pool *pool)
{
    return (larder_owner){.shared = pool->config.shared, .group = pool->config.group};
}

bool larder_owner_has(larder_owner owner, const struct stat *status)
{
    /* Whoever gave it to the group is a member, and members trust each other. */
    return owner.shared ? status->st_gid == owner.group && (status->st_mode & 07) == 0
                        : status->st_uid == geteuid() && (status->st_mode & 077) == 0;
}

const char *larder_owner_name(larder_owner owner)
{
    static _Thread_local char name[48];
    snprintf(name, sizeof name, owner.shared ? "the members of group %u" : "user %u",
             owner.shared ? (unsigned)owner.group : (unsigned)geteuid());
    return name;
}

bool larder_owner_take(larder_owner owner, int fd)
{
    struct stat status;
    if (!owner.shared) {
        return true; /* made so */
    }
    /* The mode after the group: giving a file away may clear bits of it. */
    return fstat(fd, &status) == 0 && (status.st_gid == owner.group || fchown(fd, (uid_t)-1, owner.group) == 0) &&
           fchmod(fd, S_ISDIR(status.st_mode) ? 02770 : 0660) == 0;
}

/* Under another name first, so that nobody meets it before it is the group's. */
static bool make_shared(const char *path, larder_owner owner, larder_error *error)
{
    char temporary[LARDER_PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (mkdtemp(temporary) == NULL) {
        return larder_fail(error,
                           "The directory %s cannot be made (%s); make its parent, and let this user write there.",
                           path, strerror(errno));
    }
    int fd = open(temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool made = (fd >= 0 && larder_owner_take(owner, fd)) ||
                larder_fail(error,
                            "The directory %s cannot be given to group %u (%s); add user %u to it, or set larder.group "
                            "to a group that this user belongs to.",
                            path, (unsigned)owner.group, strerror(errno), (unsigned)geteuid());
    if (fd >= 0) {
        close(fd);
    }
    /* That somebody else was faster is as good. */
    if (!made || syscall(SYS_renameat2, AT_FDCWD, temporary, AT_FDCWD, path, 1u /* RENAME_NOREPLACE */) != 0) {
        made = made &&
               (errno == EEXIST || larder_fail(error, "The directory %s cannot be made (%s).", path, strerror(errno)));
        rmdir(temporary);
    }
    return made;
}

static bool make(const char *path, larder_owner owner, larder_error *error)
{
    struct stat status;
    if (owner.shared) {
        return lstat(path, &status) == 0 || make_shared(path, owner, error);
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ||
           larder_fail(error, "The directory %s cannot be made (%s); make its parent, and let this user write there.",
                       path, strerror(errno));
}

static int judge(int fd, const char *path, larder_owner owner, larder_error *error)
{
    struct stat status;
    bool found = fstat(fd, &status) == 0;
    if (found && !owner.shared && status.st_uid == geteuid() && (status.st_mode & 077) != 0) {
        if (fchmod(fd, 0700) == 0) {
            return fd;
        }
        larder_fail(
            error,
            "The directory %s is open to other users and could not be closed to them (%s); run chmod 0700 on it.", path,
            strerror(errno));
    } else if (found && larder_owner_has(owner, &status)) {
        return fd;
    } else if (owner.shared) {
        larder_fail(error,
                    "The directory %s is not one that only the members of group %u can use; run chgrp %u and chmod "
                    "02770 on it, or have its owner, user %u, remove it.",
                    path, (unsigned)owner.group, (unsigned)owner.group, (unsigned)status.st_uid);
    } else {
        larder_fail(
            error,
            "The directory %s belongs to user %u, not to user %u who runs this process; have its owner remove it.",
            path, (unsigned)status.st_uid, (unsigned)geteuid());
    }
    close(fd);
    return -1;
}

int larder_directory_open(const char *path, larder_owner owner, larder_error *error)
{
    if (!make(path, owner, error)) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int code = errno;
        if (owner.shared && code == EACCES) {
            larder_fail(error,
                        "The directory %s is open to the members of group %u only, and user %u is none; add it to the "
                        "group, or set larder.group to another.",
                        path, (unsigned)owner.group, (unsigned)geteuid());
        } else {
            larder_fail(error,
                        code == ELOOP || code == ENOTDIR
                            ? "%s is not a directory but a link or file that somebody put there (%s); remove it."
                            : "The directory %s cannot be opened (%s); check who owns it.",
                        path, strerror(code));
        }
        return -1;
    }
    return judge(fd, path, owner, error);
}

static void pause_ms(long milliseconds)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

#define BRIEF_PATIENCE_MS 20u

unsigned larder_patience(const larder_pool *pool)
{
    return pool->config.impatient                   ? 0
           : pool->checked_at == 0 || pool->patient ? LARDER_LOCK_PATIENCE_MS
                                                    : BRIEF_PATIENCE_MS;
}

bool larder_directory_lock(int directory, const char *path, unsigned patience, larder_error *error)
{
    for (unsigned waited = 0; flock(directory, LOCK_EX | LOCK_NB) != 0; waited += 10) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= patience) {
            larder_fail(error,
                        "Another process has been making, saving or replacing a pool in %s for %u ms; if that does not "
                        "change, find out whether it is stopped (fuser -v %s) and end it.",
                        path, waited, path);
            error->waited = true;
            return false;
        }
        pause_ms(10);
    }
    return true;
}

bool larder_name_is_sound(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > LARDER_NAME_MAX || name[0] == '.' || name[0] == '-') {
        return false;
    }
    return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

bool larder_file_is_pool(const char *file, char name[LARDER_NAME_MAX + 1], uint32_t *format)
{
    const char *at = strchr(file, '@');
    size_t length = at == NULL ? 0 : (size_t)(at - file), digits = at == NULL ? 0 : strlen(at + 1);
    if (length > LARDER_NAME_MAX || digits == 0 || digits > 9 || strspn(at + 1, "0123456789") != digits) {
        return false;
    }
    memcpy(name, file, length);
    name[length] = '\0';
    *format = (uint32_t)strtoul(at + 1, NULL, 10);
    return larder_name_is_sound(name);
}

DIR *larder_directory_list(int directory)
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (listing == NULL && copy >= 0) {
        close(copy);
    }
    return listing;
}

void larder_directory_sweep(int directory)
{
    DIR *listing = larder_directory_list(directory);
    if (listing == NULL) {
        return;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (strncmp(entry->d_name, ".new-", 5) == 0) {
            unlinkat(directory, entry->d_name, 0);
        }
    }
    closedir(listing);
}
