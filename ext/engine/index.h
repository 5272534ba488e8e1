/* The index: from a key to its item, in at most two cache lines.
 *
 *     hash of the key --+--> first bucket    [w w w w w w w | key version]   a word: fingerprint | generation | offset
 *                       +--> second bucket   [w w w w w w w | key version]
 *                       +--> fingerprint
 *
 * Invariants:
 *   I1  A final word points at a complete item, or carries a generation that its segment no longer has.
 *   I2  At most one final word points at an item of a key that one kind of PHP can read: a word becomes final only when
 *       its writer, with a pending word in place, has seen no other; later ones see that one.
 *   I3  After a delete has returned, no word points at an item whose store began before the delete did, whatever its
 *       writer does from then on. Void words of the key are cleared, too: a reader that pins their segment reads on
 *       there.
 *
 * Publishing and deleting are two parties that each write one thing and then read the other's:
 *
 *     store:  place PENDING (or hold the old word) | load the deletion: not newer than my tick | CAS to the final word
 *     delete: tick, raise the deletion to it       | clear every word of the key, pending ones included
 *
 * If the store's look at the deletion came first, its word was there to be found, and its CAS fails; if the deletion
 * came first, the store sees it and gives up. All of these are seq_cst.
 *
 * A deletion is the tick of the last delete of any key of a group. Writes are not judged by other writes: of two items
 * of one key, the one with the later tick stays, and a writer that dies has overtaken no other write. Fills (token.h)
 * are judged by the key version of the key's first bucket, which moves with deletes and writes; the protocol is the
 * same, with the key version in the place of the deletion.
 *
 * Two kinds of PHP that share a pool cannot read each other's arrays. Each keeps a copy of its own, with a word of its
 * own: a fill leaves the other's alone, a write clears it, after it has moved the key version.
 *
 * A reader that finds that a word does not lead to its key looks at the word again: a mover may have turned it to the
 * item's new place meanwhile.
 */
#ifndef LARDER_INDEX_H
#define LARDER_INDEX_H

#include "bucket.h"
#include "item.h"
#include "key.h"
#include "pin.h"
#include "pool.h"
#include "tag.h"

typedef struct larder_place {
    larder_bucket *first, *second;
    _Atomic uint64_t *deletion;
    uint64_t fingerprint;
} larder_place;

static inline larder_bucket *larder_first_bucket(const larder_pool *pool, uint64_t mixed)
{
    return pool->buckets + ((mixed >> 32) * pool->bucket_count >> 32);
}

static inline larder_bucket *larder_second_bucket(const larder_pool *pool, uint64_t mixed)
{
    return pool->buckets + ((mixed * UINT64_C(0xd6e8feb86659fd93) >> 32) * pool->bucket_count >> 32);
}

static inline uint64_t larder_fingerprint(uint64_t mixed)
{
    return mixed & 0xffff;
}

static inline larder_place larder_place_of(const larder_pool *pool, uint64_t hash)
{
    uint64_t mixed = larder_mix(pool, hash);
    uint64_t group = (mixed * UINT64_C(0xa0761d6478bd642f) >> 32) * pool->deletion_count >> 32;
    return (larder_place){.first = larder_first_bucket(pool, mixed),
                          .second = larder_second_bucket(pool, mixed),
                          .deletion = pool->deletions + group,
                          .fingerprint = larder_fingerprint(mixed)};
}

/* ---- words --------------------------------------------------------------------------------------------- */

#define LARDER_PENDING (UINT64_C(1) << 47)

static inline uint64_t larder_word(uint64_t fingerprint, uint32_t generation, uint64_t units)
{
    return fingerprint << 48 | (uint64_t)generation << 32 | units;
}

static inline uint64_t larder_word_offset(const larder_pool *pool, uint64_t word)
{
    return (word & UINT32_MAX) << pool->unit_shift;
}

static inline uint32_t larder_word_generation(uint64_t word)
{
    return (uint32_t)(word >> 32) & LARDER_GENERATION_MASK;
}

/* The segment that a final word points into; LARDER_NO_SEGMENT for a pending, empty or impossible one. */
static inline uint32_t larder_word_segment(const larder_pool *pool, uint64_t word)
{
    uint64_t offset = larder_word_offset(pool, word);
    if ((word & LARDER_PENDING) != 0 || offset < pool->segments_at ||
        offset + sizeof(larder_item) > pool->geometry.size) {
        return LARDER_NO_SEGMENT;
    }
    return (uint32_t)((offset - pool->segments_at) >> pool->segment_shift);
}

/* ---- finding ------------------------------------------------------------------------------------------- */

/* How what a look-up found is kept from being recycled. */
enum larder_hold {
    LARDER_HELD,     /* pinned until the request ends */
    LARDER_APART,    /* the same, but not to be used in place: copy it */
    LARDER_BRIEFLY,  /* pinned by the finder for the moment: copy it, and drop that when done */
    LARDER_UNPINNED, /* not at all: copy it, then confirm that its segment has not moved on meanwhile */
};

typedef struct larder_found {
    _Atomic uint64_t *at;
    uint64_t word;
    larder_item *item;
    uint32_t segment;
    enum larder_hold hold;
} larder_found;

static inline void larder_found_drop(larder_pool *pool, const larder_found *found)
{
    if (found->hold == LARDER_BRIEFLY) {
        larder_pin_drop(pool, found->segment);
    }
}

/* Is the segment still in the generation of the word? A value that was read from it before is then the stored one. */
/* model/pin.pml: reader(), small */
static inline bool larder_confirm(const larder_pool *pool, uint32_t segment, uint64_t word)
{
    /* acquire fence: the reads before come before the look at the generation, which a reclaimer raises before the
     * bytes change (the other half is in larder_empty_segment()). */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&pool->generations[segment], memory_order_relaxed) == larder_word_generation(word);
}

/* Has any other kind of PHP ever written here? */
static inline bool larder_has_other_abis(const larder_pool *pool)
{
    /* seq_cst: one that registers in this moment is seen, or has seen what its caller wrote before. */
    return atomic_load_explicit(&pool->header->abis[1], memory_order_seq_cst) != 0;
}

/* Has the segment gone on to another generation? acquire: as in larder_pin_set(). */
static inline bool larder_is_void(const larder_pool *pool, uint32_t segment, uint32_t generation)
{
    return atomic_load_explicit(&pool->generations[segment], memory_order_acquire) != generation;
}

/* A word that may be used for a new item: empty, or of a generation that its segment no longer has. */
static inline bool larder_is_free(const larder_pool *pool, uint64_t word)
{
    if (word == 0) {
        return true;
    }
    if ((word & LARDER_PENDING) != 0) {
        return false;
    }
    uint32_t segment = larder_word_segment(pool, word);
    return segment >= pool->geometry.segment_count || larder_is_void(pool, segment, larder_word_generation(word));
}

/* Does the word point at an item of that key? Pins its segment briefly, unless this process pins it already. Under a
 * pin that lasts, a void word still leads to its item; but it belongs to no process any more, and nothing is to be
 * done to it. */
static inline bool larder_matches(larder_pool *pool, uint64_t word, const larder_key *key, larder_found *found)
{
    uint32_t segment = larder_word_segment(pool, word);
    uint32_t generation = larder_word_generation(word);
    if (segment >= pool->segment_count) {
        return false;
    }
    found->hold = larder_pin_holds(pool, segment, generation) ? LARDER_HELD : LARDER_BRIEFLY;
    if (found->hold == LARDER_HELD ? larder_is_void(pool, segment, generation)
                                   : larder_pinned(pool, segment) != 0 || !larder_pin_set(pool, segment, generation)) {
        return false;
    }
    uint64_t offset = larder_word_offset(pool, word);
    found->segment = segment;
    found->word = word;
    found->item = (larder_item *)(pool->rw + offset);
    if (larder_has_key(found->item, key)) {
        return true;
    }
    larder_found_drop(pool, found);
    return false;
}

/* How often a word that changes under our eyes is looked at again. */
#define LARDER_LOOKS 8

/* Which words of a bucket have that fingerprint, as bits; to be loaded again before use. */
static inline uint32_t larder_candidates(const larder_bucket *bucket, uint64_t fingerprint)
{
    return larder_words_with(bucket->word, fingerprint);
}

/* model/publish.pml: find() */
static inline bool larder_find_in(larder_pool *pool, larder_bucket *bucket, uint64_t fingerprint, const larder_key *key,
                                  larder_found *found)
{
    for (uint32_t mask = larder_candidates(bucket, fingerprint); mask != 0; mask &= mask - 1) {
        _Atomic uint64_t *at = &bucket->word[__builtin_ctz(mask)];
        /* acquire: the item was complete before its word was placed. */
        uint64_t word = atomic_load_explicit(at, memory_order_acquire);
        for (int looks = 0; looks < LARDER_LOOKS && word >> 48 == fingerprint; looks++) {
            if (larder_matches(pool, word, key, found)) {
                if (larder_is_readable(pool, found->item)) {
                    found->at = at;
                    return true;
                }
                larder_found_drop(pool, found);
            }
            uint64_t again = atomic_load_explicit(at, memory_order_acquire);
            if (again == word) {
                break;
            }
            word = again;
        }
    }
    return false;
}

/* Finds the item of the key that this PHP can read, dead or alive. */
static inline bool larder_find(larder_pool *pool, const larder_place *place, const larder_key *key, larder_found *found)
{
    return larder_find_in(pool, place->first, place->fingerprint, key, found) ||
           larder_find_in(pool, place->second, place->fingerprint, key, found);
}

/* Cleared, or dead by a tag. */
static inline bool larder_is_invalidated(const larder_pool *pool, const larder_item *item)
{
    /* relaxed: an item is as dead by an earlier clear as by the last. */
    return item->version < atomic_load_explicit(&pool->header->last_clear, memory_order_relaxed) ||
           (item->tags != 0 && !larder_tags_allow(pool, item));
}

/* The time is only asked for if there is an expiry. */
static inline bool larder_is_to_come(const larder_pool *pool, uint64_t expiry)
{
    return expiry == LARDER_NO_EXPIRY || larder_pool_now(pool) < expiry;
}

/* Neither invalidated nor expired. */
static inline bool larder_is_alive(const larder_pool *pool, const larder_item *item)
{
    /* relaxed: an expiry stands alone. */
    return !larder_is_invalidated(pool, item) &&
           larder_is_to_come(pool, atomic_load_explicit(&item->expiry, memory_order_relaxed));
}

/* The item (writable, and kept from being recycled) looks dead, and is to lose its word for that. True: it stays dead.
 * False: another process found it alive in its last moment, and has just prolonged it. */
bool larder_stays_dead(const larder_pool *pool, larder_item *item);

/* ---- changing ------------------------------------------------------------------------------------------ */

/* Every change of a word. seq_cst: the protocol above. */
static inline bool larder_exchange_word(enum larder_fault_point point, _Atomic uint64_t *at, uint64_t from, uint64_t to)
{
    (void)point; /* where there are no fault points */
    LARDER_FAULT(point);
    return atomic_compare_exchange_strong_explicit(at, &from, to, memory_order_seq_cst, memory_order_relaxed);
}

/* Ticks for a write of the key: from here on, whatever was computed earlier is older than this write. `before`: the
 * last event at the key version that was not this request's. */
uint64_t larder_begin_write(larder_pool *pool, const larder_place *place, uint64_t *before);

/* Did others write or delete the key (or a neighbour) after the token? */
bool larder_key_changed(const larder_pool *pool, const larder_place *place, uint64_t token);

/* Deletes the key for good. Was there a living item? */
bool larder_erase(larder_pool *pool, const larder_place *place, const larder_key *key);

/* Clears the key's items without a tick, as if they had been evicted: for a fill that was refused. */
void larder_drop(larder_pool *pool, const larder_place *place, const larder_key *key);

/* Makes all stores of the key that are about to be done start over, and so be judged once more. */
void larder_oust(larder_pool *pool, const larder_place *place, const larder_key *key);

/* Clears what other kinds of PHP keep of the key, unless it was computed since the tick, and pending words, whose
 * writers start over. */
void larder_clear_others(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t tick);

/* Empties the word of an item that is pinned, if no other process has, and accounts for it. */
bool larder_clear_found(larder_pool *pool, const larder_found *found);

/* Can the index be one, as far as a few places tell? An overwritten one has ticks that are still to come, which would
 * refuse whatever is stored. */
bool larder_index_is_sound(const larder_pool *pool);

#endif
