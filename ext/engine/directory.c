#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "directory.h"
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int larder_directory_open(const char *path, larder_error *error)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        larder_fail(error, "The directory %s cannot be made (%s); make its parent, and let this user write there.",
                    path, strerror(errno));
        return -1;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        larder_fail(error,
                    errno == ELOOP || errno == ENOTDIR
                        ? "%s is not a directory but a link or file that somebody put there (%s); remove it."
                        : "The directory %s cannot be opened (%s); check who owns it.",
                    path, strerror(errno));
        return -1;
    }
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_uid != geteuid()) {
        larder_fail(
            error,
            "The directory %s belongs to user %u, not to user %u who runs this process; have its owner remove it.",
            path, (unsigned)status.st_uid, (unsigned)geteuid());
        close(fd);
        return -1;
    }
    if ((status.st_mode & 077) != 0 && fchmod(fd, 0700) != 0) {
        larder_fail(
            error,
            "The directory %s is open to other users and could not be closed to them (%s); run chmod 0700 on it.", path,
            strerror(errno));
        close(fd);
        return -1;
    }
    return fd;
}

static void pause_ms(long milliseconds)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = milliseconds * 1000000L};
    nanosleep(&time, NULL);
}

bool larder_directory_lock(int directory, const char *path, unsigned patience, larder_error *error)
{
    for (unsigned waited = 0; flock(directory, LOCK_EX | LOCK_NB) != 0; waited += 10) {
        if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= patience) {
            return larder_fail(
                error,
                "Another process has been making, saving or replacing a pool in %s for %u ms; if that does not "
                "change, find out whether it is stopped (fuser -v %s) and end it.",
                path, waited, path);
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
