/* Larder\SharedMemory: deleting, counting, touching, invalidating tags, clearing. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/count.h"
#include "engine/invalidate.h"
#include "engine/item.h"
#include "engine/tag.h"
#include "engine/take.h"

#include "zend_exceptions.h"

ZEND_METHOD(Larder_SharedMemory, delete)
{
    zend_string *name;
    zend_long stamp = 0;
    bool any = true;
    larder_key key;
    int64_t counter;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(stamp, any)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!larder_make_key(&key, name, 1)) {
        RETURN_THROWS();
    }
    const larder_version version = {.stamp = (uint64_t)stamp};
    RETVAL_BOOL(any ? larder_delete(pool, &key) : larder_take(pool, &key, &version, &counter));
    larder_see_through(pool);
}

ZEND_METHOD(Larder_SharedMemory, deleteMany)
{
    zend_array *keys = larder_keys_argument(execute_data);
    zend_long existed = 0;
    zval *entry;
    if (keys == NULL) {
        RETURN_THROWS();
    }
    larder_pool *pool = THIS_POOL();
    ZEND_HASH_FOREACH_VAL(keys, entry)
    {
        larder_key key;
        zend_string *name = larder_listed_key(entry, &key, 1);
        if (name == NULL) {
            RETURN_THROWS();
        }
        existed += larder_delete(pool, &key);
        larder_see_through(pool);
        zend_string_release(name);
        if (EG(exception)) {
            RETURN_THROWS();
        }
    }
    ZEND_HASH_FOREACH_END();
    RETURN_LONG(existed);
}

static ZEND_COLD void refuse_range(const zend_string *name)
{
    zend_throw_exception_ex(larder_not_a_counter_class, 0,
                            "The value of \"%.80s\" would leave the range of int; nothing was changed.",
                            ZSTR_VAL(name));
}

static ZEND_COLD void refuse_counter(larder_pool *pool, const zend_string *name, bool busy)
{
    if (pool->undone) {
        larder_throw_unreachable(pool);
        return;
    }
    zend_throw_exception_ex(larder_pool_unusable_class, 0,
                            "The counter \"%.80s\" could not be stored in the pool \"%s\", which is %s.",
                            ZSTR_VAL(name), pool->name,
                            busy ? "kept busy by other processes; try again" : "full; make it larger (larder.size)");
}

ZEND_METHOD(Larder_SharedMemory, increment)
{
    zend_string *name;
    zend_long by = 1, initial = 0, ttl = 0, min = 0;
    bool forever = true, no_min = true, create = true;
    larder_key key;
    int64_t result = 0;
    ZEND_PARSE_PARAMETERS_START(1, 6)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(by)
    Z_PARAM_LONG(initial)
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    Z_PARAM_LONG_OR_NULL(min, no_min)
    Z_PARAM_BOOL(create)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!larder_make_key(&key, name, 1) || !larder_reach(pool)) {
        RETURN_THROWS();
    }
    larder_lifetime life = larder_lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 4 || forever);
    const larder_counting how = {
        .by = by, .initial = initial, .least = no_min ? INT64_MIN : min, .creates = create, .expiry = life.expiry};
    if (life.dead && create && !larder_exists(pool, &key)) {
        /* As if it had been stored and had expired at once. */
        if (!__builtin_add_overflow((int64_t)initial, (int64_t)by, &result)) {
            RETURN_LONG(result < how.least ? how.least : result);
        }
        if (by < 0 && !no_min) {
            RETURN_LONG(min);
        }
        refuse_range(name);
        RETURN_THROWS();
    }
    enum larder_counted counted = larder_count_up(pool, &key, &how, &result);
    switch (counted) {
    case LARDER_COUNTED:
        RETURN_LONG(result);
    case LARDER_NO_COUNTER:
        RETURN_NULL();
    case LARDER_NOT_A_COUNTER:
        zend_throw_exception_ex(larder_not_a_counter_class, 0,
                                "The value of \"%.80s\" is not an int, so it cannot be counted up; delete it first.",
                                ZSTR_VAL(name));
        RETURN_THROWS();
    case LARDER_OUT_OF_RANGE:
        refuse_range(name);
        RETURN_THROWS();
    case LARDER_COUNT_BUSY:
    case LARDER_NOT_COUNTED:
        refuse_counter(pool, name, counted == LARDER_COUNT_BUSY);
        RETURN_THROWS();
    }
}

ZEND_METHOD(Larder_SharedMemory, touch)
{
    zend_string *name;
    zend_long ttl = 0;
    bool forever = true;
    larder_key key;
    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(name)
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!larder_make_key(&key, name, 1)) {
        RETURN_THROWS();
    }
    larder_lifetime life = larder_lifetime_of(pool, ttl, forever);
    RETVAL_BOOL(life.dead ? larder_delete(pool, &key) : larder_touch(pool, &key, life.expiry));
    larder_see_through(pool);
}

ZEND_METHOD(Larder_SharedMemory, invalidateTags)
{
    zend_array *list;
    uint64_t own[LARDER_TAGS_ON_STACK];
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(list)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    const larder_terms names = {.tags = larder_read_tags(list, 1, UINT32_MAX, own),
                                .tags_count = zend_hash_num_elements(list)};
    if (names.tags != NULL && names.tags_count > 0) {
        larder_invalidate(pool, names.tags, names.tags_count);
        larder_see_through(pool);
    }
    larder_discard_tags(&names, own);
}

ZEND_METHOD(Larder_SharedMemory, clear)
{
    ZEND_PARSE_PARAMETERS_NONE();
    larder_pool *pool = THIS_POOL();
    larder_clear(pool);
    larder_see_through(pool);
}
