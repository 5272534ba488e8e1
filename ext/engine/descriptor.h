/* Opening files. A process may have closed its standard descriptors, as daemons do. The next file that is opened has
 * the number of one of these, and whatever the process prints goes there. So no file of ours keeps such a number: it
 * would be the pool that is printed over.
 */
#ifndef LARDER_DESCRIPTOR_H
#define LARDER_DESCRIPTOR_H

/* As openat(), which follows no link here, and whose descriptor no other program inherits. A file that is made is the
 * user's alone. */
int larder_open_at(int directory, const char *path, int flags);

/* The same for a whole path. */
int larder_open(const char *path, int flags);

/* What to do when a file could not be opened for that reason, if it is for want of descriptors; else what the caller
 * says. */
const char *larder_remedy(int code, const char *otherwise);

#endif
