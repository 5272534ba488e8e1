/* The module: settings, and what happens at the beginning and the end of processes and requests. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_larder.h"

#include "hooks.h"
#include "strays.h"
#include "tags_arginfo.h"

#include "engine/larder.h"
#include "image/image.h"

#include "ext/standard/file.h"
#include "ext/standard/info.h"
#include "SAPI.h"
#include "php_ini.h"

ZEND_DECLARE_MODULE_GLOBALS(larder)

PHP_INI_BEGIN()
STD_PHP_INI_ENTRY("larder.size", "0", PHP_INI_SYSTEM, OnUpdateString, size, zend_larder_globals, larder_globals)
STD_PHP_INI_ENTRY("larder.group", "", PHP_INI_SYSTEM, OnUpdateString, group, zend_larder_globals, larder_globals)
STD_PHP_INI_ENTRY("larder.snapshot", "/var/tmp", PHP_INI_SYSTEM, OnUpdateString, snapshot, zend_larder_globals,
                  larder_globals)
STD_PHP_INI_ENTRY("larder.zero_copy", "auto", PHP_INI_SYSTEM, OnUpdateString, zero_copy, zend_larder_globals,
                  larder_globals)
STD_PHP_INI_BOOLEAN("larder.protect_unpinned", "0", PHP_INI_SYSTEM, OnUpdateBool, protect_unpinned, zend_larder_globals,
                    larder_globals)
PHP_INI_END()

static void close_pool(zval *entry)
{
    larder_pool_close(Z_PTR_P(entry));
}

/* PHP's macro for this function names its parameter as the global itself is named. */
static void begin_globals(void *of_this_thread)
{
    zend_larder_globals *globals = of_this_thread;
#if defined(COMPILE_DL_LARDER) && defined(ZTS)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(globals, 0, sizeof *globals);
    zend_hash_init(&globals->pools, 0, NULL, close_pool, true);
    zend_hash_init(&globals->waited_for, 0, NULL, NULL, true);
}

static void end_globals(void *of_this_thread)
{
    zend_larder_globals *globals = of_this_thread;
    zend_hash_destroy(&globals->pools);
    zend_hash_destroy(&globals->waited_for);
}

/* ---- after the response ---- */

#define HOUSEKEEPING_MICROSECONDS 100

static int (*deactivate_sapi)(void);

/* The server interface has sent the response: work that is done from here on keeps only this worker's next request
 * waiting. (post_deactivate comes before it.) */
static int deactivate_and_keep_house(void)
{
    larder_pool *pool;
    int result = deactivate_sapi != NULL ? deactivate_sapi() : SUCCESS;
    ZEND_HASH_FOREACH_PTR(&LARDER_G(pools), pool)
    {
        larder_keep_house(pool, HOUSEKEEPING_MICROSECONDS);
    }
    ZEND_HASH_FOREACH_END();
    return result;
}

static PHP_MINIT_FUNCTION(larder)
{
    deactivate_sapi = sapi_module.deactivate;
    sapi_module.deactivate = deactivate_and_keep_house;
    REGISTER_INI_ENTRIES();
    larder_register_classes();
    larder_computations_begin();
    larder_hooks_begin(type == MODULE_TEMPORARY);
    larder_strays_begin();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(larder)
{
    if (sapi_module.deactivate == deactivate_and_keep_house) {
        sapi_module.deactivate = deactivate_sapi;
    }
    larder_strays_end();
    larder_hooks_end();
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

static void leave_pools(void)
{
    larder_pool *pool;
    ZEND_HASH_FOREACH_PTR(&LARDER_G(pools), pool)
    {
        larder_pool_leave(pool);
    }
    ZEND_HASH_FOREACH_END();
    LARDER_G(leave_later) = false;
}

static PHP_RINIT_FUNCTION(larder)
{
#if defined(ZTS) && defined(COMPILE_DL_LARDER)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    if (LARDER_G(leave_later)) {
        leave_pools();
    }
    larder_image_request_start();
    return SUCCESS;
}

static bool names_lie_in_a_pool(HashTable *table)
{
    zend_string *name;
    larder_pool *pool;
    if (table == NULL) {
        return false;
    }
    ZEND_HASH_FOREACH_STR_KEY(table, name)
    {
        ZEND_HASH_FOREACH_PTR(&LARDER_G(pools), pool)
        {
            if (name != NULL && larder_pool_contains(pool, name)) {
                return true;
            }
        }
        ZEND_HASH_FOREACH_END();
    }
    ZEND_HASH_FOREACH_END();
    return false;
}

/* After every destructor, output handler and extension: values are no longer read. But for the names of stream
 * wrappers and filters that the request registered: PHP looks at them once more, later than any hook. */
static int post_deactivate(void)
{
    larder_strays_tell();
    if (names_lie_in_a_pool(FG(stream_wrappers)) || names_lie_in_a_pool(FG(stream_filters))) {
        LARDER_G(leave_later) = true;
    } else {
        leave_pools();
    }
    return SUCCESS;
}

static void print_count(const char *what, uint64_t count)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    php_info_print_table_row(2, what, text);
}

static void print_pool(larder_pool *pool)
{
    larder_stats stats;
    char text[128];

    php_info_print_table_start();
    php_info_print_table_colspan_header(2, pool->paths.full);
    if (!larder_pool_visit(pool) || !larder_stats_read(pool, &stats)) {
        php_info_print_table_row(2, "Pool", "removed, or cannot be reached");
        php_info_print_table_end();
        return;
    }
    snprintf(text, sizeof text, "%llu bytes, %s, %s", (unsigned long long)pool->geometry.size,
             pool->zero_copy ? "zero-copy" : "copy", pool->geometry.evict != 0 ? "evicts" : "refuses when it is full");
    php_info_print_table_row(2, "Pool", text);
    snprintf(text, sizeof text, "%llu bytes of %llu", (unsigned long long)stats.bytes,
             (unsigned long long)stats.capacity);
    php_info_print_table_row(2, "Used", text);
    print_count("Items", stats.items);
    print_count("Hits", stats.counters[LARDER_HITS]);
    print_count("Misses", stats.counters[LARDER_MISSES]);
    print_count("Stores", stats.counters[LARDER_SETS]);
    print_count("Evictions", stats.counters[LARDER_EVICTIONS]);
    print_count("Refused, full", stats.counters[LARDER_REFUSED_FULL]);
    print_count("Refused, pinned", stats.counters[LARDER_REFUSED_PINNED]);
    print_count("Refused, too large", stats.counters[LARDER_REFUSED_LARGE]);
    print_count("Refused, busy", stats.counters[LARDER_REFUSED_BUSY]);
    print_count("Pages copied for writes into values", stats.counters[LARDER_PRIVATE_PAGES]);
    print_count("Pinned by readers, bytes", stats.pinned_bytes);
    print_count("Waiting for readers, bytes", stats.limbo_bytes);
    print_count("Processes", stats.processes);
    if (stats.oldest_pin_process != 0) {
        snprintf(text, sizeof text, "%.1f s, process %llu", (double)stats.oldest_pin_ms / 1000,
                 (unsigned long long)stats.oldest_pin_process);
        php_info_print_table_row(2, "Oldest pin", text);
    }
    php_info_print_table_end();
}

static PHP_MINFO_FUNCTION(larder)
{
    larder_pool *pool;
    php_info_print_table_start();
    php_info_print_table_row(2, "Larder", "enabled");
    php_info_print_table_row(2, "Version", PHP_LARDER_VERSION);
    php_info_print_table_end();
    ZEND_HASH_FOREACH_PTR(&LARDER_G(pools), pool)
    {
        print_pool(pool);
    }
    ZEND_HASH_FOREACH_END();
    DISPLAY_INI_ENTRIES();
}

zend_module_entry larder_module_entry = {
    STANDARD_MODULE_HEADER,
    "larder",
    ext_functions,
    PHP_MINIT(larder),
    PHP_MSHUTDOWN(larder),
    PHP_RINIT(larder),
    NULL,
    PHP_MINFO(larder),
    PHP_LARDER_VERSION,
    PHP_MODULE_GLOBALS(larder),
    begin_globals,
    end_globals,
    post_deactivate,
    STANDARD_MODULE_PROPERTIES_EX,
};

#ifdef COMPILE_DL_LARDER
#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(larder)
#endif
