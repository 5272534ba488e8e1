/* Walks over a victim: where what is kept goes. */
#include "fixture.h"

TEST(compacts_into_the_last,
     "a pool that does not evict makes room although only the segment that is kept for moving is free")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = false;
    larder_pool *pool = pool_open_as(&config);
    static const char value[3000];
    uint64_t stored = 0, again = 0;
    while (put_bytes(pool, key_number(stored), value, sizeof value) == LARDER_OK) {
        stored++;
    }
    for (uint64_t i = 0; i < stored; i++) { /* a quarter lives on, in each segment */
        const larder_key key = key_number(i);
        CHECK(i % 4 == 0 || larder_delete(pool, &key));
    }
    larder_stats stats;
    larder_stats_read(pool, &stats);
    EQUAL(stats.segments[LARDER_FREE], LARDER_KEPT_SEGMENTS);
    EQUAL(stats.counters[LARDER_MOVES], 0);
    while (put_bytes(pool, key_number(stored + again), value, sizeof value) == LARDER_OK) {
        again++;
    }
    COMPARE(again * 100, >=, stored * 70);
    for (uint64_t i = 0; i < stored; i += 4) {
        const larder_key key = key_number(i);
        CHECK(larder_exists(pool, &key));
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
}
