/* Where pools are mapped, and who may look at their values there. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(many_pools, "a process can have many pools open, each at its own address and in zero-copy mode")
{
    larder_pool *pools[12];
    char name[16];
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "pool%d", i);
        pools[i] = pool_open(name, 4 * MIB);
        CHECK(pools[i]->zero_copy);
        EQUAL(pools[i]->shift, 0);
        EQUAL(put_text(pools[i], "who", name), LARDER_OK);
    }
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "pool%d", i);
        CHECK(holds_text(pools[i], "who", name));
        for (int j = 0; j < i; j++) {
            uint64_t a = pools[i]->geometry.base, b = pools[j]->geometry.base;
            CHECK(a >= b + 4 * MIB || b >= a + 4 * MIB);
        }
    }
    for (int i = 0; i < 12; i++) {
        larder_pool_close(pools[i]);
    }
}

TEST(huge_pages, "all mappings of a pool begin where a huge page may, whatever its size")
{
    larder_pool *pools[6];
    char name[16];
    for (uint64_t i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "pool%d", (int)i);
        pools[i] = pool_open(name, 4 * MIB + i * LARDER_PAGE);
        EQUAL((uintptr_t)pools[i]->ro % (2 * MIB), 0);
        EQUAL((uintptr_t)pools[i]->rw % (2 * MIB), 0);
    }
    for (int i = 0; i < 6; i++) {
        larder_pool_close(pools[i]);
    }
}

TEST(address_taken,
     "where its address is taken, a pool is mapped elsewhere and values are only copied; later it moves back")
{
    larder_pool *maker = pool_open("p", 4 * MIB);
    uint64_t base = maker->geometry.base;
    described what = {.key = 1, .version = 3, .block = true};
    EQUAL(put_described(maker, key_number(1), &what, 5000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    larder_pool_close(maker);
    void *taken =
        mmap((void *)(uintptr_t)base, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE((uintptr_t)taken == base);
    larder_pool *pool = pool_open("p", 4 * MIB);
    CHECK(!pool->zero_copy);
    CHECK(pool->shift != 0);
    EQUAL(pool->geometry.base, base);
    larder_hit hit;
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_WHOLE);
    EQUAL(hit.hold, LARDER_BRIEFLY);
    what = (described){.key = 2, .block = true};
    EQUAL(put_described(pool, key_number(2), &what, 5000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    EQUAL(read_described(pool, key_number(2), 2, &what, &hit), READ_WHOLE); /* its addresses are the pool's, not ours */
    EQUAL(pool->request.pinned_count, 0);
    larder_pool_leave(pool);
    munmap(taken, 4096);
    EQUAL(read_described(pool, key_number(2), 2, &what, &hit), READ_WHOLE);
    CHECK(pool->zero_copy);
    EQUAL(hit.hold, LARDER_HELD);
    larder_pool_close(pool);
}

TEST(address_taken_and_zero_copy_on, "a process that is told to use values in place and cannot says so, and what to do")
{
    larder_pool *maker = pool_open("p", 4 * MIB);
    uint64_t base = maker->geometry.base;
    larder_pool_close(maker);
    void *taken =
        mmap((void *)(uintptr_t)base, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE((uintptr_t)taken == base);
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.zero_copy = LARDER_ZERO_COPY_ON;
    larder_error error = {.message = ""};
    CHECK(larder_pool_open(&config, &error) == NULL);
    CHECK(strstr(error.message, "set larder.zero_copy to auto") != NULL);
    munmap(taken, 4096);
    larder_pool *pool = pool_open_as(&config);
    CHECK(pool->zero_copy);
    larder_pool_close(pool);
}

static void write_through_value(void *context)
{
    signal(SIGSEGV, SIG_DFL); /* no sanitizer's report: this is as it should be */
    *(volatile char *)(uintptr_t)context = 'X';
}

TEST(read_only_values, "a write through a value that was read crashes the writer and changes nothing")
{
    larder_pool *pool = pool_with_block();
    size_t size;
    const void *value = read_block(pool, 1, &size);
    uint64_t before = digest(value, size);
    pid_t pid = child_start(write_through_value, (void *)(uintptr_t)value);
    EQUAL(child_wait(pid), 256 + SIGSEGV);
    CHECK(digest(value, size) == before);
    larder_pool_close(pool);
}

TEST(protected_unpinned, "with protect_unpinned only segments that are pinned can be read where values lie")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.protect_unpinned = true;
    larder_pool *pool = pool_open_as(&config);
    described what = {.key = 1, .block = true};
    EQUAL(put_described(pool, key_number(1), &what, 30000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    size_t size;
    const uint8_t *value = read_block(pool, 1, &size);
    int pipes[2];
    REQUIRE(pipe(pipes) == 0);
    EQUAL(write(pipes[1], value, 1), 1);
    larder_pool_leave(pool);
    EQUAL(write(pipes[1], value, 1), -1); /* EFAULT: the kernel may not read it either */
    larder_pool_close(pool);
}
