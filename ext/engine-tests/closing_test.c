/* Pools that are saved while others work with them. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "saving.h"

#include "engine/larder.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <unistd.h>

static void save_and_stay(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_RECORD, 0, fault_stay);
    save();
}

TEST(closed,
     "while a pool is saved reads miss, stores and deletes are refused loudly, and then all goes on where it was")
{
    fault_gate = shared_memory(sizeof *fault_gate);
    const uint64_t tag = larder_tag_of("t", 1);
    const larder_key key = key_of("k");
    larder_pool *pool = open_saving("p");
    int64_t number;
    put_text(pool, "k", "v");
    pid_t saver = child_start(save_and_stay, NULL);
    gate_wait(fault_gate, 1);
    CHECK(!holds_text(pool, "k", "v"));
    EQUAL(put_text(pool, "k", "w"), LARDER_UNREACHED);
    CHECK(!larder_delete(pool, &key));
    CHECK(pool->request.undone);
    larder_invalidate(pool, &tag, 1);
    CHECK(pool->request.undone);
    larder_clear(pool);
    CHECK(pool->request.undone);
    CHECK(!larder_touch(pool, &key, 0));
    CHECK(pool->request.undone);
    EQUAL(larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &number), LARDER_NOT_COUNTED);
    CHECK(pool->request.undone);
    CONTAINS(pool->request.trouble.message, "saving");
    gate_open(fault_gate, 2);
    EQUAL(child_wait(saver), 0);
    larder_pool_leave(pool); /* the next request */
    CHECK(holds_text(pool, "k", "v"));
    EQUAL(put_text(pool, "k", "w"), LARDER_OK);
    larder_delete(pool, &key);
    CHECK(!pool->request.undone);
    CHECK_POOL(pool);
}

/* The pool "p" is saved and reopened at the fault point where an operation is just then. */
static void save_now(void)
{
    save();
}

TEST(fill_in_between,
     "what was computed from a miss before a save is not stored after it, and takes what was saved along")
{
    larder_pool *pool = open_saving("p"), *other = open_saving("p");
    const larder_key key = key_of("k");
    larder_hit hit;
    CHECK(!larder_get(pool, &key, &hit)); /* a miss: its request computes from here on */
    put_text(other, "k", "stored meanwhile");
    larder_pool_close(other);
    save();
    EQUAL(put_text(pool, "k", "computed before"), LARDER_OVERTAKEN);
    CHECK(!holds_text(pool, "k", "stored meanwhile"));
    CHECK(!holds_text(pool, "k", "computed before"));
    EQUAL(put_text(pool, "k", "new"), LARDER_OK); /* a write */
    CHECK(holds_text(pool, "k", "new"));
}

static uint64_t version_of(larder_pool *pool, const larder_key *key)
{
    larder_hit hit;
    REQUIRE(larder_get_pinned(pool, key, &hit));
    uint64_t version = hit.item->version;
    larder_hit_drop(pool, &hit);
    return version;
}

TEST(under_way,
     "an operation during which its pool is saved is done in the next pool, or refused and the key deleted there")
{
    static const unsigned points[] = {
        LARDER_AT_TICK,    LARDER_AT_KEY_VERSION, LARDER_AT_DELETION,   LARDER_AT_RESERVE, LARDER_AT_PENDING,
        LARDER_AT_PUBLISH, LARDER_AT_REPLACE,     LARDER_AT_CLEAR_WORD, LARDER_AT_TAG,     LARDER_AT_INVALIDATED,
        LARDER_AT_CLEAR,   LARDER_AT_TOUCH,       LARDER_AT_COUNT};
    const uint64_t tag = larder_tag_of("t", 1);
    const larder_terms tagged = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    const larder_key key = key_of("k"), counter = key_of("counter");
    unsigned interrupted = 0;
    for (size_t p = 0; p < sizeof points / sizeof points[0]; p++) {
        for (int operation = 0; operation < 7; operation++) {
            larder_pool *pool = open_saving("p");
            int64_t number = 0;
            put_under(pool, "k", "old", &tagged);
            EQUAL(larder_increment(pool, &counter, 5, 0, LARDER_NO_EXPIRY, &number), LARDER_COUNTED);
            uint64_t before = pool->attached.number;
            fault_arm(points[p], 0, save_now);
            switch (operation) {
            case 0:
                if (put_text(pool, "k", "new") == LARDER_OK) {
                    CHECK(holds_text(pool, "k", "new"));
                } else {
                    CHECK(pool->attached.number != before && !holds_text(pool, "k", "new"));
                }
                fault_disarm();
                CHECK(!holds_text(pool, "k", "old"));
                break;
            case 1:
                larder_delete(pool, &key);
                break;
            case 2:
                larder_invalidate(pool, &tag, 1);
                break;
            case 3:
                larder_clear(pool);
                break;
            case 4:
                CHECK(larder_touch(pool, &key, 2)); /* long ago */
                break;
            case 5: {
                const larder_met met = {.version = version_of(pool, &key)};
                CHECK(larder_take(pool, &key, &met, &number));
                break;
            }
            default:
                if (larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &number) == LARDER_COUNTED) {
                    EQUAL(number, 6);
                } else {
                    CHECK(pool->request.undone);
                }
                fault_disarm();
                EQUAL(larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &number), LARDER_COUNTED);
                CHECK(number == 7 || (number == 6 && pool->attached.number != before));
            }
            fault_disarm();
            if (operation >= 1 && operation <= 5) {
                CHECK(!pool->request.undone);
                CHECK(!holds_text(pool, "k", "old"));
            }
            interrupted += pool->attached.number != before;
            larder_pool_leave(pool);
            larder_pool_close(pool);
            remove_pool();
            unlink(path_of("kept/p.snapshot"));
            if (test_failures() > 0) {
                printf("    at point %u, operation %d\n", points[p], operation);
                test_give_up();
            }
        }
    }
    COMPARE(interrupted, >=, 15);
}

static void store_and_wait(void *context)
{
    larder_pool *pool = open_saving("p");
    (void)context;
    fault_arm(LARDER_AT_REPLACE, 0, fault_stay);
    EQUAL(put_text(pool, "k", "older"), LARDER_BUSY);
    larder_pool_close(pool);
}

TEST(stopped_store, "a store that was stopped when its pool was saved does not undo what happened in the next pool")
{
    fault_gate = shared_memory(sizeof *fault_gate);
    const larder_key key = key_of("k");
    larder_pool *pool = open_saving("p");
    put_text(pool, "k", "v");
    pid_t storer = child_start(store_and_wait, NULL);
    gate_wait(fault_gate, 1);
    save();
    larder_pool_leave(pool);
    CHECK(holds_text(pool, "k", "v"));
    CHECK(larder_delete(pool, &key));
    gate_open(fault_gate, 2);
    EQUAL(child_wait(storer), 0);
    CHECK(!holds_text(pool, "k", "older"));
    CHECK_POOL(pool);
}

/* ---- stores whose item may be in the snapshot ---------------------------------------------------------------- */

static pid_t saver;
static void (*meanwhile)(void); /* happens when the pool was saved, before the store's process comes to the next one */

static void save_slowly(void *context)
{
    (void)context;
    fault_arm(LARDER_AT_RECORD, 0, fault_stay);
    save();
}

/* Another process saves the pool, and has yet to come to the item that is about to be published. */
static void begin_to_save(void)
{
    saver = child_start(save_slowly, NULL);
    gate_wait(fault_gate, 1);
}

/* The clock is asked first when the store's process enters the next pool. */
static uint64_t end_saving(void)
{
    if (saver != 0) {
        gate_open(fault_gate, 2);
        EQUAL(child_wait(saver), 0);
        saver = 0;
        if (meanwhile != NULL) {
            meanwhile();
        }
    }
    return larder_wall_ms();
}

/* A pool with a large item, which is saved first, and in which this request has missed "k". */
static larder_pool *open_and_miss(bool evicts)
{
    static const char large[4096];
    larder_pool_config config = saving_config("p");
    const larder_key key = key_of("k");
    config.evict = evicts;
    config.now = end_saving;
    fault_gate = shared_memory(sizeof *fault_gate);
    larder_pool *pool = pool_open_as(&config);
    EQUAL(put_bytes(pool, key_of("first"), large, sizeof large), LARDER_OK);
    CHECK(!larder_exists(pool, &key));
    return pool;
}

static void remove_all(larder_pool *pool)
{
    larder_pool_leave(pool);
    larder_pool_close(pool);
    remove_pool();
    unlink(path_of("kept/p.snapshot"));
}

TEST(carried, "a store during which its pool is saved is done if the snapshot has its item, else refused and not there")
{
    for (int i = 0; i < 16; i++) {
        const larder_terms terms = {.mode = i % 2 != 0 ? LARDER_ADD : LARDER_SET,
                                    .verb = i / 2 % 2 != 0 ? LARDER_WRITE : LARDER_AS_MISSED,
                                    .expiry = LARDER_NO_EXPIRY};
        bool is_carried = i / 8 != 0;
        larder_pool *pool = open_and_miss(i / 4 % 2 != 0);
        fault_arm(LARDER_AT_PUBLISH, 0, is_carried ? begin_to_save : save_now);
        EQUAL(put_under(pool, "k", "new", &terms), is_carried ? LARDER_OK : LARDER_BUSY);
        fault_disarm();
        EQUAL(holds_text(pool, "k", "new"), is_carried);
        remove_all(pool);
    }
}

static pid_t loader;
static unsigned loader_stays_at;

static void stay_loading(void)
{
    gate_open(fault_gate, 3);
    gate_wait(fault_gate, 4);
}

static void load_slowly(void *context)
{
    (void)context;
    fault_arm(loader_stays_at, 1, stay_loading); /* "first" is loaded before */
    larder_pool_close(open_saving("p"));
}

static void begin_to_load(void)
{
    loader = child_start(load_slowly, NULL);
    gate_wait(fault_gate, 3);
}

TEST(comes_no_more, "the item of a store that was refused as its pool was saved is not loaded later from the snapshot")
{
    meanwhile = begin_to_load;
    for (int i = 0; i < 4; i++) {
        const larder_terms terms = {.mode = i % 2 != 0 ? LARDER_ADD : LARDER_SET, .expiry = LARDER_NO_EXPIRY};
        const larder_key first = key_of("first");
        loader_stays_at = i / 2 != 0 ? LARDER_AT_PUBLISH : LARDER_AT_LOAD;
        larder_pool *pool = open_and_miss(true);
        fault_arm(LARDER_AT_PUBLISH, 0, begin_to_save);
        EQUAL(put_under(pool, "k", "new", &terms), LARDER_BUSY);
        fault_disarm();
        gate_open(fault_gate, 4);
        EQUAL(child_wait(loader), 0);
        CHECK(!holds_text(pool, "k", "new"));
        CHECK(larder_exists(pool, &first));
        remove_all(pool);
    }
    meanwhile = NULL;
}

/* By a kind of PHP that cannot load the item, so that the key is free. */
static void add_theirs(void)
{
    larder_pool_config config = saving_config("p");
    const larder_key key = key_of("k");
    config.abi++;
    larder_pool *next = pool_open_as(&config);
    CHECK(!larder_exists(next, &key));
    EQUAL(put_with(next, key, "theirs", 6, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_OK);
    larder_pool_close(next);
}

static void lose_and_add_theirs(void)
{
    larder_pool *next;
    unlink(path_of("kept/p.snapshot"));
    next = open_saving("p"); /* its clock begins anew, and comes to where it was */
    EQUAL(put_text(next, "a tick", "v"), LARDER_OK);
    larder_pool_close(next);
    add_theirs();
}

TEST(one_added, "of two adds of a key of which one is in flight when its pool is saved, one is told that it was done")
{
    for (int i = 0; i < 2; i++) {
        described ours = {.block = true};
        meanwhile = i == 0 ? add_theirs : lose_and_add_theirs;
        larder_pool *pool = open_and_miss(true);
        fault_arm(LARDER_AT_PUBLISH, 0, begin_to_save);
        EQUAL(put_described(pool, key_of("k"), &ours, DESCRIBED_LEAST, LARDER_ADD, LARDER_NO_EXPIRY), LARDER_BUSY);
        fault_disarm();
        CHECK(holds_text(pool, "k", "theirs"));
        remove_all(pool);
    }
    meanwhile = NULL;
}

/* ---- all processes at once ----------------------------------------------------------------------------------- */

enum { OWN_KEYS = 40 };

static _Atomic bool *is_over;

/* What a key's only owner knows of it: the version that was stored last (0: it is gone); but if a store could not be
 * done surely since, it may be any from that one on. */
typedef struct knowledge {
    uint64_t is, unsure_from;
} knowledge;

static void look(larder_pool *pool, uint64_t number, knowledge *k)
{
    described what;
    larder_hit hit;
    switch (read_described(pool, key_number(number), number, &what, &hit)) {
    case READ_WHOLE:
        if (what.version != k->is && (k->unsure_from == 0 || what.version < k->unsure_from)) {
            test_failed(__FILE__, __LINE__, "key %llu has version %llu, not %llu", (unsigned long long)number,
                        (unsigned long long)what.version, (unsigned long long)k->is);
        }
        break;
    case READ_TORN:
        test_failed(__FILE__, __LINE__, "key %llu is torn", (unsigned long long)number);
        break;
    case READ_NOTHING: /* it may come back with the snapshot if the pool is just being saved */
        break;
    }
}

static void own_some_keys(void *context)
{
    uint64_t first = (uint64_t)(uintptr_t)context * OWN_KEYS, version = 0;
    rng r = {test_seed() + first};
    knowledge known[OWN_KEYS] = {{0, 0}};
    larder_pool *pool = open_saving("p");
    while (!atomic_load(is_over) && test_failures() == 0) {
        uint64_t i = rng_below(&r, OWN_KEYS), number = first + i;
        const larder_key key = key_number(number);
        version++;
        described what = {.key = number, .version = version, .block = version % 2 == 0};
        switch (rng_below(&r, 8)) {
        case 0:
        case 1: {
            enum larder_result result =
                put_described(pool, key, &what, DESCRIBED_LEAST + rng_below(&r, 4000), LARDER_SET, LARDER_NO_EXPIRY);
            if (result != LARDER_UNREACHED) {
                known[i] = (knowledge){result == LARDER_OK ? version : 0, 0};
            } else if (known[i].unsure_from == 0) {
                known[i].unsure_from = version;
            }
            break;
        }
        case 2:
            larder_delete(pool, &key);
            known[i] = pool->request.undone ? known[i] : (knowledge){0, 0};
            break;
        case 3:
            larder_pool_leave(pool);
            break;
        default:
            look(pool, number, &known[i]);
        }
    }
    larder_pool_leave(pool);
    larder_pool_close(pool);
}

TEST(busy,
     "while a busy pool is saved and loaded again and again, no process ever reads what it has replaced or deleted")
{
    is_over = shared_memory(sizeof *is_over);
    pid_t children[3];
    larder_pool_close(open_saving("p"));
    for (uintptr_t i = 0; i < 3; i++) {
        children[i] = child_start(own_some_keys, (void *)i);
    }
    uint64_t saves = 0;
    while (saves < 25 * test_scale() && test_failures() == 0) {
        const larder_pool_config config = saving_config("p");
        larder_error error = {.message = ""};
        larder_saved saved;
        int result = larder_pool_save(&config, &saved, &error);
        if (result < 0) {
            test_failed(__FILE__, __LINE__, "not saved: %s", error.message);
        }
        saves += result == 1;
        usleep(4000); /* so that they meet pools in all their ages; nothing depends on it */
    }
    atomic_store(is_over, true);
    for (int i = 0; i < 3; i++) {
        EQUAL(child_wait(children[i]), 0);
    }
    larder_pool *pool = open_saving("p");
    CHECK_POOL_AFTER_DEATHS(pool);
}
