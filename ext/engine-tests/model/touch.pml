/* Touching an item while it is moved: larder_touch() in engine/item.c, move_item() in engine/walk.c.
 *
 * Both write one thing and look at the other's: a touch writes the expiry and looks whether the word still leads there,
 * a mover turns the word and looks whether the expiry is still what it copied.
 *
 * Expiries are even; a mover's copy has an odd one, so that it does not take a touch for its own copy that gives the
 * item the expiry it had before.
 *
 *   T  a touch that has returned is not undone: the expiry is its own, or that of a touch that ended later
 */
#ifndef MOVES
#define MOVES 2
#endif
#ifndef SECOND
#define SECOND 0 /* what the second touch writes: what was there in the beginning, or something new */
#endif
#define ITEMS (1 + MOVES)
#define FIRST 2

#ifdef BREAK_COPY_LOOKS_TOUCHED
#define provisional(expiry) (expiry)
#else
#define provisional(expiry) ((expiry) | 1)
#endif
#define settled(expiry) ((expiry) & 254)

byte word = 0; /* the item that the key leads to */
byte expiry[ITEMS];
bit returned[3];
bit overlap = 1; /* the touches do, unless the second begins after the first has returned */
bit moved = 0;

proctype touch(byte me; byte value)
{
    byte seen, again;
    bit done = 0;
    if
    :: me == 2 -> d_step { if :: returned[1] -> overlap = 0 :: else fi }
    :: else
    fi;
    do
    :: !done ->
       seen = word;
       expiry[seen] = value;
#ifdef BREAK_TOUCH_LOOKS_ONCE
       done = 1
#else
       done = (word == seen)
#endif
    :: else -> break
    od;
    returned[me] = 1
}

proctype mover()
{
    byte seen, copied, now, item = 1;
    do
    :: item < ITEMS ->
       seen = word;
       copied = expiry[seen];
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
    moved = 1
}

proctype judge()
{
    returned[1] && returned[2] && moved;
    assert(settled(expiry[word]) == SECOND || (overlap && settled(expiry[word]) == FIRST)) /* T */
}

init {
    atomic {
        run touch(1, FIRST);
        run touch(2, SECOND);
        run mover();
        run judge()
    }
}
