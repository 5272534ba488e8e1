/* A key's words: storing, deleting, moving, evicting. engine/index.h, I1 to I3; publish.c and index.c name the steps.
 *
 * One key and the words of its buckets. Each process may stop between any two steps, for a while or for ever (a process
 * that is never scheduled again), so what has to hold is asserted whenever a word changes.
 *
 *   I2  at most one final word leads to an item of the key
 *   I3  after a delete has returned no word leads to an item that is older than the delete, then or later
 *   W   after a write has returned, nothing is there that was there before it began, then or later
 *   A   of those who add the key, one wins
 *   D   a delete does not clear what is younger
 */
#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef DELETERS
#define DELETERS 1
#endif
#ifndef MOVES
#define MOVES 1
#endif
#ifndef TRIES
#define TRIES 2
#endif
#ifndef WORDS
#define WORDS 2
#endif

#include "publish/words.inc"

mtype = { SET, ADD, REPLACE };

proctype writer(byte me; mtype mode)
{
    byte at, seen, its, mine, own = NOWHERE, tries = 0;
    bit done, patient, alone = 0, ok = 0, overtaken = 0;

    d_step { clock++; mine = clock; version[me] = mine };
again:
    atomic { own = 0; seen = 0; its = 0; alone = 0; patient = 0; done = 0 }; /* fewer states */
    if
    :: tries == TRIES -> goto over /* busy: refused, which deletes (see the deleter) */
    :: else -> tries++
    fi;
    find(at, seen, its);
    if
    :: at == NOWHERE -> skip
    :: at != NOWHERE && mode == ADD -> goto over
#ifndef BREAK_OLDER_REPLACES_YOUNGER
    :: at != NOWHERE && mode != ADD && its > mine -> ok = 1; goto over /* ours was there, and overwritten at once */
    :: at != NOWHERE && mode != ADD && its <= mine ->
#else
    :: at != NOWHERE && mode != ADD ->
#endif
       /* replace: hold the old word, exchange. The look at the deletion is an early way out: nothing here depends on it. */
       if
       :: deletion > mine -> overtaken = 1; goto over
       :: else
       fi;
#ifdef BREAK_REPLACE_WITHOUT_EXCHANGE
       place(at, word_of(me), done);
#else
       exchange(at, seen, word_of(me), done);
#endif
       if
       :: done -> ok = 1; goto over
       :: else -> goto again
       fi
    fi;
    if
    :: mode == REPLACE -> goto over
    :: else
    fi;

    /* A place that is empty, void, or that of a writer who has not finished. */
    if
    :: own = 0
    :: own = 1
#if WORDS == 3
    :: own = 2
#endif
    fi;
    d_step { if :: leads(own) -> seen = NOWHERE :: else -> seen = word[own] fi };
    if
    :: seen == NOWHERE -> goto again
    :: else
    fi;
#ifdef BREAK_INSERT_WITHOUT_PENDING
    exchange(own, seen, word_of(me), done);
    if
    :: done -> ok = 1; goto over
    :: else -> goto again
    fi;
#endif
#ifdef BREAK_DELETION_BEFORE_PENDING
    if
    :: deletion > mine -> overtaken = 1; goto over
    :: else
    fi;
#endif
    exchange(own, seen, PENDING + me, done); /* pending: the place is ours */
    if
    :: !done -> goto again
    :: else
    fi;

    /* alone: is no other process there? */
    alone = 1;
#ifndef BREAK_NOBODY_LOOKED_FOR
    if
    :: patient = 1
    :: patient = 0
    fi;
    at = 0;
    do
    :: at == own -> at++
    :: at != own && at < WORDS && alone ->
       load(at, seen, its);
       if
       :: is_pending(seen) && patient && seen - PENDING < me -> alone = 0 /* the lower slot goes on */
       :: is_pending(seen) && !(patient && seen - PENDING < me) ->
#ifdef BREAK_RIVAL_STAYS
          skip
#else
          exchange(at, seen, 0, alone) /* else it is final by now */
#endif
       :: is_final(seen) ->
          if
          :: !emptied[item_of(seen)] -> alone = 0
          :: else ->
#ifndef BREAK_RIVAL_LOOKED_AT_ONCE
             alone = (word[at] == seen) /* else it was turned while we looked */
#endif
          fi
       :: seen == 0
       fi;
       at++
    :: else -> break
    od;
#endif
    if
    :: !alone -> exchange(own, PENDING + me, 0, done); goto again
    :: else
    fi;

    /* deletion: has the key been deleted since? */
#if !defined(BREAK_INSERT_IGNORES_DELETION) && !defined(BREAK_DELETION_BEFORE_PENDING)
    if
    :: deletion > mine -> exchange(own, PENDING + me, 0, done); overtaken = 1; goto over
    :: else
    fi;
#endif

    /* final: from here on it is read */
#ifdef BREAK_FINAL_WITHOUT_EXCHANGE
    place(own, word_of(me), done);
#else
    exchange(own, PENDING + me, word_of(me), done);
#endif
    if
    :: done -> ok = 1; goto over
    :: !done ->
       if
       :: deletion > mine -> overtaken = 1; goto over /* a delete cleared it */
       :: else -> goto again
       fi
    fi;

over:
    atomic { at = 0; own = 0; seen = 0; its = 0; alone = 0; patient = 0; done = 0; tries = 0 };
    if
#ifdef BREAK_OVERTAKEN_ADD_DROPS
    :: overtaken ->
#else
    :: overtaken && mode != ADD -> /* what is older goes nevertheless */
#endif
       find(at, seen, its);
       if
       :: at != NOWHERE && its < mine ->
          exchange(at, seen, 0, done);
          assert(!(done && mode == ADD)); /* A: it may be of another that has been told that it added the key */
          if
          :: !done -> goto over
          :: else
          fi
       :: else
       fi
    :: else
    fi;
    d_step {
        if
        :: mode == ADD && ok -> wins++
        :: mode == SET && (ok || overtaken) && mine > written -> written = mine
        :: else
        fi;
#ifdef ADDERS
        assert(wins <= 1); /* A */
#endif
        at = 0; own = 0; seen = 0; its = 0; alone = 0; patient = 0; done = 0; mine = 0; tries = 0; ok = 0; overtaken = 0; assert_words()
    }
}

proctype deleter()
{
    byte at = 0, seen, its, now;
    bit done;
    d_step { clock++; now = clock };
#ifndef BREAK_DELETION_AFTER_WORDS
    raise_deletion(now);
#endif
    do
    :: at < WORDS ->
       load(at, seen, its);
       do
       :: seen == 0 -> break
       :: seen != 0 ->
          done = 0;
          if
#ifdef BREAK_DELETE_LEAVES_PENDING
          :: is_pending(seen) -> done = 1
#else
          :: is_pending(seen) -> exchange(at, seen, 0, done)
#endif
          :: is_final(seen) ->
             if
             :: emptied[item_of(seen)]
#ifdef BREAK_DELETE_CLEARS_YOUNGER
             :: else -> exchange(at, seen, 0, done); assert(!done || its <= now) /* D */
#else
             :: !emptied[item_of(seen)] && its > now -> done = 1
             :: !emptied[item_of(seen)] && its <= now -> exchange(at, seen, 0, done)
#endif
             fi
          fi;
#ifdef BREAK_DELETE_LOOKS_ONCE
          break
#else
          if
          :: done -> break
          :: else ->
             look_again(at, seen, its) /* the same: another key's, or void */
          fi
#endif
       od;
       at++
    :: else -> break
    od;
#ifdef BREAK_DELETION_AFTER_WORDS
    raise_deletion(now);
#endif
    at = 0;
    d_step {
        if
        :: deleted < now -> deleted = now
        :: else
        fi;
        assert_words();
        seen = 0; its = 0; done = 0; now = 0
    }
}

/* Copies an item, turns its word, and empties the segment it was in. Or evicts it. */
proctype mover()
{
    byte at, seen, its, copy = WRITERS + 1;
    bit done;
    do
    :: copy < ITEMS ->
       if
       :: at = 0
       :: at = 1
#if WORDS == 3
       :: at = 2
#endif
       fi;
       load(at, seen, its);
       if
       :: is_final(seen) ->
          version[copy] = its;
#ifdef BREAK_MOVE_WITHOUT_EXCHANGE
          place(at, word_of(copy), done);
#else
          exchange(at, seen, word_of(copy), done);
#endif
          emptied[item_of(seen)] = 1
#ifdef EVICTS
       :: is_final(seen) ->
          exchange(at, seen, 0, done)
#endif
       :: else
       fi;
       copy++
    :: else -> break
    od
}

init {
    byte i = 0;
    atomic {
        if
        :: version[OLD] = 1; since[OLD] = 1; word[0] = word_of(OLD) /* the key is there in the beginning */
        :: skip
        fi;
        do
        :: i < WRITERS ->
#ifdef ADDERS
           run writer(i, ADD);
#else
           if
           :: run writer(i, SET)
           :: i > 0 -> run writer(i, REPLACE)
           :: i > 0 -> run writer(i, ADD)
           fi;
#endif
           i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < DELETERS -> run deleter(); i++
        :: else -> break
        od;
        run mover()
    }
}
