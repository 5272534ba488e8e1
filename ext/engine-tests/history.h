/* What several processes did to a few keys at once, and whether it can have been so.
 *
 * Every operation is recorded with two moments of one clock that all processes share (a counter): before it began, and
 * after it was done. Of two operations that overlap the order is unknown, so nothing is concluded from that;
 * of all others the rule of staleness says what a read may return:
 *
 *   H1  Every value that is read was stored under that key, by a store that had begun.
 *   H2  What a refused store brought is not read once that store has returned.
 *   H3  A value whose computation began before a deletion, an overwriting, an invalidation of one of its tags or a
 *       clear began is not read after that has returned. A fill is computed since its token, or the miss before it;
 *       what its own request did before the fill does not count.
 *   H4  A fill or a judged write that such an event overtook before the store began is refused.
 *   H5  A value that was replaced by another does not come back: plain writes of a key are linearizable.
 *   H6  Where nothing is evicted, what was stored is found as long as nothing in H3 and no refused write could have
 *       taken it. A write that was undone cannot have.
 *
 * An operation that its process did not live to end may have been done or not, or in part, but by its death at the
 * latest. So it makes nothing untrue (H3), and may have taken what was computed before that death (H6). What a dead
 * store brought may be read, or not; but not after a deletion, an overwriting, an invalidation or a clear that began
 * after the death has returned (H3).
 */
#ifndef LARDER_HISTORY_H
#define LARDER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HISTORY_KEYS = 6, HISTORY_TAGS = 4 };

enum history_kind { HISTORY_READ, HISTORY_STORE, HISTORY_DELETE, HISTORY_INVALIDATE, HISTORY_CLEAR };

/* What a store claims to be. */
enum history_verb {
    HISTORY_WRITE,  /* new truth */
    HISTORY_JUDGED, /* ... but only if nothing happened since its token */
    HISTORY_FILL,   /* keeps what was computed since its token */
    HISTORY_ADD,    /* as a fill, if there is nothing */
};

enum history_result {
    HISTORY_DONE,
    HISTORY_REFUSED,
    HISTORY_EXISTS,
    HISTORY_UNKNOWN,
    HISTORY_UNDONE, /* refused, and everything is as it was: a pool that does not evict had no room or no time, or it
                       was overtaken, and judged */
};

#define HISTORY_NEVER UINT64_MAX

typedef struct history_event {
    enum history_kind kind;
    enum history_verb verb;
    enum history_result result;
    uint32_t key, tags;     /* tags: a set of bits, of a store or an invalidation */
    uint64_t request;       /* whose it was */
    uint64_t begun, done;   /* not before, not after; HISTORY_NEVER: its process died in it */
    uint64_t dead;          /* ... which it was by then */
    uint64_t since, latest; /* of a store: its computation (a write's: its tick) began not before, not after; 0: see
                               when it was over */
    uint64_t version;       /* unlike any other store's; of a read: what was found, 0: nothing */
} history_event;

/* Checks all of H1 to H5, and H6 if nothing is evicted. False: `verdict` says what cannot have been. Sorts the events.
 */
bool history_judge(history_event *events, size_t count, bool evicts, char *verdict, size_t size);

#endif
