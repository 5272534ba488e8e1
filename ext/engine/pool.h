/* A pool as one process sees it. handle.h has how it is opened and removed, enter.h what each operation begins with.
 *
 * The file is mapped read-only at the address that its header names (`ro`), because PHP uses the values there in
 * place, and writable wherever there is room (`rw`), for the engine alone: a stray write through a value reaches no
 * other process (stray.c). If the address is taken, `ro` lies elsewhere, `shift` bytes away, and values can only be
 * copied out.
 *
 * A handle belongs to one thread; the threads of a process share the mapping (map.h). Fork handlers give the child's
 * handle a slot of its own (slot.h).
 */
#ifndef LARDER_POOL_H
#define LARDER_POOL_H

#include "clock.h"
#include "format.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define LARDER_NAME_MAX 64u
#define LARDER_PATH_MAX 1024u

/* Zeros that are mapped behind the pool: as much as an item's header can lead a reader astray by. */
#define LARDER_MARGIN (UINT64_C(1) << 20)

/* Why something cannot be done: one sentence that says what happened, to what, and what to do. */
typedef struct larder_error {
    char message[LARDER_PATH_MAX + 768];
    bool waited; /* another process was waited for in vain; trying again may wait as long */
} larder_error;

/* Writes the sentence. Returns false, so that it can be what a failing function returns. */
__attribute__((format(printf, 2, 3))) static inline bool larder_fail(larder_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->waited = false;
    return false;
}

/* What the engine asks of its user, which alone knows the values. */
typedef struct larder_value_ops {
    /* The item's value was copied to `copy` (writable), where readers will see it `move` bytes further on than
     * before: set its inner addresses right. */
    void (*moved)(void *copy, size_t size, uint8_t kind, intptr_t move);
} larder_value_ops;

enum larder_zero_copy { LARDER_ZERO_COPY_AUTO, LARDER_ZERO_COPY_ON, LARDER_ZERO_COPY_OFF };

typedef struct larder_pool_config {
    const char *directory; /* NULL: the owner's, which is larder-<uid> in /dev/shm, or larder-g<gid> if it is shared */
    const char *name;
    uint64_t size; /* bytes, of one that is made; 0: the default */
    bool evict;
    enum larder_zero_copy zero_copy;
    bool protect_unpinned; /* segments that this process does not pin are unreadable where PHP looks */
    uint32_t abi;          /* names this PHP's ABI; 0: none */
    larder_value_ops ops;
    larder_wall_clock now; /* NULL: the machine's */
    bool shared;           /* by all members of the group; else it is this user's alone */
    gid_t group;
    const char *snapshots; /* directory that pools are saved to and loaded from, or, if `directory` is NULL, that the
                            * owner's is in; NULL: they are not */
    bool short_requests;   /* those of this process end soon, as far as is known: see quota.h */
    bool only_existing;    /* fail if there is none */
    bool does_not_wait;    /* do not wait for another process that makes or saves a pool */
} larder_pool_config;

/* On a page that is zero in a forked child, so that a child that came into being without fork() still finds
 * out. Also zero between requests. */
typedef struct larder_entered {
    int32_t countdown; /* operations until the next look at the path; 0: not in a request */
    uint32_t known;    /* the handle belongs to this process */
} larder_entered;

#define LARDER_PINNED_APART (UINT32_C(1) << 31)

typedef struct larder_mapping larder_mapping; /* map.h */

/* A pool that lost its name while this process used its values: stays mapped, and pinned, until the request ends. */
typedef struct larder_grave {
    struct larder_grave *next;
    larder_mapping *mapping;
    const uint8_t *ro;
    uint64_t size;
    int slot_fd, inherited_fd;
} larder_grave;

/* The owner of a slot was seen alive then. */
#define LARDER_SIGHTINGS 64u
typedef struct larder_sighting {
    uint64_t at; /* ms */
    uint32_t slot, attachment;
} larder_sighting;

#define LARDER_NO_USER ((uid_t)-1)

/* Where the pool's file is. */
typedef struct larder_paths {
    char full[LARDER_PATH_MAX];
    const char *file;                /* its last part */
    char directory[LARDER_PATH_MAX]; /* which the pool is in: the home, or one aside; see aside.h */
    char home[LARDER_PATH_MAX];
    uid_t user;                            /* the user that the home is named after; LARDER_NO_USER: none */
    bool aside, made_aside;                /* it was this handle that made it */
    char why_aside[LARDER_PATH_MAX + 768]; /* a sentence; empty: it is the home */
    char snapshots[LARDER_PATH_MAX];
} larder_paths;

/* What ties the handle to the file that it has mapped, and when it last looked whether that is still the pool. */
typedef struct larder_attachment {
    larder_mapping *mapping; /* what rw and ro belong to */
    dev_t device;
    ino_t inode;
    uint32_t number; /* counts the pools that this handle was attached to; tokens mean something in one of them only */
    int fd;          /* for questions about locks */
    int slot_fd;     /* its lock holds the slot */
    int spare_fd;    /* during a fork: the slot that the child is going to have */
    uint32_t spare_index;
    int inherited_fd;           /* in a child that found no slot of its own: keeps the parent's pins */
    bool pins_shared;           /* a child relies on this slot's pins: leave them when the request ends */
    bool fork_lost_file;        /* in a child: the pool was replaced meanwhile, look for the new one */
    _Atomic uint64_t *own_pins; /* the part of the pool's `pins` that is this process's */
    _Atomic uint64_t *own_kept; /* ... and of `kept` */
    /* Segments that pins may cover: those of short requests, of long ones, and of a process that is alone; quota.h. */
    uint32_t most_short, most_long, most_alone;
    uint64_t had_size;        /* of the pool that it had, or has; one that is made in its place is as large */
    uint64_t checked_at;      /* ms; the last look whether it is still the pool of its name */
    uint64_t named_at;        /* ms; the last of these that went by the path */
    uint64_t counted_at;      /* ms; when the countdown last ended */
    uint64_t others_at;       /* ms; when to look again for pools of another format; 0: there are none */
    bool met_others;          /* when it was last attached, there was a pool of its name in another format */
    bool told_size;           /* the log was told that the pool has another size than was asked for */
    int snapshot_fd;          /* of the snapshot that this process has claimed for the pool that it makes; -1 */
    uint8_t snapshot_for[16]; /* ... which has that id */
} larder_attachment;

/* As which process it writes. */
typedef struct larder_writer {
    uint32_t slot_index, incarnation;
    uint64_t pending_sequence;
    uint64_t lock_turn;   /* how often this process has tried to take the segment lock */
    uint64_t stuck_owner; /* the lock's word that was waited for in vain: not waited for again */
} larder_writer;

/* What lasts until the request ends. */
typedef struct larder_request {
    bool in_request;       /* entered before in this request, if `entered` is zero all the same: a fork */
    bool waits;            /* the pool is being opened: that may wait for another process that makes it */
    uint32_t *pinned_list; /* which entries of the pool's `pinned` are set */
    uint32_t pinned_count;
    uint32_t kept_count;           /* segments that its pins cover until the request ends, those of runs included */
    bool copied;                   /* a pin was not kept, for want of room */
    larder_lease *leases_held[16]; /* by this process, for the computations it is in the middle of */
    larder_error trouble;          /* why the pool cannot be used, after a false larder_pool_enter() */
    bool undone; /* the last delete, invalidation, clear, touch or increment could not be done: `trouble` */
} larder_request;

/* What making room remembers from one time to the next. */
typedef struct larder_upkeep {
    uint64_t looked_at;   /* ms; when this process last began to look for what has expired in all segments */
    uint32_t looked_into; /* the segment in which it looks next for what has expired */
    larder_sighting sighted[LARDER_SIGHTINGS]; /* of other slots' owners; see larder_slot_seems_alive() */
} larder_upkeep;

/* A handle. First what reads need, then what else is in the file, then what the handle itself is about. */
typedef struct larder_pool {
    larder_entered *entered;
    uint8_t *rw;           /* the file, writable */
    const uint8_t *ro;     /* the file, as PHP sees it */
    larder_header *header; /* in rw */
    larder_bucket *buckets;
    _Atomic uint32_t *generations; /* one per segment, 15 bits used */
    uint64_t seed;
    uint64_t segments_at, size;
    uint32_t bucket_count, segment_count, deletion_count;
    uint32_t unit_shift, segment_shift;
    /* Per segment: generation + 1 under which this process pins it, or 0. With LARDER_PINNED_APART, nothing there may
     * be used in place: values are mapped elsewhere than they should be, or the process has private pages there
     * (map.h). */
    _Atomic uint32_t *pinned;
    larder_slot *slot;
    struct larder_memory *memory; /* of this request; see token.h */
    uint8_t abi;                  /* 1 + this PHP's place in header.abis, 0: none left */
    bool zero_copy;               /* values may be used in place */

    _Atomic uint64_t *deletions; /* tick of the last delete of a key of the group; see index.h */
    _Atomic uint64_t *tags;      /* cells; see tag.h */
    larder_recent *recent;       /* lines; see recent.h */
    _Atomic uint64_t *carried;   /* bits; see carried.h */
    larder_window *windows;      /* see stale.h */
    larder_lease *leases;
    larder_segment *segments;
    _Atomic uint64_t *starts; /* a bit per 8 bytes of segment: an item begins here */
    _Atomic uint32_t *ghosts;
    larder_slot *slots;
    _Atomic uint64_t *pins;                   /* pin_words per slot */
    _Atomic uint64_t *kept;                   /* ... bits of segments that are pinned until a request ends */
    _Atomic uint64_t *covered[LARDER_QUOTAS]; /* a bit per segment that is covered; see format.h */
    intptr_t shift;                           /* ro minus geometry.base */
    larder_geometry geometry;                 /* a copy no process can damage */

    larder_pool_config config; /* its strings are the handle's own */
    char name[LARDER_NAME_MAX + 1];
    larder_paths paths;
    larder_attachment attached;
    larder_writer writer;
    larder_request request;
    larder_upkeep upkeep;
    larder_grave *graves;
    pthread_t thread;         /* whose handle it is */
    struct larder_pool *next; /* all handles of this process, for fork */
} larder_pool;

/* Was the pool closed while an operation was in flight? Then what the operation did may be in the snapshot, or not.
 * A process that saves a pool marks it, and then reads it; an operation writes, and then looks at the mark: if it sees
 * none, what it wrote is in the snapshot. model/save.pml: operation() */
static inline bool larder_pool_was_closed(const larder_pool *pool)
{
    /* seq_cst: as is what was written before; see clock.h. */
    return atomic_load_explicit(&pool->header->dead, memory_order_seq_cst) == LARDER_CLOSED;
}

/* The next operation looks whether this is still the pool of its name. */
static inline void larder_pool_doubt(larder_pool *pool)
{
    if (pool->entered->countdown > 1) {
        pool->entered->countdown = 1;
    }
}

/* One multiplication to 128 bits spreads every bit of the hash over all of the product. */
static inline uint64_t larder_mix(const larder_pool *pool, uint64_t hash)
{
    __uint128_t product = (__uint128_t)(hash ^ pool->seed) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t larder_pool_now(const larder_pool *pool)
{
    return pool->config.now();
}

/* The counters are this process's own: no other process writes them, every process may add them up. */
static inline void larder_count(larder_pool *pool, enum larder_counter which)
{
    _Atomic uint64_t *counter = &pool->slot->counter[which];
    /* relaxed: only a figure. */
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

#endif
