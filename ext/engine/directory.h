/* The directory that a user's pools lie in. It belongs to that user alone, and its lock (flock) is held by whoever
 * makes, replaces or removes a pool, so that two processes never both make "the" pool.
 */
#ifndef LARDER_DIRECTORY_H
#define LARDER_DIRECTORY_H

#include "error.h"

#include <dirent.h>

#define LARDER_LOCK_PATIENCE_MS 5000u /* how long opening waits for another process that makes a pool */

/* Opens the directory, making it if there is none. -1: it is not ours alone, or cannot be made. */
int larder_directory_open(const char *path, larder_error *error);

/* Waits a bounded time, `patience` milliseconds: whoever holds the lock may be stopped. */
bool larder_directory_lock(int directory, const char *path, unsigned patience, larder_error *error);

/* Removes what an interrupted maker left behind. Under the lock, so nobody is making anything now. */
void larder_directory_sweep(int directory);

/* Its entries, to be closed with closedir(). NULL: it cannot be read. */
DIR *larder_directory_list(int directory);

/* May a pool be called that? */
bool larder_name_is_sound(const char *name);

#endif
