/* Many processes that miss one key at once: judging their fills costs (almost) no hits. */
#include "fixture.h"

#include "engine/token.h"

#define LOOPS  50
#define STEPS  40000
#define TTL_MS 1000 /* a step takes a millisecond */

typedef struct loop {
    unsigned left; /* turns that its computation still takes */
    uint64_t token;
} loop;

static enum larder_result store(larder_pool *pool, bool judged, uint64_t token)
{
    const larder_terms terms = {
        .verb = judged ? LARDER_FILL : LARDER_WRITE, .token = token, .life = pool->life, .expiry = clock_ms + TTL_MS};
    return put_under(pool, "k", "v", &terms);
}

/* Each loop gets the key, and on a miss computes it and stores it, in an order that follows from the seed. Another
 * process deletes it now and then. */
static double hit_ratio(bool judged, uint64_t seed)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.now = clock_now;
    larder_pool *pool = pool_open_as(&config), *other = pool_open_as(&config);
    const larder_key key = key_of("k");
    loop loops[LOOPS] = {{0}};
    rng order = {seed};
    larder_error error;
    uint64_t gets = 0, hits = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        loop *turn = &loops[rng_below(&order, LOOPS)];
        unsigned duration = 1 + (unsigned)rng_below(&order, 5);
        clock_ms++;
        larder_pool_begin_another(pool); /* each loop is a process: what another stored is not its own doing */
        if (step % 5000 == 4999) {
            larder_delete(other, &key);
        }
        if (turn->left > 0) {
            if (--turn->left == 0) {
                store(pool, judged, turn->token);
            }
            continue;
        }
        gets++;
        turn->token = larder_now_logical(pool->header);
        if (holds_text(pool, "k", "v")) {
            hits++;
        } else {
            turn->left = duration;
        }
    }
    larder_pool_close(other);
    larder_pool_close(pool);
    EQUAL(pool_remove("p", &error), 1);
    return (double)hits / (double)gets;
}

TEST(fifty_loops, "fifty loops of get, compute and set on one key reach 0.99 of the hit ratio of last-write-wins")
{
    uint64_t seed = test_seed();
    double judged = hit_ratio(true, seed), last_wins = hit_ratio(false, seed);
    if (judged < 0.99 * last_wins) {
        test_failed(__FILE__, __LINE__, "%.4f of the gets are hits, %.4f if the last write wins", judged, last_wins);
    }
    CHECK(last_wins > 0.5);
}
