/* The table of recent invalidations, by which items with tags are judged.
 *
 *     name's hash --+--> first line     [w w w w w w w | floor]      a word: fingerprint | tick of the invalidation
 *                   +--> second line    [w w w w w w w | floor]
 *                   +--> fingerprint
 *
 *     the tag's version = the highest of: the ticks of its words, and both floors
 *
 * An invalidation updates the word with its fingerprint in either line; else it takes an empty word, in the line that
 * has more of them; else the oldest word of both lines, having raised that line's floor to its tick. So a line forgets
 * the oldest first, and a forgotten one is still in its floor. Two tags may have the same fingerprint and share a line,
 * and what one line forgot all of its tags have to bear: that costs misses, and nothing else.
 *
 * Invariants:
 *   E1  When an entry has returned, the tag's version is never lower than its tick again: as long as a word has that
 *       fingerprint and an older tick, it only gets a younger one, and before it gets another fingerprint its line's
 *       floor is at least its tick. So says the value that the exchange expects, whatever was there in between.
 *   E2  A reader reads the words first, and the floors afterwards: a word that was replaced before it was read shows in
 *       the floor. Both floors count even where a word matches. Two that enter a tag at once may leave two words, or a
 *       stranger shares the fingerprint; then the younger may be replaced, by a tag that shares its line alone, while
 *       the older is still there.
 *
 * There is no lock. A process that is killed between the floor and the word leaves a floor that is too high, which
 * costs misses.
 */
#ifndef LARDER_RECENT_H
#define LARDER_RECENT_H

#include "pool.h"

#define LARDER_RECENT_TICK (UINT64_C(0xffffffffffff)) /* a word's part of it: the floors alone tell younger ticks */

/* The tag was invalidated at the tick. */
void larder_recent_enter(larder_pool *pool, uint64_t tag, uint64_t tick);

/* The tick since which the tag is not known to have been invalidated. */
uint64_t larder_recent_version(const larder_pool *pool, uint64_t tag);

/* The two lines of a tag; may be the same. */
void larder_recent_lines(const larder_pool *pool, uint64_t tag, larder_recent *lines[2]);

#endif
