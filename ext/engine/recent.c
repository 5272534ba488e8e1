#include "recent.h"
#include "bucket.h"

#define FINGERPRINT_SHIFT 48u

static uint64_t fingerprint_of(uint64_t mixed)
{
    uint64_t fingerprint = mixed & 0xffff;
    return fingerprint == 0 ? 1 : fingerprint; /* empty words have none */
}

static void lines_of(const larder_pool *pool, uint64_t mixed, larder_recent *lines[2])
{
    uint64_t other = mixed * UINT64_C(0xd6e8feb86659fd93);
    lines[0] = pool->recent + ((mixed >> 32) * pool->geometry.recent_count >> 32);
    lines[1] = pool->recent + ((other >> 32) * pool->geometry.recent_count >> 32);
}

void larder_recent_lines(const larder_pool *pool, uint64_t tag, larder_recent *lines[2])
{
    lines_of(pool, larder_mix(pool, tag), lines);
}

static uint64_t youngest_word(const larder_recent *line, uint64_t fingerprint)
{
    uint64_t youngest = 0;
    for (uint32_t mask = larder_words_with(line->word, fingerprint); mask != 0; mask &= mask - 1) {
        /* relaxed: the fence behind. It may have changed since; then the floor tells. */
        uint64_t word = atomic_load_explicit(&line->word[__builtin_ctz(mask)], memory_order_relaxed);
        uint64_t tick = word >> FINGERPRINT_SHIFT == fingerprint ? word & LARDER_RECENT_TICK : 0;
        youngest = tick > youngest ? tick : youngest;
    }
    return youngest;
}

/* model/recent.pml: reader() */
uint64_t larder_recent_version(const larder_pool *pool, uint64_t tag)
{
    uint64_t mixed = larder_mix(pool, tag), fingerprint = fingerprint_of(mixed), version = 0;
    larder_recent *lines[2];
    lines_of(pool, mixed, lines);
    for (int i = 0; i < 2; i++) {
        uint64_t tick = youngest_word(lines[i], fingerprint);
        version = tick > version ? tick : version;
    }
    /* E2: a floor is read after the words, and holds what had to go for those that were read. */
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < 2; i++) {
        /* relaxed: the fence before. */
        uint64_t floor = atomic_load_explicit(&lines[i]->floor, memory_order_relaxed);
        version = floor > version ? floor : version;
    }
    return version;
}

/* What an entry finds in its two lines. */
typedef struct places {
    _Atomic uint64_t *same, *empty, *oldest;
    uint64_t same_word, oldest_word;
    _Atomic uint64_t *floor; /* of the oldest one's line */
} places;

static uint32_t look_through(larder_recent *line, uint64_t fingerprint, places *found)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        /* seq_cst: as for all that the clock judges. */
        uint64_t word = atomic_load_explicit(&line->word[i], memory_order_seq_cst);
        if (word == 0) {
            continue;
        }
        taken++;
        if (word >> FINGERPRINT_SHIFT == fingerprint) {
            found->same = &line->word[i];
            found->same_word = word;
        }
        if (found->oldest == NULL || (word & LARDER_RECENT_TICK) < (found->oldest_word & LARDER_RECENT_TICK)) {
            found->oldest = &line->word[i];
            found->oldest_word = word;
            found->floor = &line->floor;
        }
    }
    return taken;
}

static _Atomic uint64_t *empty_word_of(larder_recent *line)
{
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        /* relaxed: the exchange finds out. */
        if (atomic_load_explicit(&line->word[i], memory_order_relaxed) == 0) {
            return &line->word[i];
        }
    }
    return NULL;
}

static places look(larder_recent *const lines[2], uint64_t fingerprint)
{
    places found = {.same = NULL, .empty = NULL, .oldest = NULL, .same_word = 0, .oldest_word = 0, .floor = NULL};
    uint32_t first = look_through(lines[0], fingerprint, &found);
    uint32_t second = look_through(lines[1], fingerprint, &found);
    found.empty = empty_word_of(lines[second < first]);
    return found;
}

/* model/recent.pml: raise_floor() */
static void raise_floor(_Atomic uint64_t *floor, uint64_t tick)
{
    LARDER_FAULT(LARDER_AT_FLOOR);
    larder_raise(floor, tick);
}

/* No floor is ahead of the clock, unless it was damaged; then it is set right. model/recent.pml: raise_floor() */
static void mend(larder_pool *pool, larder_recent *line)
{
    uint64_t floor = atomic_load_explicit(&line->floor, memory_order_seq_cst);
    uint64_t now = larder_now_logical(pool->header);
    if (floor > now) {
        LARDER_FAULT(LARDER_AT_FLOOR);
        atomic_compare_exchange_strong_explicit(&line->floor, &floor, now, memory_order_seq_cst, memory_order_relaxed);
    }
}

/* model/recent.pml: exchange() */
static bool exchange(_Atomic uint64_t *at, uint64_t from, uint64_t to)
{
    LARDER_FAULT(LARDER_AT_RECENT);
    /* seq_cst: the floor was raised before; and the count of invalidations moves afterwards. */
    return atomic_compare_exchange_strong_explicit(at, &from, to, memory_order_seq_cst, memory_order_relaxed);
}

/* One attempt; false: another process changed the word under us. */
static bool enter_once(larder_pool *pool, larder_recent *const lines[2], uint64_t fingerprint, uint64_t tick)
{
    uint64_t word = fingerprint << FINGERPRINT_SHIFT | tick;
    places found = look(lines, fingerprint);
    if (found.same != NULL) {
        uint64_t its = found.same_word & LARDER_RECENT_TICK;
        /* Ahead of the clock it was damaged, and is set right. */
        return (its >= tick && its <= larder_now_logical(pool->header)) || exchange(found.same, found.same_word, word);
    }
    if (found.empty != NULL) {
        return exchange(found.empty, 0, word);
    }
    if ((found.oldest_word & LARDER_RECENT_TICK) >= tick) {
        raise_floor(found.floor, tick); /* we are late, and the oldest: forgotten at once */
        return true;
    }
    raise_floor(found.floor, found.oldest_word & LARDER_RECENT_TICK); /* E1 */
    return exchange(found.oldest, found.oldest_word, word);
}

/* model/recent.pml: invalidator() */
void larder_recent_enter(larder_pool *pool, uint64_t tag, uint64_t tick)
{
    uint64_t mixed = larder_mix(pool, tag);
    larder_recent *lines[2];
    lines_of(pool, mixed, lines);
    mend(pool, lines[0]);
    mend(pool, lines[1]);
    if (tick > LARDER_RECENT_TICK) {
        raise_floor(&lines[0]->floor, tick);
        return;
    }
    while (!enter_once(pool, lines, fingerprint_of(mixed), tick)) {
    }
}
