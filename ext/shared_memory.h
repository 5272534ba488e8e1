/* What the methods of Larder\SharedMemory share. */
#ifndef LARDER_SHARED_MEMORY_H
#define LARDER_SHARED_MEMORY_H

#include "php_larder.h"

#include "engine/get.h"
#include "engine/store.h"

extern zend_class_entry *larder_shared_memory_class, *larder_token_class, *larder_pool_unusable_class,
    *larder_unstorable_class, *larder_not_a_counter_class;
extern bool larder_php_hashes_as_we_do;

typedef struct shared_memory {
    larder_pool *pool;
    zend_object object;
} shared_memory;

static zend_always_inline shared_memory *larder_shared_memory_of(zend_object *object)
{
    return (shared_memory *)((char *)object - offsetof(shared_memory, object));
}

#define THIS_POOL() (larder_shared_memory_of(Z_OBJ_P(ZEND_THIS))->pool)

/* ---- keys ---- */

static zend_always_inline uint64_t larder_hash_of(zend_string *key)
{
    return EXPECTED(larder_php_hashes_as_we_do) ? ZSTR_HASH(key) : larder_hash(ZSTR_VAL(key), ZSTR_LEN(key));
}

ZEND_COLD void larder_refuse_key(uint32_t argument, size_t length);

/* False: it is no key, and an exception says so. */
static zend_always_inline bool larder_make_key(larder_key *key, zend_string *from, uint32_t argument)
{
    if (UNEXPECTED(ZSTR_LEN(from) - 1 >= LARDER_KEY_MAX)) {
        larder_refuse_key(argument, ZSTR_LEN(from));
        return false;
    }
    *key = (larder_key){.bytes = ZSTR_VAL(from), .length = (uint32_t)ZSTR_LEN(from), .hash = larder_hash_of(from)};
    return true;
}

/* The one argument of a method. False: it is no key, and an exception says so. */
static zend_always_inline bool larder_key_argument(zend_execute_data *execute_data, larder_key *key)
{
    zend_string *name;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return larder_make_key(key, name, 1);
}

/* An entry of a list of names; the string is to be released. NULL: an exception is pending. */
zend_string *larder_listed_name(zval *entry, uint32_t argument);

/* ... of keys. */
zend_string *larder_listed_key(zval *entry, larder_key *key, uint32_t argument);

/* The only argument of a method that takes a list of keys. NULL: an exception is pending. */
zend_array *larder_keys_argument(zend_execute_data *execute_data);

/* ---- pools ---- */

/* Can the pool be reached? If not, an exception is pending: for what must not be lost silently. */
bool larder_reach(larder_pool *pool);
ZEND_COLD void larder_throw_unreachable(const larder_pool *pool);

/* Throws if the operation that was just asked for may not have been done. */
static zend_always_inline void larder_see_through(const larder_pool *pool)
{
    if (UNEXPECTED(pool->undone)) {
        larder_throw_unreachable(pool);
    }
}

/* The pool's name for one life of itself, 32 hexadecimal digits. */
zend_string *larder_pool_id(const larder_pool *pool);

/* ---- values out (reading.c) ---- */

/* Hands out what was found. False: it cannot be read after all, or an exception is pending. */
bool larder_read(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result);

/* The word of the key's living item, if no value can be made of it: its class is gone, or its code throws; else 0. May
 * run code, so an exception may be pending. `life`: pool->life when it was met. */
uint64_t larder_unreadable(larder_pool *pool, const larder_key *key, uint32_t *life);

/* ---- values in (storing.c) ---- */

/* What remains to be done for a TTL. */
typedef struct larder_lifetime {
    bool dead; /* zero or less */
    uint64_t expiry;
} larder_lifetime;

larder_lifetime larder_lifetime_of(const larder_pool *pool, zend_long ttl, bool forever);

/* What a store says besides its value: for how long, with which tags, judged by what. */
typedef struct larder_conditions {
    larder_lifetime life;
    larder_terms terms;
} larder_conditions;

#define LARDER_TAGS_ON_STACK 16u

/* Few tags are kept in `own`, which must live as long; discard them. False: an exception is pending. */
bool larder_read_conditions(larder_conditions *on, enum larder_mode mode, larder_lifetime life, zend_array *tags,
                            uint32_t argument, uint64_t own[LARDER_TAGS_ON_STACK]);
/* Reads a list of tags into `own`, or into memory to be discarded like the conditions'. NULL: an exception is
 * pending. */
uint64_t *larder_read_tags(zend_array *list, uint32_t argument, uint32_t most, uint64_t own[LARDER_TAGS_ON_STACK]);
void larder_discard_tags(const larder_terms *terms, const uint64_t own[LARDER_TAGS_ON_STACK]);

/* Microseconds, as items keep them. */
uint32_t larder_cost_of(double seconds);

/* Was it stored? An exception may be pending. */
bool larder_store_value(larder_pool *pool, zend_string *name, const larder_key *key, zval *value,
                        const larder_conditions *on);

#endif
