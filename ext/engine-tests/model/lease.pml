/* Leases, and what is computed under them: engine/lease.c, remember() in ext/remember.c.
 *
 * One key, which is missing; workers that all want it, are killed or stopped for ever where it hurts, and stopped for a
 * while anywhere; a newcomer in the slot of one that died; a delete meanwhile; time that runs out. What a fill and a
 * delete do to the key's word is a step each here: publish.pml and token.pml prove that they may be taken for that.
 *
 *   L1  no other takes the lease while its holder computes, lives, and is within its time
 *   L2  while nothing is killed, stopped for too long or deleted, one computes, and the others take what it stored
 *   L3  no process waits for ever: neither for the dead, nor for the stopped
 *   L4  nothing is read that was computed before a delete that has returned
 */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef NEWCOMERS
#define NEWCOMERS 0
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef STOPS
#define STOPS 0 /* for ever */
#endif
#ifndef TIMES
#define TIMES STOPS /* how often a lease's time runs out while it is held */
#endif
#ifndef DELETES
#define DELETES 0
#endif
#define ALL (WORKERS + NEWCOMERS)

byte word = 0, serial = 0; /* serial (its end, which no two leases of one holder have in common) | incarnation | slot + 1 */
bit past = 0;              /* the time of this lease has run out */
bit locked[WORKERS];       /* the slots' locks, which the kernel drops */
byte incarnation[WORKERS];
bit computes[ALL], overdue[ALL]; /* had the lease for too long */
byte owner = 0;                  /* which has it, or had it last */
byte kills = KILLS, stops = STOPS, finished = 0, computed = 0;
bit disturbed = 0;
bit item = 0;
byte value = 0, version = 0, clock = 0, key_version = 0, deleted = 0;

#define holder_of(word)      ((word) & 15)
#define slot_of(word)        (((word) & 3) - 1)
#define incarnation_of(word) (((word) >> 2) & 3)
#define myself               (incarnation[slot] << 2 | (slot + 1))

#define is_dead(word) (!locked[slot_of(word)])

inline has_ended()
{
    d_step {
        ended = (seen == 0);
#ifndef BREAK_TIME_NOT_LOOKED_AT
        ended = ended || seen != word || past; /* of one that is not the word any more, we do not know: the CAS does */
#endif
#ifndef BREAK_INCARNATION_NOT_LOOKED_AT
        if :: !ended -> ended = (incarnation[slot_of(seen)] & 3) != incarnation_of(seen) :: else fi
#endif
    };
#ifndef BREAK_DEATH_NOT_ASKED_FOR
    d_step { if :: !ended -> ended = (holder_of(seen) != myself && is_dead(seen)) :: else fi }
#endif
}

/* taken: it is ours. */
inline take()
{
    seen = word;
    has_ended();
    taken = 0;
    if
    :: ended ->
       d_step {
           if
#ifdef BREAK_TAKEN_BY_STORE
           :: true ->
#else
           :: word == seen ->
#endif
              serial++;
              word = serial << 4 | myself;
              past = 0;
              owner = me;
              overdue[me] = 0;
              taken = 1
           :: else
           fi
       }
    :: else
    fi
}

inline give_back()
{
#ifdef BREAK_GIVEN_BACK_WHOSEVER
    word = 0
#else
    seen = word;
    if
    :: seen != 0 && holder_of(seen) == myself -> d_step { if :: word == seen -> word = 0; past = 0 :: else fi }
    :: else
    fi
#endif
}

/* Until the word is free, or to be had. */
inline wait()
{
    do
    :: seen = word;
       has_ended();
       if
       :: ended -> break
       :: else -> word != seen || past || is_dead(seen) || (incarnation[slot_of(seen)] & 3) != incarnation_of(seen)
#ifdef BREAK_DEATH_NOT_ASKED_FOR
          ; (word != seen || past)
#endif
#ifdef BREAK_TIME_NOT_LOOKED_AT
          ; (word != seen || is_dead(seen))
#endif
#ifdef BREAK_INCARNATION_NOT_LOOKED_AT
          ; (word != seen || past || is_dead(seen))
#endif
       fi
    od
}

inline serve()
{
    d_step {
        found = item;
        assert(!item || value >= deleted) /* L4 */
    }
}

inline may_end_here()
{
    if
    :: kills > 0 -> atomic { kills--; disturbed = 1; locked[slot] = 0; computes[me] = 0; goto over }
    :: stops > 0 -> atomic { stops--; disturbed = 1; goto over }
    :: skip
    fi
}

inline begin_to_compute()
{
    d_step {
        i = 0;
        do
        :: i < ALL -> assert(overdue[me] || overdue[i] || !computes[i]); i++ /* L1 */
        :: else -> break
        od;
        assert(disturbed || computed == 0); /* L2 */
        computed++;
        computes[me] = 1
    }
}

inline fill()
{
    d_step {
#ifdef BREAK_LATE_FILL_NOT_REFUSED
        item = 1; value = computing;
#else
        if :: key_version <= token -> item = 1; value = computing :: else fi;
#endif
        computes[me] = 0
    }
}

/* The lease is ours. */
inline compute()
{
#ifndef BREAK_NOT_LOOKED_AGAIN
    serve();
#endif
    if
    :: found
    :: else ->
       begin_to_compute();
#ifdef BREAK_TOKEN_AFTER_READING
       computing = version;
       token = clock;
#else
       token = clock;
       computing = version;
#endif
       may_end_here();
#ifdef BREAK_GIVEN_BACK_BEFORE_STORED
       give_back();
#endif
       fill();
       may_end_here()
    fi;
    give_back()
}

inline remember()
{
    serve();
    do
    :: found -> break
    :: else ->
       take();
       if
       :: taken -> compute(); break
       :: else -> wait(); serve()
       fi
    od
}

proctype worker(byte me; byte slot)
{
    byte seen, token, computing, i;
    bit ended, taken, found;
    remember();
    locked[slot] = 0;
over:
    finished++
}

/* In the slot of a worker that was killed, if one was. */
proctype newcomer(byte me)
{
    byte seen, token, computing, i, slot = 0;
    bit ended, taken, found;
    if
    :: atomic { !locked[0] -> locked[0] = 1; incarnation[0]++ };
       remember();
       locked[slot] = 0
    :: skip
    fi;
over:
    finished++
}

/* Of what the value was computed from: first the truth changes, then the key is deleted. */
proctype deleter()
{
    byte deletes = 0;
    do
    :: deletes < DELETES ->
       disturbed = 1;
       version++;
       d_step { clock++; key_version = clock; item = 0; deleted = version };
       deletes++
    :: else -> break
    od
}

proctype time()
{
    byte times = 0;
end:
    do
    :: atomic {
           times < TIMES && word != 0 && !past ->
           past = 1;
           disturbed = 1;
           overdue[owner] = 1;
           times++
       }
    od
}

/* L3 */
proctype end_of_time()
{
    timeout -> assert(finished == ALL)
}

init {
    byte i = 0;
    atomic {
        do
        :: i < WORKERS -> locked[i] = 1; run worker(i, i); i++
        :: else -> break
        od;
        if :: NEWCOMERS > 0 -> run newcomer(WORKERS) :: else fi;
        run deleter();
        run time();
        run end_of_time()
    }
}
