/* The directory that a user's pools lie in, or a group's. It belongs to that user alone (0700), or to the group's
 * members (02770; only a member can have given it to the group), and its lock (flock) is held by a process that makes,
 * replaces or removes a pool, so that two processes never both make "the" pool.
 */
#ifndef LARDER_DIRECTORY_H
#define LARDER_DIRECTORY_H

#include "geometry.h"
#include "pool.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>

#define LARDER_LOCK_WAIT_MS 5000u /* how long opening waits for another process that makes a pool */

/* Whose pools, files and directories are: this user's alone, or all members' of a group. */
typedef struct larder_owner {
    bool shared;
    gid_t group;
} larder_owner;

larder_owner larder_owner_of(const larder_pool *pool);

/* Is it the owner's alone? */
bool larder_owner_has(larder_owner owner, const struct stat *status);

/* In the words of an error: "user 33", "the members of group 50". Good until the next call in this thread. */
const char *larder_owner_name(larder_owner owner);

/* Gives a new file to the owner alone. */
bool larder_owner_take(larder_owner owner, int fd);

enum larder_directory {
    LARDER_DIRECTORY_OURS,
    LARDER_DIRECTORY_ABSENT,
    LARDER_DIRECTORY_FOREIGN, /* another user made what is there */
    LARDER_DIRECTORY_TROUBLE, /* it may be ours, but cannot be used */
};

/* Opens the directory if it is the owner's; else -1, and `what` and `error` say why. */
int larder_directory_try(const char *path, larder_owner owner, enum larder_directory *what, larder_error *error);

/* Makes it, unless there is something already. */
bool larder_directory_make(const char *path, larder_owner owner, bool *is_new, larder_error *error);

/* Opens the directory, making it if there is none. -1: others can use it, too, or it cannot be made. */
int larder_directory_open(const char *path, larder_owner owner, larder_error *error);

/* How long this handle waits for another process that makes or saves a pool, in milliseconds: a request that is already
 * running waits only a moment. */
unsigned larder_lock_wait_ms(const larder_pool *pool);

/* When a process stops waiting for another one. By the clock: on a busy machine a nap takes longer than it should, and a
 * signal ends it early. */
typedef struct larder_deadline {
    uint64_t end_ms;
} larder_deadline;

larder_deadline larder_deadline_in(unsigned wait_ms);
unsigned larder_time_left_ms(const larder_deadline *deadline);

/* Sleeps for a moment; false, and at once, when that was long enough. */
bool larder_wait(const larder_deadline *deadline);

/* Waits a bounded time, `wait_ms`: a process that holds the lock may be stopped. */
bool larder_directory_lock(int directory, const char *path, unsigned wait_ms, larder_error *error);

/* Removes what an interrupted maker left behind. Under the lock, so no process is making anything now. */
void larder_directory_sweep(int directory);

/* Its entries, to be closed with closedir(). NULL: it cannot be read. */
DIR *larder_directory_list(int directory);

/* May a pool be called that? */
bool larder_name_is_sound(const char *name);

/* The name of a pool's file is the pool's name, "@" and the format of what is in it: see formats.h. */
#define LARDER_FILE_MAX (LARDER_NAME_MAX + 11u)

/* Takes the name of a file apart. False: it is no pool's. */
bool larder_file_is_pool(const char *file, char name[LARDER_NAME_MAX + 1], uint32_t *format);

/* ---- the file of a pool ----
 *
 * Opening what is there, judging it, taking its name away; attach.h makes it. A pool gets its name by rename() when it is
 * complete; it loses it by being marked dead first. A process that has it open notices by the mark, or because the name
 * leads to another inode.
 */

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

/* Takes the name away from this file, which has it, and tells the processes that use it. Under the directory's lock. */
void larder_file_retire(const larder_pool *pool, int directory, int fd, const struct stat *status);

#endif
