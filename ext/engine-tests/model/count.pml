/* Counters: counted in place, moved, and written anew. engine/count.c, engine/walk.c.
 *
 * A counter is one word of memory, and its lowest bit freezes it. A process that moves it, or replaces it by another
 * item, freezes it first; each may stop or die between any two steps, and the others wait for it only so long.
 *
 *   C1  every increment that was reported as done is in the count, once, and no other
 *   C2  the numbers reported grow: no process is told a count that another was told before
 */
#ifndef COUNTERS
#define COUNTERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef MOVES
#define MOVES 2
#endif
#define ITEMS (1 + MOVES + COUNTERS * ROUNDS)

byte word = 0; /* the item that the key leads to; there is always one */
byte number[ITEMS];
bit frozen[ITEMS];
bit used[ITEMS];
byte done = 0;      /* increments that were reported */
byte under_way = 0; /* ... that are in the count and will be reported next */

inline new_item(item)
{
    d_step {
        item = 1;
        do
        :: used[item] -> item++
        :: else -> break
        od;
        used[item] = 1
    }
}

/* What a reader sees: a frozen counter counts until the word is turned. */
#define the_count number[word]

inline counted(result)
{
    assert(result == the_count); /* C2: it was this very one that made it so */
    done++;
    assert(the_count == done) /* C1 */
}

/* Freezing stops all who want to add in place; then the word is turned to a new item, from the old one only. */
inline anew(by, seen, sum, item, ok)
{
#ifdef BREAK_ANEW_WITHOUT_FREEZING
    sum = number[seen];
#else
    d_step { sum = number[seen]; frozen[seen] = 1 };
#endif
    new_item(item);
    number[item] = sum + by;
    d_step {
        if
#ifdef BREAK_ANEW_WITHOUT_EXPECTING
        :: true ->
#else
        :: word == seen ->
#endif
           word = item;
           ok = 1;
           if
           :: by > 0 -> counted(number[item])
           :: else -> assert(the_count == done)
           fi
        :: else -> ok = 0; used[item] = 0; number[item] = 0
        fi
    }
}

proctype counter()
{
    byte seen, sum, item, rounds = 0;
    bit ok;
    do
    :: rounds < ROUNDS ->
       seen = word;
       sum = number[seen]; /* the load of the exchange below */
       if
#ifndef BREAK_COUNTS_IN_FROZEN
       :: frozen[seen] -> /* patient: looks again. Impatient: see below */
       :: !frozen[seen] ->
#else
       :: true ->
#endif
          d_step {
#ifdef BREAK_COUNTS_IN_FROZEN
              if
              :: number[seen] == sum ->
#else
              if
              :: number[seen] == sum && !frozen[seen] ->
#endif
                 number[seen] = sum + 1;
                 rounds++;
                 counted(sum + 1)
              :: else
              fi
          }
       :: anew(1, seen, sum, item, ok); rounds = rounds + ok /* frozen for too long, or it leaves a counter's range */
       fi
    :: else -> break
    od
}

proctype mover()
{
    byte seen, sum, item, moves = 0;
    bit ok;
    do
    :: moves < MOVES ->
       seen = word;
#ifdef BREAK_COPY_BEFORE_FREEZING
       sum = number[seen];
       frozen[seen] = 1;
#else
#ifdef BREAK_MOVE_WITHOUT_FREEZING
       sum = number[seen];
#else
       d_step { sum = number[seen]; frozen[seen] = 1 };
#endif
#endif
       new_item(item);
       number[item] = sum;
       d_step {
           if
           :: word == seen -> word = item; assert(the_count == done)
           :: else -> used[item] = 0; number[item] = 0
           fi
       };
       moves++
    :: else -> break
    od
}

init {
    byte i = 0;
    atomic {
        used[0] = 1;
        do
        :: i < COUNTERS -> run counter(); i++
        :: else -> break
        od;
        run mover()
    }
}
