/* Larder\SharedMemory: reading. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/larder.h"
#include "image/image.h"

/* ---- values out ---------------------------------------------------------------------------------------- */

/* Reading this kind may run user code (autoloading, __unserialize), which may use the pool in turn. */
static bool may_run_code(uint8_t kind)
{
    return kind >= LARDER_KIND_ARRAY_OF_OBJECTS;
}

/* Nothing may be handed out in place: the pin lasts only for the moment, or the page there is this process's own. And
 * where user code may run, not even the pin may be relied on: it works on a copy of the image. */
static bool read_briefly(larder_pool *pool, const larder_hit *hit, const void *value, size_t size, zval *result)
{
    uint8_t kind = hit->item->kind;
    intptr_t shift = larder_hit_shift(pool, hit);
    bool done;
    larder_count(pool, LARDER_COPIES);
    if (!may_run_code(kind)) {
        done = larder_image_read(result, kind, value, size, shift, false);
        larder_hit_drop(pool, hit);
        return done;
    }
    void *copy = emalloc(size);
    memcpy(copy, value, size);
    shift += (intptr_t)((uintptr_t)copy - (uintptr_t)value);
    larder_hit_drop(pool, hit);
    done = larder_image_read(result, kind, copy, size, shift, false);
    efree(copy);
    return done;
}

static bool read_pinned(larder_pool *pool, const larder_hit *hit, zval *result)
{
    size_t size;
    const void *value = larder_hit_value(pool, hit, &size);
    if (UNEXPECTED(value == NULL)) {
        larder_hit_drop(pool, hit);
        return false;
    }
    if (hit->item->kind == LARDER_KIND_COUNTER) {
        ZVAL_LONG(result, larder_counter_value(value));
        larder_hit_drop(pool, hit);
        return true;
    }
    if (EXPECTED(hit->hold == LARDER_HELD)) {
        return larder_image_read(result, hit->item->kind, value, size, 0, true);
    }
    return read_briefly(pool, hit, value, size, result);
}

/* Copies a small value, and looks afterwards whether it was whole; if not, once more under a pin. */
static bool read_unpinned(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result)
{
    larder_hit again;
    size_t size;
    uint8_t kind = hit->item->kind;
    const void *value = larder_hit_value(pool, hit, &size);
    /* Kind and size first: they decide what is done. */
    if (UNEXPECTED(value == NULL || kind > LARDER_LAST_SMALL_KIND || !larder_hit_confirm(pool, hit))) {
        return larder_get_pinned(pool, key, &again) && read_pinned(pool, &again, result);
    }
    if (kind == LARDER_KIND_COUNTER) {
        ZVAL_LONG(result, larder_counter_value(value));
    } else {
        larder_image_read(result, kind, value, size, 0, false);
    }
    if (EXPECTED(larder_hit_confirm(pool, hit))) {
        return true;
    }
    zval_ptr_dtor(result);
    ZVAL_NULL(result);
    return larder_get_pinned(pool, key, &again) && read_pinned(pool, &again, result);
}

static zend_always_inline bool value_of(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result)
{
    if (EXPECTED(hit->hold == LARDER_HELD) && hit->item->kind == LARDER_KIND_ARRAY) {
        const larder_item *item = hit->item;
        larder_image_use_array(result, (const char *)item +
                                           larder_item_value_at(item->tags, item->key_length, LARDER_KIND_ARRAY));
        return true;
    }
    if (EXPECTED(hit->hold == LARDER_UNPINNED ? read_unpinned(pool, key, hit, result)
                                              : read_pinned(pool, hit, result))) {
        return true;
    }
    larder_miss_unreadable(pool, key);
    return false;
}

static zend_always_inline bool read_value(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result)
{
    if (UNEXPECTED(!value_of(pool, key, hit, result))) {
        return false;
    }
    larder_was_read(pool, key);
    return true;
}

bool larder_read(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result)
{
    return read_value(pool, key, hit, result);
}

bool larder_read_stale(larder_pool *pool, const larder_key *key, uint64_t grace_ms, larder_stale *its)
{
    larder_hit hit;
    if (!larder_get_stale(pool, key, grace_ms, &hit, &its->serving)) {
        return false;
    }
    its->version = hit.item->version;
    return its->serving.stale ? value_of(pool, key, &hit, &its->value) : read_value(pool, key, &hit, &its->value);
}

uint64_t larder_unreadable(larder_pool *pool, const larder_key *key, uint32_t *attachment)
{
    larder_hit hit;
    zval value;
    if (!larder_get_briefly(pool, key, &hit)) {
        return 0;
    }
    uint64_t word = hit.word;
    *attachment = pool->attached.number;
    if (!may_run_code(hit.item->kind)) {
        larder_hit_drop(pool, &hit);
        return 0;
    }
    if (read_pinned(pool, &hit, &value)) {
        zval_ptr_dtor(&value);
        return 0;
    }
    return word;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

ZEND_METHOD(Larder_SharedMemory, get)
{
    zend_string *name;
    zval *fallback = NULL;
    larder_full_key full;
    larder_hit hit;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(fallback)
    ZEND_PARSE_PARAMETERS_END();
    const shared_memory *self = THIS();
    larder_pool *pool = self->pool;
    if (UNEXPECTED(!larder_make_key(&full, self, name, 1))) {
        RETURN_THROWS();
    }
    bool found =
        EXPECTED(larder_get(pool, &full.key, &hit)) && EXPECTED(read_value(pool, &full.key, &hit, return_value));
    larder_discard_key(&full);
    if (UNEXPECTED(!found) && fallback != NULL && !EG(exception)) {
        RETURN_COPY_DEREF(fallback);
    }
}

/* Adds to the result what there is of one key, under its name. What begins with the mark is left out; NULL: there is
 * none. */
typedef void (*adding)(larder_pool *pool, const larder_key *key, zend_string *name, const zend_string *mark,
                       zval *result);

static zend_always_inline void read_many(INTERNAL_FUNCTION_PARAMETERS, zend_array *keys, const zend_string *mark,
                                         adding add)
{
    zval *entry;
    const shared_memory *self = THIS();
    array_init_size(return_value, zend_hash_num_elements(keys));
    ZEND_HASH_FOREACH_VAL(keys, entry)
    {
        larder_full_key full;
        zend_string *name = larder_listed_key(self, entry, &full, 1);
        if (name == NULL) {
            RETURN_THROWS();
        }
        add(self->pool, &full.key, name, mark, return_value);
        larder_discard_key(&full);
        zend_string_release(name);
        if (EG(exception)) {
            RETURN_THROWS();
        }
    }
    ZEND_HASH_FOREACH_END();
}

/* Whether it is an array whose first element is that string. */
static bool begins_with(const zval *value, const zend_string *mark)
{
    const zval *first = Z_TYPE_P(value) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(value), 0) : NULL;
    if (first == NULL) {
        return false;
    }
    ZVAL_DEREF(first);
    return Z_TYPE_P(first) == IS_STRING && zend_string_equals(Z_STR_P(first), mark);
}

static zend_always_inline void add_value(larder_pool *pool, const larder_key *key, zend_string *name,
                                         const zend_string *mark, zval *result)
{
    larder_hit hit;
    zval value;
    if (larder_get(pool, key, &hit) && read_value(pool, key, &hit, &value)) {
        if (mark != NULL && UNEXPECTED(begins_with(&value, mark))) {
            zval_ptr_dtor(&value);
            return;
        }
        zend_symtable_update(Z_ARRVAL_P(result), name, &value);
    }
}

ZEND_METHOD(Larder_SharedMemory, getMany)
{
    zend_array *keys = NULL;
    zend_string *mark = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ARRAY_HT(keys)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(mark)
    ZEND_PARSE_PARAMETERS_END();
    read_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, keys, mark, add_value);
}

/* All that is known about a key's item besides its value, and its version. */
typedef struct fetched {
    zval value;
    uint64_t expiry;
    uint8_t kind;
    larder_met met;
} fetched;

static bool fetch_one(larder_pool *pool, const larder_key *key, fetched *its)
{
    larder_hit hit;
    if (!larder_get_pinned(pool, key, &hit)) {
        return false;
    }
    its->met = (larder_met){.version = hit.item->version, .word = hit.word, .attachment = pool->attached.number};
    its->expiry = larder_told_expiry(&hit.item->expiry);
    its->kind = hit.item->kind;
    if (!read_pinned(pool, &hit, &its->value)) {
        larder_miss_unreadable(pool, key);
        return false;
    }
    larder_was_read(pool, key);
    return true;
}

/* Gives the value away. */
static void tell_fetched(zval *entry, fetched *its)
{
    array_init_size(entry, 3);
    zend_hash_next_index_insert_new(Z_ARRVAL_P(entry), &its->value);
    if (its->expiry == LARDER_NO_EXPIRY) {
        add_next_index_null(entry);
    } else {
        add_next_index_long(entry, (zend_long)((its->expiry + 999) / 1000));
    }
    add_next_index_long(entry, (zend_long)its->met.version);
}

static void add_fetched(larder_pool *pool, const larder_key *key, zend_string *name, const zend_string *mark,
                        zval *result)
{
    (void)mark;
    fetched its;
    zval entry;
    if (fetch_one(pool, key, &its)) {
        tell_fetched(&entry, &its);
        zend_symtable_update(Z_ARRVAL_P(result), name, &entry);
    }
}

ZEND_METHOD(Larder_SharedMemory, fetch)
{
    zend_array *keys = larder_keys_argument(execute_data);
    if (keys == NULL) {
        RETURN_THROWS();
    }
    read_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, keys, NULL, add_fetched);
}

/* [value, is it stale, seconds, version]; gives the value away. */
static void tell_stale(zval *result, larder_stale *its, uint64_t now)
{
    uint64_t until = its->serving.until;
    array_init_size(result, 4);
    zend_hash_next_index_insert_new(Z_ARRVAL_P(result), &its->value);
    add_next_index_bool(result, its->serving.stale);
    if (until == LARDER_NO_EXPIRY) {
        add_next_index_null(result);
    } else {
        add_next_index_long(result, until > now ? (zend_long)((until - now + 999) / 1000) : 0);
    }
    add_next_index_long(result, (zend_long)its->version);
}

ZEND_METHOD(Larder_SharedMemory, stale)
{
    zend_string *name;
    zend_long grace = 0;
    larder_full_key full;
    larder_stale its;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(grace)
    ZEND_PARSE_PARAMETERS_END();
    if (grace < 0) {
        zend_argument_value_error(2, "must be 0 or more");
        RETURN_THROWS();
    }
    larder_pool *pool = THIS()->pool;
    if (!larder_make_key(&full, THIS(), name, 1)) {
        RETURN_THROWS();
    }
    if (larder_read_stale(pool, &full.key, (uint64_t)MIN(grace, UINT32_MAX) * 1000, &its)) {
        tell_stale(return_value, &its, larder_pool_now(pool));
    }
    larder_discard_key(&full);
}

#define TAKES 1000 /* tries: each that fails is one in which another process took or replaced the item */

/* The value is made before its item goes: what no value can be made of stays for those who can. */
static void take(larder_pool *pool, const larder_key *key, zval *result)
{
    for (int tries = 0; tries < TAKES; tries++) {
        fetched its;
        int64_t counter = 0;
        if (!fetch_one(pool, key, &its)) {
            break;
        }
        if (EG(exception)) {
            zval_ptr_dtor(&its.value);
            break;
        }
        bool taken = larder_take(pool, key, &its.met, &counter);
        if (pool->request.undone) {
            zval_ptr_dtor(&its.value);
            larder_throw_unreachable(pool);
            break;
        }
        if (taken) {
            if (its.kind == LARDER_KIND_COUNTER) {
                ZVAL_LONG(&its.value, counter); /* it may have been counted up since it was read */
            }
            tell_fetched(result, &its);
            break;
        }
        zval_ptr_dtor(&its.value);
    }
}

ZEND_METHOD(Larder_SharedMemory, take)
{
    larder_full_key full;
    larder_pool *pool = THIS()->pool;
    if (!larder_key_argument(execute_data, &full)) {
        RETURN_THROWS();
    }
    if (larder_reach(pool)) {
        take(pool, &full.key, return_value);
    }
    larder_discard_key(&full);
}

ZEND_METHOD(Larder_SharedMemory, has)
{
    larder_full_key full;
    larder_pool *pool = THIS()->pool;
    if (!larder_key_argument(execute_data, &full)) {
        RETURN_THROWS();
    }
    RETVAL_BOOL(larder_exists(pool, &full.key));
    if (Z_TYPE_P(return_value) == IS_TRUE) {
        larder_was_read(pool, &full.key);
    }
    larder_discard_key(&full);
}
