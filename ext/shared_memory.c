/* Larder\SharedMemory: looking around in a pool. opening.c, reading.c, storing.c, changing.c and remember.c have
 * its other methods.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"
#include "shared_memory.h"

#include "engine/get.h"
#include "engine/larder.h"
#include "image/image.h"

#include "ext/spl/spl_exceptions.h"
#include "ext/standard/php_string.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
/* The generated table has the classes' methods as an interface and static functions. */
#include "shared_memory_arginfo.h"

zend_class_entry *larder_shared_memory_class, *larder_token_class, *larder_computation_class,
    *larder_pool_unusable_class, *larder_unstorable_class, *larder_not_a_counter_class;
bool larder_php_hashes_as_we_do;

static zend_object_handlers shared_memory_handlers;

static zend_object *create_object(zend_class_entry *class)
{
    shared_memory *self = zend_object_alloc(sizeof *self, class);
    zend_object_std_init(&self->object, class);
    object_properties_init(&self->object, class);
    self->object.handlers = &shared_memory_handlers;
    self->pool = NULL;
    self->prefix = NULL;
    self->tags = NULL;
    self->tags_count = 0;
    return &self->object;
}

static void free_object(zend_object *object)
{
    shared_memory *self = larder_shared_memory_of(object);
    if (self->prefix != NULL) {
        zend_string_release(self->prefix);
        efree(self->tags);
    }
    zend_object_std_dtor(object);
}

/* ---- keys ---------------------------------------------------------------------------------------------- */

ZEND_COLD void larder_refuse_key(const shared_memory *self, uint32_t argument, size_t length)
{
    size_t longest = larder_longest_key(self);
    if (length == 0) {
        zend_argument_value_error(argument, "must not contain an empty key; a key has 1 to %zu bytes", longest);
    } else {
        zend_argument_value_error(argument, "must not contain a key of %zu bytes; a key has 1 to %zu bytes", length,
                                  longest);
    }
}

zend_string *larder_listed_name(zval *entry, uint32_t argument)
{
    ZVAL_DEREF(entry);
    if (Z_TYPE_P(entry) != IS_STRING && Z_TYPE_P(entry) != IS_LONG) {
        zend_argument_type_error(argument, "must be a list of strings or ints, %s given in it",
                                 zend_zval_type_name(entry));
        return NULL;
    }
    return zval_get_string(entry);
}

zend_string *larder_listed_key(const shared_memory *self, zval *entry, larder_full_key *full, uint32_t argument)
{
    zend_string *name = larder_listed_name(entry, argument);
    if (name != NULL && !larder_make_key(full, self, name, argument)) {
        zend_string_release(name);
        return NULL;
    }
    return name;
}

zend_array *larder_keys_argument(zend_execute_data *execute_data)
{
    zend_array *keys = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(keys)
    ZEND_PARSE_PARAMETERS_END_EX(return NULL);
    return keys;
}

ZEND_COLD void larder_throw_unreachable(const larder_pool *pool)
{
    zend_throw_exception_ex(larder_pool_unusable_class, 0, "The pool \"%s\" cannot be reached: %s", pool->name,
                            pool->request.trouble.message);
}

bool larder_reach(larder_pool *pool)
{
    if (EXPECTED(larder_pool_enter_to_write(pool))) {
        return true;
    }
    larder_throw_unreachable(pool);
    return false;
}
zend_string *larder_pool_id(const larder_pool *pool)
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
/* Private; only there so that `new` is an error. */
ZEND_METHOD(Larder_SharedMemory, __construct)
{
    ZEND_PARSE_PARAMETERS_NONE();
}

/* ---- looking around ------------------------------------------------------------------------------------ */

typedef struct collected {
    zval *keys;
    size_t before; /* bytes of the handle's prefix */
} collected;

static bool collect_key(void *context, const char *key, size_t length)
{
    const collected *to = context;
    add_next_index_stringl(to->keys, key + to->before, length - to->before);
    return true;
}

ZEND_METHOD(Larder_SharedMemory, keys)
{
    zend_string *prefix = NULL;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(prefix)
    ZEND_PARSE_PARAMETERS_END();
    const shared_memory *self = THIS();
    zend_string *own = self->prefix == NULL ? ZSTR_EMPTY_ALLOC() : self->prefix;
    zend_string *full = prefix == NULL
                            ? zend_string_copy(own)
                            : zend_string_concat2(ZSTR_VAL(own), ZSTR_LEN(own), ZSTR_VAL(prefix), ZSTR_LEN(prefix));
    collected to = {.keys = return_value, .before = ZSTR_LEN(own)};
    array_init(return_value);
    larder_each_key(self->pool, ZSTR_VAL(full), ZSTR_LEN(full), collect_key, &to);
    zend_string_release(full);
}

static void set_token(zend_object *token, zval *epoch, zend_long version)
{
    zval tick;
    ZVAL_LONG(&tick, version);
    ZVAL_COPY(OBJ_PROP_NUM(token, 0), epoch);
    ZVAL_COPY_VALUE(OBJ_PROP_NUM(token, 1), &tick);
}

ZEND_METHOD(Larder_SharedMemory, beginRequest)
{
    ZEND_PARSE_PARAMETERS_NONE();
    larder_pool_begin_another(THIS()->pool);
}

ZEND_METHOD(Larder_SharedMemory, token)
{
    larder_full_key full;
    zval epoch;
    larder_pool *pool = THIS()->pool;
    if (!larder_key_argument(execute_data, &full)) {
        RETURN_THROWS();
    }
    larder_discard_key(&full); /* one clock goes for all keys */
    if (!larder_reach(pool)) {
        RETURN_THROWS();
    }
    object_init_ex(return_value, larder_token_class);
    ZVAL_STR(&epoch, larder_pool_id(pool));
    set_token(Z_OBJ_P(return_value), &epoch, (zend_long)larder_now_logical(pool->header));
    zval_ptr_dtor(&epoch);
}

ZEND_METHOD(Larder_Token, __construct)
{
    zend_string *epoch;
    zend_long version;
    zval text;
    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(epoch)
    Z_PARAM_LONG(version)
    ZEND_PARSE_PARAMETERS_END();
    if (Z_TYPE_P(OBJ_PROP_NUM(Z_OBJ_P(ZEND_THIS), 0)) != IS_UNDEF) {
        zend_throw_error(NULL, "Cannot modify readonly property Larder\\Token::$epoch");
        RETURN_THROWS();
    }
    ZVAL_STR(&text, epoch);
    set_token(Z_OBJ_P(ZEND_THIS), &text, version);
}

static void add_counters(zval *result, const larder_stats *stats)
{
    static const struct {
        const char *name;
        enum larder_counter counter;
    } counters[] = {{"hits", LARDER_HITS},           {"misses", LARDER_MISSES},
                    {"sets", LARDER_SETS},           {"deletes", LARDER_DELETES},
                    {"evictions", LARDER_EVICTIONS}, {"expired", LARDER_EXPIRED},
                    {"moves", LARDER_MOVES},         {"copies", LARDER_COPIES},
                    {"conflicts", LARDER_CONFLICTS}, {"private_pages", LARDER_PRIVATE_PAGES}},
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

/* What the pool began with. */
static void add_snapshot(zval *result, const larder_pool *pool)
{
    const larder_header *header = pool->header;
    zval snapshot;
    array_init(&snapshot);
    /* acquire: the account was complete. */
    uint32_t began = atomic_load_explicit(&header->began, memory_order_acquire);
    bool loaded = began == LARDER_LOADED;
    add_assoc_long(&snapshot, "loaded", loaded ? (zend_long)header->snapshot_items : 0);
    add_assoc_long(&snapshot, "dropped", loaded ? (zend_long)header->snapshot_dropped : 0);
    if (loaded) {
        add_assoc_null(&snapshot, "reason");
    } else {
        add_assoc_stringl(&snapshot, "reason", header->reason, strnlen(header->reason, sizeof header->reason));
    }
    add_assoc_zval(result, "snapshot", &snapshot);
}

ZEND_METHOD(Larder_SharedMemory, statistics)
{
    larder_stats stats;
    ZEND_PARSE_PARAMETERS_NONE();
    larder_pool *pool = THIS()->pool;
    if (!larder_reach(pool)) {
        RETURN_THROWS();
    }
    if (!larder_stats_read(pool, &stats)) { /* it went between the two */
        larder_throw_unreachable(pool);
        RETURN_THROWS();
    }
    array_init(return_value);
    add_assoc_string(return_value, "name", pool->name);
    add_assoc_str(return_value, "id", larder_pool_id(pool));
    add_assoc_string(return_value, "mode", pool->zero_copy ? "zero-copy" : "copy");
    add_assoc_string(return_value, "path", pool->paths.full);
    add_assoc_bool(return_value, "evict", pool->geometry.evict != 0);
    add_assoc_long(return_value, "size", (zend_long)pool->geometry.size);
    add_assoc_long(return_value, "capacity", (zend_long)stats.capacity);
    add_assoc_long(return_value, "items", (zend_long)stats.items);
    add_assoc_long(return_value, "bytes", (zend_long)stats.bytes);
    add_counters(return_value, &stats);
    add_segments(return_value, &stats);
    add_assoc_long(return_value, "processes", stats.processes);
    add_assoc_double(return_value, "oldest_pin_seconds", (double)stats.oldest_pin_ms / 1000);
    add_assoc_long(return_value, "oldest_pin_process", (zend_long)stats.oldest_pin_process);
    add_assoc_long(return_value, "pinned_bytes", (zend_long)stats.pinned_bytes);
    add_assoc_long(return_value, "limbo_bytes", (zend_long)stats.limbo_bytes);
    add_snapshot(return_value, pool);
}

/* ---- classes ------------------------------------------------------------------------------------------- */

void larder_register_classes(void)
{
    zend_class_entry *exception = register_class_Larder_Exception(zend_ce_throwable);
    larder_token_class = register_class_Larder_Token();
    larder_computation_class = register_class_Larder_Computation();
    larder_pool_unusable_class = register_class_Larder_Exception_PoolUnusable(spl_ce_RuntimeException, exception);
    larder_unstorable_class = register_class_Larder_Exception_Unstorable(spl_ce_RuntimeException, exception);
    larder_not_a_counter_class = register_class_Larder_Exception_NotACounter(spl_ce_RuntimeException, exception);
    larder_shared_memory_class = register_class_Larder_SharedMemory();
    larder_shared_memory_class->create_object = create_object;
    memcpy(&shared_memory_handlers, zend_get_std_object_handlers(), sizeof shared_memory_handlers);
    shared_memory_handlers.offset = offsetof(shared_memory, object);
    shared_memory_handlers.free_obj = free_object;
    shared_memory_handlers.clone_obj = NULL;
    /* Keys are hashed as PHP does, because most strings have that hash already. Should a PHP hash otherwise one day, we
     * hash ourselves: all who share a pool must agree. */
    larder_php_hashes_as_we_do = zend_hash_func("larder", 6) == larder_hash("larder", 6) && SIZEOF_ZEND_LONG == 8;
}
