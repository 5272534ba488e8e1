/* The segment lock, and what its owner's death leaves: engine/lock.c (S3), engine/slot.c.
 *
 * Processes take a slot, lock, take one segment a step further, unlock; and die anywhere. The lock's word
 * names the owner's slot and its incarnation. A process that finds it taken asks the kernel whether that slot's owner
 * lives; from a dead one it takes the lock over, and makes the lists anew.
 *
 *   L1  at most one living process is inside
 *   L2  the holder of the lock finds each segment in the list of its state
 *   L3  no word leads into a segment that is free or in limbo, however its emptying ended
 */
#ifndef PROCESSES
#define PROCESSES 3
#endif
#ifndef STEPS
#define STEPS 3 /* that each process takes the segment further */
#endif
#define SLOTS  2
#define NOBODY 255
#define NONE   0

mtype = { FREE, OPEN, SEALED, LIMBO, UNLISTED };

mtype state = FREE, listed = FREE;
byte generation = 1;
byte open = NONE; /* the generation of the open segment */
byte word = NONE; /* the generation in which the index leads there */

byte lock = 0;
byte incarnation[SLOTS];
byte holder[SLOTS] = NOBODY; /* of the lock on the slot's byte; the kernel drops it at any death */
bit killed[PROCESSES];
bit inside[PROCESSES];
byte ended = 0;

#ifdef BREAK_LOCK_NAMES_NO_INCARNATION
#define lock_word(slot, own) ((slot) + 1)
#define slot_of(owner)        ((owner) - 1)
#define is_outlived(owner)    false
#else
#define lock_word(slot, own) ((own) * SLOTS + (slot) + 1)
#define slot_of(owner)        (((owner) - 1) % SLOTS)
#define is_outlived(owner)    (incarnation[slot_of(owner)] != ((owner) - 1) / SLOTS)
#endif

inline take_slot(me, slot, own)
{
    if
    :: atomic { holder[0] == NOBODY -> holder[0] = me; slot = 0 }
    :: atomic { holder[1] == NOBODY -> holder[1] = me; slot = 1 }
    fi;
    d_step { incarnation[slot]++; own = incarnation[slot] }
}

inline exchange(from, to, done)
{
    d_step {
        if
        :: lock == from -> lock = to; done = 1
        :: else -> done = 0
        fi
    }
}

/* L1. From here on, to its end or to its death. */
inline enter(me)
{
    d_step {
        inside[me] = 1;
#if PROCESSES == 3
        assert(inside[0] + inside[1] + inside[2] == 1)
#else
        assert(inside[0] + inside[1] + inside[2] + inside[3] == 1)
#endif
    }
}

/* Makes the lists anew, from the states alone. It may die in the middle, too. */
inline recover()
{
#ifdef BREAK_NO_RECOVERY
    skip
#else
    listed = UNLISTED;
    if
    :: state == OPEN && open != generation -> state = SEALED
    :: else
    fi;
    if
    :: state == OPEN
    :: state != OPEN -> listed = state
    fi
#endif
}

inline take_lock(me, slot, own, owner, dead, done)
{
    done = 0;
    do
    :: done -> break
    :: else ->
       owner = lock;
       if
       :: owner == 0 ->
          exchange(0, lock_word(slot, own), done);
          if
          :: done -> enter(me)
          :: else
          fi
       :: owner != 0 ->
          dead = 0;
          if
          :: is_outlived(owner) -> dead = 1
          :: else ->
             if /* buries it: takes the lock on its byte, and lets go of it */
#ifdef BREAK_IMPATIENT
             :: dead = 1
#else
             :: atomic { holder[slot_of(owner)] == NOBODY -> holder[slot_of(owner)] = me + PROCESSES };
                dead = 1;
                holder[slot_of(owner)] = NOBODY
             :: else
#endif
             fi
          fi;
          if
          :: dead ->
#ifdef BREAK_TAKEN_OVER_BY_STORE
             lock = lock_word(slot, own);
             done = 1;
#else
             exchange(owner, lock_word(slot, own), done);
#endif
             if
             :: done -> enter(me); recover()
             :: else
             fi
          :: else
          fi
       fi
    od;
    atomic {
        assert(listed == state || (state == OPEN && listed == UNLISTED && open == generation)); /* L2 */
        assert((state != FREE && state != LIMBO) || word != generation) /* L3 */
    }
}

/* Each store of its own may be the last. */
inline go_on()
{
    if
    :: state == FREE ->
       listed = UNLISTED;
       state = OPEN;
       open = generation
    :: state == OPEN ->
       word = generation; /* another process stores something there */
       open = NONE;
       state = SEALED;
       listed = SEALED
    :: state == SEALED ->
       listed = UNLISTED;
#ifdef BREAK_STATE_BEFORE_GENERATION
       state = LIMBO;
       generation++;
#else
       generation++;
       state = LIMBO;
#endif
       if
       :: listed = LIMBO
       :: state = FREE; listed = FREE
       fi
    :: state == LIMBO ->
       listed = UNLISTED;
       state = FREE;
       listed = FREE
    fi
}

proctype process(byte me)
{
    byte slot = NOBODY, own, owner, steps = 0;
    bit dead, done;
    {
        take_slot(me, slot, own);
        do
        :: steps < STEPS ->
           take_lock(me, slot, own, owner, dead, done);
           go_on();
           inside[me] = 0;
           exchange(lock_word(slot, own), 0, done);
           steps++
        :: else -> break
        od;
        atomic { holder[slot] = NOBODY; ended++ }
    } unless {
        killed[me] ->
        d_step { /* the kernel drops its locks: on its slot, or on the one it was burying */
            if
            :: holder[0] == me || holder[0] == me + PROCESSES -> holder[0] = NOBODY
            :: else
            fi;
            if
            :: holder[1] == me || holder[1] == me + PROCESSES -> holder[1] = NOBODY
            :: else
            fi;
            inside[me] = 0;
            ended++
        }
    }
}

/* All but the last may be killed: it must be able to get through. */
proctype killer()
{
    byte victim = 0;
    do
    :: victim < PROCESSES - 1 ->
       if
       :: killed[victim] = 1
       :: skip
       fi;
       victim++
    :: else -> break
    od
}

init {
    byte i = 0;
    atomic {
        do
        :: i < PROCESSES -> run process(i); i++
        :: else -> break
        od;
        run killer()
    }
}
