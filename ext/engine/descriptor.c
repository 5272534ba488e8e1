#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int larder_open_at(int directory, const char *path, int flags)
{
    int fd = openat(directory, path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || fd > STDERR_FILENO) {
        return fd;
    }
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), why = errno;
    close(fd);
    errno = why;
    return higher;
}

int larder_open(const char *path, int flags)
{
    return larder_open_at(AT_FDCWD, path, flags);
}

const char *larder_remedy(int code, const char *otherwise)
{
    switch (code) {
    case EMFILE:
        return "raise the limit on files that this process may have open (ulimit -n), or find out which it does not "
               "close";
    case ENFILE:
        return "raise the limit on files that this machine may have open (sysctl fs.file-max)";
    default:
        return otherwise;
    }
}
