/* Pools that are removed, replaced or damaged, most of them under a running process. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include <dirent.h>
#include <unistd.h>

/* As often as may be without a look at the clock. */
static void call_often(larder_pool *pool)
{
    const larder_key key = key_of("x");
    for (int i = 0; i < 65; i++) {
        larder_exists(pool, &key);
    }
}

TEST(removed_under_us,
     "a pool removed under a running process is noticed, and values stay readable until the request ends")
{
    larder_pool *pool = pool_with_block();
    size_t size;
    const void *value = read_block(pool, 1, &size);
    uint64_t before = digest(value, size);
    uint8_t old_id[16];
    memcpy(old_id, pool->geometry.id, sizeof old_id);
    larder_error error;
    EQUAL(pool_remove("p", &error), 1);
    clock_ms += 200;
    call_often(pool);
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_NOTHING);
    CHECK(memcmp(old_id, pool->geometry.id, sizeof old_id) != 0);
    EQUAL(put_text(pool, "new", "value"), LARDER_OK);
    CHECK(holds_text(pool, "new", "value"));
    CHECK(digest(value, size) == before);
    EQUAL(test_files("p"), 1);
    larder_pool_leave(pool);
    CHECK(holds_text(pool, "new", "value"));
    larder_pool_close(pool);
}

TEST(unlinked_under_us, "a pool file that is deleted or replaced is noticed within 100 ms, and at the next request")
{
    for (int way = 0; way < 4; way++) {
        larder_pool *pool = pool_with_block();
        size_t size;
        const void *value = read_block(pool, 1, &size);
        uint64_t before = digest(value, size);
        unlink(pool_path_of("p"));
        if (way >= 2) { /* another pool has its name by now */
            larder_pool *other = pool_open("p", 4 * MIB);
            put_text(other, "other", "value");
            larder_pool_close(other);
        }
        if (way % 2 == 0) {
            clock_ms += 101;
            call_often(pool);
            CHECK(digest(value, size) == before);
        } else {
            larder_pool_leave(pool);
        }
        EQUAL(put_text(pool, "k", "v"), LARDER_OK);
        EQUAL(holds_text(pool, "other", "value"), way >= 2);
        larder_pool_leave(pool);
        larder_pool *second = pool_open("p", 4 * MIB);
        CHECK(holds_text(second, "k", "v")); /* what was stored went where others look */
        larder_pool_close(second);
        larder_pool_close(pool);
        pool_remove("p", &(larder_error){.message = ""});
    }
}

TEST(overwritten_under_us, "a header overwritten under a running process is noticed at the next request")
{
    larder_pool *pool = pool_with_block();
    larder_pool_leave(pool);
    pool_overwrite(offsetof(larder_geometry, seed), "damage", 6);
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_NOTHING);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_leave(pool);
    larder_pool_close(pool);
    pool = pool_open("p", 4 * MIB);
    CHECK(holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}

/* What this process still holds of files of that path that have lost their name: mappings and descriptors. */
static unsigned remnants(const char *path)
{
    char line[LARDER_PATH_MAX + 200], wanted[LARDER_PATH_MAX + 20];
    unsigned count = 0;
    snprintf(wanted, sizeof wanted, "%s (deleted)", path);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        count += strstr(line, wanted) != NULL;
    }
    DIR *descriptors = opendir("/proc/self/fd");
    for (struct dirent *entry; descriptors != NULL && (entry = readdir(descriptors)) != NULL;) {
        ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, line, sizeof line - 1);
        line[length < 0 ? 0 : length] = '\0';
        count += strcmp(line, wanted) == 0;
    }
    CHECK(maps != NULL && descriptors != NULL);
    if (maps != NULL) {
        fclose(maps);
    }
    if (descriptors != NULL) {
        closedir(descriptors);
    }
    return count;
}

TEST(damaged_given_back,
     "the memory of a damaged pool that was replaced is given back as soon as no request uses a value of it")
{
    larder_pool *pool = pool_with_block();
    const char *path = pool_path_of("p");
    size_t size;
    const void *value = read_block(pool, 1, &size);
    uint64_t before = digest(value, size);
    pool_overwrite(offsetof(larder_geometry, id), "nonsense", 8);
    larder_pool *second = pool_open("p", 4 * MIB);
    EQUAL(test_files("p"), 1);
    clock_ms += 200;
    call_often(pool);
    CHECK(digest(value, size) == before);
    COMPARE(remnants(path), >, 0);
    larder_pool_leave(pool);
    EQUAL(remnants(path), 0);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    CHECK(holds_text(second, "k", "v"));
    larder_pool_leave(pool);
    larder_pool_leave(second);

    pool_overwrite(offsetof(larder_geometry, id), "nonsense", 8); /* while no process is in a request */
    larder_pool *third = pool_open("p", 4 * MIB);
    COMPARE(remnants(path), >, 0);
    CHECK(!holds_text(pool, "k", "v"));
    CHECK(!holds_text(second, "k", "v"));
    EQUAL(remnants(path), 0);
    EQUAL(test_files("p"), 1);
    larder_pool_close(third);
    larder_pool_close(second);
    larder_pool_close(pool);
}

TEST(truncated_under_us, "a file truncated between two requests is noticed at the start of the next")
{
    larder_pool *pool = pool_with_block();
    larder_pool_leave(pool);
    REQUIRE(truncate(pool_path_of("p"), 64 * 4096) == 0);
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_NOTHING);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(as_large_again, "a pool that is made in the place of a removed one is as large, unless another size is asked for")
{
    larder_pool *maker = pool_open("p", 6 * MIB), *pool = pool_open("p", 0);
    larder_pool_close(maker);
    put_text(pool, "k", "v");
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    EQUAL(put_text(pool, "k", "w"), LARDER_OK);
    EQUAL(pool->geometry.size, 6 * MIB);
    larder_pool_close(pool);
    EQUAL(pool_remove("p", &(larder_error){.message = ""}), 1);
    pool = pool_open("p", 0);
    CHECK(pool->geometry.size != 6 * MIB);
    larder_pool_close(pool);
}

TEST(removed_counts, "removing says whether there was a pool, and a second time that there was none")
{
    larder_error error;
    EQUAL(pool_remove("p", &error), 0);
    larder_pool_close(pool_open("p", 4 * MIB));
    EQUAL(pool_remove("p", &error), 1);
    EQUAL(pool_remove("p", &error), 0);
    EQUAL(pool_remove("../p", &error), -1);
    CONTAINS(error.message, "no name");
}

TEST(marked_dead, "a pool that was marked dead but kept its name, as when its remover was killed, is replaced for good")
{
    larder_pool_close(pool_open("p", 4 * MIB));
    uint32_t dead = 1;
    pool_overwrite(offsetof(larder_header, dead), &dead, sizeof dead);
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(pool->header->dead, 0);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_leave(pool);
    CHECK(holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}
