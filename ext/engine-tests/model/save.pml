/* Saving a pool and loading its snapshot: engine/save.c, snapshot.c, slot.c, larder_pool_was_closed() in engine/pool.h.
 *
 * One key, which is deleted once, while pools are saved, made, and lost with the machine's memory. A process of before
 * a crash does nothing after it; what is on the disk stays. What an operation and the loader's fill do to the key's
 * word is a step each here: publish.pml and token.pml prove that they may be taken for that.
 *
 *   S  no process reads the item after its delete has returned, or after its store was refused
 *
 * SETS: instead of a delete, a set after a miss, whose value is evicted at once. It moves the key version only while a
 * snapshot is being loaded; so it and the loader have to agree on whether that is so, although the loader may be killed
 * or not come for long.
 *
 * STORES: the item is stored. The store of a pool that was closed looks in the next one whether the item has come, and
 * is refused if not; then it must not come any more.
 */
#ifdef STORES
#define SETS
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define NONE  7
#define POOLS 5

byte current = 0; /* the pool that has the name */
byte made = 1;
bit item[POOLS], key_version[POOLS], closed[POOLS];
byte loads[POOLS]; /* may something come out of the snapshot? */
#define NOBODY 0
#define COMES  1 /* the process that has made the pool */
#define BEGUN  2
bit gone[POOLS]; /* it was killed */
bit locked = 0; /* the directory */
bit snapshot = 0, saved = 0; /* is there one, and is the item in it? */
byte epoch = 0; /* counts crashes */
bit returned = 0;

/* One step of a process that lives. */
#define step(what) atomic { if :: epoch == mine -> what :: else -> goto over fi }

inline take_lock()
{
    atomic {
        !locked || epoch != mine;
        if :: epoch == mine -> locked = 1 :: else -> goto over fi
    }
}

/* As a fill by the clock at which the pool was closed: whatever was done in the new one refuses it. */
inline loader()
{
#ifdef SETS
#ifndef BREAK_LOADER_COMES_UNASKED
    step(if :: have && loads[p] == COMES -> loads[p] = BEGUN :: else -> have = 0 fi);
#endif
    if :: step(gone[p] = have); have = 0 /* killed, as far as that goes */ :: skip fi;
#endif
#ifdef BREAK_LOADED_AS_WRITES
    step(if :: have -> item[p] = 1 :: else fi);
#else
    step(if :: have && !key_version[p] -> item[p] = 1 :: else fi);
#endif
#ifdef SETS
    step(if :: have -> loads[p] = NOBODY :: else fi)
#endif
}

/* May the snapshot yet bring something? A loader that does not come for long, or is dead, is not waited for. */
inline is_loading()
{
    step(loader_is = loads[p]);
    if
    :: loader_is == COMES || (loader_is == BEGUN && gone[p]) ->
       if
       :: step(if :: loads[p] == loader_is -> loads[p] = NOBODY; loader_is = NOBODY :: else fi)
       :: skip
       fi
    :: else
    fi
}

/* Finds the pool to work with; p is it. */
inline maker()
{
    take_lock();
    step(p = current);
    if
    :: p == NONE || (p != NONE && closed[p]) ->
       made < POOLS;
       step(have = snapshot && saved);
#ifndef BREAK_UNLINKED_LATE
       step(snapshot = 0);
#endif
#ifdef BREAK_MARK_OVERWRITTEN
       step(if :: p != NONE -> closed[p] = 0 :: else fi);
#endif
       step(p = made; made++; current = p; loads[p] = (have -> COMES : NOBODY));
       step(locked = 0);
       loader();
#ifdef BREAK_UNLINKED_LATE
       step(snapshot = 0);
#endif
    :: else -> step(locked = 0)
    fi
}

/* A delete, or a set. */
proctype operation()
{
    byte p, mine, loader_is;
    bit have, late, is_there, is_stored;
    mine = epoch;
again:
    maker();
#ifdef STORES
    if
    :: !is_stored -> step(item[p] = 1; is_stored = 1; is_there = 1)
    :: else ->
       is_loading();
#ifndef BREAK_CARRIED_COMES_LATER
       step(if :: loader_is != NOBODY -> key_version[p] = 1 :: else fi);
#endif
#ifdef BREAK_CARRIED_UNASKED
       is_there = 0
#else
       step(is_there = item[p])
#endif
    fi;
    step(late = closed[p]);
    if
    :: late -> goto again
    :: else -> step(returned = !is_there)
    fi;
    goto over;
#endif
#ifdef BREAK_OPERATION_LOOKS_FIRST
    step(late = closed[p]);
#endif
#ifdef SETS
#ifdef BREAK_LOADING_ASKED_LAST
    step(item[p] = 0);
    is_loading();
    step(if :: loader_is != NOBODY -> key_version[p] = 1 :: else fi);
#else
    is_loading();
#ifndef BREAK_SETS_LEAVE_KEY_VERSION
    step(if :: loader_is != NOBODY -> key_version[p] = 1 :: else fi);
#endif
    step(item[p] = 0);
#endif
#else
#ifdef BREAK_KEY_VERSION_LAST
    step(item[p] = 0);
    step(key_version[p] = 1);
#else
    step(key_version[p] = 1);
    step(item[p] = 0);
#endif
#endif
#ifndef BREAK_OPERATION_LOOKS_FIRST
    step(late = closed[p]);
#endif
    if
    :: late -> goto again
    :: else -> step(returned = 1)
    fi;
over:
    skip
}

proctype saver()
{
    byte p, mine;
    bit found;
    mine = epoch;
    take_lock();
    step(p = current);
    if
    :: p == NONE || (p != NONE && closed[p]) -> goto done
    :: else
    fi;
#ifdef BREAK_READ_BEFORE_CLOSED
    step(found = item[p]);
    step(closed[p] = 1);
#else
    step(closed[p] = 1);
    if :: step(locked = 0); goto over /* killed */ :: skip fi;
    step(found = item[p]);
#endif
    step(snapshot = 1; saved = found);
    if :: step(locked = 0); goto over :: skip fi;
    step(current = NONE);
done:
    step(locked = 0);
over:
    skip
}

proctype reader()
{
    byte p, mine, reads = 0;
    bit have, before;
    mine = epoch;
    do
    :: reads < 2 ->
       step(before = returned);
       maker();
       step(assert(!before || closed[p] || !item[p])); /* S */
       reads++
    :: else -> break
    od;
over:
    skip
}

proctype machine()
{
    byte crashes = 0;
    do
    :: crashes < CRASHES -> atomic { epoch++; current = NONE; locked = 0 }; crashes++
    :: break
    od
}

init {
    atomic {
#ifndef STORES
        item[0] = 1;
#endif
        run operation();
        run saver();
        run reader();
        run reader();
        run machine()
    }
}
