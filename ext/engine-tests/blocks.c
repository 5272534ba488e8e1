#include "blocks.h"

larder_pool *open_blocks(uint64_t size, bool evict)
{
    larder_pool_config config = pool_config("p", size);
    config.evict = evict;
    config.now = clock_now;
    return pool_open_as(&config);
}

enum larder_result put_block(larder_pool *pool, uint64_t number, size_t size)
{
    described what = {.key = number, .version = number, .block = true};
    return put_described(pool, key_number(number), &what, size, LARDER_SET, LARDER_NO_EXPIRY);
}

bool has_block(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    CHECK(seen != READ_TORN);
    return seen == READ_WHOLE;
}
