/* The window of a tag: engine/stale.h, engine/stale.c.
 *
 * One tag, in whose place another's window may be. Its version (the table of recent invalidations, recent.pml) is one
 * number, which only rises. Openers invalidate softly, killers otherwise; they took their ticks when they began, take
 * as long as they like between any two steps, and may never go on. A stranger may take the place for its own tag at any
 * time. Time passes; a window that is open until END_ONE is over when it has passed. A reader asks whether an item may
 * be served that is older than whatever is entered.
 *
 *   W1  what a killer that had returned when the reader began has killed is not served
 *   W2  nor what an opener that had returned has killed, after its own end
 */
#ifndef OPENERS
#define OPENERS 2
#endif
#ifndef KILLERS
#define KILLERS 1
#endif
#ifndef READERS
#define READERS 2
#endif
#ifndef STRANGERS
#define STRANGERS 0
#endif
#ifndef TRIES
#define TRIES 2
#endif
#ifndef LAST
#define LAST 2 /* the time does not go further */
#endif

/* A window: 0; being opened, with a tick that no other has; open, until an end. */
#define NONE       0
#define STRANGE    1
#define OPENING    2 /* and the tick */
#define OPEN       50 /* and the end */
#define is_opening(w) ((w) >= OPENING && (w) < OPEN)
#define is_open(w)    ((w) >= OPEN)
#define end_of(w)     ((w) - OPEN)

byte now = 0;
byte clock = 1;
byte version = 0;
byte window = NONE;
byte dead = 0;
bit mine = 1; /* is the place named after the tag? */

/* What only the assertions know. */
byte killed = 0;        /* the last tick of a killer that has returned */
byte let[4];            /* the last tick of an opener that has returned, by its end */

/* The tag is among the recent ones, at that tick or a younger one. */
inline enter(tick)
{
    d_step { if :: version < tick -> version = tick :: else fi }
}

inline exchange(from, to, done)
{
    d_step {
        if
        :: window == from -> window = to; done = 1
        :: else -> done = 0
        fi
    }
}

/* From the tag's, while others may do anything, to one that ends no later than `until`. */
inline limit(until)
{
#ifndef BREAK_NO_LIMIT
    do
    :: seen = window;
       if
       :: seen == NONE || seen == STRANGE -> break
       :: is_open(seen) && end_of(seen) <= until -> break
#ifdef BREAK_OPENING_OVERLOOKED
       :: is_opening(seen) -> break
#else
       :: is_opening(seen) -> exchange(seen, NONE, done)
#endif
       :: is_open(seen) && end_of(seen) > until ->
          if
          :: until > 0 -> exchange(seen, OPEN + until, done)
          :: else -> exchange(seen, NONE, done)
          fi
       fi;
       if :: done -> break :: else fi
    od;
#endif
    skip
}

inline raise_dead()
{
#ifndef BREAK_DEAD_NOT_RAISED
    d_step { if :: dead < before -> dead = before :: else fi }
#else
    skip
#endif
}

/* Some tries; then it just kills. */
inline open(until)
{
    tries = 0;
    do
    :: tries < TRIES ->
       tries++;
       seen = window;
       if
       :: is_open(seen) && mine && end_of(seen) > now ->
#ifdef BREAK_END_OF_THE_LATER
          exchange(seen, OPEN + until, done)
#else
          done = 1
#endif
       :: else ->
          before = version;
          d_step { clock++; opening = OPENING + clock };
#ifdef BREAK_SAME_WORD
          opening = OPENING;
#endif
#ifdef BREAK_DEAD_TOO_LATE
          mine = 1;
          exchange(seen, opening, done);
#else
          raise_dead();
          mine = 1;
#ifdef BREAK_OPEN_AT_ONCE
          opening = OPEN + until;
#endif
          exchange(seen, opening, done);
#endif
          if
          :: done ->
#ifdef BREAK_NOT_READ_AGAIN
             again = before;
#else
             again = version;
#endif
             if
             :: again == before -> exchange(opening, OPEN + until, done)
             :: else -> exchange(opening, NONE, done); done = 0
             fi;
#ifdef BREAK_DEAD_TOO_LATE
             raise_dead();
#endif
          :: else
          fi
       fi;
       if :: done -> break :: else fi
    :: else -> break
    od;
    skip /* Spin jumps into no d_step */
}

proctype opener(byte until)
{
    byte seen = 0, before = 0, opening = 0, again = 0, tick, tries = 0;
    bit done = 0;
    open(until);
    d_step { clock++; tick = clock };
    enter(tick);
    limit(until);
    d_step {
        if :: let[until] < tick -> let[until] = tick :: else fi;
        seen = 0; before = 0; opening = 0; again = 0; tick = 0; tries = 0; done = 0
    }
}

proctype killer()
{
    byte seen = 0, tick;
    bit done = 0;
    d_step { clock++; tick = clock };
#ifdef BREAK_LIMITED_FIRST
    limit(0);
    enter(tick);
#else
    enter(tick);
    limit(0);
#endif
    d_step {
        if :: killed < tick -> killed = tick :: else fi;
        seen = 0; tick = 0; done = 0
    }
}

proctype stranger()
{
    byte seen;
    bit done;
    seen = window;
    mine = 0;
    exchange(seen, STRANGE, done)
}

proctype time()
{
    do
    :: now < LAST -> now++
    :: break
    od
}

/* Of an item that was stored at some tick: `item`. */
proctype reader(byte item)
{
    byte its, at, least = 0, i = 0, found, part;
    d_step {
        /* What has returned by now counts: a killer's tick, and that of each opener whose end has passed. */
        at = now;
        least = killed;
        do
        :: i <= LAST ->
           if :: i <= at && let[i] > least -> least = let[i] :: else fi;
           i++
        :: else -> i = 0; break
        od
    }
    its = version;
    if
    :: its > item ->
       found = window;
       part = mine;
       if
       :: is_open(found) && part && dead <= item && end_of(found) > at ->
          assert(least <= item) /* W1, W2 */
       :: else
       fi
    :: else
    fi
}

init {
    byte i = 0;
    atomic {
        do
        :: i < OPENERS -> run opener(1 + i % 2); i++
        :: else -> i = 0; break
        od;
        do
        :: i < KILLERS -> run killer(); i++
        :: else -> i = 0; break
        od;
        do
        :: i < STRANGERS -> run stranger(); i++
        :: else -> i = 0; break
        od;
        run time();
        do
        :: i < READERS -> run reader(1 + 2 * i); i++
        :: else -> break
        od
    }
}
