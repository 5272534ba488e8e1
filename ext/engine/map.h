/* Where pools lie in the address space. A pool's file is mapped twice: read-only at the address that its header names,
 * where PHP uses the values in place, and writable wherever there is room, for the engine alone.
 *
 * The read-only one is private: a write to the file shows there, but once a page of it was made writable and
 * written to (stray.c), the process has a page of its own in its place, which shows nothing of the file any more. Its
 * segment is *apart* from the moment before that until the page has gone:
 *
 *     writer:  the segment is apart | full fence | mark it where any thread pins it | make the page writable
 *     pinner:  set the pin, and write down that it is mine | full fence | is the segment apart? then mark it
 *     reader:  does a pin of mine say the generation, and no mark? then in place; else through the writable mapping
 *     leaver:  drop my pins | full fence | does no thread pin it? then drop the page | it is not apart any more
 *
 * All threads of a process use the same mapping, because only one can be at that address; it goes with its last user.
 */
#ifndef LARDER_MAP_H
#define LARDER_MAP_H

#include "pool.h"

/* An address for a new pool: one that no other pool of the directory is made for and that is free in this process. If
 * there is none, the pool is made for the first range, and this process copies. */
uint64_t larder_choose_base(int directory, const char *name, uint64_t size);

/* Maps the file as the pool's geometry and configuration say, or joins the threads that have it mapped. */
bool larder_map(larder_pool *pool, int fd, larder_error *error);
void larder_unmap(larder_mapping *mapping);

/* Is the pool, which this handle maps elsewhere, to be had at its own address? */
bool larder_map_would_be_better(const larder_pool *pool);

/* Makes a segment readable where PHP looks, or unreadable when no thread pins it; for larder.protect_unpinned. */
void larder_map_protect(larder_pool *pool, uint32_t segment, bool readable);

/* The process has, or has lost, that slot of the pool: what its pins cover is used by this process. */
void larder_map_has_slot(larder_mapping *mapping, uint32_t slot, bool has);

/* Has this process pages of its own in the segment? Asked by the process that has just pinned it. */
bool larder_map_is_apart(const larder_mapping *mapping, uint32_t segment);

/* The handle writes nothing down any more; it pins nothing. */
void larder_map_give_marks_back(larder_pool *pool);

/* Makes the page at that address writable, for this process alone. False: no thread of the process pins what lies
 * there, or it is no segment of a pool. For the handler of a signal (stray.c): takes no lock. */
bool larder_map_part(uintptr_t address);

/* Gives the private pages back that no thread pins any more. */
void larder_map_reunite(const larder_pool *pool);

/* Around a fork, which is not to copy mappings that are half made. */
void larder_map_before_fork(void);
void larder_map_after_fork(void);

#endif
