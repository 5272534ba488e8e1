/* Pools that are saved, and that begin with what was saved: nothing living is lost, and nothing dead comes back. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "increment.h"
#include "saving.h"

#include "engine/larder.h"
#include "engine/tag.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(round_trip, "what lives when a pool is saved is in the next one of its name, with version, expiry, tags and cost")
{
    const uint64_t tags[2] = {larder_tag_of("red", 3), larder_tag_of("blue", 4)};
    larder_pool *pool = open_saving("p");
    larder_terms terms = {
        .verb = LARDER_WRITE, .expiry = larder_wall_ms() + 1000000, .cost = 1234, .tags = tags, .tags_count = 2};
    terms.expiry &= ~UINT64_C(1);
    const larder_key counter = key_of("counter");
    larder_hit hit, again;
    int64_t number;
    EQUAL(put_under(pool, "tagged", "value", &terms), LARDER_OK);
    EQUAL(larder_increment(pool, &counter, 41, 0, LARDER_NO_EXPIRY, &number), LARDER_COUNTED);
    for (uint64_t i = 0; i < 300; i++) {
        described what = {.key = i, .version = i * 7, .block = i % 2 == 0};
        size_t size = i == 77 ? 300000 : DESCRIBED_LEAST + i * 13;
        EQUAL(put_described(pool, key_number(i), &what, size, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    }
    const larder_key tagged = key_of("tagged");
    REQUIRE(larder_get_pinned(pool, &tagged, &hit));
    uint64_t version = hit.item->version, clock = larder_now_logical(pool->header);
    larder_pool_close(pool);
    larder_saved saved = save();
    EQUAL(saved.items, 302);
    CHECK(is_there("kept/p.snapshot"));
    CHECK(access(pool_path_of("p"), F_OK) != 0);

    pool = open_saving("p");
    EQUAL(atomic_load(&pool->header->began), LARDER_LOADED);
    EQUAL(pool->header->snapshot_items, 302);
    EQUAL(pool->header->snapshot_dropped, 0);
    EQUAL(larder_now_logical(pool->header), clock + 1);
    CHECK(!is_there("kept/p.snapshot"));
    REQUIRE(larder_get_pinned(pool, &tagged, &again));
    EQUAL(again.item->version, version);
    EQUAL(atomic_load(&again.item->expiry), terms.expiry);
    EQUAL(again.item->cost, 1234);
    EQUAL(again.item->tags, 2);
    CHECK(holds_text(pool, "tagged", "value"));
    for (uint64_t i = 0; i < 300; i++) {
        described what;
        EQUAL(read_described(pool, key_number(i), i, &what, &hit), READ_WHOLE);
        EQUAL(what.version, i * 7);
    }
    EQUAL(larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &number), LARDER_COUNTED);
    EQUAL(number, 42);
    larder_invalidate(pool, tags, 1);
    CHECK(!holds_text(pool, "tagged", "value"));
    larder_pool_leave(pool);
    CHECK_POOL(pool);
}

TEST(elsewhere, "values that were saved at one address are moved to another if the new pool lies there")
{
    larder_pool *pool = open_saving("p");
    described what = {.key = 1, .version = 5, .block = true};
    larder_hit hit;
    EQUAL(put_described(pool, key_number(1), &what, 5000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    uint64_t base = pool->geometry.base;
    larder_pool_close(pool);
    save();
    REQUIRE(mmap((void *)(uintptr_t)base, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
            MAP_FAILED);
    pool = open_saving("p");
    COMPARE(pool->geometry.base, !=, base);
    EQUAL(read_described(pool, key_number(1), 1, &what, &hit), READ_WHOLE);
    EQUAL(what.version, 5);
}

TEST(dead, "what was deleted, invalidated, cleared or has expired is not saved")
{
    const uint64_t tag = larder_tag_of("t", 1);
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    larder_pool *pool = pool_open_as(&config);
    larder_error error;
    larder_saved saved;
    const larder_terms tagged = {.verb = LARDER_WRITE, .expiry = LARDER_NO_EXPIRY, .tags = &tag, .tags_count = 1};
    const larder_terms brief = {.verb = LARDER_WRITE, .expiry = clock_ms + 1000};
    const larder_key deleted = key_of("deleted");
    put_text(pool, "cleared", "v");
    larder_clear(pool);
    put_text(pool, "deleted", "v");
    put_under(pool, "tagged", "v", &tagged);
    put_under(pool, "brief", "v", &brief);
    put_text(pool, "kept", "v");
    put_text(pool, "overwritten", "old");
    put_text(pool, "overwritten", "new");
    larder_delete(pool, &deleted);
    larder_invalidate(pool, &tag, 1);
    clock_ms += 1000;
    larder_pool_close(pool);
    EQUAL(larder_pool_save(&config, &saved, &error), 1);
    EQUAL(saved.items, 2);
    pool = pool_open_as(&config);
    CHECK(holds_text(pool, "kept", "v"));
    CHECK(holds_text(pool, "overwritten", "new"));
    EQUAL(count_items(pool), 2);
}

TEST(expired_meanwhile, "what expires while the machine is off is gone when it is on again")
{
    larder_pool_config config = saving_config("p");
    config.now = clock_now;
    larder_error error;
    larder_saved saved;
    const larder_terms brief = {.verb = LARDER_WRITE, .expiry = clock_ms + 60000};
    larder_pool *pool = pool_open_as(&config);
    put_under(pool, "brief", "v", &brief);
    put_text(pool, "kept", "v");
    larder_pool_close(pool);
    EQUAL(larder_pool_save(&config, &saved, &error), 1);
    EQUAL(saved.items, 2);
    clock_ms += 60000;
    pool = pool_open_as(&config);
    EQUAL(count_items(pool), 1);
    EQUAL(pool->header->snapshot_dropped, 1);
}

TEST(once, "a snapshot is loaded once: a crash after that leaves an empty pool, not an old one")
{
    larder_pool *pool = open_saving("p");
    put_text(pool, "k", "v");
    larder_pool_close(pool);
    save();
    pool = open_saving("p");
    CHECK(holds_text(pool, "k", "v"));
    larder_pool_close(pool);
    unlink(pool_path_of("p")); /* the machine has lost its memory */
    pool = open_saving("p");
    expect_empty(pool, "no snapshot");
}

TEST(two_kinds, "what another kind of PHP laid out is dropped, and what all can read is kept")
{
    larder_pool_config config = saving_config("p");
    larder_pool *pool = pool_open_as(&config);
    described block = {.key = 1, .version = 1, .block = true};
    EQUAL(put_described(pool, key_number(1), &block, 500, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    put_text(pool, "text", "v");
    larder_pool_close(pool);
    save();
    config.abi = 8;
    pool = pool_open_as(&config);
    larder_hit hit;
    EQUAL(pool->header->snapshot_items, 1);
    EQUAL(pool->header->snapshot_dropped, 1);
    CHECK(holds_text(pool, "text", "v"));
    EQUAL(read_described(pool, key_number(1), 1, &block, &hit), READ_NOTHING);
}

/* ---- saving ---------------------------------------------------------------------------------------------- */

TEST(nothing_to_save, "a pool that is not there is not made by saving it, and where snapshots are off that is an error")
{
    larder_pool_config config = saving_config("p");
    larder_saved saved;
    larder_error error = {.message = ""};
    EQUAL(larder_pool_save(&config, &saved, &error), 0);
    CHECK(access(pool_path_of("p"), F_OK) != 0);
    config.snapshots = NULL;
    larder_pool_close(open_saving("p"));
    EQUAL(larder_pool_save(&config, &saved, &error), -1);
    CONTAINS(error.message, "larder.snapshot");
}

TEST(no_room, "a pool that cannot be saved is left as it was")
{
    larder_pool_config config = saving_config("p");
    larder_saved saved;
    larder_error error = {.message = ""};
    larder_pool *pool = pool_open_as(&config);
    put_text(pool, "k", "v");
    config.snapshots = path_of("kept/deep"); /* its parent is not there */
    EQUAL(larder_pool_save(&config, &saved, &error), -1);
    CONTAINS(error.message, "kept/deep");
    mkdir(path_of("kept"), 0700);
    mkdir(path_of("kept/.new-p.snapshot"), 0700); /* no file can be written there */
    config = saving_config("p");
    EQUAL(larder_pool_save(&config, &saved, &error), -1);
    CONTAINS(error.message, "cannot be written");
    larder_pool_doubt(pool);
    CHECK(holds_text(pool, "k", "v"));
    EQUAL(put_text(pool, "k", "w"), LARDER_OK);
    CHECK_POOL(pool);
    rmdir(path_of("kept/.new-p.snapshot"));
    struct rlimit limit, before;
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    rlim_t most = 0;
    for (int result = -1; result != 1; most += 100) { /* too little for the header, for the items, enough */
        limit = (struct rlimit){.rlim_cur = most, .rlim_max = before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
        result = larder_pool_save(&config, &saved, &error);
        REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
        if (result != 1) {
            CONTAINS(error.message, "ulimit -f");
            CHECK(!is_there("kept/p.snapshot"));
            larder_pool_doubt(pool);
            CHECK(holds_text(pool, "k", "w"));
            REQUIRE(most < 10000);
        }
    }
    COMPARE(most, >, 200);
    CHECK(holds_text(pool, "k", "w")); /* the handle finds the next pool */
}

TEST(full, "a pool full to the brim keeps nearly everything over a save, whatever its items' sizes")
{
    rng r = {test_seed()};
    for (int i = 0; i < 3; i++) {
        larder_pool *pool = open_saving("p");
        size_t most = i == 0 ? 60 : i == 1 ? 3000 : 20000;
        for (uint64_t number = 0; number < (i == 0 ? 60000 : 6000); number++) {
            put_described(pool, key_number(number), &(described){.key = number}, DESCRIBED_LEAST + rng_below(&r, most),
                          LARDER_SET, LARDER_NO_EXPIRY);
        }
        uint64_t before = count_items(pool);
        larder_pool_close(pool);
        EQUAL(save().items, before);
        pool = open_saving("p");
        COMPARE(count_items(pool) * 100, >=, before * 98);
        CHECK_POOL(pool);
        larder_pool_close(pool);
        remove_pool();
    }
}

TEST(damaged_run, "a run that a damaged pool says to be longer than the pool is not saved from beyond its end")
{
    larder_pool *pool = open_saving("p");
    larder_found found = {.segment = 0};
    for (uint64_t i = 0; found.item == NULL || found.segment < pool->geometry.segment_count / 2; i++) {
        const larder_key key = key_number(i);
        larder_place place = larder_place_of(pool, key.hash);
        described what = {.key = i};
        EQUAL(put_described(pool, key, &what, 3000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
        REQUIRE(larder_find(pool, &place, &key, &found));
        larder_found_drop(pool, &found);
    }
    uint64_t items = count_items(pool);
    pool->segments[found.segment].run = pool->geometry.segment_count;
    found.item->units = (uint32_t)((pool->geometry.segment_count - 1) << pool->segment_shift >> pool->unit_shift);
    EQUAL(save().items, items - 1);
}
