/* Tokens, fills and writes, tags: engine/token.h, engine/tag.h, engine/underway.h, judge() in engine/store.c,
 * was_overtaken() in engine/index.c.
 *
 * One key, whose item carries two tags, and what happens to it: fills, writes, writes judged by a token, deletes,
 * invalidations. Each takes as long as it likes between any two steps. What is asserted is the one rule: a value is as
 * old as the moment at which its computation began; what was invalidated since is dead. So once an invalidation (a
 * delete, a tag's, for fills and judged writes also a write) has returned, nothing can be read whose computation began
 * before that invalidation did, then or later; nor what was made of such a value (MADE: a fill may have read what was
 * there, an item that has the same tags).
 *
 *   R   the rule, for what the key's words lead to
 *   T2  the rule, for a look at the tags that an item remembers
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
#define CELLS 1 /* of a tag, whose stamp is the lowest */
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

#define is_pending(w) ((w) >= PENDING)
#define is_final(w)   ((w) != 0 && (w) < PENDING)
#define item_of(w)    ((w) - 1)
#define word_of(item) ((item) + 1)
#ifdef BREAK_RAISED_STAMPS_TRUSTED
#define is_since(w, tick) (stamp[item_of(w)] >= (tick))
#else
#define is_since(w, tick) (stamp[item_of(w)] >= (tick) && !raised[item_of(w)])
#endif

byte word[2];
byte clock = 1, guard = 0, deletion = 0;
byte tag[TAGS * CELLS];
byte invalidations = 1;
byte counted_from = 0, counted = 0; /* the ticks of the first storer: so many since then, and nobody else's */
#define FIRST 1 /* its process */
byte underway[TAGS]; /* how many are in the middle of invalidating it */
byte stamp[ITEMS], looked[ITEMS];
bit raised[ITEMS]; /* its stamp is that of an event of its own request's */

/* What only the assertions know. Sets of storers, as bits. */
byte begun = 0;     /* whose computation has begun */
byte condemned = 0; /* whose began before an invalidation that has returned did */
byte made_of[ITEMS]; /* what it was computed from */

#define bit_of(i)   (1 << (i))
#define JUDGED_ONES ((1 << (FILLS + JUDGED)) - 1) /* writes do not kill writes */
#if CELLS == 1
#define allows(t, i) (tag[t] <= stamp[i])
#else
#define allows(t, i) (tag[2 * (t)] <= stamp[i] || tag[2 * (t) + 1] <= stamp[i])
#endif
#define allowed(i)  (allows(0, i) && allows(1, i))
#define is_read(w)  (is_final(w) && (allowed(item_of(w)) || looked[item_of(w)] == invalidations))
#define is_right(w) (!is_read(w) || (condemned & (bit_of(item_of(w)) | made_of[item_of(w)])) == 0)
#define assert_rule() assert(is_right(word[0]) && is_right(word[1])) /* R */

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

/* The first storer counts its own ticks, anew wherever somebody else has ticked in between. */
inline tick(now)
{
    d_step {
        clock++;
        now = clock;
        if
        :: _pid == FIRST ->
           if
           :: now != counted_from + counted + 1 -> counted_from = now - 1; counted = 0
           :: else
           fi;
           counted++
        :: else
        fi
    }
}

/* Were all ticks since the token one's own? */
#ifdef BREAK_COUNTED_AFTER_TOKEN
#define own_are_all(token) (_pid == FIRST && counted_from + counted == clock)
#else
#define own_are_all(token) (_pid == FIRST && (token) >= counted_from && counted_from + counted == clock)
#endif

/* Ticks and raises a cell, strictly forward. `own` and `before`: to see through one's own event later. */
inline own_move(cell, now, own, before)
{
    tick(now);
    own = now;
    raise(cell, own, before)
}

/* To `own`, or to another tick if somebody younger was there. */
inline raise(cell, own, before)
{
    do
    :: before = cell;
       do
#ifdef BREAK_CELLS_STAND_STILL
       :: break
#else
       :: before >= own -> tick(own)
       :: else -> break
#endif
       od;
       if
       :: atomic { cell == before && before < own -> cell = own }; break
       :: before >= own -> break
       :: cell != before
       fi
    od;
    skip /* Spin jumps into no d_step */
}

/* Moves the cells of a tag, each strictly forward, and notes their ticks, if it is asked to. */
inline raise_tag(t, began, own, before, c, keeps)
{
    tick(began);
    own = began;
    raise_cells(t, own, before, c, keeps)
}

inline raise_cells(t, own, before, c, keeps)
{
    c = 0;
    do
    :: c < CELLS ->
       raise(tag[(t) * CELLS + c], own, before);
       d_step {
           if
           :: keeps -> own_tag[event] = own; before_tag[event] = before; event++
           :: else
           fi;
           c++
       }
    :: else -> break
    od
}

/* The last tick comes when nothing older than the first is read any more. */
inline invalidate(t, began, own, before, c, keeps)
{
#ifdef BREAK_SAID_AFTER_TICK
    tick(began);
    own = began;
#endif
    begin(t);
#ifdef BREAK_COUNTED_BEFORE_CELLS
    invalidations++;
#endif
#ifdef BREAK_SAID_AFTER_TICK
    raise_cells(t, own, before, c, keeps);
#else
    raise_tag(t, began, own, before, c, keeps);
#endif
#ifndef BREAK_COUNTED_BEFORE_CELLS
    invalidations++;
#endif
#ifdef BREAK_OVER_TOO_SOON
    end(t);
#endif
#ifndef BREAK_CELLS_MOVED_ONCE
    raise_tag(t, began, own, before, c, keeps);
#endif
#ifndef BREAK_OVER_TOO_SOON
    end(t);
#endif
    c = 0
}

inline begin(t)
{
#ifdef BREAK_INVALIDATES_UNSAID
    skip
#else
    underway[t]++
#endif
}

inline end(t)
{
#ifdef BREAK_INVALIDATES_UNSAID
    skip
#else
    underway[t]--
#endif
}

/* The lowest of a tag's cells. */
inline look(t, lowest, c)
{
    c = 0;
    lowest = NOWHERE;
    do
    :: c < CELLS ->
       d_step {
           if
           :: tag[(t) * CELLS + c] < lowest -> lowest = tag[(t) * CELLS + c]
           :: else
           fi;
           c++
       }
    :: else -> c = 0; break
    od
}

/* The last event at a cell that was not one's own, as far as one remembers. */
#ifdef FORGETS
#define see_through(now, own, before) (now)
#else
#define see_through(now, own, before) ((own != 0 && now == own) -> before : now)
#endif
#define EVENTS (2 * TIMES * CELLS) /* each moves its cells twice */

/* Not in its place: a delete or a write that has ticked before it, but not moved the guard yet, would leave it there. */
inline clear_and_insert(at, seen, done)
{
    exchange(at, seen, 0, done);
    if
    :: done -> at = NOWHERE
    :: else -> goto again
    fi
}

inline ask_what_is_underway()
{
    if
    :: underway[0] > 0 -> goto over
    :: else
    fi;
    if
    :: underway[1] > 0 -> goto over
    :: else
    fi
}

mtype = { FILL, JUDGE, WRITE };
mtype = { NOTHING, NEIGHBOUR, TAG };

inline forget_events()
{
    c = 0; event = 0; times = 0; foreign = 0;
    do
    :: c < EVENTS -> own_tag[c] = 0; before_tag[c] = 0; c++
    :: else -> c = 0; break
    od
}

/* Stores item `me`. Meanwhile it may do something else: write a neighbour, whose guard is the same, or invalidate one
 * of its tags. */
proctype storer(byte me; mtype verb; mtype meanwhile)
{
    byte at, seen, its, token = 0, now, mine = 0, kills, own = NOWHERE, tries = 0;
    byte own_guard = 0, before_guard = 0, c = 0, event = 0, times = 0, foreign = 0;
    byte own_tag[EVENTS], before_tag[EVENTS]; /* those of cell c: each of c, c + CELLS, … */
    bit done, patient, alone = 0, ok = 0, overtaken = 0;

    if
    :: verb != WRITE -> d_step { token = clock; begun = begun | bit_of(me) } /* miss: the token */
    :: else
    fi;
#ifdef MADE
    if
    :: at = 0
    :: at = 1
    fi;
    d_step {
        seen = word[at];
        if
        :: verb == FILL && is_read(seen) -> made_of[me] = made_of[item_of(seen)] | bit_of(item_of(seen))
        :: else
        fi;
        at = 0; seen = 0
    }
#endif
    if
    :: meanwhile == NEIGHBOUR -> own_move(guard, now, own_guard, before_guard)
    :: meanwhile == TAG ->
       do
       :: times < TIMES ->
          invoke(me, kills);
          invalidate(0, now, its, seen, c, 1);
          d_step {
              condemned = condemned | kills;
              times++;
              assert_rule()
          }
       :: else -> times = 0; break
       od;
       skip
    :: else
    fi;

    /* judge */
    d_step { looked[me] = invalidations };
    if
    :: verb == WRITE ->
       d_step { clock++; mine = clock; stamp[me] = mine; kills = begun & JUDGED_ONES; begun = begun | bit_of(me) };
       own_guard = mine;
       raise(guard, own_guard, before_guard)
    :: verb == JUDGE ->
       invoke(me, kills);
       own_move(guard, mine, own_guard, before_guard);
       if
       :: before_guard > token && !own_are_all(token) -> goto over /* refused: erased, see the deleter */
       :: else
       fi
    :: verb == FILL ->
       now = guard;
       if
       :: see_through(now, own_guard, before_guard) > token && !own_are_all(token) -> goto over
       :: else
       fi
    fi;
    if
    :: verb != WRITE ->
       stamp[me] = token;
#ifndef BREAK_TAGS_NOT_JUDGED
#ifndef BREAK_UNDERWAY_ASKED_LAST
       ask_what_is_underway();
#endif
#ifdef BREAK_ASKED_BEFORE_CELLS
       done = own_are_all(token);
#endif
       d_step { c = 0; its = NOWHERE; foreign = NOWHERE };
       do
       :: c < CELLS ->
          d_step {
              now = tag[c];
              if
              :: now < its -> its = now
              :: else
              fi;
              event = EVENTS;
              do
              :: event > 0 ->
                 event--;
                 if
                 :: event % CELLS == c -> now = see_through(now, own_tag[event], before_tag[event])
                 :: else
                 fi
              :: else -> break
              od;
              if
              :: now < foreign -> foreign = now
              :: else
              fi;
              c++
          }
       :: else -> break
       od;
       look(1, now, c);
       skip;
       d_step {
           if :: now > foreign -> foreign = now :: else fi;
           if :: now > its -> its = now :: else fi
       };
       if /* only now: who was alone before may not have been when the cells were read */
#ifdef BREAK_ASKED_BEFORE_CELLS
       :: foreign > token && !done -> goto over
#else
       :: foreign > token && !own_are_all(token) -> goto over
#endif
       :: else -> d_step { if :: its > token -> stamp[me] = its; raised[me] = 1 :: else fi } /* one's own does not kill it */
       fi;
#ifdef BREAK_UNDERWAY_ASKED_LAST
       ask_what_is_underway();
#endif
#endif
       skip
    :: else
    fi;

again:
    atomic { forget_events(); own = 0; seen = 0; its = 0; alone = 0; patient = 0; done = 0 };
    if
    :: tries == TRIES -> goto over
    :: else -> tries++
    fi;
    at = 0; /* find */
    do
    :: at < 2 ->
       d_step { seen = word[at]; if :: is_final(seen) -> its = stamp[item_of(seen)] :: else fi };
       if
       :: is_final(seen) -> break
       :: else -> at++
       fi
    :: else -> at = NOWHERE; break
    od;
    if
    :: at != NOWHERE && verb != FILL && its > mine ->
       if
       :: is_since(seen, mine) -> ok = 1; goto over /* overwritten at once */
       :: else -> overtaken = 1; goto over /* it may be older than it says */
       fi
#ifndef BREAK_FILL_REPLACES_YOUNGER
    :: at != NOWHERE && verb == FILL && its > token -> goto over
#endif
#ifndef BREAK_JUDGED_REPLACES_YOUNGER
    :: at != NOWHERE && verb == JUDGE && its > token && its <= mine -> clear_and_insert(at, seen, done)
#endif
    :: else
    fi;
    if
    :: at == NOWHERE ->
       if
       :: own = 0
       :: own = 1
       fi;
       seen = word[own];
       if
       :: is_final(seen) -> goto again
       :: else -> exchange(own, seen, PENDING + me, done)
       fi;
       if
       :: !done -> goto again
       :: else
       fi;
       if
       :: patient = 1
       :: patient = 0
       fi;
       at = 1 - own;
       seen = word[at];
       if
       :: is_pending(seen) && patient && seen - PENDING < me -> alone = 0
       :: is_pending(seen) && !(patient && seen - PENDING < me) -> exchange(at, seen, 0, alone)
       :: is_final(seen) -> alone = 0
       :: seen == 0 -> alone = 1
       fi;
       if
       :: !alone -> exchange(own, PENDING + me, 0, done); goto again
       :: else
       fi
    :: else
    fi;

    /* overtaken: with the pending word in place, or the old one in hand */
#ifndef BREAK_JUDGED_ONCE
    if
#ifdef BREAK_JUDGED_BY_DELETIONS_ONLY
    :: verb == FILL ->
#else
    :: verb != WRITE ->
#endif
       now = guard;
       overtaken = (see_through(now, own_guard, before_guard) > token && !own_are_all(token))
    :: else
    fi;
#endif
    if
    :: verb != FILL && deletion > mine -> overtaken = 1
    :: else
    fi;
    if
    :: overtaken && at == 1 - own -> exchange(own, PENDING + me, 0, done); goto over
    :: overtaken && at != 1 - own -> goto over
    :: !overtaken && at == 1 - own -> exchange(own, PENDING + me, word_of(me), done)
    :: !overtaken && at != 1 - own -> exchange(at, seen, word_of(me), done)
    fi;
    if
    :: done -> ok = 1; goto over
    :: else -> goto again
    fi;

over:
    if
    :: overtaken && verb == WRITE -> /* what is older goes nevertheless */
       at = 0;
       do
       :: at < 2 ->
          d_step { seen = word[at]; if :: is_final(seen) -> its = stamp[item_of(seen)] :: else fi };
          if
          :: is_final(seen) && !is_since(seen, mine) -> exchange(at, seen, 0, done); if :: done -> at++ :: else fi
          :: else -> at++
          fi
       :: else -> break
       od
    :: else
    fi;
    at = 0;
    d_step {
        if
        :: verb != FILL && (ok || (overtaken && verb == WRITE)) -> condemned = condemned | (kills & JUDGED_ONES)
        :: else
        fi;
        own = 0; seen = 0; its = 0; now = 0; mine = 0; tries = 0; token = 0; alone = 0; patient = 0; done = 0;
        if :: _pid == FIRST -> counted_from = 0; counted = 0 :: else fi;
        own_guard = 0; before_guard = 0; forget_events(); kills = 0; ok = 0; overtaken = 0;
        assert_rule()
    }
}

proctype deleter(byte me)
{
    byte at = 0, seen, now, kills, own, before;
    bit done;
    invoke(me, kills);
#ifdef BREAK_GUARD_AFTER_WORDS
    tick(now);
    own = now;
#else
    own_move(guard, now, own, before);
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
#ifdef BREAK_GUARD_AFTER_WORDS
    raise(guard, own, before);
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
    byte event, own_tag[1], before_tag[1]; /* not kept */
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

/* Looks at an item's tags, and lets it remember as of which invalidation. */
proctype reader()
{
    byte at, seen, count, lowest, c, reads = 0;
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
          look(0, lowest, c);
          if
          :: lowest <= stamp[item_of(seen)] ->
             look(1, lowest, c);
             if
             :: lowest <= stamp[item_of(seen)] ->
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
        stamp[STORERS] = clock;
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
        :: i >= STORERS && i < STORERS + DELETES -> run deleter(i); i++
        :: i >= STORERS + DELETES && i < STORERS + DELETES + INVALIDATIONS -> run invalidator(i); i++
        :: else -> break
        od;
#if READS
        run reader()
#endif
    }
}
