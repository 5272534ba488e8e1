/* Everything that can be done to a pool, one operation after the other, by processes that share what they know beside
 * the pool: which versions may not be read any more. Any operation may be the last of its process, or be stopped
 * halfway and go on after what others do meanwhile.
 */
#ifndef LARDER_EVERYTHING_H
#define LARDER_EVERYTHING_H

#include "fixture.h"

/* Before the first process is started. */
void everything_begin(void);

/* So many operations on keys at random. `current`, if not NULL, is told which one is next, and what is there is looked
 * at when it is done. No process waits for a stopped or dead one: not for the seconds for which one waits for a pool
 * that is being made. */
void everything_do(larder_pool *pool, rng *r, uint64_t operations, _Atomic uint64_t *current);

/* Something that makes untrue what others may be about to store under the key. */
void everything_overtake(larder_pool *pool, rng *r, uint64_t number);

/* All that is stored, at the latest now. */
void everything_clear(larder_pool *pool);

#endif
