/* Reading: the path that every page of a site takes a thousand times.
 *
 *     key's hash --> bucket --> word with its fingerprint --> segment: pinned by this request?
 *                                                               |yes           |no
 *                                                               v              v
 *                                              compare the key, use it     small and marked: compare and copy it, then
 *                                                                          see that its segment has not moved on;
 *                                                                          else pin, and then as on the left
 *
 * It takes no lock. It writes nothing shared but a pin (when the request first meets a segment with something to use in
 * place) and a mark (if it is clear). It is in a header so that the caller's compiler can make one piece of it.
 */
#ifndef LARDER_GET_H
#define LARDER_GET_H

#include "enter.h"
#include "index.h"
#include "token.h"

#define LARDER_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define LARDER_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A living item, as a reader gets it. Held: to be used in place until the request ends. Otherwise its value is to be
 * copied, and then dropped (pinned briefly, or apart) or confirmed (unpinned). */
typedef struct larder_hit {
    const larder_item *item; /* if held, where PHP sees it; otherwise in the writable mapping */
    uint64_t word;
    uint32_t segment;
    enum larder_hold hold;
} larder_hit;

/* Where the value lies, and how long it is. NULL if the item says nonsense: a damaged pool gives misses. */
static inline const void *larder_hit_value(const larder_pool *pool, const larder_hit *hit, size_t *size)
{
    const larder_item *item = hit->item;
    size_t value_at = larder_item_value_at(item->tags, item->key_length, item->kind);
    size_t bytes = larder_item_bytes(pool, item), used = value_at + item->spare;
    *size = bytes - used;
    return LARDER_LIKELY(used <= bytes && bytes <= pool->size - larder_word_offset(pool, hit->word))
               ? (const uint8_t *)item + value_at
               : NULL;
}

/* How far from the place where the value's inner addresses lead it is seen. */
static inline intptr_t larder_hit_shift(const larder_pool *pool, const larder_hit *hit)
{
    return hit->hold == LARDER_HELD ? 0 : (intptr_t)((uintptr_t)pool->rw - pool->geometry.base);
}

static inline int64_t larder_counter_value(const void *value)
{
    /* acquire: all that was done before it was counted up to here. The lowest bit says that it is being moved. */
    return (int64_t)atomic_load_explicit((const _Atomic uint64_t *)value, memory_order_acquire) >> 1;
}

/* After copying an unpinned value: was it whole? */
static inline bool larder_hit_confirm(const larder_pool *pool, const larder_hit *hit)
{
    return larder_confirm(pool, hit->segment, hit->word);
}

void larder_hit_drop(larder_pool *pool, const larder_hit *hit);

/* Does the word lead to a living item of the key? Pins its segment, keeps the pin if the value can be used in place,
 * and marks the item as used. */
bool larder_look_pinned(larder_pool *pool, uint64_t word, const larder_key *key, larder_hit *hit);

/* How long what was found may be served. */
typedef struct larder_serving {
    bool stale;     /* it is dead, but may be served: its invalidation, or this call, allows it */
    uint64_t until; /* ms since 1970; LARDER_NO_EXPIRY */
} larder_serving;

/* What lives; or was killed by nothing but soft invalidations whose time has not passed (stale.h), or has expired less
 * than `grace` ms ago, or both. As a hit, pinned, but counted neither as one nor as a miss. */
bool larder_get_stale(larder_pool *pool, const larder_key *key, uint64_t grace, larder_hit *hit,
                      larder_serving *serving);

/* What lives, under a pin that lasts no longer than the look, so that nothing may be handed out in place; not counted
 * as a hit either. */
bool larder_get_briefly(larder_pool *pool, const larder_key *key, larder_hit *hit);

/* Reads a key without ever returning it unpinned: for values of which more is asked than a copy. */
bool larder_get_pinned(larder_pool *pool, const larder_key *key, larder_hit *hit);

/* Counts a miss, and remembers it for the fill that may follow. */
void larder_miss(larder_pool *pool, const larder_key *key);

/* The item cannot be read after all, which is a miss to the caller. Code of the value's may have run, and removed
 * the pool. */
void larder_miss_unreadable(larder_pool *pool, const larder_key *key);

/* The word did not lead to the key: it may have been turned elsewhere while we looked. */
bool larder_look_again(larder_pool *pool, const _Atomic uint64_t *at, uint64_t word, const larder_key *key,
                       larder_hit *hit);

/* Looks where the word leads. Does not take an item for living that is not, or for readable that may not be. */
static inline __attribute__((always_inline)) bool larder_look(larder_pool *pool, uint64_t word, const larder_key *key,
                                                              larder_hit *hit)
{
    uint64_t offset = larder_word_offset(pool, word);
    uint64_t segment = (offset - pool->segments_at) >> pool->segment_shift; /* huge for what is no offset: pending */
    if (LARDER_UNLIKELY(segment >= pool->segment_count)) {
        return false;
    }
    bool held = LARDER_LIKELY(larder_pinned(pool, (uint32_t)segment) == larder_word_generation(word) + 1);
    const larder_item *item = (const larder_item *)((held ? pool->ro : pool->rw) + offset);
    *hit = (larder_hit){
        .item = item, .word = word, .segment = (uint32_t)segment, .hold = held ? LARDER_HELD : LARDER_UNPINNED};
    bool same = larder_has_key(item, key);
    /* Without a mark there is one to be set, and without a pin only small values may be read. relaxed: the last clear,
     * an expiry and a mark each stand alone. */
    uint64_t expiry = atomic_load_explicit(&item->expiry, memory_order_relaxed);
    bool usable = (held || (LARDER_READS_UNPINNED && item->kind <= LARDER_LAST_SMALL_KIND)) &&
                  atomic_load_explicit(&item->visited, memory_order_relaxed) != 0 &&
                  (LARDER_LIKELY(expiry == LARDER_NO_EXPIRY) || larder_pool_now(pool) < expiry) &&
                  item->version >= atomic_load_explicit(&pool->header->last_clear, memory_order_relaxed) &&
                  (LARDER_LIKELY(item->tags == 0) || larder_tags_were_looked_at(pool, item)) &&
                  larder_is_readable(pool, item);
    if (LARDER_LIKELY(same && usable)) {
        return true;
    }
    if (!same && (held || larder_confirm(pool, (uint32_t)segment, word))) {
        return false;
    }
    return larder_look_pinned(pool, word, key, hit);
}

/* Reads a key. Counts a hit or a miss, and marks the item as used. Small values come unpinned. */
static inline __attribute__((always_inline)) bool larder_get(larder_pool *pool, const larder_key *key, larder_hit *hit)
{
    if (LARDER_UNLIKELY(!larder_pool_enter(pool))) {
        larder_missed_nowhere(pool, key);
        return false;
    }
    uint64_t mixed = larder_mix(pool, key->hash), fingerprint = larder_fingerprint(mixed);
    const larder_bucket *bucket = larder_first_bucket(pool, mixed);
    for (bool second = false;; second = true) {
        for (uint32_t mask = larder_candidates(bucket, fingerprint); mask != 0; mask &= mask - 1) {
            const _Atomic uint64_t *at = &bucket->word[__builtin_ctz(mask)];
            /* acquire: the item was complete before its word was placed. */
            uint64_t word = atomic_load_explicit(at, memory_order_acquire);
            if (LARDER_LIKELY(word >> 48 == fingerprint && larder_look(pool, word, key, hit)) ||
                LARDER_UNLIKELY(larder_look_again(pool, at, word, key, hit))) {
                larder_count(pool, LARDER_HITS);
                return true;
            }
        }
        if (second) {
            larder_miss(pool, key);
            return false;
        }
        bucket = larder_second_bucket(pool, mixed);
    }
}

/* Counts neither a hit nor a miss; but that there is none is remembered as a miss is. */
bool larder_exists(larder_pool *pool, const larder_key *key);

#endif
