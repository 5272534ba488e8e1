#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "judged.h"
#include "increment.h"

#include <unistd.h>

enum { COUNTERS = 20, ITEMS = 5 /* of each process */ };

/* One item, which only its process stores and touches. */
typedef struct touched {
    _Atomic uint64_t changes; /* odd: anything may be there */
    _Atomic uint64_t may[2];  /* the expiries that it may have */
    _Atomic uint64_t before;  /* ... and the one before its last touch; after a store none, which is for ever */
} touched;

static struct known {
    _Atomic int64_t begun[COUNTERS], counted[COUNTERS];
    int64_t was[COUNTERS]; /* what the counter said when the round began, ... */
    int64_t had_begun[COUNTERS], had_counted[COUNTERS];
    touched items[CROWD * ITEMS];
    bool all_stays, lasts, may_die;
} * known;

void judged_begin(void)
{
    known = shared_memory(sizeof *known);
    for (uint64_t i = 0; i < CROWD * ITEMS; i++) {
        known->items[i].changes = 1;
    }
}

void judged_lasts(void)
{
    known->lasts = true;
}

void judged_may_die(void)
{
    known->may_die = true;
}

/* ---- counters -------------------------------------------------------------------------------------------------- */

static larder_key counter_key(uint64_t number, char name[32])
{
    snprintf(name, 32, "counter-%llu", (unsigned long long)number);
    return key_of(name);
}

void judged_count(larder_pool *pool, rng *r)
{
    char name[32];
    uint64_t number = rng_below(r, COUNTERS);
    const larder_key key = counter_key(number, name);
    int64_t now = 0;
    atomic_fetch_add(&known->begun[number], 1);
    if (larder_increment(pool, &key, 1, 0, LARDER_NO_EXPIRY, &now) != LARDER_COUNTED) {
        return; /* refused, or it may have been counted */
    }
    atomic_fetch_add(&known->counted[number], 1);
    COMPARE(now, <=, known->begun[number]);
    COMPARE(now, >, 0);
}

static int64_t value_of(larder_pool *pool, uint64_t number)
{
    char name[32];
    const larder_key key = counter_key(number, name);
    int64_t value = 0;
    larder_hit hit;
    if (larder_get_pinned(pool, &key, &hit)) {
        size_t size;
        EQUAL(hit.item->kind, LARDER_COUNTER_KIND);
        value = larder_counter_value(larder_hit_value(pool, &hit, &size));
        larder_hit_drop(pool, &hit);
    }
    return value;
}

/* ---- touches --------------------------------------------------------------------------------------------------- */

static larder_key item_key(uint64_t number, char name[32])
{
    snprintf(name, 32, "touched-%llu", (unsigned long long)number);
    return key_of(name);
}

/* Mostly one that is not met, so that the item can be lost only by mistake. Even, as all are but a mover's. */
static uint64_t random_expiry(rng *r)
{
    uint64_t now = larder_wall_ms() & ~UINT64_C(1);
    switch (rng_below(r, known->lasts ? 3 : 4)) {
    case 0:
        return LARDER_NO_EXPIRY;
    case 3:
        return now + 2 + 2 * rng_below(r, 20);
    default:
        return now + 3600000 + 2 * rng_below(r, 1000000);
    }
}

/* A process that died while it moved an item leaves the odd one. */
static bool is_same(uint64_t expiry, uint64_t other)
{
    return (expiry | 1) == (other | 1);
}

/* A copy has its item's expiry as it was, until its mover has looked once more. */
static bool is_provisional(uint64_t expiry)
{
    return expiry % 2 != 0 && expiry != LARDER_NO_EXPIRY;
}

static uint64_t first_of(uint64_t expiry, uint64_t other)
{
    return expiry < other ? expiry : other;
}

/* What a look at an item found, and when. */
typedef struct seen {
    uint64_t may[2], stays_until, before, after, found;
    bool hits, is_moving, changed;
} seen;

static seen look_once(larder_pool *pool, uint64_t number)
{
    touched *item = &known->items[number];
    char name[32];
    const larder_key key = item_key(number, name);
    uint64_t changes = atomic_load(&item->changes);
    seen s = {.may = {item->may[0], item->may[1]}, .before = larder_wall_ms()};
    s.stays_until = first_of(first_of(s.may[0], s.may[1]), item->before);
    larder_hit hit;
    s.hits = larder_get_pinned(pool, &key, &hit);
    if (s.hits) {
        s.found = larder_told_expiry(&hit.item->expiry);
        s.is_moving = is_provisional(atomic_load(&hit.item->expiry));
        larder_hit_drop(pool, &hit);
    }
    s.after = larder_wall_ms();
    s.changed = changes % 2 != 0 || atomic_load(&item->changes) != changes;
    return s;
}

static bool is_as_touched(const seen *s)
{
    if (s->hits) {
        return (is_same(s->found, s->may[0]) || is_same(s->found, s->may[1])) &&
               s->before <= (s->may[0] > s->may[1] ? s->may[0] : s->may[1]);
    }
    return !known->all_stays || s->after >= s->stays_until;
}

/* Between turning an item's word and looking at its expiry again a mover shows the expiry from before a touch of that
 * moment. It needs microseconds, but on a busy machine it may have to wait for its processor. So what is wrong may
 * become right; and it stays wrong where the mover died just there (the limits in ext/PROOFS.md). */
static void look(larder_pool *pool, uint64_t number)
{
    seen s = look_once(pool, number);
    for (int tries = 0; tries < 5000 && !s.changed && !is_as_touched(&s); tries++) {
        usleep(1000);
        s = look_once(pool, number);
    }
    if (s.changed || is_as_touched(&s) || (known->may_die && s.is_moving)) {
        return;
    }
    test_failed(__FILE__, __LINE__, "touched-%llu %s at %llu (expires at %llu), and was to expire at %llu or %llu",
                (unsigned long long)number, s.hits ? "is found" : "is gone", (unsigned long long)s.before,
                (unsigned long long)s.found, (unsigned long long)s.may[0], (unsigned long long)s.may[1]);
}

static void expect(touched *item, uint64_t expiry, uint64_t before)
{
    atomic_store(&item->before, before);
    atomic_store(&item->may[0], expiry);
    atomic_store(&item->may[1], expiry);
    atomic_fetch_add(&item->changes, 1);
}

static void store(larder_pool *pool, uint64_t number, uint64_t expiry)
{
    touched *item = &known->items[number];
    char name[32];
    const larder_terms terms = {.verb = LARDER_WRITE, .expiry = expiry};
    item_key(number, name);
    if (atomic_load(&item->changes) % 2 == 0) {
        atomic_fetch_add(&item->changes, 1);
    }
    if (put_under(pool, name, "a text that is hardly changed", &terms) == LARDER_OK) {
        expect(item, expiry, LARDER_NO_EXPIRY);
    }
}

/* A touch that is not done may be for an item that has expired, in which case it says nothing. */
static void touch(larder_pool *pool, uint64_t number, uint64_t expiry)
{
    touched *item = &known->items[number];
    char name[32];
    const larder_key key = item_key(number, name);
    uint64_t least = first_of(item->may[0], item->may[1]);
    atomic_store(&item->may[1], expiry);
    atomic_fetch_add(&item->changes, 2);
    bool done = larder_touch(pool, &key, expiry), undone = pool->request.undone;
    if (!done && !undone && known->all_stays && larder_wall_ms() < least) {
        test_failed(__FILE__, __LINE__, "%s was not touched, and expires at %llu", name, (unsigned long long)least);
    }
    atomic_fetch_add(&item->changes, 1); /* else it may have been gone, or go while it was given another expiry */
    if (done && larder_wall_ms() < least) {
        expect(item, expiry, least);
    }
}

void judged_touch(larder_pool *pool, rng *r, uint64_t process)
{
    uint64_t own = process * ITEMS + rng_below(r, ITEMS), dice = rng_below(r, 6);
    if (dice == 0) {
        look(pool, rng_below(r, (uint64_t)CROWD * ITEMS));
    } else if (dice == 1) {
        look(pool, own);
    } else if (dice == 2 || atomic_load(&known->items[own].changes) % 2 != 0) {
        store(pool, own, random_expiry(r));
    } else {
        touch(pool, own, random_expiry(r));
    }
}

/* ---- rounds ---------------------------------------------------------------------------------------------------- */

void judged_begin_round(larder_pool *pool, bool all_stays)
{
    for (uint64_t i = 0; i < COUNTERS; i++) {
        known->was[i] = value_of(pool, i);
        known->had_begun[i] = known->begun[i];
        known->had_counted[i] = known->counted[i];
    }
    if (all_stays && !known->all_stays) {
        for (uint64_t i = 0; i < CROWD * ITEMS; i++) {
            known->items[i].changes |= 1; /* it may have been taken in the round before */
        }
    }
    known->all_stays = all_stays;
}

void judged_end_round(larder_pool *pool)
{
    for (uint64_t i = 0; i < COUNTERS; i++) {
        int64_t now = value_of(pool, i);
        COMPARE(now, <=, known->was[i] + known->begun[i] - known->had_begun[i]);
        if (known->all_stays) {
            COMPARE(now, >=, known->was[i] + known->counted[i] - known->had_counted[i]);
        }
    }
    for (uint64_t i = 0; i < CROWD * ITEMS; i++) {
        look(pool, i);
    }
}
