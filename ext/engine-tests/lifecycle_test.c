/* Deaths and stops at every numbered shared store in the lifecycle of a pool's file: while it is saved, loaded, removed,
 * replaced, or makes way for another version's. Those of the operations are in faults_test.c.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "saving.h"
#include "waiting.h"

#include "engine/larder.h"
#include "engine/tag.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER "p@99" /* the same pool's in another format, which no process holds */

enum {
    KEYS = 24,
    TAGGED = 4 /* every so many keys */,
    LONGEST_WAIT_NS = 100000000 /* of one operation: 70 ms for the segment lock, 20 ms for a directory's */
};

static struct plan {
    unsigned point;
    uint64_t skip;
    bool stops;
    gate reached; /* 1: it is there, or has come by without */
    _Atomic bool met;
} * plan;

/* ---- what the others do, and what they know ------------------------------------------------------------------ */

/* A version that is below may not be read any more. */
typedef struct knowledge {
    uint64_t least[KEYS], given;
    rng r;
} knowledge;

static uint64_t tag(void)
{
    return larder_tag_of("t", 1);
}

static void look(larder_pool *pool, const knowledge *known, uint64_t number)
{
    described what;
    larder_hit hit;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    CHECK(seen != READ_TORN);
    if (seen == READ_WHOLE && what.version < known->least[number]) {
        test_failed(__FILE__, __LINE__, "key %llu: version %llu is read, and those below %llu are no more",
                    (unsigned long long)number, (unsigned long long)what.version,
                    (unsigned long long)known->least[number]);
    }
}

static enum larder_result write_one(larder_pool *pool, knowledge *known, uint64_t number)
{
    const uint64_t tags[1] = {tag()};
    const larder_terms terms = {
        .verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = tags, .tags_count = number % TAGGED == 0 ? 1 : 0};
    described what = {.key = number, .version = ++known->given, .block = rng_below(&known->r, 2) == 0};
    enum larder_result result = put_described_under(pool, key_number(number), &what, 400, &terms);
    if (result != LARDER_UNREACHED) { /* a refusal takes what is there along */
        known->least[number] = known->given + (result != LARDER_OK);
    }
    return result;
}

/* What is told not to have been done says nothing. */
static void do_something(larder_pool *pool, knowledge *known)
{
    const uint64_t number = rng_below(&known->r, KEYS), tags[1] = {tag()};
    const larder_key key = key_number(number);
    switch (rng_below(&known->r, 8)) {
    case 0:
        larder_delete(pool, &key);
        known->least[number] = pool->request.undone ? known->least[number] : known->given + 1;
        break;
    case 1:
        larder_invalidate(pool, tags, 1);
        for (uint64_t i = 0; i < KEYS && !pool->request.undone; i += TAGGED) {
            known->least[i] = known->given + 1;
        }
        break;
    case 2:
        larder_pool_leave(pool);
        break;
    case 3:
    case 4:
        write_one(pool, known, number);
        break;
    default:
        look(pool, known, number);
    }
}

static void work(larder_pool *pool, knowledge *known, unsigned operations)
{
    for (unsigned i = 0; i < operations; i++) {
        uint64_t waited = waited_ns();
        do_something(pool, known);
        waited = waited_ns() - waited;
        if (waited > LONGEST_WAIT_NS) {
            test_failed(__FILE__, __LINE__, "an operation waited for %llu us", (unsigned long long)waited / 1000);
        }
    }
}

/* ---- what happens to the pool -------------------------------------------------------------------------------- */

static void nothing(larder_pool *pool)
{
    (void)pool;
}

static void was_saved(larder_pool *pool)
{
    (void)pool;
    save();
}

static void make_file(const char *name)
{
    int fd = open(path_of(name), O_CREAT | O_WRONLY, 0600);
    REQUIRE(fd >= 0 && write(fd, "whatever is in there", 20) == 20);
    close(fd);
}

static void has_another(larder_pool *pool)
{
    (void)pool;
    make_file(OTHER);
}

static void cannot_be_saved(larder_pool *pool)
{
    (void)pool;
    mkdir(path_of("kept"), 0700);
    EQUAL(mkdir(path_of("kept/.new-p.snapshot"), 0700), 0);
}

static void has_a_damaged_header(larder_pool *pool)
{
    pool->header->geometry.magic = 0;
}

static void has_damaged_tables(larder_pool *pool)
{
    atomic_store(&pool->segments[pool->geometry.segment_count - 1].state, LARDER_SEGMENT_STATES);
}

static void load_and_die(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_LOAD, 0, fault_die);
    larder_pool_close(open_saving("p"));
}

static void has_lost_its_loader(larder_pool *pool)
{
    was_saved(pool);
    EQUAL(child_wait(child_start(load_and_die, NULL)), 256 + SIGKILL);
}

static void save_it(void)
{
    const larder_pool_config config = saving_config("p");
    larder_saved saved;
    larder_error error;
    larder_pool_save(&config, &saved, &error);
}

static void open_it(void)
{
    larder_pool_close(open_saving("p"));
}

static void set_after_a_miss(void)
{
    larder_pool *pool = open_saving("p");
    const larder_key key = key_of("nobody's");
    larder_hit hit;
    CHECK(!larder_get(pool, &key, &hit));
    put_text(pool, "nobody's", "v");
    larder_pool_close(pool);
}

static void remove_it(void)
{
    larder_pool *pool = open_saving("p");
    remove_pool();
    larder_pool_abandon(pool);
    larder_pool_close(pool);
}

static const struct scene {
    const char *words;
    void (*before)(larder_pool *pool);
    void (*act)(void);
    unsigned points[6];
} scenes[] = {
    {"saved",
     nothing,
     save_it,
     {LARDER_AT_CLOSE, LARDER_AT_RECORD, LARDER_AT_SNAPSHOT, LARDER_AT_CLOSED, LARDER_AT_GIVE_BACK}},
    {"not saved", cannot_be_saved, save_it, {LARDER_AT_REOPEN}},
    {"loaded",
     was_saved,
     open_it,
     {LARDER_AT_CLAIM, LARDER_AT_NAME, LARDER_AT_BEGIN, LARDER_AT_LOAD, LARDER_AT_TELL, LARDER_AT_LOADED}},
    {"not loaded any more", has_lost_its_loader, set_after_a_miss, {LARDER_AT_GIVE_UP}},
    {"removed", nothing, remove_it, {LARDER_AT_DEAD, LARDER_AT_RETIRE, LARDER_AT_GIVE_BACK}},
    {"replaced", has_a_damaged_header, open_it, {LARDER_AT_DEAD, LARDER_AT_RETIRE, LARDER_AT_NAME}},
    {"condemned", has_damaged_tables, open_it, {LARDER_AT_CONDEMN, LARDER_AT_RETIRE}},
    {"in two formats", has_another, open_it, {LARDER_AT_TAKE_AWAY, LARDER_AT_ASIDE}},
};

/* ---- a meeting with it ----------------------------------------------------------------------------------------- */

static void meet_it(void)
{
    atomic_store(&plan->met, true);
    gate_open(&plan->reached, 1);
    raise(plan->stops ? SIGSTOP : SIGKILL);
}

static void act_under_fault(void *context)
{
    const struct scene *scene = context;
    fault_arm(plan->point, plan->skip, meet_it);
    scene->act();
    fault_disarm();
    gate_open(&plan->reached, 1);
}

/* All processes have the same pool, in which nothing is older than it may be, and everything can be done. */
static void expect_one_truth(larder_pool *old, knowledge *known)
{
    larder_pool_leave(old); /* its next request */
    larder_pool *pool = open_saving("p");
    described what;
    larder_hit hit;
    for (uint64_t i = 0; i < KEYS; i++) {
        look(old, known, i);
        look(pool, known, i);
    }
    EQUAL(write_one(old, known, 1), LARDER_OK);
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_WHOLE);
    EQUAL(what.version, known->given);
    EQUAL(write_one(pool, known, 1), LARDER_OK);
    EQUAL(read_described(old, key_number(1), 1, &what, &hit), READ_WHOLE);
    EQUAL(what.version, known->given);
    work(pool, known, 30);
    larder_pool_leave(old);
    larder_pool_leave(pool);
    CHECK(!is_there("kept/p.snapshot"));
    CHECK(!is_there(OTHER));
    if (plan->stops) {
        CHECK_POOL(pool);
    } else {
        CHECK_POOL_AFTER_DEATHS(pool);
    }
    larder_pool_close(pool);
}

/* Was the point reached? */
static bool play(const struct scene *scene, knowledge *known)
{
    siginfo_t info;
    larder_pool *pool = open_saving("p");
    for (uint64_t i = 0; i < KEYS; i++) {
        EQUAL(write_one(pool, known, i), LARDER_OK);
    }
    work(pool, known, 60);
    larder_pool_leave(pool);
    scene->before(pool);
    atomic_store(&plan->reached.number, 0);
    atomic_store(&plan->met, false);
    pid_t pid = child_start(act_under_fault, (void *)(uintptr_t)scene);
    gate_wait(&plan->reached, 1);
    EQUAL(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT), 0);
    work(pool, known, 12);
    kill(pid, SIGCONT);
    work(pool, known, 12);
    bool met = atomic_load(&plan->met);
    EQUAL(child_wait(pid), met && !plan->stops ? 256 + SIGKILL : 0);
    rmdir(path_of("kept/.new-p.snapshot"));
    expect_one_truth(pool, known);
    unlink(pool_path_of("p")); /* the machine is switched off without a save */
    expect_one_truth(pool, known);
    larder_pool_close(pool);
    remove_pool();
    return met;
}

static void play_all(bool stops)
{
    bool met[LARDER_FAULT_POINTS] = {false};
    knowledge known = {.r = {test_seed()}};
    plan = shared_memory(sizeof *plan);
    plan->stops = stops;
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; s++) {
        for (size_t p = 0; p < 6 && scenes[s].points[p] != 0; p++) {
            for (uint64_t round = 0; round < 1 + test_scale(); round++) {
                plan->point = scenes[s].points[p];
                plan->skip = round == 0 ? 0 : rng_below(&known.r, KEYS);
                met[plan->point] |= play(&scenes[s], &known);
                if (test_failures() > 0) {
                    printf("    at fault point %u, skip %llu, of a pool that is %s\n", plan->point,
                           (unsigned long long)plan->skip, scenes[s].words);
                    test_give_up();
                }
            }
        }
    }
    for (unsigned point = LARDER_WORKING_POINTS; point < LARDER_AT_DIRECTORY; point++) { /* aside_test.c has that one */
        if (!met[point]) {
            test_failed(__FILE__, __LINE__, "fault point %u is never reached", point);
        }
    }
}

TEST(killed, "a process killed anywhere in the lifecycle of a pool's file leaves one truth, and none waits")
{
    play_all(false);
}

TEST(stopped, "a process stopped anywhere in the lifecycle of a pool's file keeps none waiting, and undoes nothing")
{
    play_all(true);
}
