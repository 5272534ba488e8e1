#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_ms = UINT64_C(1700000000000);

uint64_t clock_now(void)
{
    return clock_ms;
}

/* ---- random numbers (splitmix64) ------------------------------------------------------------------------- */

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

uint64_t rng_next(rng *r)
{
    r->state += UINT64_C(0x9e3779b97f4a7c15);
    return scramble(r->state);
}

uint64_t rng_below(rng *r, uint64_t limit)
{
    return rng_next(r) % limit;
}

uint64_t digest(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t sum = size;
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

/* ---- pools ----------------------------------------------------------------------------------------------- */

/* The first word of a block is the address at which it is read. */
static void block_moved(void *copy, size_t size, uint8_t kind, intptr_t move)
{
    uint64_t self;
    (void)size;
    if (kind == BLOCK_KIND) {
        memcpy(&self, copy, sizeof self);
        self += (uint64_t)move;
        memcpy(copy, &self, sizeof self);
    }
}

larder_pool_config pool_config(const char *name, uint64_t size)
{
    return (larder_pool_config){.directory = test_directory(),
                                .name = name,
                                .size = size,
                                .evict = true,
                                .layout = 7,
                                .ops = {.moved = block_moved}};
}

larder_pool *pool_open_as(const larder_pool_config *config)
{
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(config, &error);
    if (pool == NULL) {
        test_failed(__FILE__, __LINE__, "the pool %s cannot be opened: %s", config->name, error.message);
        test_give_up();
    }
    return pool;
}

larder_pool *pool_open(const char *name, uint64_t size)
{
    const larder_pool_config config = pool_config(name, size);
    return pool_open_as(&config);
}

larder_pool *pool_that(bool evicts)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = evicts;
    return pool_open_as(&config);
}

int pool_remove(const char *name, larder_error *error)
{
    const larder_pool_config config = pool_config(name, 0);
    return larder_pool_remove(&config, error);
}

const char *pool_refusal(const larder_pool_config *config)
{
    static larder_error error;
    error.message[0] = '\0';
    larder_pool *pool = larder_pool_open(config, &error);
    if (pool == NULL) {
        CHECK(error.message[0] != '\0');
        return error.message;
    }
    larder_pool_close(pool);
    return "";
}

const char *path_of(const char *name)
{
    static char buffers[8][512];
    static unsigned turn;
    char *path = buffers[turn++ % 8];
    snprintf(path, sizeof buffers[0], "%s/%s", test_directory(), name);
    return path;
}

const char *pool_path_of(const char *name)
{
    char file[256];
    snprintf(file, sizeof file, "%s@%u", name, LARDER_FORMAT);
    return path_of(file);
}

bool pool_checked(larder_pool *pool, bool after_deaths, const char *file, int line)
{
    larder_error error = {.message = ""};
    return larder_check(pool, after_deaths, &error) ||
           test_failed(file, line, "the pool is not sound: %s", error.message);
}

/* ---- keys and plain values ------------------------------------------------------------------------------- */

larder_key key_of(const char *text)
{
    size_t length = strlen(text);
    return (larder_key){.bytes = text, .length = (uint32_t)length, .hash = larder_hash(text, length)};
}

larder_key key_number(uint64_t number)
{
    static char buffers[8][32];
    static unsigned turn;
    char *text = buffers[turn++ % 8];
    snprintf(text, sizeof buffers[0], "key-%llu", (unsigned long long)number);
    return key_of(text);
}

typedef struct span {
    const void *bytes;
    size_t size;
} span;

static void write_span(const void *context, void *to, uintptr_t address)
{
    const span *from = context;
    (void)address;
    memcpy(to, from->bytes, from->size);
}

static enum larder_result put_span(larder_pool *pool, larder_key key, const void *bytes, size_t size,
                                   const larder_terms *terms)
{
    const span from = {.bytes = bytes, .size = size};
    const larder_value value = {.kind = LARDER_BYTES_KIND, .size = size, .write = write_span, .context = &from};
    return larder_store(pool, &key, &value, terms);
}

enum larder_result put_with(larder_pool *pool, larder_key key, const void *bytes, size_t size, enum larder_mode mode,
                            uint64_t expiry)
{
    const larder_terms terms = {.mode = mode, .expiry = expiry};
    return put_span(pool, key, bytes, size, &terms);
}

enum larder_result put_under(larder_pool *pool, const char *key, const char *text, const larder_terms *terms)
{
    return put_span(pool, key_of(key), text, strlen(text), terms);
}

enum larder_result put_bytes(larder_pool *pool, larder_key key, const void *bytes, size_t size)
{
    return put_with(pool, key, bytes, size, LARDER_SET, LARDER_NO_EXPIRY);
}

enum larder_result put_text(larder_pool *pool, const char *key, const char *text)
{
    return put_bytes(pool, key_of(key), text, strlen(text));
}

static bool copy_hit(const larder_pool *pool, const larder_hit *hit, void *to, size_t most, size_t *size)
{
    const void *value = larder_hit_value(pool, hit, size);
    if (value == NULL) {
        return false;
    }
    memcpy(to, value, *size < most ? *size : most);
    return true;
}

bool take(larder_pool *pool, larder_key key, void *to, size_t most, size_t *size)
{
    larder_hit hit;
    if (!larder_get(pool, &key, &hit)) {
        return false;
    }
    bool copied = copy_hit(pool, &hit, to, most, size);
    if (hit.hold == LARDER_UNPINNED && !larder_hit_confirm(pool, &hit)) {
        if (!larder_get_pinned(pool, &key, &hit)) {
            return false;
        }
        copied = copy_hit(pool, &hit, to, most, size);
    }
    larder_hit_drop(pool, &hit);
    return copied;
}

bool holds_text(larder_pool *pool, const char *key, const char *text)
{
    char found[4096];
    size_t size;
    return take(pool, key_of(key), found, sizeof found, &size) && size == strlen(text) &&
           memcmp(found, text, size) == 0;
}

/* ---- values that describe themselves --------------------------------------------------------------------- */

typedef struct front {
    uint64_t self; /* of a block: its address; else 0 */
    uint64_t key, version, size;
} front;

static uint64_t pattern(const front *f, size_t word)
{
    return scramble(f->key * UINT64_C(0x9e3779b97f4a7c15) + f->version + ((uint64_t)word << 40));
}

typedef struct writing {
    described *what;
    size_t size;
} writing;

static void write_described(const void *context, void *to, uintptr_t address)
{
    const writing *w = context;
    described *what = w->what;
    if (what->versions != NULL) {
        what->version = atomic_fetch_add(what->versions, 1);
    }
    if (what->moments != NULL) {
        what->written = atomic_fetch_add(what->moments, 1) + 1;
    }
    const front f = {.self = what->block ? address : 0, .key = what->key, .version = what->version, .size = w->size};
    uint8_t *at = to;
    memcpy(at, &f, sizeof f);
    for (size_t done = sizeof f; done < w->size; done += sizeof(uint64_t)) {
        uint64_t word = pattern(&f, done / sizeof word);
        memcpy(at + done, &word, w->size - done < sizeof word ? w->size - done : sizeof word);
    }
}

enum larder_result put_described_under(larder_pool *pool, larder_key key, described *what, size_t size,
                                       const larder_terms *terms)
{
    const writing w = {.what = what, .size = size};
    const larder_value value = {.kind = what->block ? BLOCK_KIND : LARDER_BYTES_KIND,
                                .has_layout = what->block,
                                .size = size,
                                .write = write_described,
                                .context = &w};
    return larder_store(pool, &key, &value, terms);
}

enum larder_result put_described(larder_pool *pool, larder_key key, described *what, size_t size, enum larder_mode mode,
                                 uint64_t expiry)
{
    const larder_terms terms = {.mode = mode, .expiry = expiry};
    return put_described_under(pool, key, what, size, &terms);
}

enum larder_result put_large(larder_pool *pool, uint64_t number, size_t size)
{
    described what = {.key = number, .version = number, .block = true};
    return put_described(pool, key_number(number), &what, size, LARDER_SET, LARDER_NO_EXPIRY);
}

static enum reading judge(const larder_pool *pool, const void *bytes, size_t size, const larder_hit *hit,
                          uintptr_t address, uint64_t number, described *what)
{
    const uint8_t *at = bytes;
    front f;
    if (size < sizeof f) {
        return READ_TORN;
    }
    memcpy(&f, at, sizeof f);
    bool block = hit->hold != LARDER_UNPINNED && hit->item->kind == BLOCK_KIND;
    *what = (described){.key = f.key, .version = f.version, .block = block};
    if (f.key != number || f.size != size || f.self != (block ? address - (uintptr_t)pool->shift : 0)) {
        return READ_TORN;
    }
    for (size_t done = sizeof f; done < size; done += sizeof(uint64_t)) {
        uint64_t word = pattern(&f, done / sizeof word);
        if (memcmp(at + done, &word, size - done < sizeof word ? size - done : sizeof word) != 0) {
            return READ_TORN;
        }
    }
    return READ_WHOLE;
}

enum reading read_described(larder_pool *pool, larder_key key, uint64_t number, described *what, larder_hit *hit)
{
    size_t size;
    if (!larder_get(pool, &key, hit)) {
        return READ_NOTHING;
    }
    const void *value = larder_hit_value(pool, hit, &size);
    if (hit->hold == LARDER_UNPINNED) {
        enum reading seen = READ_NOTHING;
        void *copy = malloc(value == NULL ? 1 : size + 1); /* what is torn may say any size */
        if (value != NULL) {
            memcpy(copy, value, size);
        }
        bool whole = larder_hit_confirm(pool, hit);
        if (whole && value != NULL) {
            seen = judge(pool, copy, size, hit, (uintptr_t)value, number, what);
        }
        free(copy);
        if (whole || !larder_get_pinned(pool, &key, hit)) {
            return seen;
        }
        value = larder_hit_value(pool, hit, &size);
    }
    enum reading seen = value == NULL ? READ_NOTHING : judge(pool, value, size, hit, (uintptr_t)value, number, what);
    larder_hit_drop(pool, hit);
    return seen;
}

/* ---- children -------------------------------------------------------------------------------------------- */

pid_t child_start(void (*run)(void *context), void *context)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(context);
        fflush(stdout);
        _exit(0);
    }
    REQUIRE(pid > 0);
    return pid;
}

int child_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        REQUIRE(errno == EINTR);
    }
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_run(void (*run)(void *context), void *context)
{
    EQUAL(child_wait(child_start(run, context)), 0);
}

void *shared_memory(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return at;
}

void gate_open(gate *g, uint32_t number)
{
    atomic_store(&g->number, number);
    syscall(SYS_futex, &g->number, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void gate_wait(gate *g, uint32_t number)
{
    for (uint32_t seen; (seen = atomic_load(&g->number)) < number;) {
        const struct timespec moment = {.tv_sec = 0, .tv_nsec = 50000000};
        syscall(SYS_futex, &g->number, FUTEX_WAIT, seen, &moment, NULL, 0);
    }
}

/* ---- fault points ---------------------------------------------------------------------------------------- */

static struct {
    unsigned point;
    uint64_t skip;
    void (*act)(void);
} armed;
static uint64_t passed[LARDER_FAULT_POINTS];
static void (*meddler)(unsigned point);
static rng jitter; /* 0: none */

/* Where others could come in between: everywhere for a moment now and then, and for long at one point, another each
 * time. */
static void give_way(unsigned point)
{
    static unsigned favourite;
    if (jitter.state == 0) {
        return;
    }
    uint64_t dice = rng_below(&jitter, 4000);
    if (dice == 0) {
        favourite = (unsigned)rng_below(&jitter, LARDER_FAULT_POINTS);
    }
    if (dice < 2 || (point == favourite && dice < 400)) {
        usleep((useconds_t)rng_below(&jitter, rng_below(&jitter, 8) == 0 ? 5000 : 300));
    } else if (dice % 16 == 0) {
        sched_yield();
    }
}

static void let_meddle(unsigned point)
{
    void (*meddle)(unsigned point) = meddler;
    if (meddle != NULL) {
        meddler = NULL;
        meddle(point);
        meddler = meddle;
    }
}

void larder_fault(unsigned point);
void larder_fault(unsigned point)
{
    passed[point]++;
    give_way(point);
    let_meddle(point);
    if ((armed.point != point && armed.point != 0) || armed.act == NULL) {
        return;
    }
    if (armed.skip > 0) {
        armed.skip--;
        return;
    }
    void (*act)(void) = armed.act;
    armed.act = NULL;
    act();
}

void fault_arm(unsigned point, uint64_t skip, void (*act)(void))
{
    armed.point = point;
    armed.skip = skip;
    armed.act = act;
}

void fault_meddle(void (*meddle)(unsigned point))
{
    meddler = meddle;
}

void fault_jitter(uint64_t seed)
{
    jitter.state = seed | 1;
}

void fault_disarm(void)
{
    jitter.state = 0;
    armed.act = NULL;
}

uint64_t fault_count(unsigned point)
{
    return passed[point];
}

bool has_large(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    CHECK(seen != READ_TORN);
    larder_pool_leave(pool);
    return seen == READ_WHOLE;
}

const void *read_block(larder_pool *pool, uint64_t number, size_t *size)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    EQUAL(seen, READ_WHOLE);
    if (seen != READ_WHOLE) {
        test_give_up();
    }
    EQUAL(hit.hold, LARDER_HELD);
    return larder_hit_value(pool, &hit, size);
}

larder_pool *pool_with_block(void)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.now = clock_now;
    larder_pool *pool = pool_open_as(&config);
    described what = {.key = 1, .block = true};
    EQUAL(put_described(pool, key_number(1), &what, 30000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    return pool;
}
