/*
 * Makes the kernel forget what it keeps of files in its page cache, so that the next read is a read of the disk:
 *
 *   forget FILE…
 *
 * What is mapped or still to be written cannot be forgotten, so each file is written to the disk first.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = 0;

    for (int i = 1; i < argc; i++) {
        int file = open(argv[i], O_RDONLY | O_CLOEXEC);
        if (file < 0 || fdatasync(file) != 0 || (errno = posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)) != 0) {
            fprintf(stderr, "forget: %s: %s\n", argv[i], strerror(errno));
            status = 1;
        }
        if (file >= 0) {
            close(file);
        }
    }

    return status;
}
