/* Forks: a child has a place of its own, and both keep what was read before. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct family {
    gate parent, child, crowd;
    larder_pool *pool;
    const void *value;
    size_t size;
    uint64_t sum;
    uint32_t child_slot;
} family;

static void read_before(family *f)
{
    larder_hit hit;
    described what = {.key = 1, .block = true};
    EQUAL(put_described(f->pool, key_number(1), &what, 50000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    EQUAL(read_described(f->pool, key_number(1), 1, &what, &hit), READ_WHOLE);
    EQUAL(hit.hold, LARDER_HELD);
    f->value = larder_hit_value(f->pool, &hit, &f->size);
    f->sum = digest(f->value, f->size);
}

static void fill(larder_pool *pool, unsigned times)
{
    static char bytes[3000];
    for (uint64_t i = 0; i < times * (4 * MIB / sizeof bytes); i++) {
        put_bytes(pool, key_number(1000 + i), bytes, sizeof bytes);
    }
}

static void wait_and_compare(void *context)
{
    family *f = context;
    f->child_slot = f->pool->writer.slot_index;
    gate_open(&f->child, 1);
    gate_wait(&f->parent, 1);
    CHECK(digest(f->value, f->size) == f->sum);
    EQUAL(put_text(f->pool, "child", "was here"), LARDER_OK);
    larder_pool_leave(f->pool);
}

TEST(parent_leaves, "the end of the parent's request does not free what a forked child still reads")
{
    family *f = shared_memory(sizeof *f);
    f->pool = pool_open("p", 4 * MIB);
    read_before(f);
    pid_t pid = child_start(wait_and_compare, f);
    gate_wait(&f->child, 1);
    larder_pool_leave(f->pool);
    fill(f->pool, 4);
    gate_open(&f->parent, 1);
    EQUAL(child_wait(pid), 0);
    CHECK(f->child_slot != f->pool->writer.slot_index);
    CHECK(holds_text(f->pool, "child", "was here"));
    fill(f->pool, 4);
    larder_stats stats;
    larder_stats_read(f->pool, &stats);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
    EQUAL(stats.processes, 1);
    CHECK_POOL(f->pool);
    larder_pool_close(f->pool);
}

static void take_the_first_place(void *context)
{
    family *f = context;
    pool_open("p", 4 * MIB);
    gate_open(&f->parent, 1);
    pause();
}

TEST(child_behind_parent, "a child's copy of its parent's pins is looked at later than the parent's own")
{
    family *f = shared_memory(sizeof *f);
    pid_t pid = child_start(take_the_first_place, f);
    gate_wait(&f->parent, 1);
    f->pool = pool_open("p", 4 * MIB);
    EQUAL(f->pool->writer.slot_index, 1);
    kill(pid, SIGKILL);
    child_wait(pid);
    atomic_store(&f->parent.number, 0);
    read_before(f);
    pid = child_start(wait_and_compare, f);
    gate_wait(&f->child, 1);
    COMPARE(f->child_slot, >, f->pool->writer.slot_index);
    gate_open(&f->parent, 1);
    EQUAL(child_wait(pid), 0);
    larder_pool_close(f->pool);
}

static void leave_and_fill(void *context)
{
    family *f = context;
    larder_pool_leave(f->pool);
    fill(f->pool, 4);
}

TEST(child_leaves, "a child that ends its request, fills the pool or dies does not free what its parent reads")
{
    family *f = shared_memory(sizeof *f);
    f->pool = pool_open("p", 4 * MIB);
    read_before(f);
    child_run(leave_and_fill, f);
    fill(f->pool, 4);
    CHECK(digest(f->value, f->size) == f->sum);
    larder_pool_close(f->pool);
}

/* All but the last end their request as soon as they have a child. */
static void fork_deeper(void *context)
{
    family *f = context;
    uint32_t slot = f->pool->writer.slot_index;
    if (f->child_slot++ < 5) {
        pid_t pid = child_start(fork_deeper, f);
        larder_pool_leave(f->pool);
        atomic_fetch_add(&f->parent.number, 1);
        EQUAL(child_wait(pid), 0);
    } else {
        gate_wait(&f->parent, 5);
        larder_pool *other = pool_open("p", 4 * MIB);
        fill(other, 3);
        larder_pool_close(other);
        CHECK(digest(f->value, f->size) == f->sum);
    }
    EQUAL(f->pool->writer.slot_index, slot);
    EQUAL(put_text(f->pool, "deep", "v"), LARDER_OK);
}

TEST(nested, "children of children keep what their first ancestor read, each in its own place")
{
    family *f = shared_memory(sizeof *f);
    f->pool = pool_open("p", 4 * MIB);
    read_before(f);
    fork_deeper(f);
    EQUAL(f->child_slot, 6);
    larder_pool_close(f->pool);
}

static void one_store(void *context)
{
    put_text(context, "k", "v");
}

TEST(many_forks, "hundreds of forks leave no places taken")
{
    family f = {.pool = pool_open("p", 4 * MIB)};
    read_before(&f);
    for (int i = 0; i < 300; i++) {
        child_run(one_store, f.pool);
    }
    larder_stats stats;
    larder_stats_read(f.pool, &stats);
    EQUAL(stats.processes, 1);
    COMPARE(f.pool->header->slots_used, <=, 3);
    EQUAL(stats.counters[LARDER_SETS], 301);
    CHECK(digest(f.value, f.size) == f.sum);
    larder_pool_close(f.pool);
}

enum { POOLS = 12 };
static larder_pool *many[POOLS];

static void use_all(void *context)
{
    (void)context;
    char name[16];
    for (int i = 0; i < POOLS; i++) {
        snprintf(name, sizeof name, "pool%d", i);
        CHECK(holds_text(many[i], "who", name));
        EQUAL(put_text(many[i], "child", name), LARDER_OK);
    }
}

TEST(many_pools, "a fork is survived by all of a process's pools")
{
    char name[16];
    for (int i = 0; i < POOLS; i++) {
        snprintf(name, sizeof name, "pool%d", i);
        many[i] = pool_open(name, 4 * MIB);
        EQUAL(put_text(many[i], "who", name), LARDER_OK);
    }
    child_run(use_all, NULL);
    for (int i = 0; i < POOLS; i++) {
        snprintf(name, sizeof name, "pool%d", i);
        CHECK(holds_text(many[i], "child", name));
        larder_pool_close(many[i]);
    }
    larder_pool *late = pool_open("late", 4 * MIB); /* the list of handles is as it should be */
    child_run(one_store, late);
    CHECK(holds_text(late, "k", "v"));
    larder_pool_close(late);
}

TEST(no_place_left, "a child for which no place is left keeps its parent's pins, until it ends too")
{
    enum { OTHERS = 127 };
    family *f = shared_memory(sizeof *f);
    f->pool = pool_open("p", 4 * MIB);
    read_before(f);
    larder_pool *others[OTHERS];
    for (int i = 0; i < OTHERS; i++) {
        others[i] = pool_open("p", 4 * MIB);
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        gate_open(&f->child, 1);
        gate_wait(&f->parent, 1);
        CHECK(digest(f->value, f->size) == f->sum);
        _exit(0);
    }
    gate_wait(&f->child, 1);
    larder_pool_leave(f->pool);
    for (int i = 1; i < OTHERS; i++) {
        larder_pool_close(others[i]);
    }
    fill(others[0], 5);
    gate_open(&f->parent, 1);
    EQUAL(child_wait(pid), 0);
    fill(others[0], 3);
    EQUAL(put_text(f->pool, "k", "v"), LARDER_OK); /* the parent has another place */
    larder_stats stats;
    larder_stats_read(f->pool, &stats);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
    EQUAL(stats.processes, 2);
    larder_pool_close(others[0]);
    larder_pool_close(f->pool);
}

/* The middle one of three generations. It holds its parent's place, then one of its own, too, and its child holds both.
 */
static void have_a_child(void *context)
{
    family *f = context;
    gate_open(&f->child, 1);
    gate_wait(&f->crowd, 2);
    described what = {.key = 2, .block = true};
    larder_hit hit;
    EQUAL(put_described(f->pool, key_number(2), &what, 50000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    EQUAL(read_described(f->pool, key_number(2), 2, &what, &hit), READ_WHOLE);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        CHECK(digest(f->value, f->size) == f->sum);
        larder_pool_leave(f->pool);
        gate_open(&f->child, 2);
        gate_wait(&f->parent, 2);
        _exit(0);
    }
    larder_pool_leave(f->pool);
    EQUAL(child_wait(pid), 0);
}

enum { CROWD = 126 }; /* and two that have the pool open already: that is all there is room for */

static void take_the_other_places(void *context)
{
    family *f = context;
    larder_pool *others[CROWD];
    larder_pool_leave(f->pool);
    for (int i = 0; i < CROWD; i++) {
        others[i] = pool_open("p", 4 * MIB);
    }
    gate_open(&f->crowd, 1);
    gate_wait(&f->parent, 1);
    larder_pool_close(others[1]);
    gate_open(&f->crowd, 2);
    gate_wait(&f->child, 2);
    fill(others[0], 5);
    larder_stats stats;
    larder_stats_read(others[0], &stats);
    EQUAL(stats.processes, CROWD);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
}

TEST(inherited_twice, "what a child's child has inherited it holds no longer than its request")
{
    family *f = shared_memory(sizeof *f);
    f->pool = pool_open("p", 4 * MIB);
    read_before(f);
    pid_t crowd = child_start(take_the_other_places, f);
    gate_wait(&f->crowd, 1);
    pid_t pid = child_start(have_a_child, f);
    gate_wait(&f->child, 1);
    larder_pool_leave(f->pool);
    gate_open(&f->parent, 1);
    EQUAL(child_wait(crowd), 0);
    gate_open(&f->parent, 2);
    EQUAL(child_wait(pid), 0);
    larder_pool_close(f->pool);
}

TEST(no_handlers, "a child that was made without the C library's fork still gets a place of its own")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint32_t *slot = shared_memory(sizeof *slot);
    put_text(pool, "k", "v");
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) {
        bool found = holds_text(pool, "k", "v") && put_text(pool, "child", "v") == LARDER_OK;
        *slot = pool->writer.slot_index;
        _exit(found ? 0 : 1);
    }
    EQUAL(child_wait(pid), 0);
    CHECK(*slot != pool->writer.slot_index);
    CHECK(holds_text(pool, "child", "v"));
    larder_pool_close(pool);
}

static void find_the_new_one(void *context)
{
    larder_pool *pool = context;
    EQUAL(put_text(pool, "k", "from the child"), LARDER_OK);
}

TEST(replaced_before, "a child of a process whose pool was replaced meanwhile works with the new one")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    put_text(pool, "k", "old");
    pool_remove("p", &(larder_error){.message = ""});
    larder_pool *other = pool_open("p", 4 * MIB);
    child_run(find_the_new_one, pool);
    CHECK(holds_text(other, "k", "from the child"));
    larder_pool_close(other);
    larder_pool_close(pool);
}
