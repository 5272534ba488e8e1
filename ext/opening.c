/* Larder\SharedMemory: opening, removing, saving and naming pools. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "shared_memory.h"

#include "engine/larder.h"
#include "image/image.h"

#include "php_main.h"
#include "zend_exceptions.h"

#include <errno.h>
#include <grp.h>
#include <syslog.h>

#define PARTS_MAX 64u /* parts that lie in each other: each costs its items a tag, of LARDER_TAGS_MAX */

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
        zend_throw_exception_ex(larder_pool_unusable_class, 0,
                                "The ini setting larder.zero_copy is \"%s\"; set it to auto, on or off.", mode);
        return false;
    }
    config->protect_unpinned = LARDER_G(protect_unpinned);
    return true;
}

/* Is it the number of a group? The highest means none to the system. */
static bool is_group_number(const char *text, gid_t *group)
{
    char *end = NULL;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    *group = (gid_t)number;
    return strspn(text, "0123456789") == strlen(text) && errno == 0 && number < (gid_t)-1;
}

/* Whose the pools are. False: an exception is pending. */
static bool configured_group(larder_pool_config *config)
{
    const char *name = LARDER_G(group) == NULL ? "" : LARDER_G(group);
    struct group entry, *found = NULL;
    char *buffer;
    if (name[0] == '\0') {
        return true;
    }
    config->shared = true;
    if (is_group_number(name, &config->group)) {
        return true;
    }
    for (size_t size = 1024; size <= 1 << 20; size *= 4) {
        buffer = emalloc(size);
        int code = getgrnam_r(name, &entry, buffer, size, &found);
        config->group = found == NULL ? 0 : entry.gr_gid;
        efree(buffer);
        if (code != ERANGE) {
            break;
        }
    }
    if (found == NULL) {
        zend_throw_exception_ex(
            larder_pool_unusable_class, 0,
            "The ini setting larder.group is \"%.80s\", and there is no such group; make it, or set it "
            "to the name or number of another.",
            name);
    }
    return found != NULL;
}

/* In which directory snapshots lie; NULL: in none. False: an exception is pending. */
static bool configured_snapshots(larder_pool_config *config)
{
    const char *parent = LARDER_G(snapshot) == NULL ? "" : LARDER_G(snapshot);
    if (strcmp(parent, "") == 0 || strcmp(parent, "0") == 0 || strcasecmp(parent, "off") == 0) {
        return true;
    }
    if (parent[0] != '/') {
        zend_throw_exception_ex(larder_pool_unusable_class, 0,
                                "The ini setting larder.snapshot is \"%.80s\"; set it to the absolute path of a "
                                "directory on a disk, or to off.",
                                parent);
        return false;
    }
    if (strcmp(parent, "/dev/shm") == 0 || strncmp(parent, "/dev/shm/", strlen("/dev/shm/")) == 0) {
        zend_throw_exception_ex(
            larder_pool_unusable_class, 0,
            "The ini setting larder.snapshot is \"%.80s\", which is memory as the pools are and does "
            "not outlive a reboot; set it to the absolute path of a directory on a disk, or to off.",
            parent);
        return false;
    }
    config->snapshots = parent;
    return true;
}

/* Where the pools and snapshots are. */
static bool configured_place(larder_pool_config *config)
{
    return configured_group(config) && configured_snapshots(config);
}

static bool configured_size(uint64_t *size)
{
    const char *text = LARDER_G(size) == NULL ? "0" : LARDER_G(size);
    zend_string *value = zend_string_init(text, strlen(text), 0), *error = NULL;
    zend_long bytes = zend_ini_parse_quantity(value, &error);
    zend_string_release(value);
    if (error != NULL || bytes < 0) {
        zend_throw_exception_ex(
            larder_pool_unusable_class, 0,
            "The ini setting larder.size is \"%s\"; set it to a number of bytes such as 256M, or 0.", text);
        if (error != NULL) {
            zend_string_release(error);
        }
        return false;
    }
    *size = (uint64_t)bytes;
    return true;
}

/* The pool serves all the same: larder_pool_resize() may have changed it. It is told once a process. */
static void tell_size(larder_pool *pool, uint64_t size)
{
    char *message;
    if (size == 0 || larder_round_size(size) == pool->geometry.size || pool->attached.told_size) {
        return;
    }
    pool->attached.told_size = true;
    zend_spprintf(&message, 0,
                  "Larder: The pool \"%s\" has " ZEND_ULONG_FMT " bytes, not the " ZEND_ULONG_FMT
                  " asked for, and is used as it is; ask for its size, or change that (larder resize %s " ZEND_ULONG_FMT
                  ").",
                  pool->name, (zend_ulong)pool->geometry.size, (zend_ulong)size, pool->name, (zend_ulong)size);
    php_log_err_with_severity(message, LOG_WARNING);
    efree(message);
}

/* A pool that this process has open already, if it is what is asked for now. */
static bool suits(const larder_pool *pool, bool evict)
{
    if (evict != (pool->geometry.evict != 0)) {
        zend_throw_exception_ex(larder_pool_unusable_class, 0,
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

/* A process that opens, saves or removes a pool waits for another process that makes or saves it, but only once: if
 * that one is stopped, every request of this process would wait as long. From then on it looks, and answers at once,
 * until one of these succeeds. */
static void note_waiting(const char *name, bool succeeded, const larder_error *error)
{
    if (succeeded) {
        zend_hash_str_del(&LARDER_G(waited_for), name, strlen(name));
    } else if (error->waited) {
        zend_hash_str_add_empty_element(&LARDER_G(waited_for), name, strlen(name));
    }
}

static bool was_waited_for(const char *name)
{
    return zend_hash_str_exists(&LARDER_G(waited_for), name, strlen(name));
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
    pool->request.waits = true;
    pool->config.does_not_wait = was_waited_for(pool->name);
    pool->request.trouble.waited = false;
    bool reached = larder_pool_enter(pool);
    pool->request.waits = false;
    pool->config.does_not_wait = false;
    note_waiting(pool->name, reached, &pool->request.trouble);
    if (!reached) {
        larder_throw_unreachable(pool);
    } else if (suits(pool, evict)) {
        tell_size(pool, size);
        return pool;
    }
    pool->config = before;
    return NULL;
}

/* Processes that look for the pools where they should be do not find them. The process that makes the directory says so. */
static void tell_where(const larder_pool *pool)
{
    char *message;
    if (!pool->paths.made_aside) {
        return;
    }
    zend_spprintf(&message, 0, "Larder: %s Until then the pools of %s lie in %s.", pool->paths.why_aside,
                  larder_pool_owner(pool), pool->paths.directory);
    php_log_err_with_severity(message, LOG_WARNING);
    efree(message);
}

/* PHP serves requests of a site, whose time is limited, rather than that it runs a command, or belongs to a program. */
static bool serves_a_site(void)
{
    static const char *const others[] = {"cli", "embed", "phpdbg"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(sapi_module.name, others[i]) == 0) {
            return false;
        }
    }
    return true;
}

static larder_pool *find_or_open(zend_string *name, uint64_t size, bool evict)
{
    larder_pool *pool = zend_hash_find_ptr(&LARDER_G(pools), name);
    larder_error error;
    larder_pool_config config = {.name = ZSTR_VAL(name),
                                 .size = size,
                                 .evict = evict,
                                 .abi = larder_image_abi(),
                                 .ops = {.moved = larder_image_moved},
                                 .short_requests = serves_a_site(),
                                 .does_not_wait = was_waited_for(ZSTR_VAL(name))};
    if (pool != NULL) {
        return open_again(pool, size, evict);
    }
    if (!read_settings(&config) || !configured_place(&config)) {
        return NULL;
    }
    error.waited = false;
    pool = larder_pool_open(&config, &error);
    note_waiting(ZSTR_VAL(name), pool != NULL, &error);
    if (pool == NULL) {
        zend_throw_exception(larder_pool_unusable_class, error.message, 0);
        return NULL;
    }
    pool->config.does_not_wait = false;
    tell_where(pool);
    tell_size(pool, size);
    zend_string *persistent = zend_string_init(ZSTR_VAL(name), ZSTR_LEN(name), 1);
    zend_hash_add_ptr(&LARDER_G(pools), persistent, pool);
    zend_string_release(persistent);
    return pool;
}

static bool is_size(uint64_t size)
{
    return size >= LARDER_SIZE_MIN && size <= LARDER_SIZE_MAX;
}

static void refuse_size(bool or_null, zend_long bytes)
{
    zend_argument_value_error(
        2, "must be between 4194304 (4 MiB) and 1099511627776 (1 TiB) bytes%s, " ZEND_LONG_FMT " given",
        or_null ? ", or null" : "", bytes);
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
            larder_pool_unusable_class,
            "A pool cannot be opened while opcache preloads, in a process that others are forked from; "
            "open it in the request.",
            0);
        RETURN_THROWS();
    }
    if (automatic && !configured_size(&size)) {
        RETURN_THROWS();
    }
    if ((!automatic || size != 0) && !is_size(size)) {
        if (automatic) {
            zend_throw_exception(
                larder_pool_unusable_class,
                "The ini setting larder.size must be between 4M (4194304) and 1024G; set it to 0 for an "
                "automatic choice.",
                0);
        } else {
            refuse_size(true, bytes);
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
    object_init_ex(return_value, larder_shared_memory_class);
    larder_shared_memory_of(Z_OBJ_P(return_value))->pool = pool;
}

/* The part of a part: its prefix follows the other's, and its items carry both tags. */
ZEND_METHOD(Larder_SharedMemory, part)
{
    zend_string *prefix, *tag;
    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(prefix)
    Z_PARAM_STR(tag)
    ZEND_PARSE_PARAMETERS_END();
    const shared_memory *whole = THIS();
    size_t longest = larder_longest_key(whole) - 1;
    if (ZSTR_LEN(prefix) - 1 >= longest) {
        zend_argument_value_error(1, "must have 1 to %zu bytes, so that there is room for a key, %zu given", longest,
                                  ZSTR_LEN(prefix));
        RETURN_THROWS();
    }
    if (ZSTR_LEN(tag) - 1 >= LARDER_KEY_MAX) {
        zend_argument_value_error(2, "must have 1 to %u bytes, %zu given", LARDER_KEY_MAX, ZSTR_LEN(tag));
        RETURN_THROWS();
    }
    if (whole->tags_count >= PARTS_MAX) {
        zend_throw_error(zend_ce_value_error, "A part of a pool cannot lie in more than %u others.", PARTS_MAX - 1);
        RETURN_THROWS();
    }
    object_init_ex(return_value, larder_shared_memory_class);
    shared_memory *part = larder_shared_memory_of(Z_OBJ_P(return_value));
    part->pool = whole->pool;
    part->prefix = whole->prefix == NULL ? zend_string_copy(prefix)
                                         : zend_string_concat2(ZSTR_VAL(whole->prefix), ZSTR_LEN(whole->prefix),
                                                               ZSTR_VAL(prefix), ZSTR_LEN(prefix));
    part->tags_count = whole->tags_count + 1;
    part->tags = safe_emalloc(part->tags_count, sizeof *part->tags, 0);
    for (uint32_t i = 0; i < whole->tags_count; i++) {
        part->tags[i] = whole->tags[i];
    }
    part->tags[whole->tags_count] = larder_tag_of(ZSTR_VAL(tag), ZSTR_LEN(tag));
}

/* The only argument of remove() and save(), a pool's name, and where such a pool and its snapshot are. False: an
 * exception is pending. */
static bool named_place(zend_execute_data *execute_data, larder_pool_config *config)
{
    zend_string *name = NULL;
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(name)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    if (name != NULL && !names_a_pool(name)) {
        zend_argument_value_error(1, "must not contain a NUL byte");
        return false;
    }
    config->name = name == NULL ? "default" : ZSTR_VAL(name);
    return configured_place(config);
}

/* -1: an exception is pending. */
static int remove_one(larder_pool_config *config)
{
    larder_error error = {.waited = false};
    config->does_not_wait = was_waited_for(config->name);
    int removed = larder_pool_remove(config, &error);
    note_waiting(config->name, removed >= 0, &error);
    if (removed < 0) {
        zend_throw_exception(larder_pool_unusable_class, error.message, 0);
        return -1;
    }
    /* This process need not wait until it happens to look. */
    larder_pool *pool = zend_hash_str_find_ptr(&LARDER_G(pools), config->name, strlen(config->name));
    if (pool != NULL) {
        larder_pool_abandon(pool);
    }
    return removed;
}

/* The library keeps the locks of a pool that does not evict in one beside it (SharedMemoryStore::leasesOf()). */
ZEND_METHOD(Larder_SharedMemory, remove)
{
    char beside[LARDER_PATH_MAX];
    larder_pool_config config = {.name = NULL};
    if (!named_place(execute_data, &config)) {
        RETURN_THROWS();
    }
    int removed = remove_one(&config);
    if (removed < 0) {
        RETURN_THROWS();
    }
    if (strlen(config.name) + strlen(".locks") <= LARDER_NAME_MAX) {
        snprintf(beside, sizeof beside, "%s.locks", config.name);
        config.name = beside;
        if (remove_one(&config) < 0) {
            RETURN_THROWS();
        }
    }
    RETURN_BOOL(removed == 1);
}

/* Whether there was a pool and it was saved or resized; otherwise there is an exception, or the method returns null. */
static bool was_done(const char *name, int done, const larder_error *error, zval *return_value)
{
    note_waiting(name, done >= 0, error);
    if (done < 0) {
        zend_throw_exception(larder_pool_unusable_class, error->message, 0);
    } else if (done == 0) {
        RETVAL_NULL();
    }
    return done > 0;
}

ZEND_METHOD(Larder_SharedMemory, save)
{
    larder_error error;
    larder_saved saved;
    larder_pool_config config = {.abi = larder_image_abi(), .ops = {.moved = larder_image_moved}};
    if (!named_place(execute_data, &config)) {
        RETURN_THROWS();
    }
    config.does_not_wait = was_waited_for(config.name);
    error.waited = false;
    int done = larder_pool_save(&config, &saved, &error);
    if (!was_done(config.name, done, &error, return_value)) {
        return;
    }
    array_init(return_value);
    add_assoc_string(return_value, "path", saved.path);
    add_assoc_long(return_value, "items", (zend_long)saved.items);
    add_assoc_long(return_value, "bytes", (zend_long)saved.bytes);
}

ZEND_METHOD(Larder_SharedMemory, resize)
{
    zend_string *name = NULL;
    zend_long bytes = 0;
    larder_error error;
    larder_resized resized;
    larder_pool_config config = {.abi = larder_image_abi(), .ops = {.moved = larder_image_moved}};
    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(name)
    Z_PARAM_LONG(bytes)
    ZEND_PARSE_PARAMETERS_END();
    if (!names_a_pool(name)) {
        zend_argument_value_error(1, "must not contain a NUL byte");
        RETURN_THROWS();
    }
    if (!is_size((uint64_t)bytes)) {
        refuse_size(false, bytes);
        RETURN_THROWS();
    }
    config.name = ZSTR_VAL(name);
    config.size = (uint64_t)bytes;
    if (!configured_place(&config)) {
        RETURN_THROWS();
    }
    config.does_not_wait = was_waited_for(config.name);
    error.waited = false;
    int done = larder_pool_resize(&config, &resized, &error);
    if (!was_done(config.name, done, &error, return_value)) {
        return;
    }
    array_init(return_value);
    add_assoc_long(return_value, "before", (zend_long)resized.before);
    add_assoc_long(return_value, "size", (zend_long)resized.size);
    add_assoc_long(return_value, "loaded", (zend_long)resized.loaded);
    add_assoc_long(return_value, "dropped", (zend_long)resized.dropped);
}

/* A name comes twice if the pool is there in two formats. */
static void add_name(void *names, const char *name)
{
    zend_hash_str_add_empty_element(names, name, strlen(name));
}

ZEND_METHOD(Larder_SharedMemory, names)
{
    larder_error error;
    ZEND_PARSE_PARAMETERS_NONE();
    larder_pool_config config = {.name = NULL};
    if (!configured_group(&config)) {
        RETURN_THROWS();
    }
    HashTable names;
    zend_string *name;
    zend_hash_init(&names, 8, NULL, NULL, false);
    array_init(return_value);
    if (larder_pool_names(&config, add_name, &names, &error)) {
        ZEND_HASH_FOREACH_STR_KEY(&names, name)
        {
            add_next_index_str(return_value, zend_string_copy(name));
        }
        ZEND_HASH_FOREACH_END();
    } else {
        zend_throw_exception(larder_pool_unusable_class, error.message, 0);
    }
    zend_hash_destroy(&names);
}
