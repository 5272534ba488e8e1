#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "lease.h"
#include "enter.h"
#include "larder.h"
#include "slot.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TAG_SHIFT 48
#define END_SHIFT 21
#define HOLDER    0x1fffffu  /* incarnation and slot */
#define NO_HOLDER HOLDER     /* a slot that there is not: geometry.c */
#define TENTHS    0x7ffffffu /* 155 days */
#define LOOK_MS   20u        /* how often a waiter looks whether the holder lives */
#define HELD_AT_ONCE                                                                                                   \
    (sizeof((larder_pool *)NULL)->request.leases_held / sizeof((larder_pool *)NULL)->request.leases_held[0])

/* By the key's name: of two keys that have the same hash, neither waits for the other. */
static uint64_t mixed_of(const larder_pool *pool, const larder_key *key)
{
    return larder_mix(pool, larder_name_of(key));
}

static larder_lease *lease_of(const larder_pool *pool, const larder_key *key)
{
    uint64_t mixed = mixed_of(pool, key) * UINT64_C(0xe7037ed1a0b428db);
    return pool->leases + ((mixed >> 32) * pool->geometry.lease_count >> 32);
}

static uint64_t tag_of(const larder_pool *pool, const larder_key *key)
{
    return mixed_of(pool, key) >> TAG_SHIFT;
}

static uint64_t holder(const larder_pool *pool)
{
    return (uint64_t)(pool->writer.incarnation & 0xff) << LARDER_LOCK_SLOT_BITS | (pool->writer.slot_index + 1);
}

static uint64_t word_of(const larder_pool *pool, const larder_key *key, uint32_t milliseconds, uint64_t whose)
{
    uint64_t end = (larder_pool_now(pool) + milliseconds + 99) / 100;
    return tag_of(pool, key) << TAG_SHIFT | (end & TENTHS) << END_SHIFT | whose;
}

static bool is_ours(const larder_pool *pool, uint64_t word)
{
    return (word & HOLDER) == holder(pool);
}

/* Its holder is dead, or has had it for too long. model/lease.pml: has_ended() */
static bool has_ended(larder_pool *pool, uint64_t word)
{
    uint32_t slot = (uint32_t)(word & ((1u << LARDER_LOCK_SLOT_BITS) - 1)) - 1;
    uint64_t left = ((word >> END_SHIFT) - larder_pool_now(pool) / 100) & TENTHS;
    /* No lease lasts that long: it has ended. */
    if (word == 0 || left == 0 || left > LARDER_LEASE_MOST_S * 10 + 1) {
        return true;
    }
    if (slot >= pool->geometry.slot_count) {
        return (word & HOLDER) != NO_HOLDER;
    }
    /* acquire: as for pending words. */
    return (atomic_load_explicit(&pool->slots[slot].incarnation, memory_order_acquire) & 0xff) !=
               (word >> LARDER_LOCK_SLOT_BITS & 0xff) ||
           (!is_ours(pool, word) && larder_slot_bury(pool, slot));
}

static void remember_held(larder_pool *pool, larder_lease *lease)
{
    for (size_t i = 0; i < HELD_AT_ONCE; i++) {
        larder_lease *held = pool->request.leases_held[i];
        /* relaxed: no other process makes it ours. */
        uint64_t word = held == NULL ? 0 : atomic_load_explicit(&held->word, memory_order_relaxed);
        if (held == lease || !is_ours(pool, word) || has_ended(pool, word)) {
            pool->request.leases_held[i] = lease;
            return;
        }
    }
    /* Nested deeper than that: it ends with its time. */
}

/* model/lease.pml: take() */
enum larder_lease_result larder_lease_take(larder_pool *pool, const larder_key *key, uint32_t milliseconds)
{
    if (!larder_pool_enter(pool)) {
        return LARDER_LEASE_NOWHERE;
    }
    larder_lease *lease = lease_of(pool, key);
    /* acquire: what the last holder stored is seen by the next. */
    uint64_t seen = atomic_load_explicit(&lease->word, memory_order_acquire);
    if (!has_ended(pool, seen)) {
        return seen >> TAG_SHIFT != tag_of(pool, key) ? LARDER_LEASE_NOWHERE
               : is_ours(pool, seen)                  ? LARDER_LEASE_OURS
                                                      : LARDER_LEASE_HELD;
    }
    LARDER_FAULT(LARDER_AT_LEASE);
    /* acq_rel: as above, and for the next. */
    if (!atomic_compare_exchange_strong_explicit(&lease->word, &seen, word_of(pool, key, milliseconds, holder(pool)),
                                                 memory_order_acq_rel, memory_order_acquire)) {
        return seen >> TAG_SHIFT == tag_of(pool, key) ? LARDER_LEASE_HELD : LARDER_LEASE_NOWHERE;
    }
    /* relaxed: a limit. Those who waited for the last holder and died are not counted for ever. */
    atomic_store_explicit(&lease->waiters, 0, memory_order_relaxed);
    remember_held(pool, lease);
    return LARDER_LEASE_TAKEN;
}

/* The low half of the word, which no free lease has: on it the waiters sleep. */
static uint32_t *futex_of(larder_lease *lease)
{
    return (uint32_t *)(void *)&lease->word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Ends our lease: with a free place, or one without a holder. model/lease.pml: give_back() */
static void give_back(larder_pool *pool, larder_lease *lease, uint64_t next)
{
    uint64_t seen = atomic_load_explicit(&lease->word, memory_order_relaxed);
    LARDER_FAULT(LARDER_AT_RELEASE);
    /* release: the process that takes it next, or waited, sees what was stored under it. */
    if (seen != 0 && is_ours(pool, seen) &&
        atomic_compare_exchange_strong_explicit(&lease->word, &seen, next, memory_order_release,
                                                memory_order_relaxed)) {
        syscall(SYS_futex, futex_of(lease), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}

/* Takes the key's lease off the list of those that this process holds. NULL: it is not there. */
static larder_lease *unlist(larder_pool *pool, const larder_key *key)
{
    if (!larder_pool_enter(pool)) {
        return NULL;
    }
    larder_lease *lease = lease_of(pool, key);
    if (atomic_load_explicit(&lease->word, memory_order_relaxed) >> TAG_SHIFT != tag_of(pool, key)) {
        return NULL; /* another key's is in its place */
    }
    for (size_t i = 0; i < HELD_AT_ONCE; i++) {
        if (pool->request.leases_held[i] == lease) {
            pool->request.leases_held[i] = NULL;
            return lease;
        }
    }
    return NULL;
}

void larder_lease_give_back(larder_pool *pool, const larder_key *key)
{
    larder_lease *lease = unlist(pool, key);
    if (lease != NULL) {
        give_back(pool, lease, 0);
    }
}

/* To the others, a lease whose holder lives until it ends. */
void larder_lease_hold_off(larder_pool *pool, const larder_key *key, uint32_t milliseconds)
{
    larder_lease *lease = unlist(pool, key);
    if (lease != NULL) {
        give_back(pool, lease, word_of(pool, key, milliseconds, NO_HOLDER));
    }
}

void larder_leases_end(larder_pool *pool)
{
    for (size_t i = 0; i < HELD_AT_ONCE; i++) {
        if (pool->request.leases_held[i] != NULL) {
            give_back(pool, pool->request.leases_held[i], 0);
            pool->request.leases_held[i] = NULL;
        }
    }
}

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* model/lease.pml: wait() */
bool larder_lease_wait(larder_pool *pool, const larder_key *key, uint32_t milliseconds)
{
    if (!larder_pool_enter(pool)) {
        return true;
    }
    larder_lease *lease = lease_of(pool, key);
    uint64_t deadline = monotonic_ms() + milliseconds, tag = tag_of(pool, key);
    bool free = false;
    /* relaxed: a limit. */
    uint64_t waiters = atomic_fetch_add_explicit(&lease->waiters, 1, memory_order_relaxed);
    while (!free) {
        uint64_t seen = atomic_load_explicit(&lease->word, memory_order_acquire), now = monotonic_ms();
        /* In a pool that was removed or saved no process gives it back: its holder looks for it in the next one.
         * relaxed: a process that goes on looks at the pool anew. */
        free = seen >> TAG_SHIFT != tag || has_ended(pool, seen) ||
               atomic_load_explicit(&pool->header->dead, memory_order_relaxed) != LARDER_LIVES;
        if (free || now >= deadline || waiters >= LARDER_WAITERS_MAX) {
            break;
        }
        uint64_t rest = deadline - now, nap = rest < LOOK_MS ? rest : LOOK_MS;
        const struct timespec limit = {.tv_sec = 0, .tv_nsec = (long)nap * 1000000};
        syscall(SYS_futex, futex_of(lease), FUTEX_WAIT, (uint32_t)seen, &limit, NULL, 0);
    }
    waiters = atomic_load_explicit(&lease->waiters, memory_order_relaxed);
    while (waiters > 0 && !atomic_compare_exchange_weak_explicit(&lease->waiters, &waiters, waiters - 1,
                                                                 memory_order_relaxed, memory_order_relaxed)) {
    }
    return free;
}
