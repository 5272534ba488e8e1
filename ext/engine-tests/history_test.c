/* The judge of histories (history.h): it finds what cannot have been, and nothing in what can. */
#include "fixture.h"
#include "history.h"

enum { A = 1, B = 2 }; /* versions, and the requests that store them */

static history_event found(uint64_t version, uint64_t begun, uint64_t done)
{
    return (history_event){.kind = HISTORY_READ, .request = 9, .begun = begun, .done = done, .version = version};
}

static history_event stored(enum history_verb verb, uint64_t version, uint64_t computed, uint64_t begun, uint64_t done)
{
    return (history_event){.kind = HISTORY_STORE,
                           .verb = verb,
                           .tags = 2,
                           .request = version,
                           .begun = begun,
                           .done = done,
                           .since = computed,
                           .latest = verb == HISTORY_WRITE ? done : computed,
                           .version = version};
}

static history_event written(uint64_t version, uint64_t begun, uint64_t done)
{
    return stored(HISTORY_WRITE, version, begun, begun, done);
}

static history_event refused(history_event store)
{
    store.result = HISTORY_REFUSED;
    return store;
}

/* There was no room for it, or no time, in a pool that does not evict. */
static history_event undone(history_event store)
{
    store.result = HISTORY_UNDONE;
    return store;
}

/* Its process was killed in the middle of it. */
static history_event killed(history_event e, uint64_t dead)
{
    e.result = HISTORY_UNKNOWN;
    e.done = HISTORY_NEVER;
    e.dead = dead;
    e.latest = e.verb == HISTORY_WRITE ? 0 : e.latest;
    return e;
}

static history_event by(uint64_t request, history_event e)
{
    e.request = request;
    return e;
}

static history_event happened(enum history_kind kind, uint64_t begun, uint64_t done)
{
    return (history_event){.kind = kind, .request = 8, .tags = 2, .begun = begun, .done = done};
}

#define HISTORY(...)              (history_event[]){__VA_ARGS__}, sizeof((history_event[]){__VA_ARGS__}) / sizeof(history_event)
#define CAN_BE(...)               expect("", HISTORY(__VA_ARGS__))
#define CANNOT_BE(invariant, ...) expect(invariant, HISTORY(__VA_ARGS__))

static void expect(const char *invariant, history_event *events, size_t count)
{
    char verdict[1024];
    CHECK(history_judge(events, count, false, verdict, sizeof verdict) == (invariant[0] == '\0'));
    if (!CONTAINS(verdict, invariant) || (invariant[0] == '\0' && verdict[0] != '\0')) {
        test_failed(__FILE__, __LINE__, "expected \"%s\", judged \"%s\"", invariant, verdict);
    }
}

TEST(out_of_nowhere, "the judge of histories asks that what is read was stored, and not refused")
{
    CANNOT_BE("H1", found(A, 1, 2));
    CANNOT_BE("H1", found(A, 1, 2), written(A, 3, 4));
    CANNOT_BE("H1", (history_event){.kind = HISTORY_READ, .key = 1, .begun = 3, .done = 4, .version = A},
              written(A, 1, 2));
    CANNOT_BE("H2", refused(written(A, 1, 2)), found(A, 3, 4));
    CAN_BE(written(A, 1, 2), found(A, 3, 4));
    CAN_BE(written(A, 1, 3), found(A, 2, 4));
    CAN_BE(refused(written(A, 1, 3)), found(A, 2, 4)); /* it was there for a moment */
}

TEST(stale_reads, "the judge of histories finds reads of what was deleted, overwritten, invalidated or cleared")
{
    static const enum history_kind kinds[] = {HISTORY_DELETE, HISTORY_INVALIDATE, HISTORY_CLEAR};
    for (int i = 0; i < 3; i++) {
        CANNOT_BE("H3", written(A, 1, 2), happened(kinds[i], 3, 4), found(A, 5, 6));
        CANNOT_BE("H3", stored(HISTORY_FILL, A, 1, 3, 5), happened(kinds[i], 2, 4), found(A, 6, 7));
        CAN_BE(written(A, 1, 2), happened(kinds[i], 3, 5), found(A, 4, 6));
        CAN_BE(written(A, 1, 3), happened(kinds[i], 2, 4), found(A, 5, 6));
        CAN_BE(stored(HISTORY_FILL, A, 2, 4, 5), happened(kinds[i], 1, 3), found(A, 6, 7));
    }
    history_event late = written(A, 1, 6), other = happened(HISTORY_INVALIDATE, 3, 4);
    late.latest = 2; /* it had ticked when the delete came */
    CANNOT_BE("H3", late, happened(HISTORY_DELETE, 3, 4), found(A, 7, 8));
    CAN_BE(late, written(B, 3, 4), found(A, 7, 8));
    other.tags = 1;
    CAN_BE(written(A, 1, 2), other, found(A, 5, 6));
    other = happened(HISTORY_DELETE, 3, 4);
    other.key = 1;
    CAN_BE(written(A, 1, 2), other, found(A, 5, 6));
    CANNOT_BE("H3", written(A, 1, 2), written(B, 3, 4), found(A, 5, 6));
    CANNOT_BE("H3", written(A, 1, 2), refused(written(B, 3, 4)), found(A, 5, 6));
    CAN_BE(written(A, 1, 2), stored(HISTORY_FILL, B, 3, 4, 5), found(A, 6, 7)); /* a fill says nothing of it */
    CAN_BE(written(A, 1, 2), refused(stored(HISTORY_FILL, B, 3, 4, 5)), found(A, 6, 7));
}

TEST(late_stores, "the judge of histories finds fills and judged writes that came too late, but for their own doing")
{
    CANNOT_BE("H4", stored(HISTORY_FILL, A, 1, 4, 5), written(B, 2, 3));
    CANNOT_BE("H4", stored(HISTORY_JUDGED, A, 1, 4, 5), happened(HISTORY_CLEAR, 2, 3));
    CANNOT_BE("H4", stored(HISTORY_ADD, A, 1, 4, 5), happened(HISTORY_INVALIDATE, 2, 3));
    CAN_BE(refused(stored(HISTORY_FILL, A, 1, 4, 5)), written(B, 2, 3));
    CAN_BE(stored(HISTORY_FILL, A, 1, 4, 5), by(A, happened(HISTORY_INVALIDATE, 2, 3)), found(A, 6, 7));
    CANNOT_BE("H3", stored(HISTORY_FILL, A, 1, 2, 3), by(A, happened(HISTORY_INVALIDATE, 4, 5)), found(A, 6, 7));
}

TEST(back_again, "the judge of histories finds a value that comes back after another took its place")
{
    CANNOT_BE("H5", written(A, 1, 5), written(B, 2, 6), found(A, 7, 8), found(B, 9, 10), found(A, 11, 12));
    CAN_BE(written(A, 1, 5), written(B, 2, 6), found(A, 7, 8), found(B, 9, 11), found(A, 10, 12));
    CAN_BE(written(A, 1, 5), written(B, 2, 6), found(A, 7, 8), found(B, 9, 10), found(B, 11, 12));
}

TEST(lost_values, "the judge of histories finds what is lost in a pool that does not evict")
{
    CANNOT_BE("H6", written(A, 1, 2), found(0, 3, 4));
    CANNOT_BE("H6", written(A, 1, 2), stored(HISTORY_ADD, B, 3, 3, 4));
    CANNOT_BE("H6", happened(HISTORY_DELETE, 1, 2), written(A, 3, 4), found(0, 5, 6));
    CAN_BE(written(A, 1, 3), found(0, 2, 4));
    CAN_BE(written(A, 1, 2), happened(HISTORY_INVALIDATE, 3, 6), found(0, 4, 5));
    CAN_BE(written(A, 1, 2), happened(HISTORY_DELETE, 3, 5), found(0, 4, 6));
    CAN_BE(written(A, 1, 2), refused(written(B, 3, 6)), found(0, 4, 5));
    CANNOT_BE("H6", written(A, 1, 2), refused(stored(HISTORY_FILL, B, 3, 4, 7)), found(0, 5, 6));
    CANNOT_BE("H6", written(A, 1, 2), refused(stored(HISTORY_ADD, B, 3, 4, 5)), found(0, 6, 7));
    char verdict[1024];
    CHECK(history_judge((history_event[]){written(A, 1, 2), found(0, 3, 4)}, 2, true, verdict, sizeof verdict));
}

TEST(undone_writes,
     "the judge of histories takes a write that was undone for one that neither took nor brought anything")
{
    CAN_BE(written(A, 1, 2), undone(written(B, 3, 4)), found(A, 5, 6));
    CAN_BE(stored(HISTORY_FILL, A, 1, 5, 6), undone(written(B, 2, 3)), found(A, 7, 8));
    CANNOT_BE("H2", written(A, 1, 2), undone(written(B, 3, 4)), found(B, 5, 6));
    CANNOT_BE("H6", written(A, 1, 2), undone(written(B, 3, 4)), found(0, 5, 6));
    CANNOT_BE("H6", written(A, 1, 2), undone(written(B, 3, 6)), found(0, 4, 5));
}

TEST(half_done, "the judge of histories takes what a killed process had begun for done or not, but not after its death")
{
    static const enum history_kind kinds[] = {HISTORY_DELETE, HISTORY_INVALIDATE, HISTORY_CLEAR};
    const history_event fill = stored(HISTORY_FILL, B, 3, 4, 0);
    for (int i = 0; i < 3; i++) {
        history_event half = happened(kinds[i], 3, 0);
        CAN_BE(written(A, 1, 2), killed(half, 6), found(A, 4, 5), found(A, 7, 8));
        CAN_BE(written(A, 1, 2), killed(half, 6), found(0, 4, 5));
        CAN_BE(written(A, 1, 2), killed(half, 6), found(A, 7, 8),
               found(0, 9, 10)); /* for some readers, and not others */
        CAN_BE(stored(HISTORY_FILL, A, 2, 7, 8), killed(half, 6), found(A, 9, 10));
        CANNOT_BE("H6", written(A, 1, 2), killed(half, 6), written(B, 7, 8), found(0, 9, 10));
        CANNOT_BE("H6", killed(half, 6), stored(HISTORY_FILL, A, 7, 8, 9), found(0, 10, 11));
        CANNOT_BE("H3", killed(written(A, 1, 0), 3), happened(kinds[i], 4, 5), found(A, 6, 7));
        CANNOT_BE("H3", killed(stored(HISTORY_FILL, A, 1, 4, 0), 6), happened(kinds[i], 2, 3), found(A, 7, 8));
        CAN_BE(killed(written(A, 1, 0), 4), happened(kinds[i], 3, 5), found(A, 6, 7)); /* who was first? */
    }
    CAN_BE(written(A, 1, 2), killed(written(B, 3, 0), 5), found(A, 6, 7));
    CAN_BE(written(A, 1, 2), killed(written(B, 3, 0), 5), found(B, 6, 7));
    CAN_BE(written(A, 1, 2), killed(written(B, 3, 0), 5), found(0, 6, 7));
    CAN_BE(written(A, 1, 2), killed(fill, 5), found(A, 6, 7));
    CAN_BE(written(A, 1, 2), killed(fill, 5), found(B, 6, 7));
    CAN_BE(killed(stored(HISTORY_ADD, B, 3, 4, 0), 5), written(A, 1, 2), found(A, 6, 7));
    CAN_BE(killed(found(A, 1, 0), 3)); /* it had read nothing yet */
    CANNOT_BE("H1", killed(written(A, 3, 0), 4), found(A, 1, 2));
    CANNOT_BE("H3", killed(written(A, 1, 0), 3), written(B, 4, 5), found(A, 6, 7));
    CANNOT_BE("H5", written(A, 1, 5), killed(written(B, 2, 0), 6), found(A, 7, 8), found(B, 9, 10), found(A, 11, 12));
    CANNOT_BE("H6", killed(written(A, 1, 0), 3), written(B, 4, 5), found(0, 6, 7));
}
