/* Values that were read before a fork: larder_slot_before_fork() and the rest in engine/slot.c.
 *
 * The parent copies its pins to a second slot, forks, and goes on with its own; the child has the second one, whose
 * lock it has inherited. Either may end first. A reclaimer looks at the slots one after the other meanwhile.
 *
 *   F  the bytes stay as they are while the parent or the child may look at them
 */
#define SLOTS 2
#ifdef BREAK_COPY_BEFORE_ITS_ORIGINAL
#define PARENTS 1
#define CHILDS  0
#else
#define PARENTS 0 /* the reclaimer looks at the lower slot first */
#define CHILDS  1
#endif

bit pin[SLOTS];
byte locks[SLOTS]; /* processes that have the lock on the slot's byte: it falls with the last */
byte used = 1; /* slots ever taken: no look goes beyond. The child's may be the first there */
bit forked = 0, recycled = 0;
byte ended = 0;

inline look(times)
{
    do
    :: times > 0 -> assert(!recycled); times-- /* F */
    :: else -> break
    od
}

proctype child()
{
    byte times = 2;
    forked;
    look(times);
    pin[CHILDS] = 0;
    locks[CHILDS]--;
    ended++
}

proctype parent()
{
    byte times = 1;
#ifndef BREAK_NO_COPY
    used = SLOTS;
    locks[CHILDS] = 1; /* the lock on the second slot; it is free, or another's would be taken */
    pin[CHILDS] = pin[PARENTS];
#endif
#ifdef BREAK_CHILD_WITHOUT_LOCK
    locks[CHILDS] = 0;
#endif
    forked = 1; /* here the parent's descriptor of that lock is closed; the child's keeps it */
    look(times);
    if
    :: pin[PARENTS] = 0 /* its request ends */
    :: skip
    fi;
    if
    :: atomic { pin[PARENTS] = 0; locks[PARENTS] = 0 } /* it ends, or it is killed */
    :: d_step { locks[PARENTS] = 0 }
    fi;
    ended++
}

/* Buries the dead; see pin.pml. The generation has been raised: no other process can pin. */
proctype reclaimer()
{
    byte slot;
    bit pinned;
#ifdef BREAK_SLOTS_COUNTED_ONCE
    byte seen;
#define USED seen
#else
#define USED used
#endif
    do
    :: slot = 0;
       pinned = 0;
#ifdef BREAK_SLOTS_COUNTED_ONCE
       seen = used;
#endif
       do
       :: slot < USED && !pinned ->
          if
          :: pin[slot] ->
             if
             :: atomic { locks[slot] == 0 -> pin[slot] = 0 }
             :: else -> pinned = 1
             fi
          :: else
          fi;
          slot++
       :: else -> break
       od;
       if
       :: !pinned -> recycled = 1; break
       :: pinned && ended == 2 -> break
       :: pinned && ended < 2
       fi
    od;
    ended == 2
}

init {
    atomic {
        pin[PARENTS] = 1;
#ifdef BREAK_COPY_BEFORE_ITS_ORIGINAL
        used = SLOTS;
#endif
        locks[PARENTS] = 1;
        run parent();
        run child();
        run reclaimer()
    }
}
