/* What the methods of Larder\SharedMemory share. */
#ifndef LARDER_SHARED_MEMORY_H
#define LARDER_SHARED_MEMORY_H

#include "php_larder.h"

#include "engine/get.h"
#include "engine/larder.h"

extern zend_class_entry *larder_shared_memory_class, *larder_token_class, *larder_computation_class,
    *larder_pool_unusable_class, *larder_unstorable_class, *larder_not_a_counter_class;
extern bool larder_php_hashes_as_we_do;

/* What a handle has of a pool: all of it, or the part whose keys begin with a prefix and whose items carry tags. */
typedef struct shared_memory {
    larder_pool *pool;
    zend_string *prefix; /* NULL: all of it */
    uint64_t *tags;      /* its own is the last */
    uint32_t tags_count;
    zend_object object;
} shared_memory;

static zend_always_inline shared_memory *larder_shared_memory_of(zend_object *object)
{
    return (shared_memory *)((char *)object - offsetof(shared_memory, object));
}

#define THIS() larder_shared_memory_of(Z_OBJ_P(ZEND_THIS))

/* ---- keys ---- */

static zend_always_inline uint64_t larder_hash_of(zend_string *key)
{
    return EXPECTED(larder_php_hashes_as_we_do) ? ZSTR_HASH(key) : larder_hash(ZSTR_VAL(key), ZSTR_LEN(key));
}

/* A key as the pool has it: behind the prefix of the handle, if that has one. To be discarded. */
typedef struct larder_full_key {
    larder_key key;
    char *apart;    /* NULL: the bytes are below, or the caller's */
    char near[256]; /* longer than most keys */
} larder_full_key;

ZEND_COLD void larder_refuse_key(const shared_memory *self, uint32_t argument, size_t length);

static zend_always_inline size_t larder_longest_key(const shared_memory *self)
{
    return LARDER_KEY_MAX - (EXPECTED(self->prefix == NULL) ? 0 : ZSTR_LEN(self->prefix));
}

static zend_always_inline void larder_put_behind(const shared_memory *self, zend_string *from, larder_full_key *full)
{
    size_t before = ZSTR_LEN(self->prefix), length = before + ZSTR_LEN(from);
    char *bytes = EXPECTED(length <= sizeof full->near) ? full->near : (full->apart = emalloc(length));
    memcpy(bytes, ZSTR_VAL(self->prefix), before);
    memcpy(bytes + before, ZSTR_VAL(from), ZSTR_LEN(from));
    full->key =
        (larder_key){.bytes = bytes,
                     .length = (uint32_t)length,
                     .hash = larder_hash_behind(larder_hash_of(self->prefix), larder_hash_of(from), ZSTR_LEN(from))};
}

/* False: it is no key, an exception says so, and there is nothing to discard. */
static zend_always_inline bool larder_make_key(larder_full_key *full, const shared_memory *self, zend_string *from,
                                               uint32_t argument)
{
    if (UNEXPECTED(ZSTR_LEN(from) - 1 >= larder_longest_key(self))) {
        larder_refuse_key(self, argument, ZSTR_LEN(from));
        return false;
    }
    full->apart = NULL;
    if (EXPECTED(self->prefix == NULL)) {
        full->key =
            (larder_key){.bytes = ZSTR_VAL(from), .length = (uint32_t)ZSTR_LEN(from), .hash = larder_hash_of(from)};
    } else {
        larder_put_behind(self, from, full);
    }
    return true;
}

static zend_always_inline void larder_discard_key(larder_full_key *full)
{
    if (UNEXPECTED(full->apart != NULL)) {
        efree(full->apart);
    }
}

/* The one argument of a method. False: it is no key, and an exception says so. */
static zend_always_inline bool larder_key_argument(zend_execute_data *execute_data, larder_full_key *full)
{
    zend_string *name;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return larder_make_key(full, THIS(), name, 1);
}

/* An entry of a list of names; the string is to be released. NULL: an exception is pending. */
zend_string *larder_listed_name(zval *entry, uint32_t argument);

/* ... of keys; both are to be discarded. */
zend_string *larder_listed_key(const shared_memory *self, zval *entry, larder_full_key *full, uint32_t argument);

/* The only argument of a method that takes a list of keys. NULL: an exception is pending. */
zend_array *larder_keys_argument(zend_execute_data *execute_data);

/* ---- pools ---- */

/* Can the pool be reached? If not, an exception is pending: for what must not be lost silently. */
bool larder_reach(larder_pool *pool);
ZEND_COLD void larder_throw_unreachable(const larder_pool *pool);

/* Throws if the operation that was just asked for may not have been done. */
static zend_always_inline void larder_throw_if_undone(const larder_pool *pool)
{
    if (UNEXPECTED(pool->request.undone)) {
        larder_throw_unreachable(pool);
    }
}

/* The pool's epoch (its id in the geometry), 32 hexadecimal digits. */
zend_string *larder_pool_id(const larder_pool *pool);

/* ---- values out (reading.c) ---- */

/* Hands out what was found. False: it cannot be read after all, or an exception is pending. */
bool larder_read(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result);

typedef struct larder_stale {
    zval value;
    larder_serving serving;
    uint64_t version;
} larder_stale;

/* Hands out what may be served, alive or stale (larder_get_stale()). A stale item leaves the key missed: the next
 * store of this request is still judged by that. False: there is nothing, or an exception is pending. */
bool larder_read_stale(larder_pool *pool, const larder_key *key, uint64_t grace_ms, larder_stale *its);

/* The word of the key's living item, if no value can be made of it: its class is gone, or its code throws; else 0. May
 * run code, so an exception may be pending. `attachment`: pool->attached.number when it was met. */
uint64_t larder_unreadable(larder_pool *pool, const larder_key *key, uint32_t *attachment);

/* ---- values in (storing.c) ---- */

/* What remains to be done for a TTL. */
typedef struct larder_lifetime {
    bool dead; /* zero or less */
    uint64_t expiry;
} larder_lifetime;

larder_lifetime larder_lifetime_of(const larder_pool *pool, zend_long ttl, bool forever);

/* What a store says besides its value: for how long, with which tags, judged by what. */
typedef struct larder_conditions {
    larder_lifetime lifetime;
    larder_terms terms;
} larder_conditions;

#define LARDER_TAGS_ON_STACK 16u

/* With the tags of the handle. Few are kept in `own`, which must live as long; discard them. False: an exception is
 * pending. */
bool larder_read_conditions(larder_conditions *on, const shared_memory *self, enum larder_mode mode,
                            larder_lifetime lifetime, zend_array *tags, uint32_t argument,
                            uint64_t own[LARDER_TAGS_ON_STACK]);
/* Reads a list of tags into `own`, or into memory to be discarded like the conditions'; there is room for `more` behind
 * them, of `most` together. NULL: an exception is pending. */
uint64_t *larder_read_tags(zend_array *list, uint32_t argument, uint32_t most, uint32_t more,
                           uint64_t own[LARDER_TAGS_ON_STACK]);
/* The tags of an item of the handle: those that are listed, and its own. False: an exception is pending, and there is
 * nothing to discard. */
bool larder_read_tags_of(larder_terms *terms, const shared_memory *self, zend_array *tags, uint32_t argument,
                         uint64_t own[LARDER_TAGS_ON_STACK]);
void larder_discard_tags(const shared_memory *self, const larder_terms *terms,
                         const uint64_t own[LARDER_TAGS_ON_STACK]);

/* Microseconds, as items keep them. */
uint32_t larder_cost_of(double seconds);

/* Was it stored? An exception may be pending. */
bool larder_store_value(larder_pool *pool, zend_string *name, const larder_key *key, zval *value,
                        const larder_conditions *on);

#endif
