#include "judged.h"
#include "increment.h"

enum { COUNTERS = 20, ITEMS = 5 /* of each process */ };

/* One item, which only its process stores and touches. */
typedef struct touched {
    _Atomic uint64_t changes; /* odd: anything may be there */
    _Atomic uint64_t may[2];  /* the expiries that it may have */
} touched;

static struct known {
    _Atomic int64_t begun[COUNTERS], counted[COUNTERS];
    int64_t was[COUNTERS]; /* what the counter said when the round began, ... */
    int64_t had_begun[COUNTERS], had_counted[COUNTERS];
    touched items[CROWD * ITEMS];
    bool all_stays, lasts;
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

static void look(larder_pool *pool, uint64_t number)
{
    touched *item = &known->items[number];
    char name[32];
    const larder_key key = item_key(number, name);
    uint64_t changes = atomic_load(&item->changes), may[2] = {item->may[0], item->may[1]};
    uint64_t found = 0, before = larder_wall_ms();
    bool is_moving = false;
    larder_hit hit;
    bool hits = larder_get_pinned(pool, &key, &hit);
    if (hits) {
        found = larder_told_expiry(&hit.item->expiry);
        is_moving = is_provisional(atomic_load(&hit.item->expiry));
        larder_hit_drop(pool, &hit);
    }
    uint64_t after = larder_wall_ms();
    if (changes % 2 != 0 || atomic_load(&item->changes) != changes || (known->lasts && is_moving)) {
        return;
    }
    if (hits && !is_same(found, may[0]) && !is_same(found, may[1])) {
        test_failed(__FILE__, __LINE__, "%s expires at %llu, and was to at %llu or %llu", name,
                    (unsigned long long)found, (unsigned long long)may[0], (unsigned long long)may[1]);
    }
    if (hits && before > (may[0] > may[1] ? may[0] : may[1])) {
        test_failed(__FILE__, __LINE__, "%s is found at %llu, and expired at %llu or %llu", name,
                    (unsigned long long)before, (unsigned long long)may[0], (unsigned long long)may[1]);
    }
    if (!hits && known->all_stays && after < first_of(may[0], may[1])) {
        test_failed(__FILE__, __LINE__, "%s is gone at %llu, and expires at %llu or %llu", name,
                    (unsigned long long)after, (unsigned long long)may[0], (unsigned long long)may[1]);
    }
}

static void expect(touched *item, uint64_t expiry)
{
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
        expect(item, expiry);
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
        expect(item, expiry);
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
