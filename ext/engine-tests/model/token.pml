/* Tokens, fills and writes, tags: engine/token.h, engine/tag.h, judge() in engine/item.c, was_overtaken() in
 * engine/index.c.
 *
 * One key, whose item carries two tags, and what happens to it: fills, writes, writes judged by a token, deletes,
 * invalidations. Each takes as long as it likes between any two steps. What is asserted is the one rule: a value is as
 * old as the moment at which its computation began; what was invalidated since is dead. So once an invalidation (a
 * delete, a tag's, for fills and judged writes also a write) has returned, nothing can be read whose computation began
 * before that invalidation did, then or later.
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
#define STORERS (FILLS + JUDGED + WRITES)
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
byte tag[TAGS];
byte invalidations = 1;
byte stamp[STORERS], looked[STORERS];
bit raised[STORERS]; /* its stamp is that of an event of its own request's */

/* What only the assertions know. Sets of storers, as bits. */
byte begun = 0;     /* whose computation has begun */
byte condemned = 0; /* whose began before an invalidation that has returned did */

#define bit_of(i)   (1 << (i))
#define JUDGED_ONES ((1 << (FILLS + JUDGED)) - 1) /* writes do not kill writes */
#define allowed(i)  (tag[0] <= stamp[i] && tag[1] <= stamp[i])
#define is_read(w)  (is_final(w) && (allowed(item_of(w)) || looked[item_of(w)] == invalidations))
#define is_right(w) (!is_read(w) || (condemned & bit_of(item_of(w))) == 0)
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

inline tick(now)
{
    d_step { clock++; now = clock }
}

/* Ticks and raises a cell, strictly forward. `own` and `before`: to see through one's own event later. */
inline own_move(cell, now, own, before, ticks)
{
    tick(now);
    raise(cell, now, own, before, ticks)
}

inline raise(cell, now, own, before, ticks)
{
    ticks++;
    own = now;
    do
    :: before = cell;
       do
#ifdef BREAK_CELLS_STAND_STILL
       :: before >= own -> own = before; break
#else
       :: before >= own -> tick(own); ticks++
#endif
       :: else -> break
       od;
       if
       :: atomic { cell == before -> cell = own }; break
       :: cell != before
       fi
    od;
    ticks = ticks
}

/* The last event at a cell that was not one's own. */
#define see_through(now, own, before) ((own != 0 && now == own) -> before : now)

/* Not in its place: a delete or a write that has ticked before it, but not moved the guard yet, would leave it there. */
inline clear_and_insert(at, seen, done)
{
    exchange(at, seen, 0, done);
    if
    :: done -> at = NOWHERE
    :: else -> goto again
    fi
}

mtype = { FILL, JUDGE, WRITE };
mtype = { NOTHING, NEIGHBOUR, TAG };

/* Stores item `me`. Meanwhile it may do something else: write a neighbour, whose guard is the same, or invalidate one
 * of its tags. */
proctype storer(byte me; mtype verb; mtype meanwhile)
{
    byte at, seen, its, token = 0, now, mine = 0, kills, own = NOWHERE, tries = 0, ticks = 0;
    byte own_guard = 0, before_guard = 0, own_tag = 0, before_tag = 0;
    bit done, patient, alone = 0, ok = 0, overtaken = 0;

    if
    :: verb != WRITE -> d_step { token = clock; begun = begun | bit_of(me) } /* miss: the token */
    :: else
    fi;
    if
    :: meanwhile == NEIGHBOUR -> own_move(guard, now, own_guard, before_guard, ticks)
    :: meanwhile == TAG ->
       invoke(me, kills);
       own_move(tag[0], now, own_tag, before_tag, ticks);
       d_step {
           invalidations++;
           condemned = condemned | kills;
           assert_rule()
       }
    :: else
    fi;

    /* judge */
    d_step { looked[me] = invalidations };
    if
    :: verb == WRITE ->
       d_step { clock++; mine = clock; stamp[me] = mine; kills = begun & JUDGED_ONES; begun = begun | bit_of(me) };
       raise(guard, mine, own_guard, before_guard, ticks)
    :: verb == JUDGE ->
       invoke(me, kills);
       own_move(guard, mine, own_guard, before_guard, ticks);
       if
       :: before_guard > token -> goto over /* refused: erased, see the deleter */
       :: else
       fi
    :: verb == FILL ->
       now = guard;
       if
       :: see_through(now, own_guard, before_guard) > token -> goto over
       :: else
       fi
    fi;
    if
    :: verb != WRITE ->
       stamp[me] = token;
#ifndef BREAK_TAGS_NOT_JUDGED
       now = tag[0];
       if
       :: see_through(now, own_tag, before_tag) > token -> goto over
       :: else -> d_step { if :: now > token -> stamp[me] = now; raised[me] = 1 :: else fi } /* one's own does not kill it */
       fi;
       if
       :: tag[1] > token -> goto over
       :: else
       fi;
#endif
       skip
    :: else
    fi;

again:
    atomic { own = 0; seen = 0; its = 0; alone = 0; patient = 0; done = 0 };
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
       overtaken = (see_through(now, own_guard, before_guard) > token)
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
        own = 0; seen = 0; its = 0; now = 0; mine = 0; tries = 0; ticks = 0; token = 0; alone = 0; patient = 0; done = 0;
        own_guard = 0; before_guard = 0; own_tag = 0; before_tag = 0; kills = 0; ok = 0; overtaken = 0;
        assert_rule()
    }
}

proctype deleter(byte me)
{
    byte at = 0, seen, now, kills, own, before, ticks;
    bit done;
    invoke(me, kills);
#ifdef BREAK_GUARD_AFTER_WORDS
    tick(now);
    skip;
#else
    own_move(guard, now, own, before, ticks);
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
    raise(guard, now, own, before, ticks);
#endif
    at = 0;
    d_step {
        condemned = condemned | kills;
        assert_rule();
        seen = 0; now = 0; own = 0; before = 0; ticks = 0; done = 0; kills = 0
    }
}

/* Of one tag, or of the other. */
proctype invalidator(byte me)
{
    byte which, now, own, before, ticks, kills;
    if
    :: which = 0
    :: which = 1
    fi;
    invoke(me, kills);
#ifdef BREAK_COUNTED_BEFORE_CELLS
    invalidations++;
#endif
    own_move(tag[which], now, own, before, ticks);
#ifndef BREAK_CELLS_MOVED_ONCE
    if /* an item may have been stamped with a tick that was taken before its storer could see the cell */
    :: clock != own -> own_move(tag[which], now, own, before, ticks)
    :: else
    fi;
#endif
#ifndef BREAK_COUNTED_BEFORE_CELLS
    invalidations++;
#endif
    d_step {
        condemned = condemned | kills;
        assert_rule();
        now = 0; own = 0; before = 0; ticks = 0; kills = 0; which = 0
    }
}

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
          :: tag[0] <= stamp[item_of(seen)] ->
             if
             :: tag[1] <= stamp[item_of(seen)] ->
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
