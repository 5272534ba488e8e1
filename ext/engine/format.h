/* The places of everything in a pool file. Everything here is shared between processes, and between programs that were
 * compiled at different times: a change of any struct, constant or image raises LARDER_FORMAT. What versions of the
 * extension with different formats know of each other's pools, and what therefore never changes, is in formats.h.
 *
 *   +--------+-------+------+------+--------+---------+-----------+--------+---------+--------+--------------------+
 *   | header | slots | pins | tags | leases | index   | deletions | ghosts | segment | item   | segment 0 | ...    |
 *   |        |       |      |      |        | buckets |           |        | table   | starts | items              |
 *   +--------+-------+------+------+--------+---------+-----------+--------+---------+--------+--------------------+
 *                            |
 *                            +--> cells | recent invalidations | bits of carried tags | windows
 *
 * All parts begin on a page. Offsets count from the start of the file; where an offset has to fit in 32 bits it
 * counts units of 1 << unit_shift bytes (8 up to 32 GiB, doubled with each doubling after that).
 */
#ifndef LARDER_FORMAT_H
#define LARDER_FORMAT_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#define LARDER_MAGIC UINT64_C(0x0a0d52454452414c) /* "LARDER", CR, LF: a transfer as text breaks it */
#ifndef LARDER_FORMAT                             /* a test builds the extension of another version */
#define LARDER_FORMAT 10u
#endif

#define LARDER_PAGE         4096u
#define LARDER_CACHE_LINE   64u
#define LARDER_SIZE_MIN     (UINT64_C(4) << 20)
#define LARDER_SIZE_MAX     (UINT64_C(1) << 40)
#define LARDER_KEY_MAX      65535u
#define LARDER_TAGS_MAX     4096u /* on one item */
#define LARDER_SLOTS_MAX    4096u
#define LARDER_ABIS         16u /* kinds of PHP, by their ABI, that one pool can serve */
#define LARDER_BUCKET_WORDS 7u
#define LARDER_NO_EXPIRY    UINT64_MAX
#define LARDER_LONG_AGO     UINT64_C(0) /* the expiry of an item that can no longer be prolonged */
#define LARDER_NO_SEGMENT   UINT32_MAX
#define LARDER_NO_SLOT      UINT32_MAX

/* ---- segments ------------------------------------------------------------------------------------------ */

enum larder_segment_state {
    LARDER_FREE = 0,   /* holds nothing */
    LARDER_OPEN = 1,   /* new items are reserved here */
    LARDER_SEALED = 2, /* full; its items live until it is reclaimed */
    LARDER_LIMBO = 3,  /* its items are dead, but a process may still read them */
    LARDER_TAIL = 4,   /* belongs to the run that begins in a segment before it */
};
#define LARDER_SEGMENT_STATES 5u

/* The lists that segments are on. New items enter through SMALL, what was used again goes to MAIN. */
#define LARDER_LEVEL_MAX 3u

enum larder_list { LARDER_SMALL = 0, LARDER_MAIN = 1, LARDER_LIST_FREE = 2, LARDER_LIST_LIMBO = 3 };
#define LARDER_QUEUES 2u
#define LARDER_LISTS  4u

/* One segment. Written under the segment lock, but for the atomics. The truth about a segment is here; the
 * lists' heads and links are rebuilt from state, queue and sequence if their writer dies. */
typedef struct larder_segment {
    alignas(LARDER_CACHE_LINE) _Atomic uint64_t fill; /* bytes reserved so far */
    _Atomic uint64_t live;           /* live items << 40 | their bytes / 8; a hint, exact when no process died */
    _Atomic uint64_t latest_expiry;  /* ms; no item here lives longer */
    _Atomic uint64_t latest_version; /* no item here is younger */
    uint64_t sequence;               /* order of opening, over all segments */
    uint32_t next, prev;
    uint32_t run; /* segments in this run; 1 but for large values, 0 in a tail */
    _Atomic uint32_t state;
    uint8_t queue; /* SMALL or MAIN, while open or sealed */
    uint8_t list;  /* the list it is linked in, for unlinking; LARDER_LISTS if in none */
} larder_segment;
#define LARDER_GENERATION_MASK UINT32_C(0x7fff)
_Static_assert(sizeof(larder_segment) == LARDER_CACHE_LINE, "a segment's entry is one cache line");

typedef struct larder_list_ends {
    uint32_t first, last, count;
    uint32_t unused;
} larder_list_ends;

/* ---- items --------------------------------------------------------------------------------------------- */

/* An item's `traits`. */
#define LARDER_ABI_MASK       0x1fu /* 0: any PHP can read it; else 1 + its index in header.abis */
#define LARDER_LEVEL_SHIFT    5u    /* two bits: in how many of its last walks it had been used, 0..LARDER_LEVEL_MAX */
#define LARDER_LEVEL_MASK     0x60u
#define LARDER_VERSION_RAISED 0x80u /* it is that of an event of its own request's: see token.h */

/* What precedes each value. Then come the tags (the hashes of their names, 8 bytes each, after one word that says as of
 * which invalidation they were last looked at; nothing if there are none), the key, and the image (aligned to 8 if its
 * kind needs it). Immutable once published, but for the atomics. */
typedef struct larder_item {
    uint32_t units; /* the whole item, in units */
    uint16_t key_length;
    uint8_t kind;
    uint8_t traits;
    uint64_t version;        /* logical clock when its computation began */
    _Atomic uint64_t expiry; /* ms since 1970, even but for movers' copies; LARDER_NO_EXPIRY */
    uint32_t cost;           /* microseconds that its computation took; 0: not known */
    uint16_t tags;
    _Atomic uint8_t visited; /* 1: it was read since it came to this segment */
    uint8_t spare;           /* bytes at the end that are not the image's (less than a unit) */
} larder_item;
_Static_assert(sizeof(larder_item) == 32, "an item's header is 32 bytes");

/* ---- the index ----------------------------------------------------------------------------------------- */

/* A word: fingerprint (16 bits) | pending (1) | segment generation (15) | offset in units (32); 0 is empty.
 * A pending word: fingerprint | 1 | low bits of its writer's incarnation (8) | sequence (7) | slot (32). */
typedef struct larder_bucket {
    alignas(LARDER_CACHE_LINE) _Atomic uint64_t word[LARDER_BUCKET_WORDS];
    _Atomic uint64_t key_version; /* tick of the last write or delete of a key whose first bucket this is */
} larder_bucket;
_Static_assert(sizeof(larder_bucket) == LARDER_CACHE_LINE, "a bucket is one cache line");

/* ---- tags ------------------------------------------------------------------------------------------------ */

/* A line of the table of recent invalidations; see recent.h. A word: fingerprint (16 bits) | tick (48); 0 is empty. */
typedef struct larder_recent {
    alignas(LARDER_CACHE_LINE) _Atomic uint64_t word[LARDER_BUCKET_WORDS];
    _Atomic uint64_t floor; /* no word that left this line was younger */
} larder_recent;
_Static_assert(sizeof(larder_recent) == LARDER_CACHE_LINE, "a line of the table is one cache line");

/* A tag's window, in which what it killed may be served stale; see stale.h. */
typedef struct larder_window {
    alignas(32) _Atomic uint64_t window;
    _Atomic uint64_t dead; /* older items are dead for good; only rises */
    _Atomic uint64_t tag;
} larder_window;
_Static_assert(sizeof(larder_window) == LARDER_CACHE_LINE / 2, "two windows are one cache line");

/* ---- leases ---------------------------------------------------------------------------------------------- */

/* The right to compute a missing item; see lease.h. */
typedef struct larder_lease {
    _Atomic uint64_t word;    /* its holder, until when, for which key; 0: free */
    _Atomic uint64_t waiters; /* how many wait for it; a limit, not a lock: it is set to 0 when the lease is taken */
} larder_lease;

/* ---- processes ----------------------------------------------------------------------------------------- */

enum larder_counter {
    LARDER_HITS,
    LARDER_MISSES,
    LARDER_SETS,
    LARDER_DELETES,
    LARDER_EVICTIONS,      /* live items dropped to make room */
    LARDER_EXPIRED,        /* items found expired, when read or reclaimed */
    LARDER_MOVES,          /* items copied to another segment */
    LARDER_COPIES,         /* reads in copy mode */
    LARDER_CONFLICTS,      /* stores that a later write or delete overtook */
    LARDER_REFUSED_FULL,   /* no segment could be freed: a pool that does not evict */
    LARDER_REFUSED_PINNED, /* ... because processes still read them */
    LARDER_REFUSED_LARGE,  /* larger than this pool can hold */
    LARDER_REFUSED_BUSY,   /* another process held the segment lock too long */
    LARDER_PRIVATE_PAGES,  /* pages that a process copied because something wrote into a value there */
    LARDER_COUNTERS
};

#define LARDER_IN_FLIGHT_WORDS 5u

/* A process's (or thread's) place. Held by a lock on the byte at LARDER_SLOT_LOCK + its index, which the kernel
 * drops at any death. Counters are the sum over all that ever held the slot. */
typedef struct larder_slot {
    alignas(LARDER_CACHE_LINE) _Atomic uint32_t incarnation; /* how often it was taken */
    _Atomic uint32_t pinned;                                 /* how many segments it pins */
    _Atomic uint64_t pinned_since;                           /* ms; since when pins are kept; 0: none is for long */
    _Atomic uint32_t process; /* its holder's id, for people: ids are reused, and others in other containers */
    _Atomic uint32_t quick;   /* 1: its holder's last request was short, or that is expected; quota.h */
    _Atomic uint64_t
        in_flight[LARDER_IN_FLIGHT_WORDS]; /* what its holder is in the middle of invalidating; in_flight.h */
    _Atomic uint64_t counter[16];
} larder_slot;
_Static_assert(LARDER_COUNTERS <= 16, "counters fit in a slot");
_Static_assert(sizeof(larder_slot) == 3 * LARDER_CACHE_LINE, "a slot is three cache lines");

/* What pins cover of the pool: all of them; those that may stay for long. See quota.h. */
enum larder_quota { LARDER_QUOTA_OF_ALL = 0, LARDER_QUOTA_OF_LONG = 1 };
#define LARDER_QUOTAS 2u

#define LARDER_SLOT_LOCK INT64_C(0) /* where in the file the slots' lock bytes begin */

/* The word in the segment lock: whose it is, and for which time, so that a waiting process can tell a process that has
 * stopped from one that takes the lock again and again. */
#define LARDER_LOCK_SLOT_BITS 13u
#define LARDER_LOCK_TURNS     ((1u << (32 - LARDER_LOCK_SLOT_BITS)) - 1)

/* ---- the header ---------------------------------------------------------------------------------------- */

/* What never changes once the pool has its name; `checksum` covers it. */
typedef struct larder_geometry {
    uint64_t magic;
    uint32_t format;
    uint32_t features; /* none yet: 0 */
    uint8_t id[16];    /* random: the pool's epoch */
    uint64_t size;     /* of the whole file, bytes */
    uint64_t base;     /* address at which values are made to be read */
    uint64_t created;  /* ms since 1970 */
    uint64_t seed;     /* mixed into every key's hash */
    uint64_t slots_at, pins_at, tags_at, recent_at, carried_at, windows_at, leases_at, buckets_at, deletions_at,
        ghosts_at, table_at, generations_at, starts_at, segments_at;
    uint32_t slot_count, lease_count, bucket_count, deletion_count, ghost_count, segment_count;
    uint32_t tag_count, recent_count, carried_count, window_count; /* cells; lines; words of bits; places */
    uint32_t pin_words; /* 64-bit words in a row of bits for segments: a slot's pins; behind those, quota.h's rows */
    uint32_t unit_shift;
    uint32_t segment_shift;
    uint32_t evict;    /* 0: a full pool refuses */
    uint32_t checksum; /* of all the fields before it */
    uint32_t unused;   /* 0; without it the struct would end in padding, and geometries are compared as bytes */
} larder_geometry;

/* What a header says of its pool's name. */
enum larder_pool_state {
    LARDER_LIVES = 0,
    LARDER_DEAD = 1,   /* another pool has taken the name, or is about to */
    LARDER_CLOSED = 2, /* as dead; all that is in here is being saved, and goes on in the next pool of the name */
};

/* What became of the snapshot that a pool began with; see snapshot.h. */
enum larder_beginning {
    LARDER_BEGAN_EMPTY = 0, /* there was none, or it was refused: `reason` */
    LARDER_LOADING = 1,     /* or the process that was loading it has died */
    LARDER_LOADED = 2,
};
#define LARDER_REASON_MAX   552u
#define LARDER_LOADER_COMES UINT64_MAX /* the pool has been made to be loaded; no process has begun yet */

typedef struct larder_header {
    larder_geometry geometry;

    /* Read by every operation, written seldom. */
    alignas(LARDER_CACHE_LINE) _Atomic uint64_t last_clear; /* items with an older version are dead */
    _Atomic uint64_t invalidations;                         /* how often the table of them has changed */
    _Atomic uint32_t dead;                                  /* enum larder_pool_state */
    _Atomic uint32_t slots_used;                            /* slots ever taken: no process needs to look beyond */
    _Atomic uint32_t abis[LARDER_ABIS];                     /* of the kinds of PHP that wrote here; 0 is free */
    _Atomic uint64_t loader;   /* whose slot loads a snapshot: incarnation << 32 | slot + 1; LARDER_LOADER_COMES; 0 */
    uint64_t alone_as_well[4]; /* the rest of its line is unused */

    /* Written by every write. */
    alignas(LARDER_CACHE_LINE) _Atomic uint64_t clock;
    _Atomic uint64_t in_flight_begun; /* invalidations and clears, so far */
    _Atomic uint64_t in_flight_over;  /* as many are known to be over: all up to that number; see in_flight.h */
    uint64_t alone[5];                /* the rest of its line is unused */

    /* How much is pinned: written by readers that pin what nothing has covered yet, and by surveys; see quota.h. */
    alignas(LARDER_CACHE_LINE) _Atomic uint32_t covered[LARDER_QUOTAS]; /* segments */
    _Atomic uint64_t surveyed_at;                                       /* ms; the last survey */
    _Atomic uint64_t buried_at; /* ms; the last one that asked whether the owners of pins live */
    _Atomic uint32_t lonely;    /* 1: then only one process had a slot */
    uint32_t unused;
    uint64_t alone_here[4]; /* the rest of its line is unused */

    /* The segment lock and all that it protects; open segments may be read without it. */
    alignas(LARDER_CACHE_LINE) _Atomic uint64_t lock; /* 0, or incarnation << 32 | turn (19 bits) << 13 | slot + 1 */
    _Atomic uint64_t open[LARDER_QUEUES];             /* generation << 32 | segment + 1; 0: none */
    uint64_t sequence;
    larder_list_ends lists[LARDER_LISTS];
    uint32_t cursor; /* where the search for dead segments goes on */
    uint32_t victim; /* segment + 1 that is being emptied; 0: none */
    uint32_t victim_purpose;
    uint32_t ghost_hand;                     /* where the sweep of old ghosts goes on */
    uint64_t victim_walked;                  /* bytes of it that have been visited */
    uint64_t limbo_peak;                     /* bytes lately waiting in limbo at once; sinks slowly */
    _Atomic uint64_t small_target;           /* bytes that the small queue may take; learnt */
    _Atomic uint64_t dropped[LARDER_QUEUES]; /* bytes evicted so far: the clocks of the ghosts */
    uint64_t rest[5];                        /* of the line */

    /* Of the snapshot, written by the process that made the pool. */
    alignas(LARDER_CACHE_LINE) _Atomic uint32_t began; /* enum larder_beginning; what follows is written before */
    uint32_t alone_too;
    uint64_t snapshot_items, snapshot_dropped; /* loaded; those that were of no use here */
    char reason[LARDER_REASON_MAX];            /* why there was nothing to load, as a sentence */
} larder_header;
_Static_assert(sizeof(larder_header) <= LARDER_PAGE, "the header is one page");

#endif
