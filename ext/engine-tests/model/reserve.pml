/* Storing in a segment that another process wants to empty: S1 and S2 of engine/segment.h, reuse_recent() in
 * engine/reserve.c, find_mostly_dead() and larder_is_all_dead() in engine/evict.c.
 *
 * In a pool that does not evict, only segments without anything alive are emptied, or those whose living items have
 * been moved. Writers reserve and publish without a lock. The segment's
 * sealing, its pins, its living items: a process that empties it looks at them in this order. A pin and the sealing lie
 * in a store buffer until the hardware writes them out, or a full fence does.
 *
 *   R   what a store reported as stored is still there after its segment has been emptied
 */
#ifndef WRITERS
#define WRITERS 2
#endif

bit sealed = 0, sealed_buffer = 0;
byte generation = 1;
bit pin[WRITERS], pin_buffer[WRITERS];
bit start[WRITERS];  /* a complete item begins there */
bit word[WRITERS];   /* the index leads to it */
bit stored[WRITERS]; /* its writer has reported so, and it was not moved */
byte live = 0;       /* living items; raised before their words are final */
byte clock = 1;
byte latest = 0;     /* the version of the segment's youngest item */
byte cleared = 0;    /* the tick of the last clear: what is older is dead */

/* DEATHS: writers are killed before their word is there, and what they counted is counted for ever. One item that no
 * word leads to is taken for dead. */
#if WRITERS == 3
#define is_led_to (word[0] || word[1] || word[2])
#else
#define is_led_to (word[0] || word[1])
#endif
#if defined(CLEARS)
#define nothing_lives (live == 0 || latest < cleared)
#elif defined(DEATHS)
#define nothing_lives (live == 0 || (live == 1 && !is_led_to))
#else
#define nothing_lives (live == 0)
#endif

/* The hardware. */
proctype store_buffers()
{
end:
    do
    :: d_step { sealed_buffer -> sealed = 1; sealed_buffer = 0 }
    :: d_step { pin_buffer[0] -> pin[0] = 1; pin_buffer[0] = 0 }
    :: d_step { pin_buffer[1] -> pin[1] = 1; pin_buffer[1] = 0 }
#if WRITERS == 3
    :: d_step { pin_buffer[2] -> pin[2] = 1; pin_buffer[2] = 0 }
#endif
    od
}

proctype writer(byte me)
{
    byte version;
#ifdef BREAK_STATE_BEFORE_PIN
    if
    :: sealed -> goto over
    :: else
    fi;
    pin_buffer[me] = 1;
#else
#ifndef BREAK_WRITER_UNPINNED
    pin_buffer[me] = 1;
#ifndef BREAK_WRITER_FENCE
    !pin_buffer[me];
#endif
#endif
    if
    :: sealed || generation != 1 -> goto over
    :: else
    fi;
#endif
    d_step { clock++; version = clock };
#ifndef BREAK_YOUNGEST_NOTED_LATE
    d_step { if :: latest < version -> latest = version :: else fi };
#endif
#ifndef BREAK_START_MARKED_LATE
    start[me] = 1;
#endif
    live++;
#ifdef DEATHS
    if
    :: goto over
    :: skip
    fi;
#endif
    word[me] = 1;
    d_step {
        if
        :: generation == 1 -> stored[me] = (version >= cleared) /* else it is as lost as it says */
        :: else
        fi
    };
over:
    atomic { !pin_buffer[me] -> pin[me] = 0 };
#ifdef BREAK_YOUNGEST_NOTED_LATE
    skip;
    d_step { if :: latest < version -> latest = version :: else fi };
#endif
#ifdef BREAK_START_MARKED_LATE
    start[me] = 1
#endif
}

proctype clearer()
{
    byte now, i = 0;
    d_step { clock++; now = clock };
    d_step {
        cleared = now;
        do /* all that is older is dead, and not missed */
        :: i < WRITERS -> stored[i] = 0; i++
        :: else -> break
        od
    }
}

inline look_at_pins(pinned)
{
    i = 0;
    pinned = 0;
    do
    :: i < WRITERS -> pinned = pinned || pin[i]; i++
    :: else -> break
    od
}

proctype emptier()
{
    byte i = 0;
    bit pinned, dead;
    sealed_buffer = 1;
#ifndef BREAK_EMPTIER_FENCE
    !sealed_buffer;
#endif
#ifdef BREAK_LIVE_BEFORE_PINS_ONLY
    dead = nothing_lives;
    look_at_pins(pinned);
#else
#ifdef BREAK_PINS_NOT_LOOKED_AT
    pinned = 0;
#else
    look_at_pins(pinned);
#endif
    dead = nothing_lives;
#endif
    if
    :: pinned -> goto over
    :: else
    fi;
    i = 0;
    do /* moves what lives; what cannot be moved lets it stay */
    :: i < WRITERS && !dead ->
       if
       :: start[i] && word[i] -> d_step { word[i] = 0; stored[i] = 0; live-- }
       :: else
       fi;
       i++
    :: else -> break
    od;
    generation++;
    i = 0;
    do
    :: i < WRITERS -> assert(!stored[i]); i++ /* R */
    :: else -> break
    od;
over:
    skip
}

init {
    byte i = 0;
    atomic {
        run store_buffers();
        do
        :: i < WRITERS -> run writer(i); i++
        :: else -> break
        od;
#ifdef CLEARS
        run clearer();
#endif
        run emptier()
    }
}
