/* Tokens, fills and writes, tags: engine/token.h, engine/tag.h, engine/carried.h, engine/in_flight.h, judge() in
 * engine/store.c, was_overtaken() in engine/publish.c.
 *
 * One key, whose item carries two tags, and what happens to it: fills, writes, writes judged by a token, deletes,
 * invalidations. Each takes as long as it likes between any two steps. What is asserted is the one rule: a value is as
 * old as the moment at which its computation began; what was invalidated since is dead. So once an invalidation (a
 * delete, a tag's, for fills and judged writes also a write) has returned, nothing can be read whose computation began
 * before that invalidation did, then or later; nor what was made of such a value (MADE: a fill may have read what was
 * there, an item that has the same tags).
 *
 *   R   the rule, for what the key's words lead to
 *   T2  the rule, for a look at the tags that an item remembers; and that it agrees with the tags while nothing is
 *       in flight
 *
 * A tag's entry among the recent invalidations, by which items are judged, is one word here, which is only raised: how
 * the table comes to that is recent.pml. STRANGER: once, another tag's later invalidation is found in the entry.
 */
#ifndef FILLS
#define FILLS 1 /* storers 0, 1, …: fills; then judged writes; then writes */
#endif
#ifndef JUDGED
#define JUDGED 0
#endif
#ifndef WRITES
#define WRITES 0
#endif
#ifndef DELETES
#define DELETES 0
#endif
#ifndef INVALIDATIONS
#define INVALIDATIONS 0
#endif
#ifndef READS
#define READS 0
#endif
#ifndef TRIES
#define TRIES 1
#endif
#ifndef MEANWHILE
#define MEANWHILE NOTHING /* what the first fill does itself after its miss: NEIGHBOUR, TAG */
#endif
#ifndef TIMES
#define TIMES 1 /* how often, if it is TAG */
#endif
/* FORGETS: it remembers none of that, and only knows how many of the ticks were its own. */
/* MADE: there is an item, and fills are made of what they find. */
#ifndef CELLS
#define CELLS 1 /* of a tag, whose version is the lowest */
#endif
#define STORERS (FILLS + JUDGED + WRITES)
#ifdef MADE
#define ITEMS (STORERS + 1)
#else
#define ITEMS STORERS
#endif
#define TAGS    2
#define PENDING 128
#define NOWHERE 255
#define NOBODY  7 /* whose fills an invalidation spares that is no storer's */

#define is_pending(w) ((w) >= PENDING)
#define is_final(w)   ((w) != 0 && (w) < PENDING)
#define item_of(w)    ((w) - 1)
#define word_of(item) ((item) + 1)
#ifdef BREAK_RAISED_VERSIONS_TRUSTED
#define is_since(w, tick) (version[item_of(w)] >= (tick))
#else
#define is_since(w, tick) (version[item_of(w)] >= (tick) && !raised[item_of(w)])
#endif

byte word[2];
byte clock = 1, key_version = 0, deletion = 0;
byte tag[TAGS * CELLS];  /* the cells, by which fills are judged */
byte entry[TAGS];        /* among the recent invalidations, by which items are judged */
bit carried[TAGS];       /* an item may have it */
byte invalidations = 1;
byte counted_from = 0, counted = 0; /* the ticks of the first storer: so many since then, and no other's */
#define FIRST 1 /* its process */
byte in_flight[TAGS]; /* how many are in the middle of invalidating it */
byte version[ITEMS], looked[ITEMS];
bit raised[ITEMS]; /* its version is that of an event of its own request's */

/* What only the assertions know. Sets of storers, as bits. */
byte begun = 0;     /* whose computation has begun */
byte condemned = 0; /* whose began before an invalidation that has returned did */
byte made_of[ITEMS]; /* what it was computed from */

#define bit_of(i)   (1 << (i))
#define JUDGED_ONES ((1 << (FILLS + JUDGED)) - 1) /* writes do not kill writes */
#define allows(t, i) (entry[t] <= version[i])
#define allowed(i)  (allows(0, i) && allows(1, i))
#define is_read(w)  (is_final(w) && (allowed(item_of(w)) || looked[item_of(w)] == invalidations))
#define is_right(w) (!is_read(w) || (condemned & (bit_of(item_of(w)) | made_of[item_of(w)])) == 0)
#define is_settled(w) (!is_read(w) || in_flight[0] + in_flight[1] > 0 || allowed(item_of(w)))
#define assert_rule()                                                                                                  \
    assert(is_right(word[0]) && is_right(word[1]) /* R */ && is_settled(word[0]) && is_settled(word[1]) /* T2 */)

inline exchange(at, from, to, done)
{
    d_step {
        if
        :: word[at] == from -> word[at] = to; done = 1
        :: else -> done = 0
        fi;
        assert_rule()
    }
}

/* An invalidation begins; nothing that a party does kills its own fill. */
inline invoke(me, kills)
{
    kills = begun & ~bit_of(me)
}

#include "token/cells.inc"
#include "token/storer.inc"

proctype deleter(byte me)
{
    byte at = 0, seen, now, kills, own, before;
    bit done;
    invoke(me, kills);
#ifdef BREAK_KEY_VERSION_AFTER_WORDS
    tick(now);
    own = now;
#else
    own_move(key_version, now, own, before);
#endif
    d_step { if :: deletion < now -> deletion = now :: else fi };
    do
    :: at < 2 ->
       seen = word[at];
       if
#ifdef BREAK_DELETE_LEAVES_PENDING
       :: is_pending(seen) -> at++
#else
       :: is_pending(seen) -> exchange(at, seen, 0, done); if :: done -> at++ :: else fi
#endif
       :: is_final(seen) && !is_since(seen, now) -> exchange(at, seen, 0, done); if :: done -> at++ :: else fi
       :: seen == 0 || (is_final(seen) && is_since(seen, now)) -> at++
       fi
    :: else -> break
    od;
#ifdef BREAK_KEY_VERSION_AFTER_WORDS
    raise(key_version, own, before);
#endif
    at = 0;
    d_step {
        condemned = condemned | kills;
        assert_rule();
        seen = 0; now = 0; own = 0; before = 0; done = 0; kills = 0
    }
}

/* Of one tag, or of the other. */
proctype invalidator(byte me)
{
    byte which, now, own, before, c, kills;
    byte own_tag[CELLS], before_tag[CELLS]; /* not kept */
#ifdef BREAK_CARRIED_ASKED_BEFORE_SAID
    bit had;
#endif
    if
    :: which = 0
    :: which = 1
    fi;
    invoke(me, kills);
    invalidate(which, now, own, before, c, 0);
    d_step {
        condemned = condemned | kills;
        assert_rule();
        now = 0; own = 0; before = 0; kills = 0; which = 0
    }
}

#ifdef STRANGER
/* Another tag's invalidation, which shares the fingerprint, or has something forgotten that the floor then has. */
proctype stranger()
{
    byte now;
    tick(now);
    d_step {
        if :: entry[0] < now -> entry[0] = now :: else fi;
        invalidations++;
        now = 0
    }
}
#endif

/* Looks at an item's tags, and lets it remember as of which invalidation. */
proctype reader()
{
    byte at, seen, count, reads = 0;
    do
    :: reads < READS ->
       reads++;
       if
       :: at = 0
       :: at = 1
       fi;
#ifndef BREAK_COUNT_READ_AFTER_LOOK
       count = invalidations;
#endif
       seen = word[at];
       if
       :: is_final(seen) ->
          if
          :: allows(0, item_of(seen)) ->
             if
             :: allows(1, item_of(seen)) ->
#ifdef BREAK_COUNT_READ_AFTER_LOOK
                count = invalidations;
#endif
                d_step { looked[item_of(seen)] = count; assert_rule() } /* T2 */
             :: else
             fi
          :: else
          fi
       :: else
       fi
    :: else -> break
    od
}

init {
    byte i = 0;
    atomic {
#ifdef MADE
        word[0] = word_of(STORERS);
        version[STORERS] = clock;
        carried[0] = 1;
        carried[1] = 1;
        looked[STORERS] = invalidations;
        begun = bit_of(STORERS);
#endif
        do
        :: i < FILLS ->
           if
           :: i == 0 -> run storer(i, FILL, MEANWHILE)
           :: i > 0 -> run storer(i, FILL, NOTHING)
           fi;
           i++
        :: i >= FILLS && i < FILLS + JUDGED ->
           run storer(i, JUDGE, NOTHING);
           i++
        :: i >= FILLS + JUDGED && i < STORERS -> run storer(i, WRITE, NOTHING); i++
        :: i >= STORERS && i < STORERS + DELETES -> run deleter(NOBODY); i++
        :: i >= STORERS + DELETES && i < STORERS + DELETES + INVALIDATIONS -> run invalidator(NOBODY); i++
        :: else -> break
        od;
#if READS
        run reader();
#endif
#ifdef STRANGER
        run stranger();
#endif
        skip
    }
}
