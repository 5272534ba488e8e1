/* Stale items: what an invalidation killed, but lets be served on request for a while.
 *
 * An invalidation kills at once, softly or not: no read returns the item any more. A soft one also opens the *window*
 * of each of its tags, for some seconds. While it is open, a reader that asks for stale items still gets those that its
 * tag has killed. The tag's place in a table has the window, and the tick that parts what was killed before it:
 *
 *     name's hash --> [ window | dead | tag ]     window: a part of the hash | state | end (ms since 1970), or a tick
 *
 *                        older than `dead`      `dead` or younger, but older         as young as the tag's version,
 *                                               than the tag's version               or younger
 *     an item is         dead for good          stale, while the window is open      alive
 *
 *     soft invalidation:  open the window | invalidate | limit the window
 *     any other:                            invalidate | limit the window to no time at all
 *
 *     open:   read the tag's version (recent.h); raise `dead` to it; say that the window is being opened
 *             | read the version again: the same? the window is open
 *     limit:  is the window open for longer, or being opened? close it, or give it the earlier end
 *
 * Invariants:
 *   W1  When an invalidation that is not soft has returned, what it killed is not served by any window, whether that
 *       was open or is opened later.
 *   W2  When a soft one has returned, what it killed is not served after its end. So one that finds the window open
 *       lets it end no later.
 *   W3  Without a window nothing is served: whatever is lost (a place may be another tag's next) is dead for good.
 *
 * Why: `dead` only rises. A process that opens a window has said so before it reads the version again; a process that
 * limits one has entered its tick, which raises the version, before it looks at the window. So of two that meet, the
 * first sees the tick, and raises `dead` to it, or the second sees that the window is being opened, and closes it. A
 * window that is being opened has a tick in it that no other has, so that only the thread that placed it can finish it;
 * and nothing is served by it. A killed process leaves a window that serves nothing, or one that ends by itself.
 *
 * A value that is computed from a stale item, and stored, is as fresh as any other: a caller that asks for stale items
 * knows.
 */
#ifndef LARDER_STALE_H
#define LARDER_STALE_H

#include "item.h"
#include "pool.h"

/* Opens the window of the tag until then (ms since 1970), if it is not open; ahead of invalidating. */
void larder_window_open(larder_pool *pool, uint64_t tag, uint64_t until);

/* The tag's window ends then, if not earlier; 0: at once. After invalidating. */
void larder_window_limit(larder_pool *pool, uint64_t tag, uint64_t until);

/* Until when the item, which is dead by tags or a clear, may be served (ms since 1970); the past: not at all. */
uint64_t larder_stale_until(const larder_pool *pool, const larder_item *item);

#endif
