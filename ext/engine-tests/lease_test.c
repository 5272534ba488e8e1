/* Leases: which process computes, and which waits. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/lease.h"

#include <signal.h>
#include <unistd.h>

typedef struct world {
    gate gate;
    _Atomic uint32_t computed, taken;
} world;

static larder_pool *opened;

static larder_pool *open_afresh(void)
{
    return pool_open("p", 4 * MIB);
}

TEST(one_holder, "of two that want a lease one has it, until it gives it back")
{
    larder_pool *pool = open_afresh(), *other = open_afresh();
    const larder_key key = key_of("k");
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN);
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_OURS);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_HELD);
    larder_lease_give_back(other, &key); /* it is not this process's to give */
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_HELD);
    larder_lease_give_back(pool, &key);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_TAKEN);
    larder_pool_leave(other);
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN);
    larder_pool_close(pool);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_TAKEN);
    larder_pool_close(other);
}

TEST(in_time, "a lease ends with its time, also when the clock of leases has wrapped")
{
    larder_pool *pool = pool_timed(4 * MIB, true), *other = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k");
    for (int i = 0; i < 50; i++) {
        EQUAL(larder_lease_take(pool, &key, 3000), LARDER_LEASE_TAKEN);
        clock_ms += 2900;
        EQUAL(larder_lease_take(other, &key, 3000), LARDER_LEASE_HELD);
        clock_ms += 200;
        EQUAL(larder_lease_take(other, &key, 3000), LARDER_LEASE_TAKEN);
        larder_lease_give_back(pool, &key); /* it has come too late for that */
        EQUAL(larder_lease_take(pool, &key, 3000), LARDER_LEASE_HELD);
        larder_lease_give_back(other, &key);
        clock_ms += 0x7ffffff * UINT64_C(100) / 37;
    }
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(held_off,
     "no process has a lease for as long as its holder said when it gave it back, not even itself, dead or alive")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.now = clock_now;
    larder_pool *pool = pool_open_as(&config), *other = pool_open_as(&config);
    const larder_key key = key_of("k");
    larder_lease_hold_off(pool, &key, 5000); /* it is not this process's */
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_TAKEN);
    larder_lease_give_back(other, &key);
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN);
    larder_lease_hold_off(pool, &key, 5000);
    clock_ms += 4900;
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_HELD);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_HELD);
    CHECK(!larder_lease_wait(other, &key, 1));
    larder_lease_give_back(pool, &key);
    larder_pool_close(pool);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_HELD);
    clock_ms += 300;
    CHECK(larder_lease_wait(other, &key, 60000));
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_TAKEN);
    larder_pool_close(other);
}

TEST(long_kept, "a lease that its holder kept has ended for good, however much later it is wanted")
{
    larder_pool *pool = pool_timed(4 * MIB, true), *other = pool_timed(4 * MIB, true);
    for (int hours = 1; hours < 100; hours++) {
        const larder_key key = key_number((uint64_t)hours);
        EQUAL(larder_lease_take(pool, &key, LARDER_LEASE_MOST_S * 1000), LARDER_LEASE_TAKEN);
        clock_ms += (uint64_t)(hours * hours) * 3600000 + 200;
        EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_TAKEN);
        larder_pool_leave(other);
    }
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(many_kept, "a process that has let many leases run out still gives back what it takes")
{
    larder_pool *pool = pool_timed(4 * MIB, true), *other = pool_timed(4 * MIB, true);
    const larder_key last = key_of("last");
    for (uint64_t i = 0; i < 40; i++) {
        const larder_key key = key_number(i);
        larder_lease_take(pool, &key, 1000);
    }
    clock_ms += 2000;
    EQUAL(larder_lease_take(pool, &last, 1000), LARDER_LEASE_TAKEN);
    larder_lease_give_back(pool, &last);
    EQUAL(larder_lease_take(other, &last, 1000), LARDER_LEASE_TAKEN);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(anothers_place, "giving back a key's lease that one has not does not give back another's in its place")
{
    larder_pool *pool = open_afresh(), *other = open_afresh();
    const larder_key key = key_of("k");
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN);
    larder_key stranger = key_number(0);
    for (uint64_t i = 1; larder_lease_take(other, &stranger, 1000) != LARDER_LEASE_NOWHERE; i++) {
        larder_lease_give_back(other, &stranger);
        stranger = key_number(i);
    }
    EQUAL(larder_lease_take(pool, &stranger, 1000), LARDER_LEASE_NOWHERE);
    larder_lease_give_back(pool, &stranger);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_HELD);
    larder_lease_give_back(pool, &key);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_TAKEN);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(same_hash, "no process waits for the lease of another key, whatever keys PHP has the same hash for")
{
    larder_pool *pool = open_afresh(), *other = open_afresh();
    const larder_key key = key_of("sku:1Q"), stranger = key_of("sku:20");
    EQUAL(key.hash, stranger.hash);
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN);
    CHECK(larder_lease_take(other, &stranger, 1000) != LARDER_LEASE_HELD);
    larder_pool_close(other);
    larder_pool_close(pool);
}

static void take_and_stay(void *context)
{
    world *w = context;
    const larder_key key = key_of("k");
    larder_pool *pool = open_afresh();
    EQUAL(larder_lease_take(pool, &key, 3600000), LARDER_LEASE_TAKEN);
    gate_open(&w->gate, 1);
    for (;;) {
        pause();
    }
}

TEST(dead_holder, "a killed holder's lease is free at once, for one of the waiters")
{
    world *w = shared_memory(sizeof *w);
    pid_t holder = child_start(take_and_stay, w);
    gate_wait(&w->gate, 1);
    larder_pool *pool = open_afresh();
    const larder_key key = key_of("k");
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_HELD);
    CHECK(!larder_lease_wait(pool, &key, 30));
    kill(holder, SIGKILL);
    child_wait(holder);
    CHECK(larder_lease_wait(pool, &key, 60000));
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN);
    larder_pool_close(pool);
}

static bool somebody_waits(const larder_pool *pool)
{
    bool waits = false;
    for (uint64_t i = 0; i < pool->geometry.lease_count; i++) {
        waits |= atomic_load(&pool->leases[i].waiters) > 0;
    }
    return waits;
}

static void wait_for_long(void *context)
{
    const larder_key key = key_of("k");
    larder_pool *pool = open_afresh();
    (void)context;
    CHECK(larder_lease_wait(pool, &key, 300000));
    EQUAL(larder_lease_take(pool, &key, 1000), LARDER_LEASE_TAKEN); /* in the next pool */
    larder_pool_close(pool);
}

TEST(gone_pool, "a waiter for a lease in a pool that is removed goes on")
{
    larder_pool *pool = open_afresh();
    const larder_key key = key_of("k");
    EQUAL(larder_lease_take(pool, &key, 3600000), LARDER_LEASE_TAKEN);
    pid_t waiter = child_start(wait_for_long, NULL);
    while (!somebody_waits(pool)) {
        usleep(1000);
    }
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    EQUAL(child_wait(waiter), 0);
    larder_pool_close(pool);
}

static void compute_once(void *context)
{
    world *w = context;
    const larder_key key = key_of("k");
    larder_pool *pool = open_afresh();
    atomic_fetch_add(&w->taken, 1);
    gate_wait(&w->gate, 1);
    while (!larder_exists(pool, &key)) {
        if (larder_lease_take(pool, &key, 60000) != LARDER_LEASE_TAKEN) {
            larder_lease_wait(pool, &key, 60000);
            continue;
        }
        if (!larder_exists(pool, &key)) {
            atomic_fetch_add(&w->computed, 1);
            usleep(1000);
            put_text(pool, "k", "computed");
        }
        larder_lease_give_back(pool, &key);
    }
    larder_pool_close(pool);
}

TEST(once, "of fifty processes that miss a key at once, one computes it")
{
    enum { PROCESSES = 50 };
    world *w = shared_memory(sizeof *w);
    pid_t children[PROCESSES];
    opened = open_afresh();
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = child_start(compute_once, w);
    }
    while (atomic_load(&w->taken) < PROCESSES) {
        usleep(1000);
    }
    gate_open(&w->gate, 1);
    for (int i = 0; i < PROCESSES; i++) {
        EQUAL(child_wait(children[i]), 0);
    }
    EQUAL(atomic_load(&w->computed), 1);
    larder_pool_close(opened);
}

static void take_at_place(void *context)
{
    const larder_key key = key_of("k");
    (void)context;
    EQUAL(larder_lease_take(opened, &key, 1000), LARDER_LEASE_HELD); /* the parent's, not its own */
    larder_pool_leave(opened);
}

TEST(forked, "a forked child does not hold its parent's leases, and its end does not end them")
{
    opened = open_afresh();
    larder_pool *other = open_afresh();
    const larder_key key = key_of("k");
    EQUAL(larder_lease_take(opened, &key, 100000), LARDER_LEASE_TAKEN);
    child_run(take_at_place, NULL);
    EQUAL(larder_lease_take(other, &key, 1000), LARDER_LEASE_HELD);
    larder_pool_close(other);
    larder_pool_close(opened);
}
