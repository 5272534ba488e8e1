/* Writes into values. PHP's functions change no array that others have, too. A few change what they are given all the
 * same, or count references of it, which does no harm to a value of PHP's own; here it is a write to memory that is
 * mapped read-only, and would end the process.
 *
 *     write to a value --> SIGSEGV --> within a segment that this process pins?
 *                                        |yes                              |no
 *                                        v                                 v
 *                          mark the segment, make the page writable    whoever had the signal before
 *                                        |
 *                                        v
 *                          the write is repeated: the kernel copies the page, because the mapping is private
 *
 * The page is this process's own from then on: nobody else sees what is written there, and it shows nothing that others
 * write. So nothing is read there by the engine (index.h: larder_is_apart()); values come from the writable mapping, as
 * copies. It is given back when no thread of the process pins its segment any more (map.h).
 *
 * Not answered, because only a mistake can cause it: a write to any other part of a pool, one by the engine's own code,
 * and one to a segment that is not pinned.
 *
 * The signal handler takes no lock and calls nothing but mprotect().
 */
#ifndef LARDER_STRAY_H
#define LARDER_STRAY_H

#include <stdbool.h>

/* Sees to it that the signal comes here first. To be repeated now and then: others may install handlers, too. Theirs
 * are called for what is not answered here. */
void larder_stray_watch(void);

/* Gives the signal back, if nobody has taken it since. */
void larder_stray_ignore(void);

/* Is called in the signal handler, in the thread that writes, each time a page was made private. NULL: nobody. */
void larder_stray_listen(void (*listener)(void));

#endif
