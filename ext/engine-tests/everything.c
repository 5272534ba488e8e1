#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "everything.h"
#include "increment.h"
#include "lines.h"
#include "waiting.h"

#include "engine/evict.h"
#include "engine/larder.h"
#include "engine/lease.h"
#include "engine/tag.h"
#include "engine/token.h"

#include <unistd.h>

enum {
    KEYS = 300,
    LONG_RUN = 700000 /* bytes: of so many segments that their words are made void at once */,
    LONGEST_WAIT_NS = 100000000 /* of one turn: 70 ms for an owner of the segment lock that does not go on; then 1 ms
                                   at a time, or 10 where nothing is evicted */
};

/* One operation. */
typedef struct turn {
    larder_pool *pool;
    rng *r;
    uint64_t number; /* of the key */
    larder_key key;
} turn;

/* ---- what may be read ------------------------------------------------------------------------------------------ */

/* A store's version is given out after its tick, or after the token that it is judged by. So those that were given out
 * before an event began belong to stores that are older, or were computed before it. When it has returned they may not
 * be read any more; but plain writes that meet another write are not over yet, and may come after it. */
static struct floors {
    _Atomic uint64_t given;              /* the next version; 0 is none */
    _Atomic uint64_t least[KEYS];        /* of those that may be read, since a delete or a clear */
    _Atomic uint64_t least_judged[KEYS]; /* ... of what was judged by a token, since a write */
    _Atomic uint64_t least_kept;         /* ... of what bears the tag "kept", since that was invalidated */
} * floors;

/* In a version. */
#define KEPT   (UINT64_C(1) << 63) /* it bears the tag */
#define JUDGED (UINT64_C(1) << 62)

void everything_begin(void)
{
    floors = shared_memory(sizeof *floors);
    floors->given = 1;
}

static uint64_t given(void)
{
    return atomic_load(&floors->given);
}

static uint64_t next_version(void)
{
    return atomic_fetch_add(&floors->given, 1);
}

/* Is something there? The floors are read first: what had returned by then is binding. */
static bool look(const turn *t)
{
    const uint64_t least[3] = {atomic_load(&floors->least[t->number]), atomic_load(&floors->least_judged[t->number]),
                               atomic_load(&floors->least_kept)};
    larder_hit hit;
    described what;
    enum reading seen = read_described(t->pool, t->key, t->number, &what, &hit);
    if (seen == READ_TORN) {
        test_failed(__FILE__, __LINE__, "key %llu is torn", (unsigned long long)t->number);
    }
    if (seen != READ_WHOLE) {
        return false;
    }
    uint64_t version = what.version & ~(KEPT | JUDGED);
    if (version < least[0] || ((what.version & JUDGED) != 0 && version < least[1]) ||
        ((what.version & KEPT) != 0 && version < least[2])) {
        test_failed(__FILE__, __LINE__,
                    "key %llu: version %llu is read, and those below %llu are no more, or %llu, %llu",
                    (unsigned long long)t->number, (unsigned long long)version, (unsigned long long)least[0],
                    (unsigned long long)least[1], (unsigned long long)least[2]);
    }
    return true;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

/* Without a version it is given one after its tick. */
static enum larder_result store_as(const turn *t, described *what, size_t size, const larder_terms *terms)
{
    what->key = t->number;
    what->versions = what->version == 0 ? &floors->given : NULL;
    what->block = rng_below(t->r, 2) == 0;
    return put_described_under(t->pool, t->key, what, size, terms);
}

/* A write. Whether it is done, refused or overtaken, nothing stays that was computed before; unless it is undone. */
static void write_one(const turn *t, size_t size)
{
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY};
    uint64_t began = given();
    enum larder_result result = store_as(t, &(described){.version = 0}, size, &terms);
    if (!was_undone(t->pool, result)) {
        larder_raise(&floors->least_judged[t->number], began);
    }
}

static void write_small(const turn *t)
{
    write_one(t, DESCRIBED_LEAST + rng_below(t->r, 12000));
}

static void write_large(const turn *t)
{
    uint64_t dice = rng_below(t->r, 16);
    write_one(t, dice == 0 ? LONG_RUN : dice == 1 ? 300000 : 30000);
}

/* What is computed because of a miss is as old as that. */
static void fill(const turn *t)
{
    static const enum larder_mode modes[] = {LARDER_SET, LARDER_SET, LARDER_ADD};
    const larder_terms terms = {
        .mode = modes[rng_below(t->r, 3)], .verb = LARDER_AS_MISSED, .expiry = LARDER_NO_EXPIRY};
    described what = {.version = 0};
    if (!look(t)) {
        what.version = next_version() | JUDGED;
    }
    store_as(t, &what, DESCRIBED_LEAST + rng_below(t->r, 12000), &terms);
}

static void add_or_replace(const turn *t)
{
    const larder_terms terms = {.mode = rng_below(t->r, 2) == 0 ? LARDER_ADD : LARDER_REPLACE,
                                .verb = LARDER_WRITE,
                                .expiry = LARDER_NO_EXPIRY};
    uint64_t began = given();
    enum larder_result result =
        store_as(t, &(described){.version = 0}, DESCRIBED_LEAST + rng_below(t->r, 12000), &terms);
    if (terms.mode == LARDER_REPLACE && result == LARDER_OK) {
        larder_raise(&floors->least_judged[t->number], began);
    }
}

/* What was computed since a token, for others to read who look at its tag. */
static void store_with_token(const turn *t)
{
    const uint64_t tag = larder_tag_of("kept", 4);
    if (!larder_pool_enter(t->pool)) {
        return;
    }
    uint64_t began = given();
    const larder_terms terms = {.verb = rng_below(t->r, 2) == 0 ? LARDER_FILL : LARDER_JUDGED,
                                .token = larder_now_logical(t->pool->header),
                                .attachment = t->pool->attached.number,
                                .expiry = larder_wall_ms() / 1000 * 1000 + 1000000,
                                .grace_ms = 5000,
                                .tags = &tag,
                                .tags_count = 1};
    described what = {.version = next_version() | KEPT | JUDGED};
    if (store_as(t, &what, DESCRIBED_LEAST + rng_below(t->r, 3000), &terms) == LARDER_OK &&
        terms.verb == LARDER_JUDGED) {
        larder_raise(&floors->least_judged[t->number], began);
    }
}

static void invalidate(const turn *t)
{
    const uint64_t tag = larder_tag_of("kept", 4);
    uint64_t began = given();
    if (rng_below(t->r, 2) == 0) {
        larder_invalidate_softly(t->pool, &tag, 1, 1000); /* the same to a plain read */
    } else {
        larder_invalidate(t->pool, &tag, 1);
    }
    larder_raise(&floors->least_kept, began);
}

static void delete_one(const turn *t)
{
    uint64_t began = given();
    larder_delete(t->pool, &t->key);
    larder_raise(&floors->least[t->number], began);
}

void everything_clear(larder_pool *pool)
{
    uint64_t began = given();
    larder_clear(pool);
    for (uint64_t i = 0; i < KEYS; i++) {
        larder_raise(&floors->least[i], began);
    }
}

static void touch(const turn *t)
{
    larder_touch(t->pool, &t->key, LARDER_NO_EXPIRY);
}

/* Also to where a counter becomes a plain int, and back. */
static void count(const turn *t)
{
    static const int64_t steps[] = {1, 1, 1, LARDER_COUNTER_MAX, -LARDER_COUNTER_MAX};
    const larder_key counter = key_number(KEYS + rng_below(t->r, 10));
    int64_t now;
    larder_increment(t->pool, &counter, steps[rng_below(t->r, 5)], 0, LARDER_NO_EXPIRY, &now);
}

static void read_one(const turn *t)
{
    larder_hit hit;
    look(t);
    if (rng_below(t->r, 8) == 0) {
        larder_exists(t->pool, &t->key);
    }
    if (rng_below(t->r, 8) == 0 && larder_get_stale(t->pool, &t->key, 1000, &hit, &(larder_serving){.stale = false})) {
        larder_hit_drop(t->pool, &hit);
    }
}

static bool see_key(void *context, const char *key, size_t length)
{
    if (length < 4 || memcmp(key, "key-", 4) != 0) {
        test_failed(__FILE__, __LINE__, "%.*s is listed among those that begin with key-", (int)length, key);
    }
    return --*(unsigned *)context > 0;
}

static void look_around(const turn *t)
{
    unsigned most = 50;
    larder_stats stats;
    larder_each_key(t->pool, "key-", 4, see_key, &most);
    larder_stats_read(t->pool, &stats);
    larder_keep_house(t->pool, 100);
}

/* What was stored under a tag before it was invalidated here is gone afterwards, no matter which process died or
 * stopped in between. */
static void use_tags(const turn *t)
{
    /* More than two lines of the table of recent invalidations hold. */
    static uint64_t tags[LINES_FULL + 2], seed;
    if (seed != t->pool->seed) {
        tags_of_two_lines(t->pool, tags, LINES_FULL + 2);
        seed = t->pool->seed;
    }
    const uint64_t tag = tags[rng_below(t->r, LINES_FULL + 2)];
    const uint64_t its[] = {tag, rng_next(t->r)}; /* no item has carried the second */
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = its, .tags_count = 2};
    char key[32], text[32];
    size_t size = 0;
    snprintf(key, sizeof key, "tagged-%llu-%d", (unsigned long long)t->number, (int)getpid());
    put_under(t->pool, key, "before", &terms);
    larder_invalidate(t->pool, &tag, 1);
    if (take(t->pool, key_of(key), text, sizeof text, &size)) {
        test_failed(__FILE__, __LINE__, "%s outlived its tag", key);
    }
    if (rng_below(t->r, 3) == 0) {
        invalidate(t);
    }
}

static void use_a_lease(const turn *t)
{
    switch (larder_lease_take(t->pool, &t->key, 1000)) {
    case LARDER_LEASE_TAKEN:
        larder_lease_give_back(t->pool, &t->key);
        break;
    case LARDER_LEASE_HELD:
        larder_lease_wait(t->pool, &t->key, 1);
        break;
    case LARDER_LEASE_OURS:
    case LARDER_LEASE_NOWHERE:
        break;
    }
}

static void clear_or_leave(const turn *t)
{
    uint64_t dice = rng_below(t->r, 120);
    if (dice == 0) {
        everything_clear(t->pool);
    } else if (dice < 40) {
        larder_pool_leave(t->pool);
    } else if (dice < 60) {
        larder_pool_begin_another(t->pool);
    }
}

/* ---- one after the other ------------------------------------------------------------------------------------------
 */

/* Keys have a buffer of the turn's own: a turn in the middle of it makes others. */
static turn turn_on(larder_pool *pool, rng *r, uint64_t number, char name[32])
{
    snprintf(name, 32, "key-%llu", (unsigned long long)number);
    return (turn){.pool = pool, .r = r, .number = number, .key = key_of(name)};
}

void everything_do(larder_pool *pool, rng *r, uint64_t operations, _Atomic uint64_t *current)
{
    static void (*const turns[])(const turn *) = {delete_one,     touch,    count,    write_large, store_with_token,
                                                  use_tags,       read_one, read_one, use_a_lease, clear_or_leave,
                                                  add_or_replace, fill,     fill,     write_small, write_small};
    enum { TURNS = sizeof turns / sizeof turns[0] };
    for (uint64_t i = 0; i < operations; i++) {
        char name[32];
        uint64_t which = rng_below(r, TURNS), waited = waited_ns();
        const turn t = turn_on(pool, r, rng_below(r, KEYS), name);
        if (current != NULL) {
            atomic_store(current, t.number);
        }
        (i % 64 == 63 ? look_around : turns[which])(&t);
        if (current != NULL) {
            look(&t);
        }
        waited = waited_ns() - waited;
        if (waited > LONGEST_WAIT_NS) {
            test_failed(__FILE__, __LINE__, "an operation of turn %llu waited for %llu us", (unsigned long long)which,
                        (unsigned long long)waited / 1000);
        }
    }
}

void everything_overtake(larder_pool *pool, rng *r, uint64_t number)
{
    static void (*const turns[])(const turn *) = {delete_one, delete_one, write_small, invalidate};
    char name[32];
    const turn t = turn_on(pool, r, number, name);
    turns[rng_below(r, 4)](&t);
}
