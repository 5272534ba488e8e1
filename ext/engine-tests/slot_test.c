/* The places of processes: taken by a lock that the kernel drops, and nothing else. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/slot.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

TEST(all_taken, "when all places are taken the next process is told so, and a place given back is taken again")
{
    larder_pool *pools[128];
    for (int i = 0; i < 128; i++) {
        pools[i] = pool_open("p", 4 * MIB);
        EQUAL(pools[i]->writer.slot_index, i);
    }
    const larder_pool_config config = pool_config("p", 4 * MIB);
    const char *message = pool_refusal(&config);
    CONTAINS(message, "All 128 places");
    CONTAINS(message, "larger");
    uint32_t incarnation = pools[77]->writer.incarnation;
    larder_pool_close(pools[77]);
    pools[77] = pool_open("p", 4 * MIB);
    EQUAL(pools[77]->writer.slot_index, 77);
    EQUAL(pools[77]->writer.incarnation, incarnation + 1);
    for (int i = 0; i < 128; i++) {
        larder_pool_close(pools[i]);
    }
}

typedef struct holder {
    gate g;
    uint32_t slot;
} holder;

static void hold_a_place(void *context)
{
    holder *h = context;
    larder_pool *pool = pool_open("p", 4 * MIB);
    put_text(pool, "k", "v");
    CHECK(holds_text(pool, "k", "v"));
    h->slot = pool->writer.slot_index;
    gate_open(&h->g, 1);
    pause();
}

TEST(dead_reused, "a killed process's place is reused, and what it counted is kept")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (int i = 0; i < 20; i++) {
        holder *h = shared_memory(sizeof *h);
        pid_t pid = child_start(hold_a_place, h);
        gate_wait(&h->g, 1);
        COMPARE(h->slot, <=, 2); /* 1 is the one it has as our child */
        CHECK(!larder_slot_bury(pool, h->slot));
        kill(pid, SIGKILL);
        child_wait(pid);
        CHECK(larder_slot_bury(pool, h->slot));
    }
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.counters[LARDER_SETS], 20);
    EQUAL(stats.counters[LARDER_HITS], 20);
    EQUAL(stats.processes, 1);
    larder_pool_close(pool);
}

TEST(stopped_alive, "a stopped process is alive: its place is not taken from it")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    holder *h = shared_memory(sizeof *h);
    pid_t pid = child_start(hold_a_place, h);
    gate_wait(&h->g, 1);
    kill(pid, SIGSTOP);
    usleep(20000);
    CHECK(!larder_slot_bury(pool, h->slot));
    larder_pool *third = pool_open("p", 4 * MIB);
    CHECK(third->writer.slot_index != h->slot);
    larder_pool_close(third);
    kill(pid, SIGKILL);
    child_wait(pid);
    larder_pool_close(pool);
}

TEST(other_descriptors, "closing another descriptor of the pool file does not give up the place")
{
    larder_pool *pool = pool_open("p", 4 * MIB), *other = pool_open("p", 4 * MIB);
    int fd = open(pool_path_of("p"), O_RDWR);
    close(fd);
    CHECK(!larder_slot_bury(other, pool->writer.slot_index));
    larder_pool_close(other);
    other = pool_open("p", 4 * MIB);
    CHECK(!larder_slot_bury(other, pool->writer.slot_index));
    EQUAL(other->writer.slot_index, 1);
    larder_pool_close(other);
    larder_pool_close(pool);
}

static void hand_on_to_a_program(void *context)
{
    holder *h = context;
    larder_pool *pool = pool_open("p", 4 * MIB);
    h->slot = pool->writer.slot_index;
    int pipes[2];
    char byte;
    REQUIRE(pipe2(pipes, O_CLOEXEC) == 0);
    if (fork() == 0) {
        execlp("sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    close(pipes[1]);
    EQUAL(read(pipes[0], &byte, 1), 0); /* the program has started */
    gate_open(&h->g, 1);
    pause();
}

TEST(programs, "a program that a process started does not keep its place when it dies")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    holder *h = shared_memory(sizeof *h);
    pid_t pid = child_start(hand_on_to_a_program, h);
    gate_wait(&h->g, 1);
    kill(pid, SIGKILL);
    child_wait(pid);
    CHECK(larder_slot_bury(pool, h->slot));
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.processes, 1); /* nor the place that it had itself before it became a program */
    larder_pool_close(pool);
}

TEST(old_pins, "a process that takes a dead one's place does not inherit its pins")
{
    larder_pool *pool = pool_open("p", 4 * MIB), *second = pool_open("p", 4 * MIB);
    uint32_t slot = second->writer.slot_index;
    larder_pool_close(second);
    atomic_store(&pool->pins[(size_t)slot * pool->geometry.pin_words], UINT64_MAX); /* as a killed one leaves them */
    second = pool_open("p", 4 * MIB);
    EQUAL(second->writer.slot_index, slot);
    EQUAL(second->attached.own_pins[0], 0);
    larder_pool_close(second);
    larder_pool_close(pool);
}
