/* Writes into values: the writer gets a page of its own, and no other process sees it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "fixture.h"

#include "engine/larder.h"
#include "engine/map.h"
#include "engine/slot.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* By code that is not linked with the engine, as PHP's functions are. */
static void *(*volatile fill_elsewhere)(void *, int, size_t) = memset;

static void write_into(const void *value, size_t at, int byte, size_t count)
{
    fill_elsewhere((uint8_t *)(uintptr_t)value + at, byte, count);
}

static uint64_t private_pages(larder_pool *pool)
{
    larder_stats stats;
    REQUIRE(larder_stats_read(pool, &stats));
    return stats.counters[LARDER_PRIVATE_PAGES];
}

/* Reads the block, which is whole, and how it is held. */
static enum larder_hold hold_of(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(number), number, &what, &hit), READ_WHOLE);
    return hit.hold;
}

TEST(shows, "what is written to the file shows in a private mapping that was read before, until the page is written to")
{
    int fd = memfd_create("pages", MFD_CLOEXEC);
    REQUIRE(fd >= 0 && ftruncate(fd, 8192) == 0);
    volatile uint8_t *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    volatile uint8_t *own = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
    REQUIRE(shared != MAP_FAILED && own != MAP_FAILED);
    EQUAL(own[0] + own[4096], 0);
    shared[0] = 1;
    shared[4096] = 2;
    EQUAL(own[0], 1);
    EQUAL(own[4096], 2);
    REQUIRE(mprotect((void *)(uintptr_t)own, 4096, PROT_READ | PROT_WRITE) == 0);
    shared[0] = 3;
    EQUAL(own[0], 3); /* it is copied when it is written to, and not before */
    own[1] = 9;
    shared[0] = 4;
    shared[4096] = 5;
    EQUAL(own[0], 3);
    EQUAL(own[4096], 5);
    EQUAL(shared[1], 0);
    REQUIRE(madvise((void *)(uintptr_t)own, 4096, MADV_DONTNEED) == 0);
    EQUAL(own[0], 4);
    EQUAL(own[1], 0);
}

static void look_from_elsewhere(void *context)
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    (void)context;
    CHECK(has_block(pool, 1));
    larder_pool_close(pool);
}

TEST(own_page, "a write into a value goes to a page of the writer's own, which is given back when its request ends")
{
    larder_pool *pool = pool_with_block();
    size_t size;
    const uint8_t *value = read_block(pool, 1, &size);
    uint64_t before = digest(value, size);
    write_into(value, 100, 7, 50);
    EQUAL(value[100], 7);
    EQUAL(value[149], 7);
    EQUAL(private_pages(pool), 1);
    child_run(look_from_elsewhere, NULL);
    EQUAL(hold_of(pool, 1), LARDER_APART); /* and whole: read_described() compares each byte */
    write_into(value, 200, 8, 50);
    EQUAL(private_pages(pool), 1); /* it has the page already */
    larder_pool_leave(pool);
    CHECK(read_block(pool, 1, &size) == value);
    CHECK(digest(value, size) == before);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(two_pages, "a write across the border of two pages copies both, one in each segment of a large value its own")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    size_t size;
    EQUAL(put_block(pool, 1, 300000), LARDER_OK);
    larder_pool_leave(pool); /* a tenth of the pool is pinned only by processes that are known for short requests */
    const uint8_t *value = read_block(pool, 1, &size);
    uint64_t before = digest(value, size);
    size_t border = 4096 - (uintptr_t)value % 4096;
    write_into(value, border - 8, 7, 16);
    EQUAL(private_pages(pool), 2);
    write_into(value, 250000, 7, 1); /* some segments further on */
    EQUAL(private_pages(pool), 3);
    EQUAL(hold_of(pool, 1), LARDER_APART);
    larder_pool_leave(pool);
    CHECK(digest(read_block(pool, 1, &size), size) == before);
    EQUAL(value[250000], ((const uint8_t *)pool->rw)[value - pool->ro + 250000]);
    larder_pool_close(pool);
}

/* What another process does to the items on the page. */
static void change_neighbours(void *context)
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key counter = key_of("counter"), touched = key_of("touched"), tagged = key_of("dead");
    int64_t now;
    (void)context;
    EQUAL(larder_increment(pool, &counter, 5, 0, LARDER_NO_EXPIRY, &now), LARDER_OK);
    CHECK(larder_touch(pool, &touched, clock_ms + 1));
    CHECK(larder_delete(pool, &tagged));
    EQUAL(put_text(pool, "new", "came later"), LARDER_OK);
    EQUAL(put_block(pool, 2, 100), LARDER_OK);
    larder_pool_close(pool);
}

TEST(neighbours, "what others change or store on a page that a process has copied is read by it as by any")
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    const larder_key counter = key_of("counter"), touched = key_of("touched");
    int64_t now;
    larder_hit hit;
    EQUAL(put_block(pool, 1, 100), LARDER_OK);
    EQUAL(larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &now), LARDER_OK);
    EQUAL(put_text(pool, "touched", "expires"), LARDER_OK);
    EQUAL(put_text(pool, "dead", "dies"), LARDER_OK);
    size_t size;
    const void *value = read_block(pool, 1, &size);
    CHECK(holds_text(pool, "touched", "expires") && holds_text(pool, "dead", "dies"));
    REQUIRE(larder_get(pool, &counter, &hit));
    write_into(value, 40, 7, 1);
    child_run(change_neighbours, NULL);
    REQUIRE(larder_get(pool, &counter, &hit));
    EQUAL(larder_counter_value(larder_hit_value(pool, &hit, &size)), 6);
    larder_hit_drop(pool, &hit);
    EQUAL(larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &now), LARDER_OK);
    EQUAL(now, 7);
    CHECK(larder_exists(pool, &touched));
    clock_ms += 2;
    CHECK(!larder_exists(pool, &touched));
    CHECK(!holds_text(pool, "dead", "dies"));
    CHECK(holds_text(pool, "new", "came later"));
    EQUAL(hold_of(pool, 2), LARDER_APART);
    larder_pool_leave(pool);
    EQUAL(hold_of(pool, 2), LARDER_HELD);
    larder_pool_close(pool);
}

TEST(both_leave, "threads share the page, which is given back when none of them pins its segment any more")
{
    larder_pool *first = pool_open("p", 4 * MIB), *second = pool_open("p", 4 * MIB);
    size_t size;
    EQUAL(put_block(first, 1, 30000), LARDER_OK);
    const uint8_t *value = read_block(first, 1, &size);
    CHECK(read_block(second, 1, &size) == value);
    uint8_t was = value[100];
    write_into(value, 100, was + 1, 1);
    EQUAL(hold_of(second, 1), LARDER_APART);
    larder_pool_leave(first);
    EQUAL(value[100], (uint8_t)(was + 1));
    EQUAL(hold_of(first, 1), LARDER_BRIEFLY); /* nothing that it could keep a pin for */
    larder_pool_leave(second);
    EQUAL(value[100], was);
    EQUAL(hold_of(first, 1), LARDER_HELD);
    larder_pool_close(first);
    larder_pool_close(second);
}

typedef struct inherited {
    gate left;
    larder_pool *pool;
    const uint8_t *value;
    uint8_t was;
    struct rlimit files;
} inherited;

static void use_what_was_written(void *context)
{
    inherited *i = context;
    size_t size;
    setrlimit(RLIMIT_NOFILE, &i->files);
    gate_wait(&i->left, 1);
    EQUAL(i->value[100], (uint8_t)(i->was + 1));
    write_into(i->value, 100, i->was + 2, 1);
    CHECK(hold_of(i->pool, 1) != LARDER_HELD);
    larder_pool_leave(i->pool);
    CHECK(read_block(i->pool, 1, &size) == i->value);
    EQUAL(i->value[100], i->was);
}

enum { BESIDE = 1, PARENT_GOES_ON = 2 }; /* another handle; the parent's request ends after the child's */

static void forks(rlim_t most_files, int how)
{
    inherited *i = shared_memory(sizeof *i);
    size_t size;
    i->pool = pool_with_block();
    i->value = read_block(i->pool, 1, &size);
    i->was = i->value[100];
    write_into(i->value, 100, i->was + 1, 1);
    larder_pool *other = (how & BESIDE) != 0 ? pool_open("p", 4 * MIB) : NULL;
    getrlimit(RLIMIT_NOFILE, &i->files);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){.rlim_cur = most_files, .rlim_max = i->files.rlim_max});
    pid_t child = child_start(use_what_was_written, i);
    setrlimit(RLIMIT_NOFILE, &i->files);
    if ((how & PARENT_GOES_ON) == 0) {
        larder_pool_leave(i->pool);
        EQUAL(i->value[100], i->was);
    }
    gate_open(&i->left, 1);
    EQUAL(child_wait(child), 0);
    larder_pool_close(i->pool);
    if (other != NULL) {
        larder_pool_close(other);
    }
}

TEST(forked, "a child has what its parent had written, until its own request ends")
{
    forks(1024, 0);
    forks(1024, BESIDE);
}

TEST(forked_from_reader, "so has one whose parent goes on using the value: what that pins is none of the child's")
{
    forks(1024, PARENT_GOES_ON);
    forks(1024, PARENT_GOES_ON | BESIDE);
}

TEST(forked_poor, "so does one that could get no place of its own")
{
    forks(0, 0);
}

TEST(protected,
     "with protect_unpinned the page cannot be read any more when the request has ended, and is as it was later")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.protect_unpinned = true;
    larder_pool *pool = pool_open_as(&config);
    size_t size;
    int pipes[2];
    EQUAL(put_block(pool, 1, 30000), LARDER_OK);
    const uint8_t *value = read_block(pool, 1, &size);
    uint64_t before = digest(value, size);
    write_into(value, 100, 7, 50);
    EQUAL(value[100], 7);
    larder_pool_leave(pool);
    REQUIRE(pipe(pipes) == 0);
    EQUAL(write(pipes[1], value, 1), -1);
    CHECK(digest(read_block(pool, 1, &size), size) == before);
    larder_pool_close(pool);
}

TEST(removed_underneath, "a value of a pool that was removed can be written into until the request ends")
{
    larder_pool *pool = pool_with_block();
    larder_error error;
    size_t size;
    const uint8_t *value = read_block(pool, 1, &size);
    EQUAL(pool_remove("p", &error), 1);
    larder_pool_doubt(pool);
    CHECK(!has_block(pool, 1));
    write_into(value, 100, 7, 50);
    EQUAL(value[100], 7);
    larder_pool_leave(pool);
    larder_pool_close(pool);
}

TEST(bounded, "a process that never ends its request copies no more pages than it can pin")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_hit hit;
    described what;
    uint64_t written = 0;
    larder_pool_leave(pool); /* the request before was short: this one may pin as much as any */
    for (uint64_t i = 0; i < 1000; i++) {
        put_block(pool, i, 3000);
        if (read_described(pool, key_number(i), i, &what, &hit) == READ_WHOLE && hit.hold == LARDER_HELD) {
            size_t size;
            write_into(larder_hit_value(pool, &hit, &size), 100, 7, 1);
            written++;
        }
    }
    COMPARE(written, >, 5);
    COMPARE(private_pages(pool) * 4096, <=, pool->geometry.size / 8 * 3);
    larder_pool_leave(pool);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

/* ---- what is not answered ---- */

enum stray { NOT_PINNED, NO_SEGMENT, BY_THE_ENGINE, EXECUTED, ELSEWHERE, IN_COPY_MODE };

typedef struct stray_case {
    enum stray which;
    larder_pool *pool;
    const uint8_t *value;
} stray_case;

static void go_astray(void *context)
{
    stray_case *at = context;
    switch (at->which) {
    case NOT_PINNED:
        larder_pool_leave(at->pool);
        write_into(at->value, 100, 7, 1);
        break;
    case NO_SEGMENT:
        write_into(at->pool->ro + at->pool->geometry.buckets_at, 0, 7, 1);
        break;
    case BY_THE_ENGINE: /* which this is linked with */
        *(volatile uint8_t *)(uintptr_t)(at->value + 100) = 7;
        break;
    case EXECUTED:
        ((void (*)(void))(uintptr_t)at->value)();
        break;
    case ELSEWHERE:
        write_into(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0, 7, 1);
        break;
    case IN_COPY_MODE:
        write_into(at->pool->ro + at->pool->segments_at, 100, 7, 1);
    }
}

/* No sanitizer's report: its handler is the one before. */
static void without_report(void *context)
{
    larder_stray_ignore();
    signal(SIGSEGV, SIG_DFL);
    larder_stray_watch();
    go_astray(context);
}

TEST(not_answered,
     "a write to anything else of a pool, to what is not pinned, or by the engine itself ends the process")
{
    stray_case at = {.pool = pool_with_block()};
    size_t size;
    at.value = read_block(at.pool, 1, &size);
    uint64_t before = digest(at.value, size);
    for (at.which = NOT_PINNED; at.which <= ELSEWHERE; at.which++) {
        EQUAL(child_wait(child_start(without_report, &at)), 256 + SIGSEGV);
    }
    CHECK(digest(at.value, size) == before);
    EQUAL(private_pages(at.pool), 0);
    larder_pool_close(at.pool);
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.zero_copy = LARDER_ZERO_COPY_OFF;
    at = (stray_case){.which = IN_COPY_MODE, .pool = pool_open_as(&config)};
    CHECK(has_block(at.pool, 1));
    EQUAL(child_wait(child_start(without_report, &at)), 256 + SIGSEGV);
    larder_pool_close(at.pool);
}

static sigjmp_buf back;
static volatile int calls[3];
static struct sigaction before_second;

static void first_handler(int signal_number)
{
    (void)signal_number;
    calls[0]++;
    siglongjmp(back, 1);
}

/* Passes on what it does not know, as it should. */
static void second_handler(int signal_number, siginfo_t *info, void *context)
{
    sigset_t now;
    calls[1]++;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGUSR1) == 1);
    before_second.sa_sigaction(signal_number, info, context);
}

static void counting_handler(int signal_number)
{
    (void)signal_number;
    calls[2]++;
}

static void install(void)
{
    struct sigaction first = {.sa_handler = first_handler},
                     second = {.sa_sigaction = second_handler, .sa_flags = SA_SIGINFO};
    sigaddset(&second.sa_mask, SIGUSR1);
    larder_stray_ignore();
    sigaction(SIGSEGV, &first, NULL);
    larder_stray_watch();
    sigaction(SIGSEGV, &second, &before_second); /* later than ours, and passes on to it */
}

TEST(chained,
     "what is not answered goes to the handlers that others have installed, before or later; each is called once")
{
    larder_pool *pool = pool_with_block();
    size_t size;
    CHECK(read_block(pool, 1, &size) != NULL);
    install();
    larder_pool_leave(pool);
    const uint8_t *value = read_block(pool, 1, &size); /* a request begins: the signal comes here first again */
    write_into(value, 100, 7, 1);
    EQUAL(value[100], 7);
    EQUAL(calls[0] + calls[1], 0);
    volatile stray_case elsewhere = {.which = ELSEWHERE};
    for (volatile int i = 1; i <= 3; i++) {
        if (sigsetjmp(back, 1) == 0) {
            go_astray((void *)(uintptr_t)&elsewhere);
        }
        EQUAL(calls[0], i);
        EQUAL(calls[1], i);
    }
    larder_pool_close(pool);
}

TEST(sent, "a signal that a process sends is what it is without a pool: ignored, handled, or the end")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_stray_ignore();
    struct sigaction counting = {.sa_handler = counting_handler, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGSEGV, &counting, NULL);
    larder_stray_watch();
    EQUAL(raise(SIGSEGV), 0);
    EQUAL(calls[2], 1);
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSEGV); /* its handler is gone, by its own wish */
        _exit(0);
    }
    EQUAL(child_wait(child), 256 + SIGSEGV);
    signal(SIGSEGV, SIG_IGN);
    larder_stray_watch();
    EQUAL(raise(SIGSEGV), 0);
    larder_pool_close(pool);
}

static volatile int heard;
static void hear(void)
{
    heard++;
}

TEST(listener, "a listener is told in the thread that wrote, once for each page")
{
    larder_pool *pool = pool_with_block();
    size_t size;
    const uint8_t *value = read_block(pool, 1, &size);
    larder_stray_listen(hear);
    write_into(value, 100, 7, 1);
    write_into(value, 101, 7, 1);
    EQUAL(heard, 1);
    write_into(value, 10000, 7, 1);
    EQUAL(heard, 2);
    larder_stray_listen(NULL);
    write_into(value, 20000, 7, 1);
    EQUAL(heard, 2);
    larder_pool_close(pool);
}
