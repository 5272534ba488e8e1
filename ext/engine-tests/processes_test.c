/* Many processes on one pool: which wins, and what is counted. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "crowd.h"
#include "judged.h"

#include <unistd.h>

enum {
    COUNTERS = 200,
    FILLERS = 32 /* of each process */,
    ADDED = 40000 /* keys: so few that they fit even if all processes reserve room for each */
};

static struct tally {
    _Atomic uint64_t turn, won[ADDED];
    _Atomic int64_t counted[COUNTERS];
} * tally;

static void open_for(uint64_t size, bool evict, uint64_t rounds)
{
    crowd_open(size, evict);
    all->rounds = rounds;
    tally = shared_memory(sizeof *tally);
}

/* ---- adding ---------------------------------------------------------------------------------------------- */

/* All at the same key at any time. */
static void add_each(uint64_t number, rng *r)
{
    (void)r;
    for (uint64_t i; (i = atomic_load(&tally->turn)) < all->rounds;) {
        described what = {.key = i, .version = number};
        if (put_described(all->pool, key_number(i), &what, 100, LARDER_ADD, LARDER_NO_EXPIRY) == LARDER_OK) {
            atomic_fetch_add(&tally->won[i], 1);
        }
        atomic_compare_exchange_strong(&tally->turn, &i, i + 1);
    }
}

TEST(one_winner, "of many processes that add a key exactly one wins")
{
    open_for(64 * MIB, true, ADDED); /* else some are evicted, rightly */
    crowd_run(add_each);
    for (uint64_t i = 0; i < all->rounds; i++) {
        larder_hit hit;
        described what;
        EQUAL(tally->won[i], 1);
        EQUAL(read_described(all->pool, key_number(i), i, &what, &hit), READ_WHOLE);
    }
    CHECK_POOL(all->pool);
    crowd_close();
}

/* ---- counting -------------------------------------------------------------------------------------------- */

static void count_and_churn(uint64_t number, rng *r)
{
    static char filler[2000];
    for (uint64_t i = 0; i < all->rounds; i++) {
        uint64_t which = rng_below(r, COUNTERS);
        const larder_key counter = key_number(which), other = key_number(1000 + number * 1000 + rng_below(r, 200));
        int64_t by = 1 + (int64_t)rng_below(r, 5), now;
        REQUIRE(larder_increment(all->pool, &counter, by, 0, LARDER_NO_EXPIRY, &now) == LARDER_COUNTED);
        atomic_fetch_add(&tally->counted[which], by);
        /* What makes the counters move: segments that are partly dead, in a pool that is nearly full. */
        if (rng_below(r, 2) == 0) {
            put_bytes(all->pool, other, filler, rng_below(r, sizeof filler));
        } else {
            larder_delete(all->pool, &other);
        }
    }
}

TEST(nothing_uncounted, "increments by many processes lose nothing while their counters are being moved")
{
    open_for(4 * MIB, false, 15000 * test_scale() + 5000);
    crowd_run(count_and_churn);
    larder_stats stats;
    larder_stats_read(all->pool, &stats);
    COMPARE(stats.counters[LARDER_MOVES], >, 10); /* how many depends on how the processes take turns */
    for (uint64_t i = 0; i < COUNTERS; i++) {
        const larder_key key = key_number(i);
        int64_t now;
        EQUAL(larder_increment(all->pool, &key, 0, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
        EQUAL(now, tally->counted[i]);
    }
    CHECK_POOL(all->pool);
    crowd_close();
}

static void count_across(uint64_t number, rng *r)
{
    /* Each crossing is a store, which is refused where too many others keep the segment lock busy for too long. */
    for (uint64_t i = 0; number < 3 && i < all->rounds; i++) {
        const larder_key key = key_of("border");
        int64_t by = (int64_t)rng_below(r, 1001) - 500, now;
        REQUIRE(larder_increment(all->pool, &key, by, 0, LARDER_NO_EXPIRY, &now) == LARDER_COUNTED);
        atomic_fetch_add(&tally->counted[0], by);
    }
}

TEST(nothing_lost_at_the_border,
     "increments by many processes lose nothing where a counter becomes a plain int and back")
{
    open_for(4 * MIB, true, 15000 * test_scale() + 5000);
    const larder_key key = key_of("border");
    int64_t now;
    EQUAL(larder_increment(all->pool, &key, LARDER_COUNTER_MAX, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
    crowd_run(count_across);
    EQUAL(larder_increment(all->pool, &key, 0, 0, LARDER_NO_EXPIRY, &now), LARDER_COUNTED);
    EQUAL(now - LARDER_COUNTER_MAX, tally->counted[0]);
    CHECK_POOL(all->pool);
    crowd_close();
}

/* ---- counting and touching what moves ------------------------------------------------------------------------ */

/* What is counted and touched lies among so much that is stored and deleted that it is moved again and again; and the
 * mover takes its time. */
static void dawdle(unsigned point)
{
    if (point == LARDER_AT_FREEZE || point == LARDER_AT_MOVE || point == LARDER_AT_SETTLE) {
        usleep(50);
    }
}

static bool has_moved_enough(void)
{
    larder_stats stats;
    larder_stats_read(all->pool, &stats);
    return stats.counters[LARDER_MOVES] >= all->rounds;
}

static void touch_and_count_what_moves(uint64_t number, rng *r)
{
    static const char filler[40000];
    fault_meddle(dawdle);
    for (uint64_t i = 1; i % 64 != 0 || !has_moved_enough(); i++) {
        const larder_key key = key_number(number * FILLERS + rng_below(r, FILLERS));
        switch (rng_below(r, 8)) {
        case 0:
            larder_delete(all->pool, &key);
            break;
        case 1:
            put_bytes(all->pool, key, filler, rng_below(r, sizeof filler));
            break;
        case 2:
            judged_count(all->pool, r);
            break;
        default:
            judged_touch(all->pool, r, number);
        }
    }
    larder_pool_leave(all->pool);
}

TEST(nothing_lost_in_a_move, "nothing is lost of what many processes count and touch while it is moved")
{
    open_for(4 * MIB, false, 6000 * test_scale() + 1000);
    judged_begin();
    judged_lasts();
    judged_begin_round(all->pool, true);
    crowd_run(touch_and_count_what_moves);
    judged_end_round(all->pool);
    CHECK_POOL(all->pool);
    crowd_close();
}
