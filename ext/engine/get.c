#include "get.h"
#include "quota.h"
#include "stale.h"

/* A pin is worth keeping if the value is used in place, and the pool's quota of pins is not used up. */
static enum larder_hold hold_for(larder_pool *pool, const larder_found *found)
{
    if (found->hold == LARDER_HELD || !larder_is_in_place(pool, found->segment) ||
        found->item->kind <= LARDER_LAST_SMALL_KIND || !larder_quota_take(pool, found->segment)) {
        return found->hold;
    }
    return LARDER_HELD;
}

static larder_hit hit_of(const larder_pool *pool, const larder_found *found, enum larder_hold hold)
{
    larder_hit hit = {.item = found->item, .word = found->word, .segment = found->segment, .hold = hold};
    if (hold == LARDER_HELD && !larder_is_in_place(pool, found->segment)) {
        hit.hold = LARDER_APART;
    } else if (hold == LARDER_HELD) {
        hit.item = (const larder_item *)(pool->ro + larder_word_offset(pool, found->word));
    }
    return hit;
}

bool larder_look_pinned(larder_pool *pool, uint64_t word, const larder_key *key, larder_hit *hit)
{
    larder_found found;
    if (!larder_matches(pool, word, key, &found)) {
        return false;
    }
    uint64_t looked_at = larder_invalidations(pool);
    bool readable = larder_is_readable(pool, found.item);
    if (!readable || !larder_is_alive(pool, found.item)) {
        if (readable && atomic_load_explicit(&found.item->expiry, memory_order_relaxed) != LARDER_NO_EXPIRY) {
            larder_count(pool, LARDER_EXPIRED);
        }
        larder_found_drop(pool, &found);
        return false;
    }
    /* relaxed: a hint for eviction, written once, so that readers do not take the line from each other. Only under a
     * pin: in a segment that has moved on it would damage another item. */
    if (atomic_load_explicit(&found.item->visited, memory_order_relaxed) == 0) {
        atomic_store_explicit(&found.item->visited, 1, memory_order_relaxed);
    }
    if (found.item->tags != 0) {
        LARDER_FAULT(LARDER_AT_LOOKED);
        /* relaxed: a reader that finds it may rely on a look that came before it was written. The count was read before
           the look.
         */
        atomic_store_explicit(larder_item_looked_at(found.item), looked_at, memory_order_relaxed);
    }
    *hit = hit_of(pool, &found, hold_for(pool, &found));
    return true;
}

bool larder_look_again(larder_pool *pool, const _Atomic uint64_t *at, uint64_t word, const larder_key *key,
                       larder_hit *hit)
{
    for (int looks = 0; looks < LARDER_LOOKS; looks++) {
        uint64_t again = atomic_load_explicit(at, memory_order_acquire);
        if (again == word || again >> 48 != word >> 48) {
            return false;
        }
        if (larder_look_pinned(pool, again, key, hit)) {
            return true;
        }
        word = again;
    }
    return false;
}

bool larder_get_pinned(larder_pool *pool, const larder_key *key, larder_hit *hit)
{
    if (!larder_pool_enter(pool)) {
        larder_missed_nowhere(pool, key);
        return false;
    }
    larder_place place = larder_place_of(pool, key->hash);
    larder_bucket *buckets[2] = {place.first, place.second};
    for (int b = 0; b < 2; b++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            uint64_t word = atomic_load_explicit(&buckets[b]->word[i], memory_order_acquire);
            if (word >> 48 == place.fingerprint && (larder_look_pinned(pool, word, key, hit) ||
                                                    larder_look_again(pool, &buckets[b]->word[i], word, key, hit))) {
                larder_count(pool, LARDER_HITS);
                return true;
            }
        }
    }
    larder_miss(pool, key);
    return false;
}

/* Finds the key's item, dead or alive. */
static bool find_any(larder_pool *pool, const larder_key *key, larder_found *found)
{
    if (!larder_pool_enter(pool)) {
        return false;
    }
    larder_place place = larder_place_of(pool, key->hash);
    return larder_find(pool, &place, key, found);
}

static larder_serving serving_of(const larder_pool *pool, const larder_item *item, uint64_t grace)
{
    uint64_t expiry = larder_told_expiry(&item->expiry);
    bool expired = !larder_is_to_come(pool, expiry), killed = larder_is_invalidated(pool, item);
    larder_serving serving = {.stale = expired || killed, .until = expiry};
    if (serving.stale && expiry < LARDER_NO_EXPIRY - grace) {
        serving.until = expiry + grace;
    }
    if (killed) {
        uint64_t until = larder_stale_until(pool, item);
        serving.until = until < serving.until ? until : serving.until;
    }
    return serving;
}

bool larder_get_stale(larder_pool *pool, const larder_key *key, uint64_t grace, larder_hit *hit,
                      larder_serving *serving)
{
    larder_found found;
    if (!find_any(pool, key, &found)) {
        return false;
    }
    *serving = serving_of(pool, found.item, grace);
    if (!larder_is_to_come(pool, serving->until)) {
        larder_found_drop(pool, &found);
        return false;
    }
    *hit = hit_of(pool, &found, hold_for(pool, &found));
    return true;
}

bool larder_get_briefly(larder_pool *pool, const larder_key *key, larder_hit *hit)
{
    larder_found found;
    if (!find_any(pool, key, &found)) {
        return false;
    }
    if (!larder_is_alive(pool, found.item)) {
        larder_found_drop(pool, &found);
        return false;
    }
    *hit = hit_of(pool, &found, found.hold);
    return true;
}

void larder_miss(larder_pool *pool, const larder_key *key)
{
    larder_count(pool, LARDER_MISSES);
    larder_missed(pool, key);
}

void larder_miss_unreadable(larder_pool *pool, const larder_key *key)
{
    if (larder_pool_enter(pool)) {
        larder_missed(pool, key);
    } else {
        larder_missed_nowhere(pool, key);
    }
}

bool larder_exists(larder_pool *pool, const larder_key *key)
{
    larder_found found;
    if (!larder_pool_enter(pool)) {
        larder_missed_nowhere(pool, key);
        return false;
    }
    larder_place place = larder_place_of(pool, key->hash);
    bool alive = false;
    if (larder_find(pool, &place, key, &found)) {
        alive = larder_is_alive(pool, found.item);
        larder_found_drop(pool, &found);
    }
    if (!alive) {
        larder_missed(pool, key);
    }
    return alive;
}

void larder_hit_drop(larder_pool *pool, const larder_hit *hit)
{
    if (hit->hold == LARDER_BRIEFLY) {
        larder_pin_drop(pool, hit->segment);
    }
}
