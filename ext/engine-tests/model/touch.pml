/* Touching an item while it is moved, or dropped because it has expired: larder_touch() in engine/change.c, move_item()
 * in engine/walk.c, larder_stays_dead() in engine/index.c.
 *
 * Both write one thing and look at the other's: a touch writes the expiry and looks whether the word still leads there,
 * a mover turns the word and looks whether the expiry is still what it copied.
 *
 * Expiries are even; a mover's copy has an odd one, so that it does not take a touch for its own copy that gives the
 * item the expiry it had before.
 *
 * A dropper of what has expired puts an expiry of long ago in the place of the one that it saw, and a touch exchanges
 * the one that it found to come: one of them fails.
 *
 *   T  a touch that has succeeded is not undone: the item is there, and the expiry is its own, or that of a touch that
 *      ended later
 */
#ifndef MOVES
#define MOVES 2
#endif
#ifndef SECOND
#define SECOND 0 /* what the second touch writes: what was there in the beginning, or something new */
#endif
#define ITEMS (1 + MOVES)
#define FIRST 2
#define DUE 6 /* comes while all this happens */
#define LONG_AGO 8
#define NONE 255

#ifdef BREAK_COPY_LOOKS_TOUCHED
#define provisional(expiry) (expiry)
#else
#define provisional(expiry) ((expiry) | 1)
#endif
#define settled(expiry) ((expiry) & 254)

byte word = 0; /* the item that the key leads to */
byte expiry[ITEMS];
bit late = 0; /* what is due has expired */
bit returned[3], succeeded[3];
bit overlap = 1; /* the touches do, unless the second begins after the first has returned */
bit moved = 0;

#define is_past(expiry) ((expiry) == LONG_AGO || (settled(expiry) == DUE && late))

proctype touch(byte me; byte value)
{
    byte seen, found;
    bit done = 0;
    if
    :: me == 2 -> d_step { if :: returned[1] -> overlap = 0 :: else fi }
    :: else
    fi;
    do
    :: !done ->
       seen = word;
       if
       :: seen == NONE -> break
       :: else
       fi;
       found = expiry[seen];
       if
       :: is_past(found) -> break
       :: else
       fi;
#ifdef BREAK_TOUCH_STORES
       expiry[seen] = value;
       done = 1;
#else
       d_step { if :: expiry[seen] == found -> expiry[seen] = value; done = 1 :: else fi };
#endif
#ifndef BREAK_TOUCH_LOOKS_ONCE
       done = (done && word == seen)
#endif
    :: else -> succeeded[me] = 1; break
    od;
    returned[me] = 1
}

inline drop()
{
    seen = word;
    if
    :: seen != NONE ->
       copied = expiry[seen];
       if
       :: is_past(copied) ->
#ifndef BREAK_DROPS_UNASKED
          d_step {
              if
              :: expiry[seen] == copied -> expiry[seen] = LONG_AGO
              :: else -> seen = NONE
              fi
          };
#endif
          d_step { if :: word == seen -> word = NONE :: else fi }
       :: else
       fi
    :: else
    fi
}

/* Any adder. While the item is being moved it may see the copy before it has its expiry: see the limits in
   ext/PROOFS.md. */
#if defined(DROPS) && MOVES == 0
proctype dropper()
{
    byte seen, copied;
    drop()
}
#endif

proctype mover()
{
    byte seen, copied, now, item = 1;
    do
    :: item < ITEMS ->
       seen = word;
       if
       :: seen == NONE -> break
       :: else
       fi;
       copied = expiry[seen];
       if
       :: is_past(copied) -> break
       :: else
       fi;
       expiry[item] = provisional(copied);
#ifdef BREAK_MOVER_LOOKS_FIRST
       now = expiry[seen];
       word = item;
#else
       word = item;
       now = expiry[seen];
#endif
#ifdef BREAK_MOVER_LOOKS_ONCE
       now = copied;
#endif
#ifdef BREAK_MOVER_STORES
       expiry[item] = now;
#else
       d_step { if :: expiry[item] == provisional(copied) -> expiry[item] = now :: else fi };
#endif
       item++
    :: else -> break
    od;
#ifdef DROPS
    drop();
#endif
    moved = 1
}

#ifdef DROPS
proctype time()
{
    late = 1
}
#endif

proctype judge()
{
    returned[1] && returned[2] && moved;
    if
    :: succeeded[1] || succeeded[2] ->
       assert(word != NONE && (settled(expiry[word]) == SECOND ||
              ((overlap || !succeeded[2]) && settled(expiry[word]) == FIRST))) /* T */
    :: else
    fi
}

init {
    atomic {
#ifdef DROPS
        expiry[0] = DUE;
        run time();
#if MOVES == 0
        run dropper();
#endif
#endif
        run touch(1, FIRST);
        run touch(2, SECOND);
        run mover();
        run judge()
    }
}
