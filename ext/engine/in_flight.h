/* Invalidations and clears in flight: each process says in its slot which invalidation it is in the middle of.
 *
 * An invalidation takes a few steps, and items are still read that it is about to kill. A process may compute a value
 * from such an item: a page out of a fragment, say, which both carry the tag. Its token may be younger than the
 * invalidation's tick, and then the page would live on without its fragment. Two rules keep it from that:
 *
 *     invalidation:  say which | tick, raise the cells, count it | the same once more | say that it is over
 *     fill:          token, read something . . . is one of its tags in flight? refused | a cell newer? refused | store
 *
 *   - An invalidation ends with a second tick, after the first has made everything older unreadable. A process that has
 *     read an item which the invalidation kills has a token older than the second tick.
 *   - No value that is judged by a token is stored under a tag whose invalidation is in flight. While a clear is in
 *     flight, none is stored at all. So no process can read such a value, and make a still younger one of it.
 *
 * A fill that looks before the invalidation says anything is older than the first tick, and dies with the item that it
 * was made from. A fill that looks after the invalidation is over finds the cells at the second tick.
 *
 * A process that is stopped in the middle of an invalidation has such fills refused until it goes on. One that was
 * killed is ignored. Plain writes are not judged, and not refused.
 *
 * Invalidations and clears have numbers, in the order in which they were announced. So a fill need not look at all
 * slots:
 *
 *     begin:  announce it in the own slot | take the next number
 *     end:    take the announcement back | all before mine are over? so is mine
 *     ask:    load the last number | all up to it are known to be over? nothing is in flight
 *             | look at all slots; none announces anything: all up to that number are over
 *
 * The number up to which all are over is only ever raised, and only to a true one. A process that dies at any of these
 * steps costs the next fill a look at the slots, and no more.
 */
#ifndef LARDER_IN_FLIGHT_H
#define LARDER_IN_FLIGHT_H

#include "pool.h"

/* Things that can be in flight: tags by their hashes, several to a bit, and a clear. */
typedef struct larder_in_flight {
    uint64_t bits[LARDER_IN_FLIGHT_WORDS];
} larder_in_flight;
larder_in_flight larder_in_flight_tags(const larder_pool *pool, const uint64_t *tags, size_t count);
larder_in_flight larder_in_flight_clear(void);

/* Before the first tick, which gives it a number, and after the second has reached all cells. */
uint64_t larder_in_flight_begin(larder_pool *pool, larder_in_flight what);
void larder_in_flight_end(larder_pool *pool, uint64_t number);

static inline bool larder_all_is_over(const larder_pool *pool)
{
    /* acquire: an event with that number, or a lower one, is found in its slot from here on; or it is over, and its
     * cells have moved. */
    uint64_t begun = atomic_load_explicit(&pool->header->in_flight_begun, memory_order_acquire);
    return atomic_load_explicit(&pool->header->in_flight_over, memory_order_acquire) >= begun;
}

/* Is another process in the middle of a clear, or of invalidating one of these tags? Asked before the cells are read.
 */
bool larder_is_in_flight(larder_pool *pool, const uint64_t *tags, size_t count);

#endif
