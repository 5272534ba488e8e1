/* Threads of one process: each has a handle and a place of its own, and all use one mapping. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "fixture.h"

#include "engine/larder.h"
#include "engine/lease.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 4u

TEST(one_mapping, "all threads of a process use values in place, each under pins of its own")
{
    larder_pool *first = pool_open("p", 4 * MIB), *second = pool_open("p", 4 * MIB);
    CHECK(first->zero_copy && second->zero_copy);
    CHECK(first->ro == second->ro && first->rw == second->rw);
    CHECK(first->writer.slot_index != second->writer.slot_index);
    CHECK(first->attached.own_pins != second->attached.own_pins);
    EQUAL(put_text(second, "k", "v"), LARDER_OK);
    CHECK(holds_text(first, "k", "v"));
    larder_pool_close(first);
    CHECK(holds_text(second, "k", "v"));
    const uint8_t *was_at = second->ro;
    larder_pool_close(second);
    CHECK(msync((void *)(uintptr_t)was_at, 4096, MS_ASYNC) != 0); /* the last one has unmapped it */
}

static bool is_readable(const void *at)
{
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    bool readable = write(pipes[1], at, 1) == 1; /* EFAULT: the kernel may not read it either */
    close(pipes[0]);
    close(pipes[1]);
    return readable;
}

static const void *read_in_place(larder_pool *pool)
{
    larder_hit hit;
    size_t size;
    described what;
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_WHOLE);
    EQUAL(hit.hold, LARDER_HELD);
    return larder_hit_value(pool, &hit, &size);
}

TEST(protected_by_all, "with protect_unpinned what two threads pin can be read until both have left")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.protect_unpinned = true;
    larder_pool *first = pool_open_as(&config), *second = pool_open_as(&config);
    described what = {.key = 1, .block = true};
    EQUAL(put_described(first, key_number(1), &what, 30000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    larder_pool_leave(first);
    const void *value = read_in_place(first);
    CHECK(read_in_place(second) == value);
    larder_pool_leave(first);
    CHECK(is_readable(value));
    larder_pool_leave(second);
    CHECK(!is_readable(value));
    larder_pool_close(first);
    larder_pool_close(second);
}

TEST(comes_home, "a thread that had to map a pool elsewhere uses values in place as soon as another thread can")
{
    larder_pool *maker = pool_open("p", 4 * MIB);
    void *base = (void *)(uintptr_t)maker->geometry.base;
    larder_pool_close(maker);
    void *taken = mmap(base, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(taken == base);
    larder_pool *away = pool_open("p", 4 * MIB), *too = pool_open("p", 4 * MIB);
    CHECK(!away->zero_copy && !too->zero_copy);
    CHECK(away->ro == too->ro);
    munmap(taken, 4096);
    larder_pool *home = pool_open("p", 4 * MIB);
    CHECK(home->zero_copy);
    EQUAL(put_text(away, "k", "v"), LARDER_OK);
    larder_pool_leave(away);
    CHECK(holds_text(away, "k", "v"));
    CHECK(away->zero_copy && away->ro == home->ro);
    larder_pool_close(home);
    larder_pool_close(away);
    CHECK(holds_text(too, "k", "v"));
    larder_pool_close(too);
}

static void replace(void *context)
{
    gate *g = context;
    larder_error error;
    gate_wait(g, 1);
    pool_remove("p", &error);
    larder_pool_close(pool_open("p", 4 * MIB));
}

/* By chance two addresses are the same once in a hundred times. */
TEST(next_door, "a thread uses a new pool in place while another has not noticed that its predecessor is gone")
{
    unsigned in_place = 0;
    for (unsigned round = 0; round < 5; round++) {
        gate *g = shared_memory(sizeof *g);
        pid_t other = child_start(replace, g);
        larder_pool *idle = pool_open("p", 4 * MIB);
        CHECK(idle->zero_copy);
        gate_open(g, 1);
        EQUAL(child_wait(other), 0);
        larder_pool *busy = pool_open("p", 4 * MIB);
        in_place += busy->zero_copy;
        larder_pool_close(busy);
        larder_pool_close(idle);
    }
    COMPARE(in_place, >=, 1);
}

/* ---- forks ---- */

typedef struct other_thread {
    gate gate; /* 1: has read; 2: the fork is over; 3: has left */
    larder_pool *pool;
    uint32_t slot;
} other_thread;

static void *read_and_leave(void *context)
{
    other_thread *other = context;
    other->pool = pool_open("p", 4 * MIB);
    other->slot = other->pool->writer.slot_index;
    read_in_place(other->pool);
    gate_open(&other->gate, 1);
    gate_wait(&other->gate, 2);
    return NULL;
}

static void close_all_and_wait(void *context)
{
    void **handles = context;
    gate *done = handles[2];
    /* As a PHP for threads does at its end, for threads that this process does not have, too. */
    larder_pool_close(handles[1]);
    EQUAL(put_text(handles[0], "child", "was here"), LARDER_OK);
    gate_open(done, 1);
    gate_wait(done, 2);
}

TEST(forked_beside, "a child of one thread has nothing to do with the pins and places of the others")
{
    gate *done = shared_memory(sizeof *done);
    other_thread other = {.slot = 0};
    pthread_t thread;
    larder_pool *pool = pool_open("p", 4 * MIB);
    described what = {.key = 1, .block = true};
    EQUAL(put_described(pool, key_number(1), &what, 50000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    REQUIRE(pthread_create(&thread, NULL, read_and_leave, &other) == 0);
    gate_wait(&other.gate, 1);
    void *handles[] = {pool, other.pool, done};
    pid_t pid = child_start(close_all_and_wait, handles);
    gate_wait(done, 1);
    /* What the child closed, the thread still pins. */
    CHECK(other.pool->request.pinned_count > 0);
    CHECK(atomic_load(&other.pool->attached.own_pins[0]) != 0);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.processes, 3);
    gate_open(&other.gate, 2);
    pthread_join(thread, NULL);
    larder_pool_close(other.pool);
    /* The child has not inherited its place. */
    larder_stats_read(pool, &stats);
    EQUAL(stats.processes, 2);
    gate_open(done, 2);
    EQUAL(child_wait(pid), 0);
    CHECK(holds_text(pool, "child", "was here"));
    larder_pool_close(pool);
}

/* ---- all at once ---- */

static void *open_and_close(void *context)
{
    const larder_pool_config *config = context;
    for (uint64_t i = 0; i < 1500 * test_scale(); i++) {
        larder_error error = {.message = ""};
        larder_pool *pool = larder_pool_open(config, &error);
        if (pool == NULL) {
            printf("    %s\n", error.message);
            CHECK(pool != NULL);
            return NULL;
        }
        larder_pool_close(pool);
    }
    return NULL;
}

TEST(come_and_go, "threads that open and close a pool at once use its values in place, whichever was the last")
{
    pthread_t other;
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.zero_copy = LARDER_ZERO_COPY_ON;
    larder_pool_close(pool_open_as(&config));
    REQUIRE(pthread_create(&other, NULL, open_and_close, &config) == 0);
    open_and_close(&config);
    pthread_join(other, NULL);
}

typedef struct worker {
    pthread_t thread;
    uint64_t seed;
    uint64_t torn, read;
} worker;

#define KEYS     300u
#define COUNTERS 20u

/* key_number() has buffers that threads would share. */
static larder_key key_in(char *text, size_t size, const char *kind, uint64_t number)
{
    size_t length = (size_t)snprintf(text, size, "%s-%llu", kind, (unsigned long long)number);
    return (larder_key){.bytes = text, .length = (uint32_t)length, .hash = larder_hash(text, length)};
}

static void put(larder_pool *pool, const larder_key *key, described *what, larder_terms terms, rng *r)
{
    const uint64_t tag = larder_tag_of("tag", 3);
    terms.tags = &tag;
    terms.tags_count = rng_below(r, 2) == 0 ? 1 : 0;
    put_described_under(pool, *key, what, DESCRIBED_LEAST + rng_below(r, 30000), &terms);
}

/* As remember() does. */
static void compute(larder_pool *pool, const larder_key *key, described *what, rng *r)
{
    const larder_terms terms = {.verb = LARDER_FILL,
                                .token = larder_now_logical(pool->header),
                                .attachment = pool->attached.number,
                                .expiry = LARDER_NO_EXPIRY};
    enum larder_lease_result lease = larder_lease_take(pool, key, 100);
    if (lease == LARDER_LEASE_HELD) {
        larder_lease_wait(pool, key, 1);
    }
    put(pool, key, what, terms, r);
    if (lease == LARDER_LEASE_TAKEN) {
        larder_lease_give_back(pool, key);
    }
}

static void count(larder_pool *pool, worker *w, uint64_t number)
{
    char text[32];
    const larder_key counter = key_in(text, sizeof text, "counter", number % COUNTERS);
    int64_t now = 0;
    w->torn += larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &now) == LARDER_COUNTED && now < 1;
}

static void read_one(larder_pool *pool, worker *w, const larder_key *key, uint64_t number)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, *key, number, &what, &hit);
    w->torn += seen == READ_TORN;
    w->read += seen == READ_WHOLE;
}

static void *(*volatile fill_elsewhere)(void *, int, size_t) = memset;

/* Writes into a value where it lies, as some of PHP's functions do; into one that no other thread reads. */
static void spoil(larder_pool *pool, const worker *w)
{
    char text[32];
    const larder_key key = key_in(text, sizeof text, "spoiled", w->seed);
    described what = {.key = w->seed, .block = true};
    larder_hit hit;
    size_t size;
    put_described(pool, key, &what, DESCRIBED_LEAST, LARDER_SET, LARDER_NO_EXPIRY);
    if (read_described(pool, key, w->seed, &what, &hit) == READ_WHOLE && hit.hold == LARDER_HELD) {
        uint8_t *value = (uint8_t *)(uintptr_t)larder_hit_value(pool, &hit, &size);
        fill_elsewhere(value, 0xff, size);
    }
}

static void change_all(larder_pool *pool, rng *r)
{
    const uint64_t tag = larder_tag_of("tag", 3);
    if (rng_below(r, 20) == 0) {
        larder_clear(pool);
    } else {
        larder_invalidate(pool, &tag, 1);
    }
}

static void *work(void *context)
{
    worker *w = context;
    rng r = {.state = w->seed};
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint64_t i = 0; i < 4000 * test_scale(); i++) {
        char text[32];
        uint64_t number = rng_below(&r, KEYS), turn = rng_below(&r, 100);
        const larder_key key = key_in(text, sizeof text, "key", number);
        described what = {.key = number, .version = i, .block = rng_below(&r, 2) == 0};
        if (turn < 25) {
            put(pool, &key, &what, (larder_terms){.mode = LARDER_SET, .expiry = LARDER_NO_EXPIRY}, &r);
        } else if (turn < 30) {
            put(pool, &key, &what, (larder_terms){.mode = LARDER_ADD, .expiry = LARDER_NO_EXPIRY}, &r);
        } else if (turn < 38) {
            compute(pool, &key, &what, &r);
        } else if (turn < 43) {
            larder_delete(pool, &key);
        } else if (turn < 48) {
            larder_touch(pool, &key, rng_below(&r, 2) == 0 ? LARDER_NO_EXPIRY : larder_wall_ms() + 50);
        } else if (turn < 58) {
            count(pool, w, number);
        } else if (turn == 58) {
            change_all(pool, &r);
        } else if (turn < 61) {
            larder_pool_leave(pool);
        } else if (turn < 63) {
            spoil(pool, w);
        } else {
            read_one(pool, w, &key, number);
        }
    }
    larder_pool_close(pool);
    return NULL;
}

TEST(
    threads_together,
    "threads that store, read, delete, count, touch, compute, clear, evict and write into values at once see none torn")
{
    worker workers[THREADS];
    uint64_t read = 0;
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){.seed = test_seed() + i + 1};
        REQUIRE(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        EQUAL(workers[i].torn, 0);
        read += workers[i].read;
    }
    CHECK(read > 0);
    larder_stats stats;
    REQUIRE(larder_stats_read(pool, &stats));
    COMPARE(stats.counters[LARDER_PRIVATE_PAGES], >, 20);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}
