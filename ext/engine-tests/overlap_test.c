/* Many processes that miss one key at once: judging their fills costs (almost) no hits. Each has a handle of its own,
 * and so its own misses; whose turn it is follows from the seed, not from a processor.
 */
#include "fixture.h"

#include "engine/token.h"

enum {
    LOOPS = 50,
    STEPS = 40000,
    TTL_MS = 1000 /* a step takes a millisecond */
};

typedef struct loop {
    larder_pool *pool;
    unsigned left; /* turns that its computation still takes */
} loop;

/* What was counted. */
typedef struct outcome {
    uint64_t gets, hits, refused;
} outcome;

/* One turn of a loop: a get, or a part of the computation that follows a miss, at the end of which it sets. */
static void take_turn(loop *l, enum larder_verb verb, unsigned duration, outcome *sum)
{
    const larder_terms terms = {.verb = verb, .expiry = clock_ms + TTL_MS};
    if (l->left > 1) {
        l->left--;
    } else if (l->left == 1) {
        l->left = 0;
        sum->refused += put_under(l->pool, "k", "v", &terms) != LARDER_OK;
    } else {
        larder_pool_begin_another(l->pool); /* each get in a request of its own */
        sum->gets++;
        if (holds_text(l->pool, "k", "v")) {
            sum->hits++;
        } else {
            l->left = duration;
        }
    }
}

/* Another process deletes the key now and then: once in so many milliseconds, or never. */
static outcome run(enum larder_verb verb, uint64_t seed, uint64_t deletes_ms)
{
    larder_pool *other = pool_timed(4 * MIB, true);
    const larder_key key = key_of("k");
    loop loops[LOOPS] = {{.left = 0}};
    rng order = {seed};
    outcome sum = {.gets = 0};
    for (unsigned i = 0; i < LOOPS; i++) {
        loops[i].pool = pool_timed(4 * MIB, true);
    }
    for (unsigned step = 0; step < STEPS; step++) {
        loop *turn = &loops[rng_below(&order, LOOPS)];
        unsigned duration = 1 + (unsigned)rng_below(&order, 5);
        clock_ms++;
        if (deletes_ms != 0 && rng_below(&order, deletes_ms) == 0) {
            larder_delete(other, &key);
        }
        take_turn(turn, verb, duration, &sum);
    }
    for (unsigned i = 0; i < LOOPS; i++) {
        larder_pool_close(loops[i].pool);
    }
    larder_pool_close(other);
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    return sum;
}

static double ratio_of(const outcome *sum)
{
    return (double)sum->hits / (double)sum->gets;
}

static void compare(const outcome *judged, const outcome *last_wins, double least)
{
    if (ratio_of(judged) < least * ratio_of(last_wins)) {
        test_failed(__FILE__, __LINE__, "%.4f of the gets are hits, %.4f if the last write wins", ratio_of(judged),
                    ratio_of(last_wins));
    }
    CHECK(ratio_of(last_wins) > 0.5);
    EQUAL(last_wins->refused, 0);
}

TEST(fifty_loops, "fifty loops of get, compute and set on one key reach 0.99 of the hit ratio of last-write-wins")
{
    uint64_t seed = test_seed();
    outcome judged = run(LARDER_AS_MISSED, seed, 0), last_wins = run(LARDER_WRITE, seed, 0);
    compare(&judged, &last_wins, 0.99);
    EQUAL(judged.refused, 0);
}

/* Those that had begun before it are refused, and each takes along what others have stored since. */
TEST(with_deletes,
     "fifty loops on a key that is deleted every second reach 0.95 of it, without ever keeping what is older")
{
    uint64_t seed = test_seed();
    outcome judged = run(LARDER_AS_MISSED, seed, TTL_MS), last_wins = run(LARDER_WRITE, seed, TTL_MS);
    compare(&judged, &last_wins, 0.95);
    COMPARE(judged.refused, >, 0);
}
