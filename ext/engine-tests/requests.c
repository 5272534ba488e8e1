#include "requests.h"

larder_pool *here, *there;

const larder_terms as_missed = {.expiry = LARDER_NO_EXPIRY};

void open_two(uint64_t size)
{
    here = pool_open("p", size);
    there = pool_open("p", size);
}

void close_two(void)
{
    larder_pool_close(here);
    larder_pool_close(there);
}

bool miss(larder_pool *pool, const char *key)
{
    char none[8];
    size_t size;
    return !take(pool, key_of(key), none, sizeof none, &size);
}

void delete_key(larder_pool *pool, const char *name)
{
    const larder_key key = key_of(name);
    larder_delete(pool, &key);
}

uint64_t token_now(larder_pool *pool)
{
    return larder_now_logical(pool->header);
}

enum larder_result fill_tagged(larder_pool *pool, const char *key, const char *text, uint64_t token,
                               const uint64_t *tags, uint32_t count)
{
    const larder_terms terms = {.verb = LARDER_FILL,
                                .token = token,
                                .attachment = pool->attached.number,
                                .expiry = LARDER_NO_EXPIRY,
                                .tags = tags,
                                .tags_count = count};
    return put_under(pool, key, text, &terms);
}

enum larder_result fill(larder_pool *pool, const char *key, const char *text, uint64_t token)
{
    return fill_tagged(pool, key, text, token, NULL, 0);
}

enum larder_result write_judged(larder_pool *pool, const char *key, const char *text, uint64_t token)
{
    const larder_terms terms = {
        .verb = LARDER_JUDGED, .token = token, .attachment = pool->attached.number, .expiry = LARDER_NO_EXPIRY};
    return put_under(pool, key, text, &terms);
}
