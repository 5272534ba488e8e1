/* The table of recent invalidations: engine/recent.h, engine/recent.c.
 *
 * Three tags, each two of which share a line, of one word and a floor each; two of them have the same fingerprint.
 * Invalidators enter them, at ticks that they took before, take as long as they like between any two steps, and may
 * never go on. Strangers have filled the lines, each with an older or a younger tick than these. A reader asks for a
 * tag's version.
 *
 *   E1  no version is lower than the tick of an entry that had returned when the reader began
 *   E2  whatever happens while it reads
 */
#ifndef INVALIDATORS
#define INVALIDATORS 3
#endif
#ifndef TIMES
#define TIMES 1 /* how often each of them enters something */
#endif
#ifndef EMPTY
#define EMPTY 0 /* may lines be? */
#endif
/* YOUNG: the only line with a younger tick. */

#define TAGS  3
#define LINES 3
#define word_with(f, t) ((f) * 16 + (t))
#define tick_of(w)      ((w) % 16)
#define fingerprint_of(w) ((w) / 16)

/* Tag 0 lies in the lines 0 and 1, tag 1 in 0 and 2, tag 2 in 1 and 2; 0 and 2 have the same fingerprint. */
#define first_of(t)  ((t) == 2 -> 1 : 0)
#define second_of(t) ((t) == 0 -> 1 : 2)
#define print_of(t)  ((t) == 1 -> 2 : 1)

#define OLDER   1 /* and one more for each line */
#define YOUNGER 12

byte clock = OLDER + LINES;
byte word[LINES];
byte floor[LINES];

byte entered[TAGS]; /* what only the assertion knows: the last tick whose entry has returned */

inline exchange(line, from, to, done)
{
    d_step {
        if
#ifdef BREAK_REPLACED_UNSEEN
        :: word[line] = to; done = 1
#else
        :: word[line] == from -> word[line] = to; done = 1
        :: else -> done = 0
#endif
        fi
    }
}

inline raise_floor(line, tick)
{
    d_step { if :: floor[line] < tick -> floor[line] = tick :: else fi }
}

/* In the place of the oldest word, which is in `line`. */
inline replace(line, seen, tick, done)
{
    if
    :: tick_of(seen) >= tick ->
#ifndef BREAK_LATE_ENTRY_LOST
       raise_floor(line, tick);
#endif
       done = 1
    :: else ->
#ifdef BREAK_FLOOR_AFTER_WORD
       exchange(line, seen, word_with(print_of(tag), tick), done);
       raise_floor(line, tick_of(seen))
#else
       raise_floor(line, tick_of(seen));
       exchange(line, seen, word_with(print_of(tag), tick), done)
#endif
    fi
}

/* There is a word with that fingerprint. */
inline update(line, seen, tick, done)
{
    if
#ifndef BREAK_WORD_SET_BACK
    :: tick_of(seen) >= tick -> done = 1
#endif
    :: else -> exchange(line, seen, word_with(print_of(tag), tick), done)
    fi
}

proctype invalidator()
{
    byte tag, tick, one, other, times = 0;
    bit done;
    do
    :: times < TIMES ->
       times++;
       if
       :: tag = 0
       :: tag = 1
       :: tag = 2
       fi;
       d_step { clock++; tick = clock; done = 0 };
       do
       :: !done ->
          one = word[first_of(tag)];
          other = word[second_of(tag)];
          if
          :: one != 0 && fingerprint_of(one) == print_of(tag) -> update(first_of(tag), one, tick, done)
          :: other != 0 && fingerprint_of(other) == print_of(tag) -> update(second_of(tag), other, tick, done)
          :: else ->
             if
             :: one == 0 -> exchange(first_of(tag), 0, word_with(print_of(tag), tick), done)
             :: one != 0 && other == 0 -> exchange(second_of(tag), 0, word_with(print_of(tag), tick), done)
             :: one != 0 && other != 0 && tick_of(one) <= tick_of(other) -> replace(first_of(tag), one, tick, done)
             :: one != 0 && other != 0 && tick_of(one) > tick_of(other) -> replace(second_of(tag), other, tick, done)
             fi
          fi
       :: else -> break
       od;
       skip; /* Spin jumps into no d_step */
       d_step {
           if :: entered[tag] < tick -> entered[tag] = tick :: else fi;
           tag = 0; tick = 0; one = 0; other = 0; done = 0
       }
    :: else -> break
    od
}

inline read_word(line)
{
    seen = word[line];
    d_step {
        if
        :: seen != 0 && fingerprint_of(seen) == print_of(tag) && tick_of(seen) > version -> version = tick_of(seen)
        :: else
        fi;
        seen = 0
    }
}

inline read_floor(line)
{
    seen = floor[line];
    d_step { if :: seen > version -> version = seen :: else fi; seen = 0 }
}

proctype reader()
{
    byte tag, least, seen = 0, version = 0;
    if
    :: tag = 0
    :: tag = 1
    fi;
    least = entered[tag];
#ifdef BREAK_FLOORS_READ_FIRST
    read_floor(first_of(tag));
    read_floor(second_of(tag));
#endif
    read_word(first_of(tag));
    read_word(second_of(tag));
#ifndef BREAK_FLOORS_READ_FIRST
#ifdef BREAK_WORD_HIDES_FLOORS
    if
    :: version > 0 -> goto judge
    :: else
    fi;
#endif
    read_floor(first_of(tag));
#ifndef BREAK_ONE_FLOOR
    read_floor(second_of(tag));
#endif
#endif
judge:
    assert(version >= least) /* E1, E2 */
}

init {
    byte i = 0;
    atomic {
        do
        :: i < LINES ->
           if
#ifdef YOUNG
           :: i != YOUNG -> word[i] = word_with(3, OLDER + i)
           :: i == YOUNG -> word[i] = word_with(3, YOUNGER + i)
#else
           :: word[i] = word_with(3, OLDER + i)
           :: word[i] = word_with(3, YOUNGER + i)
           :: EMPTY -> word[i] = 0
#endif
           fi;
           i++
        :: else -> i = 0; break
        od;
        do
        :: i < INVALIDATORS -> run invalidator(); i++
        :: else -> break
        od;
        run reader()
    }
}
