/* Larder\SharedMemory: deleting, counting, touching, invalidating tags, clearing. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/larder.h"

#include "zend_exceptions.h"

ZEND_METHOD(Larder_SharedMemory, delete)
{
    zend_string *name;
    zend_long version = 0;
    bool any = true;
    larder_full_key full;
    int64_t counter;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(version, any)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS()->pool;
    if (!larder_make_key(&full, THIS(), name, 1)) {
        RETURN_THROWS();
    }
    const larder_met met = {.version = (uint64_t)version};
    RETVAL_BOOL(any ? larder_delete(pool, &full.key) : larder_take(pool, &full.key, &met, &counter));
    larder_throw_if_undone(pool);
    larder_discard_key(&full);
}

ZEND_METHOD(Larder_SharedMemory, deleteMany)
{
    zend_array *keys = larder_keys_argument(execute_data);
    zend_long existed = 0;
    zval *entry;
    if (keys == NULL) {
        RETURN_THROWS();
    }
    const shared_memory *self = THIS();
    ZEND_HASH_FOREACH_VAL(keys, entry)
    {
        larder_full_key full;
        zend_string *name = larder_listed_key(self, entry, &full, 1);
        if (name == NULL) {
            RETURN_THROWS();
        }
        existed += larder_delete(self->pool, &full.key);
        larder_throw_if_undone(self->pool);
        larder_discard_key(&full);
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
    if (pool->request.undone) {
        larder_throw_unreachable(pool);
        return;
    }
    zend_throw_exception_ex(larder_pool_unusable_class, 0,
                            "The counter \"%.80s\" could not be stored in the pool \"%s\", which is %s.",
                            ZSTR_VAL(name), pool->name,
                            busy ? "kept busy by other processes; try again" : "full; make it larger (larder.size)");
}

/* A counter that would be made and have expired at once. */
static enum larder_counted count_dead(const larder_counting *how, int64_t *result)
{
    if (!__builtin_add_overflow(how->initial, how->by, result)) {
        *result = *result < how->least ? how->least : *result;
        return LARDER_COUNTED;
    }
    *result = how->least;
    return how->by < 0 && how->least > INT64_MIN ? LARDER_COUNTED : LARDER_OUT_OF_RANGE;
}

static enum larder_counted count(larder_pool *pool, const larder_key *key, const larder_counting *how, bool dead,
                                 int64_t *result)
{
    return dead && how->creates && !larder_exists(pool, key) ? count_dead(how, result)
                                                             : larder_count_up(pool, key, how, result);
}

static ZEND_COLD void refuse_count(larder_pool *pool, const zend_string *name, enum larder_counted refusal)
{
    if (refusal == LARDER_NOT_A_COUNTER) {
        zend_throw_exception_ex(larder_not_a_counter_class, 0,
                                "The value of \"%.80s\" is not an int, so it cannot be counted up; delete it first.",
                                ZSTR_VAL(name));
    } else if (refusal == LARDER_OUT_OF_RANGE) {
        refuse_range(name);
    } else {
        refuse_counter(pool, name, refusal == LARDER_COUNT_BUSY);
    }
}

ZEND_METHOD(Larder_SharedMemory, increment)
{
    zend_string *name;
    zend_long by = 1, initial = 0, ttl = 0, min = 0, version = 0, number = 0;
    bool forever = true, no_min = true, create = true;
    larder_full_key full;
    int64_t result = 0;
    ZEND_PARSE_PARAMETERS_START(1, 8)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(by)
    Z_PARAM_LONG(initial)
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    Z_PARAM_LONG_OR_NULL(min, no_min)
    Z_PARAM_BOOL(create)
    Z_PARAM_LONG(version)
    Z_PARAM_LONG(number)
    ZEND_PARSE_PARAMETERS_END();
    const shared_memory *self = THIS();
    larder_pool *pool = self->pool;
    if (!larder_make_key(&full, self, name, 1)) {
        RETURN_THROWS();
    }
    if (larder_reach(pool)) {
        larder_lifetime lifetime = larder_lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 4 || forever);
        const larder_counting how = {.by = by,
                                     .initial = initial,
                                     .least = no_min ? INT64_MIN : min,
                                     .creates = create,
                                     .expiry = lifetime.expiry,
                                     .tags_count = self->tags_count,
                                     .tags = self->tags,
                                     .taken_from = (uint64_t)version,
                                     .taken_as = number};
        enum larder_counted counted = count(pool, &full.key, &how, lifetime.dead, &result);
        if (counted == LARDER_COUNTED) {
            RETVAL_LONG(result);
        } else if (counted == LARDER_NO_COUNTER) {
            RETVAL_NULL();
        } else {
            refuse_count(pool, name, counted);
        }
    }
    larder_discard_key(&full);
}

ZEND_METHOD(Larder_SharedMemory, touch)
{
    zend_string *name;
    zend_long ttl = 0;
    bool forever = true;
    larder_full_key full;
    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(name)
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS()->pool;
    if (!larder_make_key(&full, THIS(), name, 1)) {
        RETURN_THROWS();
    }
    larder_lifetime lifetime = larder_lifetime_of(pool, ttl, forever);
    RETVAL_BOOL(lifetime.dead ? larder_delete(pool, &full.key) : larder_touch(pool, &full.key, lifetime.expiry));
    larder_throw_if_undone(pool);
    larder_discard_key(&full);
}

ZEND_METHOD(Larder_SharedMemory, invalidateTags)
{
    zend_array *list;
    zend_long seconds = 0;
    uint64_t own[LARDER_TAGS_ON_STACK];
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ARRAY_HT(list)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(seconds)
    ZEND_PARSE_PARAMETERS_END();
    if (seconds < 0) {
        zend_argument_value_error(2, "must be 0 or more");
        RETURN_THROWS();
    }
    larder_pool *pool = THIS()->pool;
    const larder_terms names = {.tags = larder_read_tags(list, 1, UINT32_MAX, 0, own),
                                .tags_count = zend_hash_num_elements(list)};
    if (names.tags != NULL && names.tags_count > 0) {
        larder_invalidate_softly(pool, names.tags, names.tags_count, (uint64_t)MIN(seconds, UINT32_MAX) * 1000);
        larder_throw_if_undone(pool);
    }
    larder_discard_tags(THIS(), &names, own);
}

ZEND_METHOD(Larder_SharedMemory, clear)
{
    ZEND_PARSE_PARAMETERS_NONE();
    const shared_memory *self = THIS();
    if (self->prefix == NULL) {
        larder_clear(self->pool);
    } else {
        larder_invalidate(self->pool, &self->tags[self->tags_count - 1], 1);
    }
    larder_throw_if_undone(self->pool);
}
