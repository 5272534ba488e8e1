/* Taking: one version of a key's item is removed, and no other, so that of all who try one succeeds.
 *
 *     take:  tick, move the key version | freeze a counter | exchange the word of that very version for nothing
 *
 * Invariant: the exchange that empties the word is what takes the version. A process that replaced it, deleted it or
 * took it before has exchanged that word, and the take fails; an item that is stored later has a word of its own, and
 * stays.
 *
 * A take is a delete to fills: the key version has moved before the word goes, so that what was computed before is
 * refused. It is none to writes: one that is in flight is a later one, and its deletion is not raised.
 */
#include "enter.h"
#include "get.h"
#include "index.h"
#include "larder.h"
#include "token.h"

#define COPIES (2 * LARDER_BUCKET_WORDS) /* words that may lead to copies of one key */

/* What other kinds of PHP keep of the key. */
typedef struct copies {
    struct {
        _Atomic uint64_t *at;
        uint64_t version;
    } copy[COPIES];
    uint32_t count;
} copies;

static bool is_version(const larder_pool *pool, const larder_found *found, const larder_met *met)
{
    return found->item->version == met->version && (met->word == 0 || found->word == met->word) &&
           larder_is_alive(pool, found->item);
}

static void note_copy(larder_pool *pool, _Atomic uint64_t *at, uint64_t fingerprint, const larder_key *key,
                      copies *theirs)
{
    /* seq_cst: after the key version has moved. */
    uint64_t word = atomic_load_explicit(at, memory_order_seq_cst);
    larder_found found;
    while ((word & LARDER_PENDING) != 0 && word >> 48 == fingerprint) {
        /* Its writer starts over, and is judged by the key version once more. */
        larder_exchange_word(LARDER_AT_OUST, at, word, 0);
        word = atomic_load_explicit(at, memory_order_seq_cst);
    }
    if (word >> 48 == fingerprint && larder_matches(pool, word, key, &found)) {
        if (!larder_is_readable(pool, found.item)) {
            theirs->copy[theirs->count].at = at;
            theirs->copy[theirs->count++].version = found.item->version;
        }
        larder_found_drop(pool, &found);
    }
}

/* Before ours goes: what others write later, and were told is stored, is none of these. */
static void note_copies(larder_pool *pool, const larder_place *place, const larder_key *key, copies *theirs)
{
    larder_bucket *buckets[2] = {place->first, place->second};
    for (int b = 0; b < 2 && larder_has_other_abis(pool); b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            note_copy(pool, &buckets[b]->word[i], place->fingerprint, key, theirs);
        }
    }
}

static void drop_copies(larder_pool *pool, const larder_place *place, const larder_key *key, const copies *theirs)
{
    for (uint32_t i = 0; i < theirs->count; i++) {
        _Atomic uint64_t *at = theirs->copy[i].at;
        bool gone = false;
        while (!gone) {
            larder_found found = {.at = at, .word = atomic_load_explicit(at, memory_order_seq_cst)};
            if (found.word >> 48 != place->fingerprint || !larder_matches(pool, found.word, key, &found)) {
                /* Turned elsewhere, which happens to a word in its place; or gone. */
                gone = atomic_load_explicit(at, memory_order_seq_cst) == found.word;
                continue;
            }
            gone = found.item->version != theirs->copy[i].version || larder_clear_found(pool, &found);
            larder_found_drop(pool, &found);
        }
    }
}

/* model/count.pml: anew(). From here on no process counts there: the sum is the last. */
static int64_t freeze(const larder_found *found)
{
    const larder_item *item = found->item;
    size_t at = larder_item_value_at(item->tags, item->key_length, LARDER_COUNTER_KIND);
    LARDER_FAULT(LARDER_AT_FREEZE);
    /* acq_rel: the last number that any process counted. */
    return (int64_t)atomic_fetch_or_explicit((_Atomic uint64_t *)((uint8_t *)found->item + at), 1,
                                             memory_order_acq_rel) >>
           1;
}

static bool take_entered(larder_pool *pool, const larder_key *key, const larder_met *met, int64_t *counter)
{
    larder_place place = larder_place_of(pool, key->hash);
    larder_found found;
    uint64_t before;
    copies theirs = {.count = 0};
    if (!larder_find(pool, &place, key, &found)) {
        return false;
    }
    bool taken = is_version(pool, &found, met);
    if (taken) {
        larder_begin_write(pool, &place, &before);
        note_copies(pool, &place, key, &theirs);
        if (found.item->kind == LARDER_COUNTER_KIND) {
            *counter = freeze(&found);
        }
        /* If it fails, the counter stays frozen: it was replaced, or moved, and no process finds this one any more. */
        taken = larder_clear_found(pool, &found);
    }
    larder_found_drop(pool, &found);
    if (taken) {
        drop_copies(pool, &place, key, &theirs);
    }
    return taken;
}

/* The pool was closed, and the taken item may come to the next one with the snapshot. It is taken there, too: an item
 * that is still to come is refused by the key version, and one that is there has kept its version. */
static void take_again(larder_pool *pool, const larder_key *key, uint64_t version)
{
    const larder_met same = {.version = version};
    int64_t counter;
    do {
        if (!larder_pool_enter_surely(pool)) {
            return;
        }
        larder_place place = larder_place_of(pool, key->hash);
        uint64_t before;
        larder_begin_write(pool, &place, &before);
        bool there = true;
        while (there) {
            larder_found found;
            there = larder_find(pool, &place, key, &found);
            if (there) {
                there = is_version(pool, &found, &same);
                larder_found_drop(pool, &found);
            }
            there = there && !take_entered(pool, key, &same, &counter);
        }
    } while (larder_pool_was_closed(pool));
}

/* model/save.pml: operation() */
bool larder_take(larder_pool *pool, const larder_key *key, const larder_met *met, int64_t *counter)
{
    if (!larder_pool_enter_surely(pool) || (met->attachment != 0 && met->attachment != pool->attached.number)) {
        return false;
    }
    bool taken = take_entered(pool, key, met, counter);
    if (taken && larder_pool_was_closed(pool)) {
        take_again(pool, key, met->version);
    }
    if (taken && !pool->request.undone) {
        larder_count(pool, LARDER_DELETES);
    }
    return taken;
}
