/* Snapshots: what a pool takes with it over a reboot.
 *
 *     save:  lock the directory | unlink an old snapshot | CLOSE the pool | write what lives to a temporary file
 *            | fsync | rename | fsync the directory | unlink the pool | unlock
 *     make:  lock the directory | unlink the snapshot | fsync its directory | name the new pool | unlock | load
 *
 * The danger is a snapshot that outlives an invalidation. Three rules keep it away:
 *
 *   N1  What was invalidated before the pool was closed is not in the snapshot, and nothing that claims to have been
 *       done is done afterwards: an operation looks at the mark when it has written (larder_pool_was_closed()), and
 *       what finds the pool closed is done again in the next pool, or fails loudly.
 *   N2  A snapshot is loaded at most once: it loses its name, for good, before the pool that loads it gets one. A crash
 *       in between means an empty pool.
 *   N3  While a pool lives, no snapshot of its name does: a process that attaches removes one that lies about, left by
 *       processes with another configuration, before the pool is used. A snapshot also knows which file it is (inode
 *       and birth), so that a copy, or one restored from a backup, is none.
 *
 * A pool that does not evict is used by others only when all is loaded (larder_attach()). Else loading takes place
 * while others use the new pool already, and so is a fill like any other: its token is the clock at which the pool was
 * closed, where the new pool's clock begins. A write, delete or invalidation since the new pool was made refuses it.
 * Items keep their versions, tags, costs, expiries (which are absolute) and queues.
 *
 * A plain set after a miss may be a write, and a miss does not mean that there is nothing older as long as the snapshot
 * is being loaded. So a set in that time, or after a miss in that time, moves the key version (and may refuse others'
 * fills). Were its value evicted, or expired, before the loader gets to the key, what it replaced would come back. The
 * header says who loads; no process waits for a loader that is dead, or does not begin within ten seconds.
 *
 *     file = header | record | record | ...
 *     record = struct | tags | key | value        each padded to 8 bytes
 *
 * Nor is one loaded that was written more than a day ago, or in the future: a machine, or its disk, may have been set
 * back to an image of itself. A file whose size, checksums or counts do not fit is not loaded at all.
 */
#ifndef LARDER_SNAPSHOT_H
#define LARDER_SNAPSHOT_H

#include "pool.h"

#include <string.h>

#define LARDER_SNAPSHOT_MAGIC   UINT64_C(0x0a0d504e53524c) /* "LRSNP", CR, LF */
#define LARDER_SNAPSHOT_VERSION 1u
#define LARDER_SNAPSHOT_SUFFIX  ".snapshot"
#define LARDER_SNAPSHOT_HOURS   24u

typedef struct larder_snapshot_header {
    uint64_t magic;
    uint32_t version;
    uint32_t format; /* LARDER_FORMAT of its writer: says what items and images look like */
    uint64_t inode;  /* its own */
    uint64_t birth;  /* its own, in ns since 1970; 0 where the file system does not tell */
    uint64_t clock;  /* of the pool when it was closed */
    uint64_t saved;  /* ms since 1970 */
    uint64_t items;
    uint64_t bytes;       /* of the records */
    uint64_t records_sum; /* checksum of them */
    uint32_t abis[LARDER_ABIS];
    char name[LARDER_NAME_MAX + 8];
    uint64_t sum; /* checksum of all the fields before it */
} larder_snapshot_header;

typedef struct larder_snapshot_record {
    uint64_t bytes;   /* of the whole record */
    uint64_t address; /* at which the value was made to be read */
    uint64_t size;    /* of the value */
    uint64_t version, expiry;
    uint32_t cost;
    uint32_t key_length;
    uint16_t tags;
    uint8_t kind, abi; /* 0, or 1 + its place in header.abis */
    uint8_t queue, visited, level, unused;
} larder_snapshot_record;

static inline uint64_t larder_snapshot_padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Where in a record its parts begin. */
static inline uint64_t larder_snapshot_key_at(uint32_t tags)
{
    return sizeof(larder_snapshot_record) + (uint64_t)tags * sizeof(uint64_t);
}

static inline uint64_t larder_snapshot_value_at(uint32_t tags, uint32_t key_length)
{
    return larder_snapshot_padded(larder_snapshot_key_at(tags) + key_length);
}

/* Of whole words, continued from `sum`. */
uint64_t larder_snapshot_sum(uint64_t sum, const void *bytes, size_t size);

/* Which file is it? Sets inode and birth. */
bool larder_snapshot_identify(int fd, larder_snapshot_header *header);

/* The file's name in its directory. */
void larder_snapshot_name(const larder_pool *pool, const char *prefix, char name[LARDER_NAME_MAX + 32]);

/* For a pool that is about to get its name, whose header this is: takes the name's snapshot, so that no other process
 * will, and sets the clock on to it. There is none, or none to be used: the header says why. */
void larder_snapshot_claim(larder_pool *pool, larder_header *header);

/* N3: the pool lives. False: there is an old snapshot that cannot be removed. */
bool larder_snapshot_forget(const larder_pool *pool, int directory, larder_error *error);

/* The pool is being removed, and its snapshot with it. 1: done, 0: there was none, -1: `error`. */
int larder_snapshot_discard(const larder_pool *pool, larder_error *error);

/* Was this pool made by this handle, which still has to load what it claimed? */
static inline bool larder_snapshot_is_ours(const larder_pool *pool)
{
    return pool->attached.snapshot_fd >= 0 &&
           memcmp(pool->geometry.id, pool->attached.snapshot_for, sizeof pool->attached.snapshot_for) == 0;
}

/* Loads what larder_snapshot_claim() has taken, if anything. */
void larder_snapshot_load(larder_pool *pool);

#endif
