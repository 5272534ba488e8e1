/* Segments: the lock and its owners, and who reserves there without it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "fixture.h"

#include "engine/lock.h"
#include "engine/token.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

typedef struct owner {
    gate g;
    larder_pool *pool;
} owner;

static void hold_the_lock(void *context)
{
    owner *o = context;
    REQUIRE(larder_lock(o->pool));
    gate_open(&o->g, 1);
    pause();
}

TEST(written_over, "keys that are written over and over again, in whatever order, take a small part of the pool")
{
    larder_pool_config config = pool_config("p", 16 * MIB);
    larder_pool *pool = pool_open_as(&config);
    uint32_t used = 0;
    uint64_t order = 1;
    for (uint64_t bytes = 0; bytes < 2 * config.size; bytes += 1000) {
        order = order * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        EQUAL(put_block(pool, (order >> 33) % 100, 1000), LARDER_OK);
    }
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        used += pool->segments[i].sequence != 0;
    }
    COMPARE(used, <, 32);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(stopped_owner,
     "while a stopped process holds the segment lock, reads, deletes, clears, counts and small stores go on")
{
    owner *o = shared_memory(sizeof *o);
    o->pool = pool_that(true);
    const larder_key key = key_of("k");
    int64_t count;
    put_text(o->pool, "k", "v");
    larder_increment(o->pool, &(larder_key){"c", 1, larder_hash("c", 1)}, 1, 0, LARDER_NO_EXPIRY, &count);
    pid_t pid = child_start(hold_the_lock, o);
    gate_wait(&o->g, 1);
    kill(pid, SIGSTOP);
    CHECK(holds_text(o->pool, "k", "v"));
    CHECK(larder_delete(o->pool, &key));
    EQUAL(put_text(o->pool, "k", "w"), LARDER_OK); /* there is room in the open segment */
    EQUAL(larder_increment(o->pool, &(larder_key){"c", 1, larder_hash("c", 1)}, 1, 0, LARDER_NO_EXPIRY, &count),
          LARDER_COUNTED);
    EQUAL(count, 2);
    EQUAL(put_block(o->pool, 1, 300000), LARDER_BUSY); /* refused, and not waited for */
    larder_clear(o->pool);
    CHECK(!holds_text(o->pool, "k", "w"));
    larder_stats stats;
    larder_stats_read(o->pool, &stats);
    EQUAL(stats.counters[LARDER_REFUSED_BUSY], 1);
    kill(pid, SIGCONT);
    kill(pid, SIGKILL);
    child_wait(pid);
    EQUAL(put_block(o->pool, 1, 300000), LARDER_OK);
    CHECK_POOL(o->pool);
    larder_pool_close(o->pool);
}

TEST(other_queue,
     "while the segment lock cannot be had, a store goes to the other queue's open segment, if it has room")
{
    larder_pool *pool = pool_that(true), *other = pool_that(true);
    larder_reserved reserved;
    for (uint32_t queue = 0; queue < LARDER_QUEUES; queue++) {
        EQUAL(larder_reserve(pool, (enum larder_list)queue, 64, &reserved), LARDER_OK); /* opens it */
        larder_reserved_drop(pool, &reserved);
    }
    REQUIRE(larder_lock(other));
    size_t stored = 0;
    while (larder_reserve(pool, LARDER_SMALL, 4096, &reserved) == LARDER_OK) {
        larder_reserved_drop(pool, &reserved);
        stored++;
    }
    EQUAL(stored, 2 * (larder_segment_bytes(pool) / 4096 - 1));
    EQUAL(larder_reserve(pool, LARDER_SMALL, 4096, &reserved), LARDER_BUSY);
    larder_unlock(other);
    EQUAL(larder_reserve(pool, LARDER_SMALL, 4096, &reserved), LARDER_OK);
    EQUAL(pool->segments[reserved.segment].queue, LARDER_SMALL);
    larder_reserved_drop(pool, &reserved);
    larder_pool_close(other);
    larder_pool_close(pool);
}

TEST(lock_turns, "a process that held the segment lock for too long once is waited for again when it holds it again")
{
    larder_pool *pool = pool_that(true), *other = pool_that(true);
    REQUIRE(larder_lock(other));
    uint64_t first = pool->header->lock;
    CHECK(!larder_lock(pool));
    EQUAL(pool->writer.stuck_owner, first); /* it was waited for */
    larder_unlock(other);
    REQUIRE(larder_lock(other));
    CHECK(pool->header->lock != first);
    CHECK(!larder_lock(pool));
    EQUAL(pool->writer.stuck_owner, pool->header->lock);
    larder_unlock(other);
    CHECK(larder_lock(pool));
    larder_unlock(pool);
    larder_pool_close(other);
    larder_pool_close(pool);
}

static uint64_t monotonic_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

TEST(lock_respite,
     "stores that are refused because the segment lock's owner is away leave the processor to it meanwhile")
{
    enum { REFUSED = 20 };
    larder_pool *pool = pool_that(true), *other = pool_that(true);
    REQUIRE(larder_lock(other));
    CHECK(!larder_lock(pool)); /* after the whole wait */
    uint64_t begin = monotonic_us();
    for (int i = 0; i < REFUSED; i++) {
        CHECK(!larder_lock(pool));
    }
    COMPARE(monotonic_us() - begin, >=, REFUSED * 1000); /* a millisecond each */
    larder_unlock(other);
    larder_pool_close(other);
    larder_pool_close(pool);
}

static larder_pool *stuck, *next;
static volatile sig_atomic_t went_on;

/* It interrupts a wait for the lock, which none of the two pools that it touches takes part in. */
static void go_on(int signal)
{
    (void)signal;
    larder_unlock(stuck); /* NOLINT(bugprone-signal-handler) */
    larder_lock(next);    /* NOLINT(bugprone-signal-handler) */
    went_on = 1;
}

/* How long it took to be refused, in microseconds, when the lock's owner that had been waited for in vain went on in
 * the first millisecond, and another one took its turn. */
static uint64_t refused_after_it_went_on(larder_pool *pool, timer_t timer)
{
    const struct itimerspec soon = {.it_value.tv_nsec = 300000}, never = {.it_value.tv_nsec = 0};
    went_on = 0;
    CHECK(larder_lock(stuck));
    CHECK(!larder_lock(pool));
    uint64_t begin = monotonic_us();
    timer_settime(timer, 0, &soon, NULL);
    CHECK(!larder_lock(pool));
    uint64_t took = monotonic_us() - begin;
    while (went_on == 0) {
        usleep(100);
    }
    timer_settime(timer, 0, &never, NULL);
    bool seen = pool->writer.stuck_owner == pool->header->lock; /* or where processors are rare, it went on after all */
    larder_unlock(next);
    return seen ? took : 0;
}

TEST(lock_passed_on, "a store that waited for the segment lock's stuck owner waits as long for the next")
{
    larder_pool *pool = pool_that(true);
    stuck = pool_that(true);
    next = pool_that(true);
    timer_t timer = NULL;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    REQUIRE(signal(SIGUSR1, go_on) != SIG_ERR && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    uint64_t took = 0;
    while (took == 0) {
        took = refused_after_it_went_on(pool, timer);
    }
    COMPARE(took, >=, 70000);
    timer_delete(timer);
    larder_pool_close(next);
    larder_pool_close(stuck);
    larder_pool_close(pool);
}

TEST(crafted_lock, "a lock word of an earlier holder of a place, or of no place at all, does not block")
{
    larder_pool *pool = pool_that(true), *other = pool_that(true);
    const uint64_t words[] = {(uint64_t)other->writer.incarnation << 32 | 9, /* a place no process holds */
                              (uint64_t)(other->writer.incarnation - 1) << 32 | (other->writer.slot_index + 1),
                              UINT64_MAX, 1000};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        atomic_store(&pool->header->lock, words[i]);
        EQUAL(put_block(pool, i, 300000), LARDER_OK);
        EQUAL(pool->header->lock, 0);
        CHECK_POOL(pool);
    }
    atomic_store(&pool->header->lock, (uint64_t)other->writer.incarnation << 32 | (other->writer.slot_index + 1));
    EQUAL(put_block(pool, 1, 300000), LARDER_BUSY); /* of a living one */
    atomic_store(&pool->header->lock, 0);
    larder_pool_close(other);
    larder_pool_close(pool);
}

static void die_with_lists_in_disorder(void *context)
{
    owner *o = context;
    larder_pool *pool = o->pool;
    REQUIRE(larder_lock(pool));
    uint32_t first = pool->header->lists[LARDER_LIST_FREE].first;
    larder_list_remove(pool, first);              /* in no list */
    pool->header->lists[LARDER_SMALL].count += 3; /* a wrong count */
    pool->segments[pool->header->lists[LARDER_SMALL].first].next = 7;
    pool->header->lists[LARDER_MAIN].first = 3;
    pool->header->victim = 5;
    raise(SIGKILL);
}

TEST(dead_owner, "a process that takes the lock from a dead one finds the lists in disorder and puts them in order")
{
    owner *o = shared_memory(sizeof *o);
    o->pool = pool_that(true);
    for (uint64_t i = 0; i < 300; i++) {
        put_block(o->pool, i, 5000);
    }
    EQUAL(child_wait(child_start(die_with_lists_in_disorder, o)), 256 + SIGKILL);
    CHECK_POOL(o->pool);
    unsigned alive = 0;
    for (uint64_t i = 0; i < 300; i++) {
        alive += has_block(o->pool, i);
        larder_pool_leave(o->pool);
    }
    EQUAL(alive, 300);
    for (uint64_t i = 0; i < 3000; i++) {
        EQUAL(put_block(o->pool, 1000 + i, 5000), LARDER_OK);
    }
    CHECK_POOL(o->pool);
    larder_pool_close(o->pool);
}

/* ---- reserving ------------------------------------------------------------------------------------------- */

TEST(slow_writer, "a writer that stops between reserving and publishing never writes into a segment's next generation")
{
    larder_pool *writer = pool_that(true), *other = pool_that(true);
    const larder_key key = key_of("slow");
    larder_place place = larder_place_of(writer, key.hash);
    larder_reserved reserved;
    EQUAL(larder_reserve(writer, LARDER_SMALL, 64, &reserved), LARDER_OK);
    put_text(other, "bystander", "v");
    REQUIRE(larder_lock(other));
    larder_seal_segment(other, reserved.segment);
    larder_empty_segment(other, reserved.segment);
    larder_unlock(other);
    for (uint64_t i = 0; i < 4000; i++) {
        put_block(other, i, 3000);
    }
    EQUAL(other->segments[reserved.segment].state, LARDER_LIMBO); /* it was not handed out */
    memset(reserved.item, 0, sizeof *reserved.item);
    reserved.item->units = 8;
    reserved.item->key_length = 4;
    reserved.item->expiry = LARDER_NO_EXPIRY;
    memcpy((char *)reserved.item + sizeof *reserved.item, "slow", 4);
    larder_order order = {.moved = true, .token = LARDER_NO_TOKEN};
    uint64_t before;
    reserved.item->version = order.tick = larder_begin_write(writer, &place, &before);
    EQUAL(larder_publish(writer, &place, &key, &reserved, LARDER_SET, 0, &order),
          LARDER_LOST); /* it moved on, and says so */
    larder_reserved_drop(writer, &reserved);
    CHECK(!larder_exists(other, &key));
    for (uint64_t i = 0; i < 4000; i++) {
        put_block(other, i, 3000);
    }
    CHECK_POOL(other);
    larder_pool_close(other);
    larder_pool_close(writer);
}
