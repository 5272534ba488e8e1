/* Emptying a segment, the victim: item by item, what is worth keeping is copied to main's open segment and the rest
 * unlinked. The walk stops and goes on where the header says, in any process; at its end the segment is given
 * up for limbo. Which segment, and when, is evict.c's to say.
 *
 * All of it happens under the segment lock, and besides readers, who take none: an item's word is turned to the copy by
 * CAS, so that it is at every moment in one place, or gone because it was deleted.
 */
#ifndef LARDER_WALK_H
#define LARDER_WALK_H

#include "segment.h"

enum larder_purpose {
    LARDER_EVICT,   /* used items are kept, the rest goes */
    LARDER_COMPACT, /* everything alive is kept, but, in a pool that evicts, what this PHP cannot move */
    LARDER_DISCARD, /* everything goes */
};

/* What one call may still do. */
typedef struct larder_budget {
    uint32_t moves, visits;
    uint64_t bytes; /* to move */
} larder_budget;

/* Can this PHP move all that lives in the sealed segment? */
bool larder_walk_can_move_all(const larder_pool *pool, uint32_t segment);

/* How much of what is counted as living in the sealed segment is dead, as far as `left` items tell, which are counted
 * down. */
uint64_t larder_walk_dead_bytes(const larder_pool *pool, uint32_t segment, uint32_t *left);

/* Does any word lead to one of the sealed segment's items? Looks at `left` of them, which are counted down; then it
 * may. */
bool larder_walk_finds_any(const larder_pool *pool, uint32_t segment, uint32_t *left);

/* Makes the sealed segment the victim. */
void larder_walk_begin(larder_pool *pool, uint32_t segment, enum larder_purpose purpose);

/* Visits the victim's next item, or finishes with it. False: the item must wait, or could not be moved. `to_the_end`:
 * now, with nothing deferred; an item that cannot be moved goes, unless it is being compacted. */
bool larder_walk_on(larder_pool *pool, larder_budget *left, bool to_the_end);

/* Walks the victim to its end, moving so many bytes at most, which are counted down. Gives it up (false) if something
 * in it can neither be moved nor dropped. */
bool larder_walk_to_the_end(larder_pool *pool, uint64_t *bytes);

#endif
