#include "quota.h"
#include "pin.h"
#include "slot.h"

#define LONG_MS       1000u  /* a request that has been pinning for so long is no page of a site */
#define SURVEY_MS     2u     /* between two surveys for want of room */
#define WORDS_PER_MS  20000u /* that surveys look at: some 20 us */
#define BURY_MS       1000u
#define WORDS_AT_ONCE 8u /* of a row: a cache line */

/* All atomics here are figures: relaxed. */

/* ---- bits ---------------------------------------------------------------------------------------------- */

/* The bits in that word of a row that stand for the segments of the run. */
static uint64_t bits_of(uint32_t word, uint32_t segment, uint32_t run)
{
    uint32_t first = word * 64, end = segment + run;
    uint64_t from = segment > first ? ~UINT64_C(0) << (segment - first) : ~UINT64_C(0);
    return end - first < 64 ? from & ((UINT64_C(1) << (end - first)) - 1) : from;
}

/* How many of the segments that the pin would cover are not covered yet? At least one is counted: where there is no
 * room, what is covered already is copied, too; see quota.h. */
static uint32_t uncovered(const larder_pool *pool, enum larder_quota quota, uint32_t segment, uint32_t run)
{
    uint32_t count = 0;
    for (uint32_t word = segment / 64; word * 64 < segment + run; word++) {
        uint64_t covered = atomic_load_explicit(&pool->covered[quota][word], memory_order_relaxed);
        count += (uint32_t)__builtin_popcountll(bits_of(word, segment, run) & ~covered);
    }
    return count == 0 ? 1 : count;
}

static void cover(larder_pool *pool, enum larder_quota quota, uint32_t segment, uint32_t run)
{
    uint32_t added = 0;
    for (uint32_t word = segment / 64; word * 64 < segment + run; word++) {
        uint64_t bits = bits_of(word, segment, run);
        /* Only if it changes: other readers look at this line. */
        if ((atomic_load_explicit(&pool->covered[quota][word], memory_order_relaxed) & bits) != bits) {
            uint64_t before = atomic_fetch_or_explicit(&pool->covered[quota][word], bits, memory_order_relaxed);
            added += (uint32_t)__builtin_popcountll(bits & ~before);
        }
    }
    if (added > 0) {
        atomic_fetch_add_explicit(&pool->header->covered[quota], added, memory_order_relaxed);
    }
}

/* ---- the survey ---------------------------------------------------------------------------------------- */

static bool may_be_long(const larder_slot *slot, uint64_t since, uint64_t now)
{
    return atomic_load_explicit(&slot->quick, memory_order_relaxed) == 0 || (since != 0 && now - since > LONG_MS);
}

/* Since when its owner keeps pins; 0: it keeps none. */
static uint64_t kept_since(const larder_slot *slot)
{
    return atomic_load_explicit(&slot->pinned, memory_order_relaxed) == 0
               ? 0
               : atomic_load_explicit(&slot->pinned_since, memory_order_relaxed);
}

/* Once a second, by one process for all: drops the pins of the dead, and finds out whether one process is alone. */
static void bury_the_dead(larder_pool *pool, uint64_t now)
{
    uint64_t last = atomic_load_explicit(&pool->header->buried_at, memory_order_relaxed);
    if (now - last < BURY_MS || !atomic_compare_exchange_strong_explicit(&pool->header->buried_at, &last, now,
                                                                         memory_order_relaxed, memory_order_relaxed)) {
        return;
    }
    uint32_t living = 0;
    for (uint32_t i = 0; i < larder_slots_used(pool); i++) {
        if (living < 2 || kept_since(&pool->slots[i]) != 0) {
            living += larder_slot_seems_alive(pool, i);
        }
    }
    atomic_store_explicit(&pool->header->lonely, living < 2, memory_order_relaxed);
}

/* A piece of all rows. */
typedef struct piece {
    uint32_t from, words;
    uint64_t covered[LARDER_QUOTAS][WORDS_AT_ONCE]; /* before */
    uint64_t kept[LARDER_QUOTAS][WORDS_AT_ONCE];
} piece;

static piece gather(const larder_pool *pool, uint32_t from, uint64_t now)
{
    uint32_t rest = pool->geometry.pin_words - from;
    piece p = {.from = from, .words = rest < WORDS_AT_ONCE ? rest : WORDS_AT_ONCE};
    for (uint32_t word = 0; word < p.words; word++) {
        for (uint32_t quota = 0; quota < LARDER_QUOTAS; quota++) {
            p.covered[quota][word] = atomic_load_explicit(&pool->covered[quota][from + word], memory_order_relaxed);
        }
    }
    for (uint32_t i = 0; i < larder_slots_used(pool); i++) {
        uint64_t since = kept_since(&pool->slots[i]);
        if (since == 0) {
            continue;
        }
        const _Atomic uint64_t *row = pool->kept + (size_t)i * pool->geometry.pin_words + from;
        uint64_t is_long = may_be_long(&pool->slots[i], since, now) ? ~UINT64_C(0) : 0;
        for (uint32_t word = 0; word < p.words; word++) {
            uint64_t kept = atomic_load_explicit(&row[word], memory_order_relaxed);
            p.kept[LARDER_QUOTA_OF_ALL][word] |= kept;
            p.kept[LARDER_QUOTA_OF_LONG][word] |= kept & is_long;
        }
    }
    return p;
}

/* Of a word that another process changes in this moment all bits are left. How many are there? */
static uint32_t renew(_Atomic uint64_t *word, uint64_t before, uint64_t kept)
{
    if (before != kept &&
        !atomic_compare_exchange_strong_explicit(word, &before, kept, memory_order_relaxed, memory_order_relaxed)) {
        kept = before;
    }
    return (uint32_t)__builtin_popcountll(kept);
}

static void survey(larder_pool *pool, uint64_t now)
{
    uint32_t count[LARDER_QUOTAS] = {0};
    bury_the_dead(pool, now);
    for (uint32_t from = 0; from < pool->geometry.pin_words; from += WORDS_AT_ONCE) {
        const piece p = gather(pool, from, now);
        for (uint32_t quota = 0; quota < LARDER_QUOTAS; quota++) {
            for (uint32_t word = 0; word < p.words; word++) {
                count[quota] += renew(&pool->covered[quota][from + word], p.covered[quota][word], p.kept[quota][word]);
            }
        }
    }
    for (uint32_t quota = 0; quota < LARDER_QUOTAS; quota++) {
        atomic_store_explicit(&pool->header->covered[quota], count[quota], memory_order_relaxed);
    }
}

/* Surveys if the last time is so long ago, and where there are many words longer. False: another process does, or did.
 */
static bool survey_after(larder_pool *pool, uint64_t now, uint64_t interval)
{
    _Atomic uint64_t *at = &pool->header->surveyed_at;
    uint64_t last = atomic_load_explicit(at, memory_order_relaxed);
    interval += (uint64_t)larder_slots_used(pool) * pool->geometry.pin_words / WORDS_PER_MS;
    if (now - last < interval ||
        !atomic_compare_exchange_strong_explicit(at, &last, now, memory_order_relaxed, memory_order_relaxed)) {
        return false;
    }
    survey(pool, now);
    return true;
}

void larder_quota_survey(larder_pool *pool)
{
    survey(pool, larder_pool_now(pool));
}

/* ---- taking and giving back ---------------------------------------------------------------------------- */

void larder_quota_begin(larder_pool *pool)
{
    const larder_geometry *g = &pool->geometry;
    pool->kept = pool->pins + (size_t)g->slot_count * g->pin_words;
    for (uint32_t quota = 0; quota < LARDER_QUOTAS; quota++) {
        pool->covered[quota] = pool->kept + (size_t)(g->slot_count + quota) * g->pin_words;
    }
    pool->attached.most_short = g->segment_count / 8 * 3;
    pool->attached.most_long = g->segment_count / 16;
    pool->attached.most_alone = g->segment_count / 4;
}

static bool fits(const larder_pool *pool, uint32_t segment, uint32_t run, bool is_long)
{
    uint32_t all = atomic_load_explicit(&pool->header->covered[LARDER_QUOTA_OF_ALL], memory_order_relaxed);
    uint32_t of_long = atomic_load_explicit(&pool->header->covered[LARDER_QUOTA_OF_LONG], memory_order_relaxed);
    uint32_t more = uncovered(pool, LARDER_QUOTA_OF_ALL, segment, run);
    if (all + more > pool->attached.most_short + pool->attached.most_alone) {
        return false;
    }
    if (!is_long) {
        return all + more <= pool->attached.most_short + of_long;
    }
    return atomic_load_explicit(&pool->header->lonely, memory_order_relaxed) != 0 ||
           of_long + uncovered(pool, LARDER_QUOTA_OF_LONG, segment, run) <= pool->attached.most_long;
}

static bool may_take(larder_pool *pool, uint32_t segment, uint32_t run, bool is_long, uint64_t now)
{
    if (pool->request.kept_count + run > (is_long ? pool->attached.most_alone : pool->attached.most_short)) {
        return false;
    }
    if (is_long) {
        survey_after(pool, now, LONG_MS); /* since then other requests have become long */
    }
    return fits(pool, segment, run, is_long) ||
           (survey_after(pool, now, SURVEY_MS) && fits(pool, segment, run, is_long));
}

bool larder_quota_take(larder_pool *pool, uint32_t segment)
{
    if (!pool->zero_copy) {
        return false;
    }
    uint32_t run = larder_run_of(pool, segment); /* stays as long as the segment is pinned */
    uint64_t now = larder_pool_now(pool);
    bool is_long = may_be_long(pool->slot, atomic_load_explicit(&pool->slot->pinned_since, memory_order_relaxed), now);
    if (!may_take(pool, segment, run, is_long, now)) {
        pool->request.copied = true;
        return false;
    }
    larder_pin_keep(pool);
    pool->request.kept_count += run;
    for (uint32_t word = segment / 64; word * 64 < segment + run; word++) {
        uint64_t kept = atomic_load_explicit(&pool->attached.own_kept[word], memory_order_relaxed);
        atomic_store_explicit(&pool->attached.own_kept[word], kept | bits_of(word, segment, run), memory_order_relaxed);
    }
    cover(pool, LARDER_QUOTA_OF_ALL, segment, run);
    if (is_long) {
        cover(pool, LARDER_QUOTA_OF_LONG, segment, run);
    }
    return true;
}

/* Whole words: nothing is kept any more. */
static void drop_kept(larder_pool *pool)
{
    for (uint32_t i = 0; i < pool->request.pinned_count; i++) {
        uint32_t segment = pool->request.pinned_list[i], end = segment + larder_run_of(pool, segment);
        for (uint32_t word = segment / 64; word * 64 < end; word++) {
            atomic_store_explicit(&pool->attached.own_kept[word], 0, memory_order_relaxed);
        }
    }
}

void larder_quota_end(larder_pool *pool)
{
    uint64_t since = atomic_load_explicit(&pool->slot->pinned_since, memory_order_relaxed), now = larder_pool_now(pool);
    uint32_t quick = since == 0 || now - since <= LONG_MS;
    drop_kept(pool);
    larder_pins_drop(pool);
    if (atomic_load_explicit(&pool->slot->quick, memory_order_relaxed) != quick) {
        atomic_store_explicit(&pool->slot->quick, quick, memory_order_relaxed);
    }
    if (pool->request.copied) { /* the room that it has kept may be the room that others lacked */
        pool->request.copied = false;
        survey_after(pool, now, 0);
    }
}
