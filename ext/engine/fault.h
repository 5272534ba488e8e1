/* Fault points: each shared store of a protocol has a number, at which a test build can kill or stop the process.
 * Nothing is left of them in other builds. engine-tests/unnumbered says which stores have none, and why; `make test`
 * finds others. */
#ifndef LARDER_FAULT_H
#define LARDER_FAULT_H

#ifdef LARDER_FAULTS
void larder_fault(unsigned point); /* the test build's own */
#define LARDER_FAULT(point) larder_fault(point)
#else
#define LARDER_FAULT(point) ((void)0)
#endif

enum larder_fault_point {
    LARDER_AT_SLOT_TAKE = 1, /* the slot's lock is held, its incarnation not yet raised */
    LARDER_AT_BURY,          /* the pins of a slot's last holder are about to be cleared */
    LARDER_AT_SLOT_USED,     /* a slot is about to be counted among those that were ever taken */
    LARDER_AT_INCARNATION,   /* a slot's incarnation is about to be raised */
    LARDER_AT_FORK,          /* pins are about to be copied for a child */
    LARDER_AT_ABI,           /* an ABI is about to be entered */
    LARDER_AT_PIN,           /* a pin is about to be set */
    LARDER_AT_UNPIN,         /* ... to fall */
    LARDER_AT_TICK,          /* the clock is about to tick */
    LARDER_AT_KEY_VERSION,   /* a key version is about to move */
    LARDER_AT_DELETION,      /* a deletion is about to be noted */
    LARDER_AT_RESERVE,       /* room is about to be reserved in a segment */
    LARDER_AT_NOTE,          /* a segment is about to hear how young its items are, and how long they live */
    LARDER_AT_START_BIT,     /* a complete item is about to be marked as one */
    LARDER_AT_PENDING,       /* a pending word is about to be placed */
    LARDER_AT_PUBLISH,       /* a word is about to become final */
    LARDER_AT_REPLACE,       /* a word is about to be replaced by a newer item's */
    LARDER_AT_CLEAR_WORD,    /* a word is about to be emptied */
    LARDER_AT_FREE_WORD,     /* ... one that leads into an earlier generation of its segment */
    LARDER_AT_OUST,          /* ... another writer's pending one */
    LARDER_AT_WITHDRAW,      /* ... one's own pending one */
    LARDER_AT_ACCOUNT,       /* a segment's live bytes are about to change */
    LARDER_AT_COUNT,         /* a counter is about to be raised */
    LARDER_AT_TOUCH,         /* an expiry is about to change */
    LARDER_AT_LOCK,          /* the segment lock is about to be taken */
    LARDER_AT_UNLOCK,        /* ... given back */
    LARDER_AT_OPEN,          /* a segment is about to be opened */
    LARDER_AT_PREPARE,       /* ... the rest of its last generation to be wiped */
    LARDER_AT_OFFER,         /* ... and it to be offered to writers */
    LARDER_AT_SEAL,          /* a segment is about to be sealed */
    LARDER_AT_STATE,         /* a segment's state is about to change */
    LARDER_AT_FREEZE,        /* a counter is about to be frozen, to be moved or written anew */
    LARDER_AT_MOVE,          /* a word is about to point at a moved item */
    LARDER_AT_SETTLE,        /* ... and the copy to get its expiry for good */
    LARDER_AT_VOID,          /* a segment's generation is about to be raised */
    LARDER_AT_LIMBO,         /* ... and then its state changed */
    LARDER_AT_LOOK,          /* the pins on a segment are about to be looked at */
    LARDER_AT_FREE,          /* a segment is about to be free */
    LARDER_AT_UNLINK,        /* a list is about to lose a segment */
    LARDER_AT_LINK,          /* ... to gain one */
    LARDER_AT_CLEAR,         /* the pool is about to be cleared */
    LARDER_AT_TAG,           /* one of a tag's cells is about to move */
    LARDER_AT_FLOOR,         /* the floor of a line of recent invalidations is about to rise */
    LARDER_AT_RECENT,        /* one of the line's words is about to change */
    LARDER_AT_INVALIDATED,   /* all have changed, which is about to be counted */
    LARDER_AT_CARRY,         /* a tag is about to be counted among those that items carry */
    LARDER_AT_WINDOW,        /* the window of a tag is about to open, or to end earlier */
    LARDER_AT_IN_FLIGHT,     /* it is about to be said that an invalidation or a clear is in flight, or over */
    LARDER_AT_JUDGE,         /* a store is about to look at its tags */
    LARDER_AT_LOOKED,        /* that an item's tags were looked at is about to be written down */
    LARDER_AT_LEASE,         /* a lease is about to be taken */
    LARDER_AT_RELEASE,       /* ... given back */
    LARDER_AT_CLOSE,         /* a pool is about to be closed, to be saved */
    LARDER_AT_RECORD,        /* an item is about to be written to the snapshot */
    LARDER_AT_SNAPSHOT,      /* the snapshot is about to get its name */
    LARDER_AT_CLOSED,        /* a saved pool is about to lose its name */
    LARDER_AT_CLAIM,         /* a snapshot is about to lose its name */
    LARDER_AT_NAME,          /* a new pool is about to get its name */
    LARDER_AT_LOAD,          /* an item is about to be loaded */
    LARDER_AT_BEGIN,         /* a process that loads a snapshot is about to say so */
    LARDER_AT_TELL,          /* ... to say what became of it */
    LARDER_AT_LOADED,        /* ... that it is done */
    LARDER_AT_GIVE_UP,       /* another process is about to say that no process loads it */
    LARDER_AT_REOPEN,        /* a pool that could not be saved is about to be used again */
    LARDER_AT_DEAD,          /* a pool is about to be marked as dead */
    LARDER_AT_RETIRE,        /* ... to lose its name */
    LARDER_AT_GIVE_BACK,     /* ... its memory */
    LARDER_AT_CONDEMN,       /* a pool whose tables make no sense is about to be marked as dead */
    LARDER_AT_TAKE_AWAY,     /* a pool of another format, which no process holds, is about to lose its name */
    LARDER_AT_ASIDE,         /* ... has another one, and is about to be removed, or to get its own again */
    LARDER_AT_DIRECTORY,     /* the directory for pools is about to be made */
    LARDER_FAULT_POINTS,
    LARDER_WORKING_POINTS = LARDER_AT_CLOSE /* those before it lie in operations, not in the lifecycle of the file */
};

#endif
