/* What is found in a pool's place that is none, or no longer one: it is replaced, or used without a crash or an
 * untruth. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "fixture.h"

#include "engine/geometry.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens what is there and works with it: it may have lost everything, but it serves, and says nothing untrue. */
static void use_after_damage(bool clock_lost)
{
    static char large[60000];
    larder_pool *pool = pool_open("p", 4 * MIB);
    char value[64];
    size_t size;
    if (take(pool, key_of("old"), value, sizeof value, &size)) {
        EQUAL(size, 5);
        EQUAL(memcmp(value, "value", 5), 0);
    }
    larder_delete(pool, &(larder_key){"old", 3, larder_hash("old", 3)});
    if (put_text(pool, "new", "fresh") == LARDER_OK) {
        CHECK(clock_lost || holds_text(pool, "new", "fresh"));
    }
    for (uint64_t i = 0; i < 120; i++) {
        put_bytes(pool, key_number(i), large, sizeof large); /* all segments once over */
    }
    int64_t count = 0;
    const larder_key counter = key_of("counter");
    larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &count);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    larder_pool_leave(pool);
    larder_pool_close(pool);
}

static void use_in_child(void *context)
{
    use_after_damage(context != NULL);
}

static void make_sample(void)
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    put_text(pool, "old", "value");
    for (uint64_t i = 0; i < 300; i++) {
        char filler[700];
        memset(filler, (int)i, sizeof filler);
        put_bytes(pool, key_number(i), filler, sizeof filler);
    }
    larder_pool_close(pool);
}

TEST(truncated, "a truncated, emptied or lengthened file is replaced by a sound pool")
{
    static const off_t lengths[] = {
        0, 1, 100, 4095, 4096, 8192, 4 * 1048576 - 4096, 4 * 1048576 - 1, 4 * 1048576 + 4096};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        make_sample();
        REQUIRE(truncate(pool_path_of("p"), lengths[i]) == 0);
        larder_pool *pool = pool_open("p", 4 * MIB);
        CHECK(!holds_text(pool, "old", "value"));
        EQUAL(put_text(pool, "new", "value"), LARDER_OK);
        CHECK_POOL(pool);
        larder_pool_close(pool);
        pool_remove("p", &(larder_error){.message = ""});
    }
}

TEST(garbage, "a file of other things in the pool's place is replaced by a sound pool")
{
    rng r = {test_seed()};
    char *bytes = malloc(4 * MIB);
    for (size_t i = 0; i < 4 * MIB; i += 8) {
        uint64_t word = rng_next(&r);
        memcpy(bytes + i, &word, sizeof word);
    }
    int fd = open(pool_path_of("p"), O_CREAT | O_WRONLY, 0600);
    EQUAL(write(fd, bytes, 4 * MIB), 4 * MIB);
    close(fd);
    free(bytes);
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(put_text(pool, "new", "value"), LARDER_OK);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

/* The clock may be lost with everything else that is not written twice: then there is nothing to be told by it, and it
 * takes a clear, or a new pool, to go on. */
static bool is_part_of_the_clock(size_t at)
{
    return at - offsetof(larder_header, clock) < 8 || at - offsetof(larder_header, last_clear) < 8;
}

static bool serves(void)
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    bool stored = put_text(pool, "again", "value") == LARDER_OK && holds_text(pool, "again", "value");
    larder_pool_leave(pool);
    larder_pool_close(pool);
    return stored;
}

TEST(header_flips,
     "with any byte of the header page changed, the pool is used or replaced, without a crash or an untruth")
{
    for (size_t i = 0; i < 2 * sizeof(larder_header); i++) {
        pool_remove("p", &(larder_error){.message = ""});
        make_sample();
        uint8_t byte;
        size_t at = i / 2;
        int fd = open(pool_path_of("p"), O_RDWR);
        REQUIRE(pread(fd, &byte, 1, (off_t)at) == 1);
        byte ^= i % 2 == 0 ? 0xff : 0x01;
        REQUIRE(pwrite(fd, &byte, 1, (off_t)at) == 1);
        close(fd);
        int status = child_wait(child_start(use_in_child, is_part_of_the_clock(at) ? &byte : NULL));
        if (status != 0 &&
            !test_failed(__FILE__, __LINE__, "byte %zu of the header, now %02x: status %d", at, byte, status)) {
            continue;
        }
        if (!is_part_of_the_clock(at) && !serves() && !serves()) {
            test_failed(__FILE__, __LINE__, "byte %zu of the header, now %02x: nothing can be stored any more", at,
                        byte);
        }
    }
}

static void fill_with_noise(rng *r, off_t from, off_t to, unsigned sparse)
{
    int fd = open(pool_path_of("p"), O_RDWR);
    REQUIRE(fd >= 0);
    uint8_t *at = mmap(NULL, (size_t)(to - from + 4096), PROT_READ | PROT_WRITE, MAP_SHARED, fd, from);
    REQUIRE(at != MAP_FAILED);
    for (size_t i = 0; i + 8 <= (size_t)(to - from); i += 8) {
        if (sparse == 1 || rng_below(r, sparse) == 0) {
            uint64_t noise = rng_next(r) >> rng_below(r, 64);
            memcpy(at + i, &noise, sizeof noise);
        }
    }
    munmap(at, (size_t)(to - from + 4096));
    close(fd);
}

static void use_heavily(void *context)
{
    rng r = {*(const uint64_t *)context};
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (int i = 0; i < 6000; i++) {
        work_at_random(pool, &r, 400, rng_below(&r, 50) == 0 ? 300000 : 5000);
        if (i % 100 == 0) {
            larder_pool_leave(pool);
        }
    }
    larder_stats stats;
    larder_error error;
    larder_stats_read(pool, &stats);
    (void)larder_check(pool, true, &error); /* it may find what it likes, but must end */
    larder_pool_close(pool);
}

static void noise_everywhere(uint64_t seed, unsigned sparse)
{
    larder_geometry g;
    larder_geometry_plan(&g, 4 * MIB);
    const struct {
        const char *what;
        uint64_t from, to;
    } parts[] = {
        {"slots", g.slots_at, g.pins_at},
        {"pins", g.pins_at, g.tags_at},
        {"tags", g.tags_at, g.leases_at},
        {"index", g.buckets_at, g.ghosts_at},
        {"ghosts", g.ghosts_at, g.table_at},
        {"table", g.table_at, g.generations_at},
        {"generations", g.generations_at, g.starts_at},
        {"item starts", g.starts_at, g.segments_at},
        {"items", g.segments_at, g.size},
        {"all but the header", g.slots_at, g.size},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        rng r = {seed + i};
        uint64_t child_seed = rng_next(&r);
        make_sample();
        fill_with_noise(&r, (off_t)parts[i].from, (off_t)parts[i].to, sparse);
        int status = child_wait(child_start(use_heavily, &child_seed));
        if (status != 0) {
            test_failed(__FILE__, __LINE__, "noise over the %s (1 in %u): status %d", parts[i].what, sparse, status);
        }
        larder_error error;
        EQUAL(pool_remove("p", &error), 1);
    }
}

TEST(noise, "random bytes over any part of the pool but its header give misses, never a crash or an endless loop")
{
    for (uint64_t round = 0; round < 2 + 4 * test_scale(); round++) {
        noise_everywhere(test_seed() + 100 * round, round % 2 == 0 ? 1 : 50);
    }
}

TEST(other_format, "a pool of another format is replaced")
{
    make_sample();
    larder_geometry g;
    int fd = open(pool_path_of("p"), O_RDONLY);
    REQUIRE(pread(fd, &g, sizeof g, 0) == (ssize_t)sizeof g);
    close(fd);
    g.format++;
    g.checksum = larder_geometry_checksum(&g);
    pool_overwrite(0, &g, sizeof g);
    larder_pool *pool = pool_open("p", 4 * MIB);
    CHECK(!holds_text(pool, "old", "value"));
    EQUAL(pool->geometry.format, LARDER_FORMAT);
    larder_pool_close(pool);
}
