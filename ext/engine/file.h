/* The file of a pool: opening what is there, judging it, taking its name away; make.h makes it. A pool gets its name by
 * rename() when it is complete; it loses it by being marked dead first. A process that has it open notices by the mark,
 * or because the name leads to another inode.
 */
#ifndef LARDER_FILE_H
#define LARDER_FILE_H

#include "geometry.h"
#include "pool.h"

#include <signal.h>
#include <sys/stat.h>

/* Between these, a limit on the size of files (ulimit -f) makes writing and allocating fail with EFBIG, and does not
 * end the process by SIGXFSZ. */
typedef struct larder_limit {
    sigset_t before;
    bool pending;
} larder_limit;
void larder_limit_begin(larder_limit *limit);
void larder_limit_end(const larder_limit *limit);

/* How large a file this process may make. */
uint64_t larder_limit_bytes(void);

/* Opens the file of the pool's name if it is ours alone. -1 with errno ENOENT: there is none. */
int larder_file_open(const larder_pool *pool, int directory, struct stat *status, larder_error *error);

/* Reads the header. Is the file a pool of ours? */
enum larder_verdict larder_file_judge(int fd, const struct stat *status, larder_geometry *geometry);

/* Tells every process that has this file open that its name goes to another. But one that was closed stays so. */
void larder_file_mark_dead(int fd, const struct stat *status);

/* Takes the name away from this file, which has it, and tells who uses it. Under the directory's lock. */
void larder_file_retire(const larder_pool *pool, int directory, int fd, const struct stat *status);

#endif
