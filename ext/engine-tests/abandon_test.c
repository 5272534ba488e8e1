/* A pool that was removed gives its memory back as soon as no process reads from it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "saving.h"

#include "engine/larder.h"
#include "engine/pin.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCKS = 200, BLOCK_BYTES = 30000, LARGE_BYTES = 400000 };

static int open_file(void)
{
    int fd = open(pool_path_of("p"), O_RDONLY);
    REQUIRE(fd >= 0);
    return fd;
}

static uint64_t memory_of(int fd)
{
    struct stat status;
    EQUAL(fstat(fd, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

static void fill(larder_pool *pool)
{
    for (uint64_t i = 0; i < BLOCKS; i++) {
        described what = {.key = i, .version = 1, .block = true};
        put_described(pool, key_number(i), &what, i == 7 ? LARGE_BYTES : BLOCK_BYTES, LARDER_SET, LARDER_NO_EXPIRY);
    }
}

static void remove_it(void)
{
    larder_error error = {.message = ""};
    EQUAL(pool_remove("p", &error), 1);
}

TEST(unmapped,
     "a process that removes a pool from which it uses nothing unmaps it, and goes on with the next of the name")
{
    larder_pool *pool = pool_open("p", 16 * MIB);
    int fd = open_file();
    fill(pool);
    larder_pool_leave(pool); /* drops its pins */
    remove_it();
    larder_pool_abandon(pool);
    CHECK(pool->rw == NULL && pool->ro == NULL);
    COMPARE(memory_of(fd), <, 6 * MIB);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    CHECK(holds_text(pool, "k", "v"));
    CHECK_POOL(pool);
    close(fd);
}

static bool is_whole(const larder_item *item, const uint64_t *before, size_t size)
{
    size_t value_at = larder_item_value_at(item->tags, item->key_length, item->kind);
    return digest((const uint8_t *)item + value_at, size) == *before;
}

TEST(in_use, "what this process, or another, still uses of a pool that was removed stays whole; the rest is given back")
{
    larder_pool *pool = pool_open("p", 16 * MIB), *other = pool_open("p", 16 * MIB);
    described what;
    larder_hit small, large, others;
    int fd = open_file();
    fill(pool);
    EQUAL(read_described(pool, key_number(3), 3, &what, &small), READ_WHOLE);
    EQUAL(read_described(pool, key_number(7), 7, &what, &large), READ_WHOLE);
    EQUAL(read_described(other, key_number(150), 150, &what, &others), READ_WHOLE);
    CHECK(larder_pin_set(other, others.segment, larder_word_generation(others.word))); /* it copies, and would not */
    const larder_item *items[3] = {small.item, large.item, others.item};
    uint64_t sums[3];
    size_t sizes[3] = {BLOCK_BYTES, LARGE_BYTES, BLOCK_BYTES};
    for (int i = 0; i < 3; i++) {
        const larder_item *item = items[i];
        sums[i] =
            digest((const uint8_t *)item + larder_item_value_at(item->tags, item->key_length, item->kind), sizes[i]);
    }
    uint64_t before = memory_of(fd), segment = larder_segment_bytes(pool);
    remove_it();
    larder_pool_abandon(pool);
    COMPARE(memory_of(fd), <, 6 * MIB + LARGE_BYTES + 4 * segment);
    COMPARE(before, >=, 16 * MIB);
    for (int i = 0; i < 3; i++) {
        if (!is_whole(items[i], &sums[i], sizes[i])) {
            test_failed(__FILE__, __LINE__, "item %d", i);
        }
    }
    EQUAL(put_text(pool, "k", "v"), LARDER_OK); /* in the next pool */
    CHECK(holds_text(other, "k", "v"));
    for (int i = 0; i < 3; i++) {
        if (!is_whole(items[i], &sums[i], sizes[i])) {
            test_failed(__FILE__, __LINE__, "item %d", i);
        }
    }
    larder_pool_leave(pool);
    larder_pool_leave(other);
    CHECK_POOL(pool);
    close(fd);
}

TEST(remembered,
     "a fill of what was missed before its own request removed the pool is judged by what others did in the next")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    const larder_key key = key_of("k");
    larder_hit hit;
    CHECK(!larder_get(pool, &key, &hit)); /* a miss: it computes from here on */
    remove_it();
    larder_pool_abandon(pool);
    larder_pool *other = pool_open("p", 4 * MIB);
    larder_delete(other, &key); /* what is being computed is not true any more */
    EQUAL(put_text(pool, "k", "computed before"), LARDER_OVERTAKEN);
    CHECK(!holds_text(other, "k", "computed before"));
    EQUAL(put_text(pool, "k", "a write"), LARDER_OK);
    larder_pool_close(other);
}

TEST(saved, "a pool that was saved gives its memory back while others have it mapped, but for what they use")
{
    larder_pool_config config = saving_config("p");
    config.size = 16 * MIB;
    larder_pool *pool = pool_open_as(&config), *idle = pool_open_as(&config);
    described what;
    larder_hit used;
    fill(pool);
    int fd = open_file();
    EQUAL(read_described(pool, key_number(3), 3, &what, &used), READ_WHOLE);
    size_t value_at = larder_item_value_at(used.item->tags, used.item->key_length, used.item->kind);
    uint64_t sum = digest((const uint8_t *)used.item + value_at, BLOCK_BYTES);
    COMPARE(memory_of(fd), >=, 16 * MIB);
    save_as(&config);
    COMPARE(memory_of(fd), <, 6 * MIB + 2 * larder_segment_bytes(pool));
    CHECK(is_whole(used.item, &sum, BLOCK_BYTES));
    EQUAL(put_text(idle, "k", "v"), LARDER_OK); /* in the next pool */
    CHECK(holds_text(pool, "k", "v"));
    CHECK(is_whole(used.item, &sum, BLOCK_BYTES));
    EQUAL(read_described(pool, key_number(5), 5, &what, &used), READ_WHOLE);
    larder_pool_leave(pool);
    CHECK_POOL(pool);
    close(fd);
}

static larder_pool *remover;

static void remove_here(void)
{
    larder_pool_close(pool_open("p", 4 * MIB)); /* that is no fault */
    remove_it();
    larder_pool_abandon(remover);
}

TEST(under_way, "an operation in whose middle the pool is removed and given back ends well, wherever it is")
{
    rng r = {test_seed()};
    for (unsigned point = 1; point < LARDER_WORKING_POINTS; point++) {
        for (uint64_t i = 0; i < 2; i++) {
            larder_pool *pool = pool_open("p", 4 * MIB);
            remover = pool_open("p", 4 * MIB);
            fill(pool);
            fault_arm(point, rng_below(&r, 200), remove_here);
            for (uint64_t n = 0; n < 400; n++) {
                work_at_random(pool, &r, 40, 60000);
            }
            fault_disarm();
            larder_pool_leave(pool);
            EQUAL(put_text(pool, "afterwards", "v"), LARDER_OK);
            CHECK(holds_text(pool, "afterwards", "v"));
            CHECK_POOL(pool);
            larder_pool_close(pool);
            larder_pool_close(remover);
            larder_error error;
            pool_remove("p", &error);
            if (test_failures() > 0) {
                printf("    at fault point %u\n", point);
                test_give_up();
            }
        }
    }
}
