/* What is in flight, and how it is found out: larder_in_flight_begin(), larder_in_flight_end(), larder_is_in_flight()
 * in engine/in_flight.c, and clear_in_flight() in engine/slot.c.
 *
 * An invalidator says so in its slot, takes a number, does it (that starts with a tick), and unsays it. An asker
 * is concerned with what one of the slots says, and looks at the slots only if it is not known that all numbers up
 * to the last are over. Processes are killed between any two of their steps; others take their places, or do not.
 *
 *   U1  an asker is told that nothing is in flight that concerns it: what was numbered before it asked is over by then
 *   U2  after any deaths, an asker that has asked once when nothing is in flight knows that all is over
 */
#ifndef INVALIDATORS
#define INVALIDATORS 2
#endif
#ifndef TIMES
#define TIMES 1 /* how often each place invalidates */
#endif
#ifndef ASKERS
#define ASKERS 2
#endif

byte last_begun = 0, all_over = 0; /* in_flight_begun, in_flight_over */
#define NOBODY INVALIDATORS
bit says[INVALIDATORS];
bit alive[INVALIDATORS]; /* the lock on its slot is held */

/* What only the assertions know: the number of what it is in the middle of, 0: of nothing. */
byte doing[INVALIDATORS + 1];

/* Killed, here or not. What it was doing was not promised to any. */
inline may_die(me)
{
    if
    :: atomic { alive[me] = 0; doing[me] = 0; goto dead }
    :: skip
    fi
}

inline take_number(me, number)
{
    d_step { last_begun++; number = last_begun; doing[me] = number }
}

/* A place, and who has it. */
proctype invalidator(byte me)
{
    byte number, times = 0;
again:
    do
    :: times == TIMES -> break
    :: times < TIMES ->
       times++;
#ifdef BREAK_NUMBERED_BEFORE_SAID
       take_number(me, number);
       may_die(me);
       says[me] = 1;
#else
       says[me] = 1;
       may_die(me);
       take_number(me, number);
#endif
       may_die(me);
#ifdef BREAK_UNSAID_TOO_SOON
       says[me] = 0;
       doing[me] = 0;
#else
       doing[me] = 0;
       may_die(me);
       says[me] = 0;
#endif
       may_die(me);
       d_step {
           if
#ifdef BREAK_OVER_BEFORE_OTHERS
           :: all_over < number -> all_over = number
#else
           :: all_over == number - 1 -> all_over = number
#endif
           :: else
           fi;
           number = 0
       }
    od;
    goto end;
dead:
    number = 0;
    if
    :: alive[me] = 1; /* another takes the place, and buries its last owner */
       says[me] = 0;
       goto again
    :: skip
    fi;
end:
    skip
}

/* Sets `told` if nothing is in flight that concerns the asker: what the slot `mine` says. */
inline ask(mine, told)
{
    last = last_begun;
    told = 0;
    others = 0;
    if
    :: all_over >= last -> told = 1
    :: else ->
       i = 0;
       do
       :: i < INVALIDATORS ->
          if
          :: says[i] ->
             if
             :: alive[i] && i == mine -> break
             :: alive[i] && i != mine ->
#ifndef BREAK_OTHERS_LEFT_OUT
                others = 1
#else
                skip
#endif
#ifdef BREAK_DEATH_NOT_ASKED_FOR
             :: !alive[i] -> others = 1
#else
             :: atomic { !alive[i] -> says[i] = 0 } /* under the slot's lock */
#endif
             fi
          :: else
          fi;
          i++
       :: else ->
          told = 1;
#ifdef BREAK_LAST_LOADED_AFTER_LOOK
          last = last_begun;
#endif
          d_step { if :: !others && all_over < last -> all_over = last :: else fi };
          break
       od
    fi
}

proctype asker()
{
    byte mine, last, i, before;
    bit told, others;
    if
    :: mine = 0
    :: mine = NOBODY
    fi;
    before = doing[mine];
    ask(mine, told);
    assert(!told || before == 0 || doing[mine] != before) /* U1 */
}

init {
    byte i = 0, last;
    bit told, others;
    atomic {
        do
        :: i < INVALIDATORS -> alive[i] = 1; run invalidator(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < ASKERS -> run asker(); i++
        :: else -> break
        od
    }
    _nr_pr == 1;
    ask(NOBODY, told);
    assert(told && all_over == last_begun) /* U2 */
}
