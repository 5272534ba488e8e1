/* A table of 32-bit words in groups of one cache line:
 *
 *     fingerprint (20 bits, never 0) | queue it was evicted from (1) | time of eviction (11)
 *
 * Time is counted in evicted bytes, each queue by its own clock, so that a ghost lives for as long as the pool takes
 * to evict a certain share of itself, however large or small the items are. A full group gives up the ghost that has
 * used up most of its lifetime.
 *
 * A ghost of the small queue lets its key skip that queue. One of the main queue only teaches: a key that comes back
 * very soon after it went says that its queue was too short, and shifts the border between the two a little.
 *
 * Words are written without a lock or order: one that is lost costs a hint.
 */
#include "ghost.h"

#define GROUP              16u
#define TIME_BITS          11u
#define TIME_MASK          ((1u << TIME_BITS) - 1)
#define FROM_MAIN          (1u << TIME_BITS)
#define FINGERPRINT(w)     ((w) >> (TIME_BITS + 1))
#define TIMES_PER_LIFETIME 128u /* of a ghost of the small queue, whose lifetime is 0.9 of the usable bytes */

static uint64_t time_unit(const larder_pool *pool)
{
    return larder_usable_bytes(pool) / 10 * 9 / TIMES_PER_LIFETIME + 1;
}

static uint64_t lifetime(const larder_pool *pool, enum larder_list queue)
{
    return queue == LARDER_SMALL ? larder_usable_bytes(pool) / 10 * 9 : larder_usable_bytes(pool) / 20;
}

static enum larder_list queue_of(uint32_t word)
{
    return (word & FROM_MAIN) != 0 ? LARDER_MAIN : LARDER_SMALL;
}

static uint32_t time_of(larder_pool *pool, enum larder_list queue)
{
    return (uint32_t)(atomic_load_explicit(&pool->header->dropped[queue], memory_order_relaxed) / time_unit(pool)) &
           TIME_MASK;
}

/* Bytes evicted from its queue since the ghost was made. */
static uint64_t age_of(larder_pool *pool, uint32_t word)
{
    return ((time_of(pool, queue_of(word)) - word) & TIME_MASK) * time_unit(pool);
}

static uint32_t group_count(const larder_pool *pool)
{
    return pool->geometry.ghost_count / GROUP;
}

static _Atomic uint32_t *group_of(larder_pool *pool, uint64_t hash, uint32_t *fingerprint)
{
    uint64_t mixed = (hash ^ pool->seed) * UINT64_C(0xff51afd7ed558ccd);
    mixed ^= mixed >> 32;
    *fingerprint = (uint32_t)(mixed >> 44);
    *fingerprint += *fingerprint == 0;
    return pool->ghosts + ((mixed & UINT32_MAX) * group_count(pool) >> 32) * GROUP;
}

/* Clears ghosts that are past their lifetime in the next few groups, fast enough that none sees the time wrap. */
static void sweep(larder_pool *pool)
{
    for (uint32_t left = group_count(pool) / 1024 + 1; left > 0; left--) {
        _Atomic uint32_t *group = pool->ghosts + (size_t)(pool->header->ghost_hand++ % group_count(pool)) * GROUP;
        for (uint32_t i = 0; i < GROUP; i++) {
            uint32_t word = atomic_load_explicit(&group[i], memory_order_relaxed);
            if (word != 0 && age_of(pool, word) >= lifetime(pool, queue_of(word))) {
                atomic_store_explicit(&group[i], 0, memory_order_relaxed);
            }
        }
    }
}

void larder_ghost_add(larder_pool *pool, uint64_t hash, enum larder_list queue, uint64_t bytes)
{
    uint32_t fingerprint, chosen = 0, before = time_of(pool, queue);
    uint64_t most = 0;
    _Atomic uint32_t *group = group_of(pool, hash, &fingerprint);
    atomic_fetch_add_explicit(&pool->header->dropped[queue], bytes, memory_order_relaxed);
    uint32_t now = time_of(pool, queue);
    if (now != before) {
        sweep(pool);
    }
    for (uint32_t i = 0; i < GROUP; i++) {
        uint32_t word = atomic_load_explicit(&group[i], memory_order_relaxed);
        if (word == 0 || FINGERPRINT(word) == fingerprint) {
            chosen = i;
            break;
        }
        /* Its age as a share of its lifetime, in 1,024ths. */
        uint64_t used = age_of(pool, word) / (lifetime(pool, queue_of(word)) / 1024 + 1);
        if (used >= most) {
            most = used;
            chosen = i;
        }
    }
    uint32_t word = fingerprint << (TIME_BITS + 1) | (queue == LARDER_MAIN ? FROM_MAIN : 0) | now;
    atomic_store_explicit(&group[chosen], word, memory_order_relaxed);
}

/* A key came back so soon that a slightly longer queue would have kept it. */
static void regret(larder_pool *pool, enum larder_list queue, uint64_t bytes)
{
    uint64_t usable = larder_usable_bytes(pool), least = usable / 50, most = usable / 2, step = bytes / 2;
    uint64_t target = atomic_load_explicit(&pool->header->small_target, memory_order_relaxed);
    if (queue == LARDER_SMALL) {
        target = target + step > most ? most : target + step;
    } else {
        target = target < least + step ? least : target - step;
    }
    atomic_store_explicit(&pool->header->small_target, target, memory_order_relaxed);
}

bool larder_ghost_take(larder_pool *pool, uint64_t hash, uint64_t bytes)
{
    uint32_t fingerprint;
    _Atomic uint32_t *group = group_of(pool, hash, &fingerprint);
    for (uint32_t i = 0; i < GROUP; i++) {
        uint32_t word = atomic_load_explicit(&group[i], memory_order_relaxed);
        if (word == 0 || FINGERPRINT(word) != fingerprint) {
            continue;
        }
        enum larder_list queue = queue_of(word);
        uint64_t age = age_of(pool, word);
        atomic_store_explicit(&group[i], 0, memory_order_relaxed);
        if (age >= lifetime(pool, queue)) {
            return false;
        }
        if (age < larder_usable_bytes(pool) / 20) {
            regret(pool, queue, bytes);
        }
        return queue == LARDER_SMALL;
    }
    return false;
}
