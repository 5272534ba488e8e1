/* Larder\SharedMemory: passes values between PHP and the engine, through the image. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "engine/get.h"
#include "engine/geometry.h"
#include "engine/item.h"
#include "engine/stats.h"
#include "image/image.h"

#include "ext/spl/spl_exceptions.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* The generated table has the classes' methods as an interface and static functions. */
#include "shared_memory_arginfo.h"

static zend_class_entry *token_class, *shared_memory_class, *pool_unusable_class, *unstorable_class,
    *not_a_counter_class;
static zend_object_handlers shared_memory_handlers;
static bool php_hashes_as_we_do;

typedef struct shared_memory {
    larder_pool *pool;
    zend_object object;
} shared_memory;

static zend_always_inline shared_memory *shared_memory_of(zend_object *object)
{
    return (shared_memory *)((char *)object - XtOffsetOf(shared_memory, object));
}

#define THIS_POOL() (shared_memory_of(Z_OBJ_P(ZEND_THIS))->pool)

static zend_object *create_object(zend_class_entry *class)
{
    shared_memory *self = zend_object_alloc(sizeof *self, class);
    zend_object_std_init(&self->object, class);
    object_properties_init(&self->object, class);
    self->object.handlers = &shared_memory_handlers;
    self->pool = NULL;
    return &self->object;
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

static zend_always_inline uint64_t hash_of(zend_string *key)
{
    return EXPECTED(php_hashes_as_we_do) ? ZSTR_HASH(key) : larder_hash(ZSTR_VAL(key), ZSTR_LEN(key));
}

static ZEND_COLD void refuse_key(uint32_t argument, size_t length)
{
    if (length == 0) {
        zend_argument_value_error(argument, "must not contain an empty key; a key has 1 to %u bytes", LARDER_KEY_MAX);
    } else {
        zend_argument_value_error(argument, "must not contain a key of %zu bytes; a key has 1 to %u bytes", length,
                                  LARDER_KEY_MAX);
    }
}

static zend_always_inline bool make_key(larder_key *key, zend_string *from, uint32_t argument)
{
    if (UNEXPECTED(ZSTR_LEN(from) - 1 >= LARDER_KEY_MAX)) {
        refuse_key(argument, ZSTR_LEN(from));
        return false;
    }
    *key = (larder_key){.bytes = ZSTR_VAL(from), .length = (uint32_t)ZSTR_LEN(from), .hash = hash_of(from)};
    return true;
}

/* A key out of a list of keys; the string is to be released. NULL: an exception is pending. */
static zend_string *listed_key(zval *entry, larder_key *key, uint32_t argument)
{
    ZVAL_DEREF(entry);
    if (Z_TYPE_P(entry) != IS_STRING && Z_TYPE_P(entry) != IS_LONG) {
        zend_argument_type_error(argument, "must be a list of strings or ints, %s given in it",
                                 zend_zval_type_name(entry));
        return NULL;
    }
    zend_string *name = zval_get_string(entry);
    if (!make_key(key, name, argument)) {
        zend_string_release(name);
        return NULL;
    }
    return name;
}

/* ---- values out ---------------------------------------------------------------------------------------- */

/* Reading this kind may run user code (autoloading, __unserialize), which may use the pool in turn. */
static bool may_run_code(uint8_t kind)
{
    return kind == LARDER_KIND_SERIALIZED || kind == LARDER_KIND_IGBINARY || kind == LARDER_KIND_OBJECT ||
           kind == LARDER_KIND_ARRAY_OF_OBJECTS;
}

/* The pin lasts only for the moment, so nothing may be handed out in place; and where user code may run, not even the
 * pin may be relied on: it works on a copy of the image. */
static bool read_briefly(larder_pool *pool, const larder_hit *hit, const void *value, size_t size, zval *result)
{
    uint8_t kind = hit->item->kind;
    bool done;
    larder_count(pool, LARDER_COPIES);
    if (!may_run_code(kind)) {
        done = larder_image_read(result, kind, value, size, pool->shift, false);
        larder_hit_drop(pool, hit);
        return done;
    }
    void *copy = emalloc(size);
    memcpy(copy, value, size);
    intptr_t shift = (intptr_t)((uintptr_t)copy - ((uintptr_t)value - (uintptr_t)pool->shift));
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
        return larder_image_read(result, hit->item->kind, value, size, pool->shift, pool->zero_copy);
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
    /* Kind and size first: what they say is acted on. */
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

static zend_always_inline bool read_value(larder_pool *pool, const larder_key *key, const larder_hit *hit, zval *result)
{
    if (EXPECTED(hit->hold == LARDER_HELD) && hit->item->kind == LARDER_KIND_ARRAY && EXPECTED(pool->zero_copy)) {
        const larder_item *item = hit->item;
        larder_image_use_array(result, (const char *)item +
                                           larder_item_value_at(item->tags, item->key_length, LARDER_KIND_ARRAY));
        return true;
    }
    return hit->hold == LARDER_UNPINNED ? read_unpinned(pool, key, hit, result) : read_pinned(pool, hit, result);
}

/* ---- values in ----------------------------------------------------------------------------------------- */

static void write_image(const void *context, void *to, uintptr_t address)
{
    larder_image_write(context, to, address);
}

/* What remains to be done for a TTL. */
typedef struct lifetime {
    bool dead; /* zero or less */
    uint64_t expiry;
} lifetime;

static lifetime lifetime_of(const larder_pool *pool, zend_long ttl, bool forever)
{
    if (forever) {
        return (lifetime){.dead = false, .expiry = LARDER_NO_EXPIRY};
    }
    return (lifetime){.dead = ttl <= 0, .expiry = ttl <= 0 ? 0 : larder_expiry(larder_pool_now(pool), (uint64_t)ttl)};
}

static ZEND_COLD void throw_unreachable(const larder_pool *pool)
{
    zend_throw_exception_ex(pool_unusable_class, 0, "The pool \"%s\" cannot be reached: %s", pool->name,
                            pool->trouble.message);
}

static bool reach(larder_pool *pool)
{
    if (EXPECTED(larder_pool_enter_to_write(pool))) {
        return true;
    }
    throw_unreachable(pool);
    return false;
}

/* A store with a TTL of zero or less: as if the item had been stored and had expired at once. */
static bool store_dead(larder_pool *pool, const larder_key *key, enum larder_mode mode)
{
    if (mode == LARDER_ADD) {
        return !larder_exists(pool, key);
    }
    bool existed = reach(pool) && larder_delete(pool, key);
    return mode == LARDER_SET ? !EG(exception) : existed;
}

/* That a serialiser cannot do it is our own exception's reason. What the user's code throws while it is asked for its
 * state is the user's, and goes through, as exit() does. */
static ZEND_COLD void refuse_value(const larder_image_refusal *refusal)
{
    if (EG(exception) == NULL) {
        zend_throw_exception(unstorable_class, refusal->message, 0);
    } else if (EG(exception)->ce == zend_ce_exception) {
        zval rv, *reason = zend_read_property(zend_ce_exception, EG(exception), ZEND_STRL("message"), true, &rv);
        zend_string *text = zval_get_string(reason);
        zend_throw_exception_ex(unstorable_class, 0, "The value cannot be serialised, so it cannot be stored: %s",
                                ZSTR_VAL(text));
        zend_string_release(text);
    }
}

static bool store(larder_pool *pool, const larder_key *key, zval *value, lifetime life, enum larder_mode mode)
{
    larder_image_plan plan;
    larder_image_refusal refusal;
    ZVAL_DEREF(value);
    refusal.message[0] = '\0';
    if (!larder_image_measure(&plan, value, &refusal)) {
        refuse_value(&refusal);
        return false;
    }
    bool stored;
    if (life.dead) {
        stored = store_dead(pool, key, mode);
    } else {
        const larder_value in = {.kind = plan.kind,
                                 .has_layout = plan.kind >= LARDER_FIRST_KIND_WITH_LAYOUT,
                                 .size = plan.size,
                                 .counter = plan.kind == LARDER_KIND_COUNTER ? Z_LVAL_P(value) : 0,
                                 .write = write_image,
                                 .context = &plan};
        const larder_terms terms = {.mode = mode, .expiry = life.expiry};
        stored = larder_store(pool, key, &in, &terms) == LARDER_OK;
    }
    larder_image_discard(&plan);
    return stored;
}

static void store_one(INTERNAL_FUNCTION_PARAMETERS, enum larder_mode mode)
{
    zend_string *name;
    zval *value;
    zend_long ttl = 0;
    bool forever = true;
    larder_key key;
    ZEND_PARSE_PARAMETERS_START(2, 3)
    Z_PARAM_STR(name)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!make_key(&key, name, 1)) {
        RETURN_THROWS();
    }
    RETVAL_BOOL(store(pool, &key, value, lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 3 || forever), mode));
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static bool read_settings(larder_pool_config *config)
{
    const char *mode = LARDER_G(zero_copy) == NULL ? "auto" : LARDER_G(zero_copy);
    if (strcmp(mode, "auto") == 0) {
        config->zero_copy = LARDER_ZERO_COPY_AUTO;
    } else if (strcmp(mode, "on") == 0 || strcmp(mode, "1") == 0) {
        config->zero_copy = LARDER_ZERO_COPY_ON;
    } else if (strcmp(mode, "off") == 0 || strcmp(mode, "0") == 0 || strcmp(mode, "") == 0) {
        config->zero_copy = LARDER_ZERO_COPY_OFF;
    } else {
        zend_throw_exception_ex(pool_unusable_class, 0,
                                "The ini setting larder.zero_copy is \"%s\"; set it to auto, on or off.", mode);
        return false;
    }
    config->protect_unpinned = LARDER_G(protect_unpinned);
    return true;
}

static bool configured_size(uint64_t *size)
{
    const char *text = LARDER_G(size) == NULL ? "0" : LARDER_G(size);
    zend_string *value = zend_string_init(text, strlen(text), 0), *error = NULL;
    zend_long bytes = zend_ini_parse_quantity(value, &error);
    zend_string_release(value);
    if (error != NULL || bytes < 0) {
        zend_throw_exception_ex(
            pool_unusable_class, 0,
            "The ini setting larder.size is \"%s\"; set it to a number of bytes such as 256M, or 0.", text);
        if (error != NULL) {
            zend_string_release(error);
        }
        return false;
    }
    *size = (uint64_t)bytes;
    return true;
}

/* A pool that this process has open already, if it is what is asked for now. */
static bool suits(const larder_pool *pool, uint64_t size, bool evict)
{
    if (size != 0 && larder_round_size(size) != pool->geometry.size) {
        zend_throw_exception_ex(pool_unusable_class, 0,
                                "The pool \"%s\" exists with " ZEND_ULONG_FMT " bytes, not the " ZEND_ULONG_FMT
                                " asked for; ask for that size, or remove the pool first "
                                "(Larder\\SharedMemory::remove('%s')).",
                                pool->name, (zend_ulong)pool->geometry.size, (zend_ulong)size, pool->name);
        return false;
    }
    if (evict != (pool->geometry.evict != 0)) {
        zend_throw_exception_ex(pool_unusable_class, 0,
                                "The pool \"%s\" was made %s eviction; use another name, or remove the pool first "
                                "(Larder\\SharedMemory::remove('%s')).",
                                pool->name, pool->geometry.evict != 0 ? "with" : "without", pool->name);
        return false;
    }
    return true;
}

static bool names_a_pool(const zend_string *name)
{
    /* The engine checks the rest; a NUL it would not see. */
    return strlen(ZSTR_VAL(name)) == ZSTR_LEN(name);
}

/* It may have been removed since; then it is made as it is asked for now. */
static larder_pool *open_again(larder_pool *pool, uint64_t size, bool evict)
{
    larder_pool_config before = pool->config;
    pool->config.evict = evict;
    if (size != 0) {
        pool->config.size = larder_round_size(size);
    }
    larder_pool_doubt(pool);
    if (!larder_pool_enter(pool)) {
        throw_unreachable(pool);
    } else if (suits(pool, size, evict)) {
        return pool;
    }
    pool->config = before;
    return NULL;
}

static larder_pool *find_or_open(zend_string *name, uint64_t size, bool evict)
{
    larder_pool *pool = zend_hash_find_ptr(&LARDER_G(pools), name);
    larder_error error;
    larder_pool_config config = {.name = ZSTR_VAL(name),
                                 .size = size,
                                 .evict = evict,
                                 .layout = larder_image_layout(),
                                 .ops = {.moved = larder_image_moved}};
    if (pool != NULL) {
        return open_again(pool, size, evict);
    }
    if (!read_settings(&config)) {
        return NULL;
    }
    pool = larder_pool_open(&config, &error);
    if (pool == NULL) {
        zend_throw_exception(pool_unusable_class, error.message, 0);
        return NULL;
    }
    zend_string *persistent = zend_string_init(ZSTR_VAL(name), ZSTR_LEN(name), 1);
    zend_hash_add_ptr(&LARDER_G(pools), persistent, pool);
    zend_string_release(persistent);
    return pool;
}

ZEND_METHOD(Larder_SharedMemory, open)
{
    zend_string *name = NULL;
    zend_long bytes = 0;
    bool automatic = true, evict = true;
    ZEND_PARSE_PARAMETERS_START(0, 3)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(name)
    Z_PARAM_LONG_OR_NULL(bytes, automatic)
    Z_PARAM_BOOL(evict)
    ZEND_PARSE_PARAMETERS_END();
    uint64_t size = (uint64_t)bytes;
    if (ZEND_NUM_ARGS() < 2) {
        automatic = true;
    }
    if (CG(compiler_options) & ZEND_COMPILE_PRELOAD) {
        zend_throw_exception(
            pool_unusable_class,
            "A pool cannot be opened while opcache preloads, in a process that others are forked from; "
            "open it in the request.",
            0);
        RETURN_THROWS();
    }
    if (automatic && !configured_size(&size)) {
        RETURN_THROWS();
    }
    if ((!automatic || size != 0) && (size < LARDER_SIZE_MIN || size > LARDER_SIZE_MAX)) {
        if (automatic) {
            zend_throw_exception(
                pool_unusable_class,
                "The ini setting larder.size must be between 4M (4194304) and 1024G; set it to 0 for an "
                "automatic choice.",
                0);
        } else {
            zend_argument_value_error(
                2, "must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes, or null, " ZEND_LONG_FMT " given",
                bytes);
        }
        RETURN_THROWS();
    }
    zend_string *wanted = name == NULL ? zend_string_init("default", sizeof "default" - 1, 0) : zend_string_copy(name);
    larder_pool *pool = NULL;
    if (names_a_pool(wanted)) {
        pool = find_or_open(wanted, size, evict);
    } else {
        zend_argument_value_error(1, "must not contain a NUL byte");
    }
    zend_string_release(wanted);
    if (pool == NULL) {
        RETURN_THROWS();
    }
    object_init_ex(return_value, shared_memory_class);
    shared_memory_of(Z_OBJ_P(return_value))->pool = pool;
}

ZEND_METHOD(Larder_SharedMemory, remove)
{
    zend_string *name = NULL;
    larder_error error;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    if (name != NULL && !names_a_pool(name)) {
        zend_argument_value_error(1, "must not contain a NUL byte");
        RETURN_THROWS();
    }
    int removed = larder_pool_remove(NULL, name == NULL ? "default" : ZSTR_VAL(name), &error);
    if (removed < 0) {
        zend_throw_exception(pool_unusable_class, error.message, 0);
        RETURN_THROWS();
    }
    /* This process need not wait until it happens to look. */
    larder_pool *pool = name == NULL ? zend_hash_str_find_ptr(&LARDER_G(pools), ZEND_STRL("default"))
                                     : zend_hash_find_ptr(&LARDER_G(pools), name);
    if (pool != NULL) {
        larder_pool_doubt(pool);
    }
    RETURN_BOOL(removed == 1);
}

/* Private; only there so that `new` is an error. */
ZEND_METHOD(Larder_SharedMemory, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

/* ---- reading ------------------------------------------------------------------------------------------- */

ZEND_METHOD(Larder_SharedMemory, get)
{
    zend_string *name;
    zval *fallback = NULL;
    larder_key key;
    larder_hit hit;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_ZVAL(fallback)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (UNEXPECTED(!make_key(&key, name, 1))) {
        RETURN_THROWS();
    }
    if (EXPECTED(larder_get(pool, &key, &hit)) && EXPECTED(read_value(pool, &key, &hit, return_value))) {
        return;
    }
    if (fallback != NULL && !EG(exception)) {
        RETURN_COPY_DEREF(fallback);
    }
}

static zend_array *keys_argument(zend_execute_data *execute_data)
{
    zend_array *keys = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(keys)
    ZEND_PARSE_PARAMETERS_END_EX(return NULL);
    return keys;
}

ZEND_METHOD(Larder_SharedMemory, getMany)
{
    zend_array *keys = keys_argument(execute_data);
    zval *entry;
    if (keys == NULL) {
        RETURN_THROWS();
    }
    larder_pool *pool = THIS_POOL();
    array_init_size(return_value, zend_hash_num_elements(keys));
    ZEND_HASH_FOREACH_VAL(keys, entry)
    {
        larder_key key;
        larder_hit hit;
        zval value;
        zend_string *name = listed_key(entry, &key, 1);
        if (name == NULL) {
            RETURN_THROWS();
        }
        if (larder_get(pool, &key, &hit) && read_value(pool, &key, &hit, &value)) {
            zend_symtable_update(Z_ARRVAL_P(return_value), name, &value);
        }
        zend_string_release(name);
        if (EG(exception)) {
            RETURN_THROWS();
        }
    }
    ZEND_HASH_FOREACH_END();
}

static void add_fetched(larder_pool *pool, const larder_key *key, zend_string *name, zval *result)
{
    larder_hit hit;
    zval entry, value;
    if (!larder_get_pinned(pool, key, &hit)) {
        return;
    }
    uint64_t stamp = hit.item->stamp, expiry = atomic_load_explicit(&hit.item->expiry, memory_order_relaxed);
    if (!read_pinned(pool, &hit, &value)) {
        return;
    }
    array_init_size(&entry, 3);
    zend_hash_next_index_insert_new(Z_ARRVAL(entry), &value);
    if (expiry == LARDER_NO_EXPIRY) {
        add_next_index_null(&entry);
    } else {
        add_next_index_long(&entry, (zend_long)((expiry + 999) / 1000));
    }
    add_next_index_long(&entry, (zend_long)stamp);
    zend_symtable_update(Z_ARRVAL_P(result), name, &entry);
}

ZEND_METHOD(Larder_SharedMemory, fetch)
{
    zend_array *keys = keys_argument(execute_data);
    zval *entry;
    if (keys == NULL) {
        RETURN_THROWS();
    }
    larder_pool *pool = THIS_POOL();
    array_init_size(return_value, zend_hash_num_elements(keys));
    ZEND_HASH_FOREACH_VAL(keys, entry)
    {
        larder_key key;
        zend_string *name = listed_key(entry, &key, 1);
        if (name == NULL) {
            RETURN_THROWS();
        }
        add_fetched(pool, &key, name, return_value);
        zend_string_release(name);
        if (EG(exception)) {
            RETURN_THROWS();
        }
    }
    ZEND_HASH_FOREACH_END();
}

ZEND_METHOD(Larder_SharedMemory, has)
{
    zend_string *name;
    larder_key key;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    if (!make_key(&key, name, 1)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(larder_exists(THIS_POOL(), &key));
}

/* ---- storing ------------------------------------------------------------------------------------------- */

ZEND_METHOD(Larder_SharedMemory, set)
{
    store_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, LARDER_SET);
}

ZEND_METHOD(Larder_SharedMemory, add)
{
    store_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, LARDER_ADD);
}

ZEND_METHOD(Larder_SharedMemory, replace)
{
    store_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, LARDER_REPLACE);
}

ZEND_METHOD(Larder_SharedMemory, setMany)
{
    zend_array *values;
    zend_long ttl = 0;
    bool forever = true;
    zend_ulong number;
    zend_string *name;
    zval *value;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ARRAY_HT(values)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    lifetime life = lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 2 || forever);
    array_init(return_value);
    ZEND_HASH_FOREACH_KEY_VAL(values, number, name, value)
    {
        larder_key key;
        zend_string *string = name != NULL ? zend_string_copy(name) : zend_long_to_str((zend_long)number);
        bool sound = make_key(&key, string, 1);
        if (sound && !store(pool, &key, value, life, LARDER_SET) && !EG(exception)) {
            add_next_index_str(return_value, zend_string_copy(string));
        }
        zend_string_release(string);
        if (EG(exception)) {
            RETURN_THROWS();
        }
    }
    ZEND_HASH_FOREACH_END();
}

ZEND_METHOD(Larder_SharedMemory, delete)
{
    zend_string *name;
    larder_key key;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!make_key(&key, name, 1) || !reach(pool)) {
        RETURN_THROWS();
    }
    RETURN_BOOL(larder_delete(pool, &key));
}

ZEND_METHOD(Larder_SharedMemory, deleteMany)
{
    zend_array *keys = keys_argument(execute_data);
    zend_long existed = 0;
    zval *entry;
    if (keys == NULL) {
        RETURN_THROWS();
    }
    larder_pool *pool = THIS_POOL();
    ZEND_HASH_FOREACH_VAL(keys, entry)
    {
        larder_key key;
        zend_string *name = listed_key(entry, &key, 1);
        if (name == NULL) {
            RETURN_THROWS();
        }
        existed += reach(pool) && larder_delete(pool, &key);
        zend_string_release(name);
        if (EG(exception)) {
            RETURN_THROWS();
        }
    }
    ZEND_HASH_FOREACH_END();
    RETURN_LONG(existed);
}

ZEND_METHOD(Larder_SharedMemory, increment)
{
    zend_string *name;
    zend_long by = 1, initial = 0, ttl = 0;
    bool forever = true;
    larder_key key;
    int64_t result = 0;
    ZEND_PARSE_PARAMETERS_START(1, 4)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(by)
    Z_PARAM_LONG(initial)
    Z_PARAM_LONG_OR_NULL(ttl, forever)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!make_key(&key, name, 1) || !reach(pool)) {
        RETURN_THROWS();
    }
    lifetime life = lifetime_of(pool, ttl, ZEND_NUM_ARGS() < 4 || forever);
    if (life.dead && !larder_exists(pool, &key)) {
        /* As if it had been stored and had expired at once. */
        if (!__builtin_add_overflow((int64_t)initial, (int64_t)by, &result)) {
            RETURN_LONG(result);
        }
        zend_throw_exception_ex(not_a_counter_class, 0,
                                "The value of \"%.80s\" would leave the range of int; nothing was changed.",
                                ZSTR_VAL(name));
        RETURN_THROWS();
    }
    switch (larder_increment(pool, &key, by, initial, life.expiry, &result)) {
    case LARDER_COUNTED:
        RETURN_LONG(result);
    case LARDER_NOT_A_COUNTER:
        zend_throw_exception_ex(not_a_counter_class, 0,
                                "The value of \"%.80s\" is not an int, so it cannot be counted up; delete it first.",
                                ZSTR_VAL(name));
        RETURN_THROWS();
    case LARDER_OUT_OF_RANGE:
        zend_throw_exception_ex(not_a_counter_class, 0,
                                "The value of \"%.80s\" would leave the range of int; nothing was changed.",
                                ZSTR_VAL(name));
        RETURN_THROWS();
    case LARDER_NOT_COUNTED:
        zend_throw_exception_ex(pool_unusable_class, 0,
                                "The counter \"%.80s\" could not be stored in the pool \"%s\", which is full; make it "
                                "larger (larder.size).",
                                ZSTR_VAL(name), pool->name);
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
    if (!make_key(&key, name, 1)) {
        RETURN_THROWS();
    }
    lifetime life = lifetime_of(pool, ttl, forever);
    if (!life.dead) {
        RETURN_BOOL(larder_touch(pool, &key, life.expiry));
    }
    RETURN_BOOL(reach(pool) && larder_delete(pool, &key));
}

ZEND_METHOD(Larder_SharedMemory, clear)
{
    ZEND_PARSE_PARAMETERS_NONE();
    larder_pool *pool = THIS_POOL();
    if (reach(pool)) {
        larder_clear(pool);
    }
}

/* ---- looking around ------------------------------------------------------------------------------------ */

static bool collect_key(void *context, const char *key, size_t length)
{
    add_next_index_stringl(context, key, length);
    return true;
}

ZEND_METHOD(Larder_SharedMemory, keys)
{
    zend_string *prefix = NULL;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(prefix)
    ZEND_PARSE_PARAMETERS_END();
    array_init(return_value);
    larder_each_key(THIS_POOL(), prefix == NULL ? "" : ZSTR_VAL(prefix), prefix == NULL ? 0 : ZSTR_LEN(prefix),
                    collect_key, return_value);
}

static zend_string *pool_id(const larder_pool *pool)
{
    static const char digits[] = "0123456789abcdef";
    zend_string *id = zend_string_alloc(2 * sizeof pool->geometry.id, 0);
    for (size_t i = 0; i < sizeof pool->geometry.id; i++) {
        ZSTR_VAL(id)[2 * i] = digits[pool->geometry.id[i] >> 4];
        ZSTR_VAL(id)[2 * i + 1] = digits[pool->geometry.id[i] & 15];
    }
    ZSTR_VAL(id)[ZSTR_LEN(id)] = '\0';
    return id;
}

static void set_token(zend_object *token, zval *epoch, zend_long clock)
{
    zval tick;
    ZVAL_LONG(&tick, clock);
    ZVAL_COPY(OBJ_PROP_NUM(token, 0), epoch);
    ZVAL_COPY_VALUE(OBJ_PROP_NUM(token, 1), &tick);
}

ZEND_METHOD(Larder_SharedMemory, token)
{
    zend_string *name;
    larder_key key;
    zval epoch;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END();
    larder_pool *pool = THIS_POOL();
    if (!make_key(&key, name, 1) || !reach(pool)) {
        RETURN_THROWS();
    }
    object_init_ex(return_value, token_class);
    ZVAL_STR(&epoch, pool_id(pool));
    set_token(Z_OBJ_P(return_value), &epoch, (zend_long)larder_now_logical(pool->header));
    zval_ptr_dtor(&epoch);
}

ZEND_METHOD(Larder_Token, __construct)
{
    zend_string *epoch;
    zend_long clock;
    zval text;
    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(epoch)
    Z_PARAM_LONG(clock)
    ZEND_PARSE_PARAMETERS_END();
    if (Z_TYPE_P(OBJ_PROP_NUM(Z_OBJ_P(ZEND_THIS), 0)) != IS_UNDEF) {
        zend_throw_error(NULL, "Cannot modify readonly property Larder\\Token::$epoch");
        RETURN_THROWS();
    }
    ZVAL_STR(&text, epoch);
    set_token(Z_OBJ_P(ZEND_THIS), &text, clock);
}

static void add_counters(zval *result, const larder_stats *stats)
{
    static const struct {
        const char *name;
        enum larder_counter counter;
    } counters[] = {{"hits", LARDER_HITS},       {"misses", LARDER_MISSES},       {"sets", LARDER_SETS},
                    {"deletes", LARDER_DELETES}, {"evictions", LARDER_EVICTIONS}, {"expired", LARDER_EXPIRED},
                    {"moves", LARDER_MOVES},     {"copies", LARDER_COPIES},       {"conflicts", LARDER_CONFLICTS}},
      refusals[] = {{"full", LARDER_REFUSED_FULL},
                    {"pinned", LARDER_REFUSED_PINNED},
                    {"large", LARDER_REFUSED_LARGE},
                    {"busy", LARDER_REFUSED_BUSY}};
    zval refused;
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        add_assoc_long(result, counters[i].name, (zend_long)stats->counters[counters[i].counter]);
    }
    array_init(&refused);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        add_assoc_long(&refused, refusals[i].name, (zend_long)stats->counters[refusals[i].counter]);
    }
    add_assoc_zval(result, "refused", &refused);
}

static void add_segments(zval *result, const larder_stats *stats)
{
    zval segments;
    array_init(&segments);
    add_assoc_long(&segments, "free", (zend_long)stats->segments[LARDER_FREE]);
    add_assoc_long(&segments, "open", (zend_long)stats->segments[LARDER_OPEN]);
    add_assoc_long(&segments, "sealed", (zend_long)stats->segments[LARDER_SEALED]);
    add_assoc_long(&segments, "limbo", (zend_long)stats->segments[LARDER_LIMBO]);
    add_assoc_long(&segments, "tail", (zend_long)stats->segments[LARDER_TAIL]);
    add_assoc_long(&segments, "small", (zend_long)stats->small_segments);
    add_assoc_long(&segments, "main", (zend_long)stats->main_segments);
    add_assoc_long(&segments, "bytes", (zend_long)stats->segment_bytes);
    add_assoc_zval(result, "segments", &segments);
}

ZEND_METHOD(Larder_SharedMemory, statistics)
{
    larder_stats stats;
    ZEND_PARSE_PARAMETERS_NONE();
    larder_pool *pool = THIS_POOL();
    if (!reach(pool)) {
        RETURN_THROWS();
    }
    larder_stats_read(pool, &stats);
    array_init(return_value);
    add_assoc_string(return_value, "name", pool->name);
    add_assoc_str(return_value, "id", pool_id(pool));
    add_assoc_string(return_value, "mode", pool->zero_copy ? "zero-copy" : "copy");
    add_assoc_bool(return_value, "evict", pool->geometry.evict != 0);
    add_assoc_long(return_value, "size", (zend_long)pool->geometry.size);
    add_assoc_long(return_value, "capacity", (zend_long)stats.capacity);
    add_assoc_long(return_value, "items", (zend_long)stats.items);
    add_assoc_long(return_value, "bytes", (zend_long)stats.bytes);
    add_counters(return_value, &stats);
    add_segments(return_value, &stats);
    add_assoc_long(return_value, "processes", stats.processes);
    add_assoc_double(return_value, "oldest_pin_seconds", (double)stats.oldest_pin_ms / 1000);
    add_assoc_long(return_value, "limbo_bytes", (zend_long)stats.limbo_bytes);
}

/* ---- classes ------------------------------------------------------------------------------------------- */

void larder_register_classes(void)
{
    zend_class_entry *exception = register_class_Larder_Exception(zend_ce_throwable);
    token_class = register_class_Larder_Token();
    pool_unusable_class = register_class_Larder_Exception_PoolUnusable(spl_ce_RuntimeException, exception);
    unstorable_class = register_class_Larder_Exception_Unstorable(spl_ce_RuntimeException, exception);
    not_a_counter_class = register_class_Larder_Exception_NotACounter(spl_ce_RuntimeException, exception);
    shared_memory_class = register_class_Larder_SharedMemory();
    shared_memory_class->create_object = create_object;
    memcpy(&shared_memory_handlers, zend_get_std_object_handlers(), sizeof shared_memory_handlers);
    shared_memory_handlers.offset = XtOffsetOf(shared_memory, object);
    shared_memory_handlers.clone_obj = NULL;
    /* Keys are hashed as PHP does, because most strings have that hash already. Should a PHP hash otherwise one day, we
     * hash ourselves: all who share a pool must agree. */
    php_hashes_as_we_do = zend_hash_func("larder", 6) == larder_hash("larder", 6) && SIZEOF_ZEND_LONG == 8;
}
