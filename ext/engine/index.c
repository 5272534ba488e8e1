#include "index.h"
#include "segment.h"
#include "token.h"

uint64_t larder_begin_write(larder_pool *pool, const larder_place *place, uint64_t *before)
{
    return larder_own_move(pool, &place->first->key_version, LARDER_AT_KEY_VERSION, before);
}

bool larder_key_changed(const larder_pool *pool, const larder_place *place, uint64_t token)
{
    /* seq_cst: after our pending word was placed, or the old one loaded; the other side moves the key version first. */
    uint64_t key_version = atomic_load_explicit(&place->first->key_version, memory_order_seq_cst);
    return key_version > token && larder_own_see_through(pool, &place->first->key_version, key_version) > token &&
           !larder_own_are_all(pool, token);
}

/* A touch exchanges the expiry that it found to come, so that one of us fails. model/touch.pml: dropper() */
bool larder_stays_dead(const larder_pool *pool, larder_item *item)
{
    uint64_t seen = atomic_load_explicit(&item->expiry, memory_order_relaxed);
    while (!larder_is_invalidated(pool, item)) {
        if (larder_is_to_come(pool, seen)) {
            return false;
        }
        LARDER_FAULT(LARDER_AT_TOUCH);
        /* seq_cst: as a touch's. */
        if (atomic_compare_exchange_strong_explicit(&item->expiry, &seen, LARDER_LONG_AGO, memory_order_seq_cst,
                                                    memory_order_relaxed)) {
            break;
        }
    }
    return true;
}

bool larder_clear_found(larder_pool *pool, const larder_found *found)
{
    if (!larder_exchange_word(LARDER_AT_CLEAR_WORD, found->at, found->word, 0)) {
        return false;
    }
    larder_segment_account(pool, found->segment, -1, found->item->units);
    return true;
}

/* Which words of a key are cleared. */
enum which {
    ALL,    /* for a delete: pending ones included */
    OTHERS, /* for a write: those of other kinds of PHP, and pending ones, whose writers start over */
    FINAL,  /* for an eviction */
    STARTED /* pending ones only, whose writers start over */
};

/* The result of clearing a word. */
enum {
    EXISTED = 1,  /* a living item, which we have cleared: of all who try, one succeeds */
    OVERTAKEN = 2 /* a living item, which others replaced or cleared under our eyes, and a younger one in its place */
};

/* Clears one word for as long as it leads to the key. */
static unsigned clear_word(larder_pool *pool, _Atomic uint64_t *at, uint64_t fingerprint, const larder_key *key,
                           uint64_t tick, enum which which)
{
    unsigned met = 0;
    bool lost = false;
    /* seq_cst: after the deletion or the key version has moved. A store that replaces the word now has seen it. */
    uint64_t word = atomic_load_explicit(at, memory_order_seq_cst);
    while (word != 0 && word >> 48 == fingerprint) {
        larder_found found = {.at = at};
        bool done = false;
        if ((word & LARDER_PENDING) != 0) {
            done = which == FINAL || larder_exchange_word(LARDER_AT_OUST, at, word, 0);
        } else if (which == STARTED) {
            done = true;
        } else if (larder_matches(pool, word, key, &found)) {
            /* Items that were stored after the tick are not its business: a writer that waited for it to take the key's
             * place may be here already. A fill whose token is the very tick began after it. */
            bool since = larder_is_since(found.item, tick);
            done = since || (which == OTHERS && larder_is_readable(pool, found.item));
            bool alive = !done && larder_is_alive(pool, found.item);
            bool cleared = !done && larder_clear_found(pool, &found);
            met |= (alive && cleared ? EXISTED : 0) | (since && lost ? OVERTAKEN : 0);
            lost |= alive && !cleared;
            done |= cleared;
            larder_found_drop(pool, &found);
        } else {
            done = larder_is_free(pool, word) && larder_exchange_word(LARDER_AT_FREE_WORD, at, word, 0);
        }
        uint64_t again = atomic_load_explicit(at, memory_order_seq_cst);
        if (done || again == word) {
            break; /* gone, or another key's */
        }
        word = again; /* moved or replaced while we looked */
    }
    return met;
}

static unsigned clear_words(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t tick,
                            enum which which)
{
    larder_bucket *buckets[2] = {place->first, place->second};
    unsigned met = 0;
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            met |= clear_word(pool, &buckets[b]->word[i], place->fingerprint, key, tick, which);
        }
    }
    return met;
}

/* model/publish.pml: deleter(); model/token.pml: deleter(). A delete that was overtaken cannot tell whether the item
 * that it saw was replaced, or deleted by a process that is told so. It deletes the younger item, as a later delete
 * would. */
bool larder_erase(larder_pool *pool, const larder_place *place, const larder_key *key)
{
    unsigned met = OVERTAKEN;
    for (int tries = 0; tries < 64 && met == OVERTAKEN; tries++) {
        uint64_t before, tick = larder_begin_write(pool, place, &before);
        LARDER_FAULT(LARDER_AT_DELETION);
        larder_raise(place->deletion, tick);
        met = clear_words(pool, place, key, tick, ALL);
    }
    return (met & EXISTED) != 0;
}

void larder_drop(larder_pool *pool, const larder_place *place, const larder_key *key)
{
    clear_words(pool, place, key, UINT64_MAX, FINAL);
}

void larder_oust(larder_pool *pool, const larder_place *place, const larder_key *key)
{
    clear_words(pool, place, key, UINT64_MAX, STARTED);
}

void larder_clear_others(larder_pool *pool, const larder_place *place, const larder_key *key, uint64_t tick)
{
    clear_words(pool, place, key, tick, OTHERS);
}

/* ---- the index as it is found --------------------------------------------------------------------------- */

/* So many buckets and deletions are looked at, all over the index: anything that has overwritten it is seldom as small
 * as what is between two. To look at all would take as long as to read a sixteenth of the pool. */
#define SAMPLES 64u

/* No tick is younger than the clock. */
static bool is_past(const larder_pool *pool, const _Atomic uint64_t *tick)
{
    /* seq_cst: the clock has ticked before the tick was written anywhere, and is loaded after it. */
    uint64_t seen = atomic_load_explicit(tick, memory_order_seq_cst);
    return seen <= atomic_load_explicit(&pool->header->clock, memory_order_seq_cst);
}

static bool is_possible(const larder_pool *pool, uint64_t word)
{
    return (word & LARDER_PENDING) != 0 ? (uint32_t)word < pool->geometry.slot_count
                                        : larder_word_segment(pool, word) != LARDER_NO_SEGMENT;
}

/* False: a word is none. Counts those that there are. */
static bool are_possible(const larder_pool *pool, const larder_bucket *bucket, uint64_t *words)
{
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        /* relaxed: it is only looked at. */
        uint64_t word = atomic_load_explicit(&bucket->word[i], memory_order_relaxed);
        if (word != 0 && !is_possible(pool, word)) {
            return false;
        }
        *words += word != 0;
    }
    return true;
}

/* Where much lives and no word is left that leads to it, nothing of it can be deleted, and perhaps not evicted. */
static bool may_be_empty(const larder_pool *pool)
{
    uint64_t bytes = 0, words = 0;
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        enum larder_segment_state state = larder_segment_state_of(&pool->segments[i]);
        bool is_used = state == LARDER_OPEN || state == LARDER_SEALED;
        bytes += is_used ? larder_segment_live_units(&pool->segments[i]) << pool->unit_shift : 0;
    }
    for (uint32_t i = 0; bytes > pool->size / 4 && words == 0 && i < pool->bucket_count; i++) {
        if (!are_possible(pool, &pool->buckets[i], &words)) {
            return false;
        }
    }
    return bytes <= pool->size / 4 || words > 0;
}

bool larder_index_is_sound(const larder_pool *pool)
{
    uint64_t buckets = pool->bucket_count, deletions = pool->deletion_count, words = 0;
    uint64_t samples = buckets < SAMPLES ? buckets : SAMPLES;
    for (uint64_t i = 0; i < samples; i++) {
        const larder_bucket *bucket = &pool->buckets[buckets * i / samples];
        if (!is_past(pool, &bucket->key_version) || !are_possible(pool, bucket, &words) ||
            !is_past(pool, &pool->deletions[deletions * i / samples])) {
            return false;
        }
    }
    return words > 0 || may_be_empty(pool);
}
