/* What a second process gains at most where both read and write the same
 * values: two processes that share nothing but 1,000 pointers, a cache line
 * each, and values of 1 KiB. There are no keys, no clock, no lock and no second
 * look.
 *
 *     make -C ext/engine-tests sharing
 *
 * The rest of a read is a chain of multiplications, as long as that of the
 * extension's. Each process writes its values one behind the other into a ring
 * of its own. Says how long a line takes from one processor to the other, and
 * for each share of writes what two processes do over what one does.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define VALUES    1000u
#define BYTES     1088u
#define RING      (1u << 20)
#define CHAIN     130u /* multiplications of three cycles */
#define ROUNDS    20
#define ROUND_NS  40000000u
#define CROSSINGS 100000

typedef struct line {
    alignas(64) _Atomic uint64_t word;
} line;

typedef struct shared {
    line value[VALUES]; /* where it lies in the rings */
    line done[2];
    line ball;
    unsigned char ring[2][RING];
} shared;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void stay_on(uint32_t processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* The ball's word says whose turn it is. */
static void catch_and_throw(shared *all, uint64_t own)
{
    stay_on((uint32_t)own);
    for (uint64_t turn = own; turn < CROSSINGS; turn += 2) {
        while (atomic_load(&all->ball.word) != turn) {
        }
        atomic_store(&all->ball.word, turn + 1);
    }
    _exit(0);
}

static double crossing(shared *all)
{
    uint64_t begin = now();
    for (uint64_t i = 0; i < 2; i++) {
        if (fork() == 0) {
            catch_and_throw(all, i);
        }
    }
    while (wait(NULL) > 0) {
    }
    return (double)(now() - begin) / CROSSINGS;
}

static void write_value(shared *all, uint32_t process, uint32_t value, uint32_t *at, const unsigned char *from)
{
    *at = *at + 2 * BYTES > RING ? 0 : *at + BYTES;
    memcpy(all->ring[process] + *at, from, BYTES);
    atomic_exchange(&all->value[value].word, (uint64_t)process * RING + *at);
}

static void work(shared *all, uint32_t process, uint64_t begin, uint32_t writes)
{
    unsigned char copy[BYTES] = {0};
    uint64_t seed = UINT64_C(88172645463325252) + process, chain = 1, done = 0;
    uint32_t at = 0;
    stay_on(process);
    while (now() < begin) {
    }
    for (; done % 256 != 0 || now() < begin + ROUND_NS; done++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t value = (uint32_t)(seed >> 33) % VALUES;
        if (done % 100 < writes * 5 && done % 5 == 0) {
            write_value(all, process, value, &at, copy);
        } else {
            memcpy(copy, &all->ring[0][atomic_load_explicit(&all->value[value].word, memory_order_acquire)], BYTES);
        }
        for (uint32_t i = 0; i < CHAIN; i++) {
            chain = chain * 3 + copy[i];
            __asm__ volatile("" : "+r"(chain));
        }
    }
    atomic_store(&all->done[process].word, done);
}

static double rate(shared *all, uint32_t processes, uint32_t writes)
{
    uint64_t begin = now() + 2000000, done = 0;
    for (uint32_t i = 0; i < processes; i++) {
        if (fork() == 0) {
            work(all, i, begin, writes);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    for (uint32_t i = 0; i < processes; i++) {
        done += atomic_load(&all->done[i].word);
    }
    return (double)done / ROUND_NS * 1e9;
}

int main(void)
{
    static const uint32_t writes[] = {0, 5};
    shared *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        perror("the memory to share cannot be mapped");
        return EXIT_FAILURE;
    }
    memset(all->ring, 1, sizeof all->ring);
    printf("a line takes %.0f ns from one processor to the other\n", crossing(all));
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        double one = 0, two = 0;
        for (int round = 0; round < ROUNDS; round++) {
            one += rate(all, 1, writes[i]) / ROUNDS;
            two += rate(all, 2, writes[i]) / ROUNDS;
        }
        printf("%u %% writes: one process takes %.1f ns, each of two %.1f ns, and "
               "they gain %.3f\n",
               writes[i], 1e9 / one, 2e9 / two, two / one);
    }
    return EXIT_SUCCESS;
}
