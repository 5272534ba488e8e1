/* Random histories beside a plain model: a table of what each key must hold. A miss is right only where the engine may
 * drop things, and then it is counted as an eviction; a hit must be what was stored last. */
#include "increment.h"
#include "fixture.h"

#define KEYS 3000u

enum content { NOTHING, VALUE, NUMBER };

typedef struct expectation {
    enum content content;
    uint64_t version;
    uint64_t expiry;
    int64_t number;
} expectation;

typedef struct model {
    larder_pool *pool;
    rng r;
    expectation keys[KEYS];
    uint64_t version;
    uint64_t dropped; /* misses of what was stored and neither deleted nor expired */
    bool evicts;
    size_t largest;
} model;

static bool lives(const expectation *e)
{
    return e->content != NOTHING && (e->expiry == LARDER_NO_EXPIRY || clock_ms < e->expiry);
}

static uint64_t random_expiry(model *m)
{
    switch (rng_below(&m->r, 4)) {
    case 0:
        return clock_ms + 1 + rng_below(&m->r, 100);
    case 1:
        return clock_ms + 1 + rng_below(&m->r, 20000);
    default:
        return LARDER_NO_EXPIRY;
    }
}

static void missed(model *m, expectation *e)
{
    if (lives(e)) {
        m->dropped++;
        CHECK(m->evicts);
    }
    e->content = NOTHING;
}

static void store(model *m, uint64_t number)
{
    static const enum larder_mode modes[] = {LARDER_SET, LARDER_SET, LARDER_SET, LARDER_ADD, LARDER_REPLACE};
    expectation *e = &m->keys[number];
    enum larder_mode mode = modes[rng_below(&m->r, 5)];
    size_t most = rng_below(&m->r, 300) == 0 ? m->largest : rng_below(&m->r, 20) == 0 ? 20000 : 900;
    size_t size = DESCRIBED_LEAST + rng_below(&m->r, most);
    described what = {.key = number, .version = ++m->version, .block = rng_below(&m->r, 2) == 0};
    uint64_t expiry = random_expiry(m);
    switch (put_described(m->pool, key_number(number), &what, size, mode, expiry)) {
    case LARDER_OK:
        if (mode == LARDER_ADD) {
            missed(m, e); /* it was not there, then */
        }
        CHECK(mode != LARDER_REPLACE || lives(e));
        *e = (expectation){.content = VALUE, .version = m->version, .expiry = expiry};
        break;
    case LARDER_UNREACHED:
        CHECK(false);
        break;
    case LARDER_EXISTS:
        CHECK(mode == LARDER_ADD && lives(e));
        break;
    case LARDER_ABSENT:
        CHECK(mode == LARDER_REPLACE);
        missed(m, e);
        break;
    case LARDER_FULL:
        CHECK(!m->evicts);
        if (mode != LARDER_ADD) {
            e->content = NOTHING; /* a refusal deletes */
        }
        break;
    case LARDER_PINNED:
        CHECK(m->evicts);
        if (mode != LARDER_ADD) {
            e->content = NOTHING;
        }
        break;
    case LARDER_OVERTAKEN:
    case LARDER_LOST:
    case LARDER_LARGE:
    case LARDER_BUSY:
        test_failed(__FILE__, __LINE__, "a store was refused for no reason");
        e->content = NOTHING;
        break;
    }
}

static void look_up(model *m, uint64_t number)
{
    expectation *e = &m->keys[number];
    larder_hit hit;
    described what;
    if (e->content == NUMBER && lives(e)) {
        const larder_key key = key_number(number);
        if (!larder_get_pinned(m->pool, &key, &hit)) {
            missed(m, e);
            return;
        }
        size_t size;
        const void *value = larder_hit_value(m->pool, &hit, &size);
        EQUAL(larder_counter_value(value), e->number);
        EQUAL(hit.item->expiry, e->expiry);
        larder_hit_drop(m->pool, &hit);
        return;
    }
    switch (read_described(m->pool, key_number(number), number, &what, &hit)) {
    case READ_NOTHING:
        missed(m, e);
        break;
    case READ_WHOLE:
        CHECK(lives(e) && e->content == VALUE);
        EQUAL(what.version, e->version);
        break;
    case READ_TORN:
        test_failed(__FILE__, __LINE__, "key %llu holds something torn or foreign", (unsigned long long)number);
        break;
    }
}

static void count(model *m, uint64_t number)
{
    expectation *e = &m->keys[number];
    const larder_key key = key_number(number);
    int64_t by = (int64_t)rng_below(&m->r, 2001) - 1000, now;
    int64_t initial = (int64_t)++m->version << 20; /* no number comes about in two ways */
    uint64_t expiry = random_expiry(m);
    switch (larder_increment(m->pool, &key, by, initial, expiry, &now)) {
    case LARDER_COUNTED:
        if (e->content == NUMBER && lives(e) && now == e->number + by) {
            e->number = now;
            break;
        }
        EQUAL(now, initial + by);
        missed(m, e);
        *e = (expectation){.content = NUMBER, .number = now, .expiry = expiry};
        break;
    case LARDER_NOT_A_COUNTER:
        CHECK(e->content == VALUE && lives(e));
        break;
    case LARDER_NOT_COUNTED:
        CHECK(!m->evicts || e->content != NUMBER || !lives(e));
        break;
    case LARDER_NO_COUNTER:
    case LARDER_OUT_OF_RANGE:
        test_failed(__FILE__, __LINE__, "out of range, or none was to be made");
        break;
    case LARDER_COUNT_BUSY:
        test_failed(__FILE__, __LINE__, "busy, where there is one process");
        break;
    }
}

static void step(model *m)
{
    uint64_t spread = rng_below(&m->r, 3) == 0 ? KEYS : KEYS / 10; /* some keys are used more */
    uint64_t number = rng_below(&m->r, spread);
    expectation *e = &m->keys[number];
    const larder_key key = key_number(number);
    switch (rng_below(&m->r, 24)) {
    case 0:
    case 1:
        if (larder_delete(m->pool, &key)) {
            CHECK(lives(e));
        } else {
            missed(m, e);
        }
        e->content = NOTHING;
        break;
    case 2: {
        uint64_t expiry = random_expiry(m);
        if (larder_touch(m->pool, &key, expiry)) {
            CHECK(lives(e));
            e->expiry = expiry;
        } else {
            missed(m, e);
        }
        break;
    }
    case 3:
        if (larder_exists(m->pool, &key)) {
            CHECK(lives(e));
        } else {
            missed(m, e);
        }
        break;
    case 4:
    case 5:
        count(m, KEYS - 1 - number);
        break;
    case 6:
        clock_ms += rng_below(&m->r, 5) == 0 ? rng_below(&m->r, 500) : 1;
        break;
    case 7:
        if (rng_below(&m->r, 4) == 0) {
            larder_pool_leave(m->pool);
        }
        if (rng_below(&m->r, 4000) == 0) {
            larder_clear(m->pool);
            memset(m->keys, 0, sizeof m->keys);
        }
        break;
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
    case 13:
        store(m, number);
        break;
    default:
        look_up(m, number);
    }
}

static void history(uint64_t seed, uint64_t steps, uint64_t size, bool evicts)
{
    static model m;
    memset(&m, 0, sizeof m);
    m.pool = pool_timed(size, evicts);
    m.r.state = seed;
    m.evicts = evicts;
    m.largest = evicts ? size / 5 : 3000;
    for (uint64_t i = 0; i < steps; i++) {
        step(&m);
        if (i % (steps / 8 + 1) == 0) {
            CHECK_POOL(m.pool);
        }
    }
    CHECK_POOL(m.pool);
    larder_stats stats;
    larder_stats_read(m.pool, &stats);
    COMPARE(m.dropped, <=, stats.counters[LARDER_EVICTIONS]);
    uint64_t alive = 0;
    for (uint64_t i = 0; i < KEYS; i++) {
        look_up(&m, i);
        alive += lives(&m.keys[i]);
    }
    COMPARE(alive, <=, stats.items);
    if (!evicts) {
        EQUAL(stats.counters[LARDER_EVICTIONS], 0);
    }
    larder_pool_close(m.pool);
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
}

TEST(evicting, "a pool that evicts agrees with the model over random histories, and passes the check")
{
    for (uint64_t i = 0; i < 12 * test_scale(); i++) {
        history(test_seed() + i, 150000, i % 2 == 0 ? 4 * MIB : 6 * MIB, true);
    }
}

TEST(not_evicting, "a pool that does not evict agrees with the model over random histories, and loses nothing")
{
    for (uint64_t i = 0; i < 6 * test_scale(); i++) {
        history(test_seed() + 1000000 + i, 150000, i % 2 == 0 ? 16 * MIB : 4 * MIB, false);
    }
}
