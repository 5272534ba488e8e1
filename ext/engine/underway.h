/* Invalidations and clears that are under way: each process says in its slot what it is in the middle of.
 *
 * An invalidation takes a few steps, and until the last cell has moved what it is about to kill is still read. Whoever
 * computes something from that (a page out of a fragment, both of which carry the tag) may have a token that is younger
 * than the invalidation's tick; what was made of the dead would live. So there are two rules:
 *
 *     invalidation:  say which | tick, raise the cells, count it | the same once more | say that it is over
 *     fill:          token, read something . . . is one of its tags under way? refused | a cell newer? refused | store
 *
 *   - An invalidation ends with another tick, after the first has made everything older unreadable: who has read
 *     something that it was to kill has a token older than that.
 *   - Nothing that is judged by a token is stored under a tag whose invalidation is under way, or, while a clear is,
 *     at all. So nobody can read what was made of the dead, and make something of it that is younger still.
 *
 * A fill whose look comes before the invalidation has said what it does is older than its first tick, and dies with
 * what it was made of. One that finds that it is over finds the cells of the second.
 *
 * A process that is stopped in the middle of an invalidation has such fills refused until it goes on; of one that was
 * killed nobody takes notice. Plain writes are not judged, and not refused.
 *
 * Invalidations and clears have numbers, in the order in which they have said what they do, so that who asks need not
 * look at all slots:
 *
 *     begin:  say it in one's slot | take the next number
 *     end:    unsay it | all before mine are over? so is mine
 *     ask:    load the last number | it is known that all are over? nothing is under way
 *             | look at all slots; none says anything: all up to that number are over
 *
 * What is known to be over is a number, too, and only ever raised to what is true: whoever dies at any of these steps
 * leaves no more behind than that the next who asks has to look.
 */
#ifndef LARDER_UNDERWAY_H
#define LARDER_UNDERWAY_H

#include "pool.h"

/* What can be under way: tags by their hashes, several to a bit, and a clear. */
typedef struct larder_underway {
    uint64_t bits[LARDER_UNDERWAY_WORDS];
} larder_underway;
larder_underway larder_underway_tags(const larder_pool *pool, const uint64_t *tags, size_t count);
larder_underway larder_underway_clear(void);

/* Before the first tick, which gives it a number, and after the second has reached all cells. */
uint64_t larder_underway_begin(larder_pool *pool, larder_underway what);
void larder_underway_end(larder_pool *pool, uint64_t number);

static inline bool larder_all_is_over(const larder_pool *pool)
{
    /* acquire: whatever has that number, or a lower one, is found in its slot from here on; or it is over, and its
     * cells have moved. */
    uint64_t begun = atomic_load_explicit(&pool->header->underway_begun, memory_order_acquire);
    return atomic_load_explicit(&pool->header->underway_over, memory_order_acquire) >= begun;
}

/* Is another process in the middle of a clear, or of invalidating one of these tags? Asked before the cells are read.
 */
bool larder_is_underway(larder_pool *pool, const uint64_t *tags, size_t count);

#endif
