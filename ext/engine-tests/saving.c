#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "saving.h"

#include <sys/stat.h>

larder_pool_config saving_config(const char *name)
{
    larder_pool_config config = pool_config(name, 4 * MIB);
    static char directory[512];
    snprintf(directory, sizeof directory, "%s/kept", test_directory());
    config.snapshots = directory;
    return config;
}

larder_pool *open_saving(const char *name)
{
    const larder_pool_config config = saving_config(name);
    return pool_open_as(&config);
}

larder_saved save_as(const larder_pool_config *config)
{
    larder_error error = {.message = ""};
    larder_saved saved = {.items = 0};
    int result = larder_pool_save(config, &saved, &error);
    if (result != 1) {
        test_failed(__FILE__, __LINE__, "the pool was not saved: %d %s", result, error.message);
        test_give_up();
    }
    return saved;
}

larder_saved save(void)
{
    const larder_pool_config config = saving_config("p");
    return save_as(&config);
}

void remove_pool(void)
{
    const larder_pool_config config = saving_config("p");
    larder_error error;
    larder_pool_remove(&config, &error);
}

bool is_there(const char *name)
{
    struct stat status;
    return lstat(path_of(name), &status) == 0;
}

uint64_t count_items(larder_pool *pool)
{
    larder_stats stats;
    larder_stats_read(pool, &stats);
    return stats.items;
}

void expect_empty(larder_pool *pool, const char *reason)
{
    EQUAL(atomic_load(&pool->header->began), LARDER_BEGAN_EMPTY);
    CONTAINS(pool->header->reason, reason);
    EQUAL(count_items(pool), 0);
    EQUAL(put_text(pool, "afterwards", "v"), LARDER_OK);
    CHECK_POOL(pool);
}
