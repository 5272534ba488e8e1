/* Pins and the generations of a segment: engine/pin.h, engine/slot.c, and S1 of engine/segment.h.
 *
 * One segment is opened several times. A writer stores an item in it (two halves, so that a torn one shows), readers come
 * by the index's word, a reclaimer takes the segment away again. Processes die at any step; the slot of a dead one is
 * buried by the reclaimer, or taken by the next process.
 *
 * The two stores that decide everything, the reader's pin and the reclaimer's generation, lie in a store buffer until
 * the hardware writes them out, or a full fence does: without its fence, the protocol fails here as it would on a
 * processor.
 *
 *   P1  who holds something under a pin finds its bytes as they were, until the pin falls
 *   P2  what was read without a pin and confirmed was what was stored
 *   P3  a writer writes only into the segment as it was opened when the writer reserved
 *   P4  the pins of the dead fall: they are not inherited, and in the end nothing is pinned
 */
#ifndef READERS
#define READERS 1
#endif
#ifndef OPENINGS
#define OPENINGS 2
#endif
#define SLOTS      2 /* the writer and the readers share them */
#define NOBODY     255
#define RECLAIMER  254
#define UNDERTAKER 253
#define PROCESSES  (READERS + 1)

mtype = { FREE, OPEN, SEALED, LIMBO };

mtype state = OPEN;
byte generation = 1, generation_buffer = 0; /* 0: the buffer is empty */
byte open = 1;                              /* the generation of the open segment, 0: none */
byte word = 0;                              /* the generation of the item that the index leads to, 0: none */
byte half[2];                               /* in which generation each half was written */
byte opening = 1;                           /* which opening it is; only the assertions can see this */

bit pin[SLOTS], pin_buffer[SLOTS];
byte slots_used = 0;
byte holder[SLOTS] = NOBODY; /* of the lock on the slot's byte; the kernel drops it at any death */
bit killed[PROCESSES];
byte ended = 0;

/* The hardware. */
proctype store_buffers()
{
end:
    do
    :: d_step { pin_buffer[0] -> pin[0] = 1; pin_buffer[0] = 0 }
    :: d_step { pin_buffer[1] -> pin[1] = 1; pin_buffer[1] = 0 }
    :: d_step { generation_buffer != 0 -> generation = generation_buffer; generation_buffer = 0 }
    od
}

inline take_slot(me, slot)
{
    if
    :: atomic { holder[0] == NOBODY -> holder[0] = me; slot = 0 }
    :: atomic { holder[1] == NOBODY -> holder[1] = me; slot = 1 }
    fi;
#ifndef BREAK_SLOT_NOT_CLEARED
    atomic { !pin_buffer[slot] -> pin[slot] = 0 }
#endif
#ifndef BREAK_SLOT_NOTED_LATE
    d_step { if :: slots_used <= slot -> slots_used = slot + 1 :: else fi };
#endif
    assert(!pin[slot]) /* P4: pins are not inherited */
}

inline pin_set(slot, wanted, pinned)
{
#ifdef BREAK_LOOK_BEFORE_PIN
    pinned = (generation == wanted);
    pin_buffer[slot] = 1;
    !pin_buffer[slot];
#else
    pin_buffer[slot] = 1;
#ifndef BREAK_READER_FENCE
    !pin_buffer[slot]; /* the fence waits until the buffer is written out */
#endif
#ifdef BREAK_NO_SECOND_LOOK
    pinned = 1;
#else
    pinned = (generation == wanted);
#endif
#endif
#ifdef BREAK_SLOT_NOTED_LATE
    d_step { if :: slots_used <= slot -> slots_used = slot + 1 :: else fi };
#endif
    if
    :: !pinned -> drop(slot)
    :: else
    fi
}

/* A store in order with the one that set it. */
inline drop(slot)
{
    atomic { !pin_buffer[slot] -> pin[slot] = 0 }
}

inline die(me, slot)
{
    d_step {
        if
        :: slot != NOBODY && holder[slot] == me -> holder[slot] = NOBODY
        :: else
        fi;
        ended++
    }
}

proctype reader(byte me)
{
    byte slot = NOBODY, seen, first, second;
    bit pinned;
    {
        take_slot(me, slot);
        do
        :: break
        :: seen = word;
           if
           :: seen != 0 -> /* in place, under a pin that lasts */
              pin_set(slot, seen, pinned);
              if
              :: pinned ->
                 assert(half[0] == seen);
                 assert(half[1] == seen); /* P1 */
                 drop(slot)
              :: else
              fi
           :: seen != 0 -> /* small: copied first, then confirmed */
#ifdef BREAK_CONFIRM_FIRST
              pinned = (generation == seen);
              first = half[0];
              second = half[1];
#else
              first = half[0];
              second = half[1];
#ifdef BREAK_NO_CONFIRM
              pinned = 1;
#else
              pinned = (generation == seen);
#endif
#endif
              assert(!pinned || (first == seen && second == seen)) /* P2 */
           :: seen == 0
           fi
        od;
        atomic { holder[slot] = NOBODY; ended++ }
    } unless {
        killed[me] -> die(me, slot)
    }
}

proctype writer(byte me)
{
    byte slot = NOBODY, seen;
    bit pinned;
    {
        take_slot(me, slot);
        do
        :: break
        :: seen = open;
           if
           :: seen != 0 ->
#ifdef BREAK_WRITER_UNPINNED
              pinned = (generation == seen);
#else
              pin_set(slot, seen, pinned);
#endif
              if
              :: pinned && state == OPEN ->
                 d_step { assert(opening == seen); half[0] = seen }; /* P3 */
                 d_step { assert(opening == seen); half[1] = seen };
                 word = seen
              :: else
              fi;
              if
              :: pinned -> drop(slot)
              :: else
              fi
           :: else
           fi
        od;
        atomic { holder[slot] = NOBODY; ended++ }
    } unless {
        killed[me] -> die(me, slot)
    }
}

/* Takes the lock on the slot of a dead one, so that no other can take the slot meanwhile. */
inline bury(me, slot, pinned)
{
#ifdef BREAK_BURY_WITHOUT_LOCK
    if
    :: holder[slot] != NOBODY -> pinned = 1
    :: else -> atomic { !pin_buffer[slot] -> pin[slot] = 0 }
    fi
#else
    if
    :: atomic { holder[slot] == NOBODY -> holder[slot] = me };
       atomic { !pin_buffer[slot] -> pin[slot] = 0 };
       holder[slot] = NOBODY
    :: else -> pinned = 1
    fi
#endif
}

inline look_at_pins(slot, used, pinned)
{
    used = slots_used;
    slot = 0;
    pinned = 0;
    do
    :: slot < used && !pinned ->
       if
       :: pin[slot] -> bury(RECLAIMER, slot, pinned)
       :: else
       fi;
       slot++
    :: else -> break
    od
}

inline raise_generation()
{
    d_step {
        assert(generation_buffer == 0);
        generation_buffer = generation + 1
    };
#ifndef BREAK_RECLAIMER_FENCE
    generation_buffer == 0;
#endif
}

/* Under the segment lock, so there is only one. Does not die here: see lock.pml. */
proctype reclaimer()
{
    byte slot, used;
    bit pinned;
    do
    :: opening < OPENINGS ->
       open = 0;
       state = SEALED;
#ifdef BREAK_PINS_BEFORE_GENERATION
       look_at_pins(slot, used, pinned);
       raise_generation();
       state = LIMBO;
#else
       raise_generation();
       state = LIMBO;
       look_at_pins(slot, used, pinned);
#endif
       do
       :: pinned -> look_at_pins(slot, used, pinned)
       :: else -> break
       od;
       state = FREE;
       generation_buffer == 0;
       d_step { /* opened again */
           opening++;
           state = OPEN;
           open = generation
       }
    :: else -> break
    od;
    ended == PROCESSES + 1; /* and the killer */
    look_at_pins(slot, used, pinned);
    assert(!pinned) /* P4 */
}

/* Kills any it likes. Then another process meets a dead process's lock or pending word, and buries its slot. */
proctype killer()
{
    byte victim = 0;
    bit alive;
    do
    :: victim < PROCESSES ->
       if
       :: killed[victim] = 1
       :: skip
       fi;
       victim++
    :: else -> break
    od;
    bury(UNDERTAKER, 0, alive);
    ended++
}

init {
    byte i = 0;
    atomic {
        run store_buffers();
        run writer(0);
        do
        :: i < READERS -> i++; run reader(i)
        :: else -> break
        od;
        run reclaimer();
        run killer()
    }
}
