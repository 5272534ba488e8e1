/* Opening, making, replacing and removing pools, and what is found in their place. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/geometry.h"
#include "engine/slot.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 12345

static unsigned count_files(const char *prefix)
{
    unsigned count = 0;
    DIR *listing = opendir(test_directory());
    for (struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;) {
        count += entry->d_name[0] != '.' || strncmp(entry->d_name, ".new-", 5) == 0
                     ? strncmp(entry->d_name, prefix, strlen(prefix)) == 0
                     : 0;
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return count;
}

TEST(made_once, "a pool is made once, and found by the next who opens it")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(put_text(pool, "k", "value"), LARDER_OK);
    larder_pool_close(pool);
    pool = pool_open("p", 4 * MIB);
    CHECK(holds_text(pool, "k", "value"));
    larder_pool_close(pool);
    pool = pool_open("p", 0); /* no wish: what is there */
    EQUAL(pool->geometry.size, 4 * MIB);
    CHECK(holds_text(pool, "k", "value"));
    larder_pool_close(pool);
    EQUAL(count_files(""), 1);
}

TEST(private_file, "the directory is made 0700, the file 0600, and the file has all its memory from the start")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.directory = path_of("new");
    larder_pool *pool = pool_open_as(&config);
    struct stat status;
    EQUAL(stat(path_of("new"), &status), 0);
    EQUAL(status.st_mode & 07777, 0700);
    EQUAL(stat(pool_path_of("new/p"), &status), 0);
    EQUAL(status.st_mode & 07777, 0600);
    EQUAL(status.st_size, 4 * MIB);
    COMPARE(status.st_blocks * 512, >=, 4 * MIB);
    larder_pool_close(pool);
}

TEST(other_size, "an existing pool opened with another size is an error that says both and how to get there")
{
    larder_pool_close(pool_open("p", 4 * MIB));
    const larder_pool_config config = pool_config("p", 8 * MIB);
    const char *message = pool_refusal(&config);
    CONTAINS(message, "4194304");
    CONTAINS(message, "8388608");
    CONTAINS(message, "remove");
    larder_pool_close(pool_open("q", 4 * MIB + 1));
    larder_pool_close(pool_open("q", 4 * MIB + 4095)); /* the same, rounded to pages */
}

TEST(other_evict, "an existing pool opened with another choice of eviction is an error that says so")
{
    larder_pool_close(pool_open("p", 4 * MIB));
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.evict = false;
    const char *message = pool_refusal(&config);
    CONTAINS(message, "to evict");
    CONTAINS(message, "without eviction");
    config.name = "q";
    larder_pool_close(pool_open_as(&config));
    config.evict = true;
    CONTAINS(pool_refusal(&config), "not to evict");
}

TEST(sizes_refused, "a size below 4 MiB or above 1 TiB is refused, and says the bounds")
{
    static const uint64_t sizes[] = {1, LARDER_SIZE_MIN - 1, LARDER_SIZE_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const larder_pool_config config = pool_config("p", sizes[i]);
        CONTAINS(pool_refusal(&config), "between 4194304 (4 MiB) and 1099511627776 (1 TiB)");
    }
    EQUAL(count_files(""), 0);
}

TEST(names_refused, "a name that could leave the directory, hide in it or is too long is refused")
{
    static const char *const names[] = {"",
                                        ".",
                                        "..",
                                        ".new-1",
                                        "-a",
                                        "a/b",
                                        "../a",
                                        "a b",
                                        "a\n",
                                        "\xc3\xa4",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const larder_pool_config config = pool_config(names[i], 4 * MIB);
        CONTAINS(pool_refusal(&config), "is no name for a pool");
    }
    larder_pool_close(pool_open("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 4 * MIB));
    larder_pool_close(pool_open("_A.b-9", 4 * MIB));
}

TEST(does_not_fit, "a pool that does not fit says how much is free and leaves nothing behind")
{
    const char *place = path_of("small");
    char free_bytes[32];
    mkdir(place, 0700);
    /* Needs root, or a container's. In a name space of its own, the mount goes when this process does. In a chroot, /
     * is no mount that could be made private; whoever made that one has seen to it. */
    REQUIRE(unshare(CLONE_NEWNS) == 0);
    (void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    REQUIRE(mount("none", place, "tmpfs", 0, "size=6m,mode=0700") == 0);
    larder_pool_config config = pool_config("p", 8 * MIB);
    config.directory = place;
    snprintf(free_bytes, sizeof free_bytes, "%llu bytes free", (unsigned long long)(6 * MIB));
    const char *message = pool_refusal(&config);
    CONTAINS(message, free_bytes);
    CONTAINS(message, "8388608");
    CONTAINS(message, "enlarge");
    config.size = 0; /* the default: three quarters of what is free */
    larder_pool *pool = pool_open_as(&config);
    EQUAL(pool->geometry.size, 6 * MIB / 4 * 3);
    larder_pool_close(pool);
    config.name = "q"; /* a quarter is left, too little for any */
    CONTAINS(pool_refusal(&config), "too little for a pool of 4194304");
}

/* ---- foreign things in its place ------------------------------------------------------------------------- */

TEST(directory_link, "a symbolic link in the directory's place is refused, and not followed")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    mkdir(path_of("real"), 0700);
    REQUIRE(symlink(path_of("real"), path_of("link")) == 0);
    config.directory = path_of("link");
    CONTAINS(pool_refusal(&config), "link");
    struct stat status;
    CHECK(stat(pool_path_of("real/p"), &status) != 0);
    int fd = open(path_of("file"), O_CREAT | O_WRONLY, 0600);
    close(fd);
    config.directory = path_of("file");
    CONTAINS(pool_refusal(&config), "not a directory");
}

TEST(file_link, "a symbolic link in the file's place is refused, and its target left alone")
{
    int fd = open(path_of("victim"), O_CREAT | O_RDWR, 0600);
    REQUIRE(write(fd, "precious", 8) == 8);
    REQUIRE(symlink(path_of("victim"), pool_path_of("p")) == 0);
    const larder_pool_config config = pool_config("p", 4 * MIB);
    CONTAINS(pool_refusal(&config), "symbolic link");
    char text[16];
    EQUAL(pread(fd, text, sizeof text, 0), 8);
    EQUAL(memcmp(text, "precious", 8), 0);
    close(fd);
}

TEST(other_kinds_of_file,
     "a directory, a pipe or a hard-linked foreign file in the file's place is refused, without waiting")
{
    const larder_pool_config config = pool_config("p", 4 * MIB);
    mkdir(pool_path_of("p"), 0700);
    CONTAINS(pool_refusal(&config), "p");
    rmdir(pool_path_of("p"));
    REQUIRE(mkfifo(pool_path_of("p"), 0600) == 0);
    CONTAINS(pool_refusal(&config), "remove it");
}

static void open_as_stranger(void *context)
{
    const larder_pool_config *config = context;
    REQUIRE(setresuid(STRANGER, STRANGER, STRANGER) == 0);
    CONTAINS(pool_refusal(config), "remove");
}

TEST(foreign_directory, "a directory of another user is refused, even to root, and tells whose it is")
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.directory = path_of("d");
    mkdir(path_of("d"), 0700);
    REQUIRE(chown(path_of("d"), STRANGER, STRANGER) == 0);
    const char *message = pool_refusal(&config);
    CONTAINS(message, "belongs to user 12345");
    CONTAINS(message, "user 0");
    REQUIRE(chown(path_of("d"), 0, 0) == 0);
    REQUIRE(chmod(path_of("d"), 0755) == 0); /* so that the stranger gets as far as the check */
    REQUIRE(chmod(test_directory(), 0755) == 0);
    child_run(open_as_stranger, &config);
    struct stat status;
    CHECK(stat(pool_path_of("d/p"), &status) != 0);
}

TEST(foreign_file, "a pool file of another user in our directory is refused, and left as it is")
{
    larder_pool_close(pool_open("p", 4 * MIB));
    REQUIRE(chown(pool_path_of("p"), STRANGER, STRANGER) == 0);
    const larder_pool_config config = pool_config("p", 4 * MIB);
    CONTAINS(pool_refusal(&config), "only user 0 can read and write");
    struct stat status;
    EQUAL(stat(pool_path_of("p"), &status), 0);
    EQUAL(status.st_uid, STRANGER);
}

TEST(loose_file, "a pool file that others may read or write is refused")
{
    static const mode_t modes[] = {0644, 0620, 0602, 0666};
    larder_pool_close(pool_open("p", 4 * MIB));
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        REQUIRE(chmod(pool_path_of("p"), modes[i]) == 0);
        const larder_pool_config config = pool_config("p", 4 * MIB);
        CONTAINS(pool_refusal(&config), "only user 0 can read and write");
    }
}

TEST(loose_directory, "an own directory that others may enter is closed to them")
{
    REQUIRE(chmod(test_directory(), 0777) == 0);
    larder_pool_close(pool_open("p", 4 * MIB));
    struct stat status;
    EQUAL(stat(test_directory(), &status), 0);
    EQUAL(status.st_mode & 07777, 0700);
}

/* ---- damage ---------------------------------------------------------------------------------------------- */

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

static void write_at(off_t at, const void *bytes, size_t size)
{
    int fd = open(pool_path_of("p"), O_WRONLY);
    REQUIRE(fd >= 0);
    REQUIRE(pwrite(fd, bytes, size, at) == (ssize_t)size);
    close(fd);
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
        uint64_t number = rng_below(&r, 400);
        const larder_key key = key_number(number);
        described what = {.key = number, .version = (uint64_t)i, .block = rng_below(&r, 2) == 0};
        larder_hit hit;
        switch (rng_below(&r, 5)) {
        case 0:
            larder_delete(pool, &key);
            break;
        case 1:
            larder_touch(pool, &key, LARDER_NO_EXPIRY);
            break;
        case 2:
            read_described(pool, key, number, &what, &hit);
            break;
        default:
            put_described(pool, key, &what, DESCRIBED_LEAST + rng_below(&r, rng_below(&r, 50) == 0 ? 300000 : 5000),
                          LARDER_SET, LARDER_NO_EXPIRY);
        }
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
    write_at(0, &g, sizeof g);
    larder_pool *pool = pool_open("p", 4 * MIB);
    CHECK(!holds_text(pool, "old", "value"));
    EQUAL(pool->geometry.format, LARDER_FORMAT);
    larder_pool_close(pool);
}

/* ---- under a running process ------------------------------------------------------------------------------- */

/* A block in a pool that is about to go; its pin holds it. */
static const void *read_block(larder_pool *pool, uint64_t number, size_t *size)
{
    larder_hit hit;
    described what;
    EQUAL(read_described(pool, key_number(number), number, &what, &hit), READ_WHOLE);
    EQUAL(hit.hold, LARDER_HELD);
    return larder_hit_value(pool, &hit, size);
}

static larder_pool *pool_with_block(void)
{
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.now = clock_now;
    larder_pool *pool = pool_open_as(&config);
    described what = {.key = 1, .block = true};
    EQUAL(put_described(pool, key_number(1), &what, 30000, LARDER_SET, LARDER_NO_EXPIRY), LARDER_OK);
    return pool;
}

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
    EQUAL(count_files("p"), 1);
    larder_pool_leave(pool);
    CHECK(holds_text(pool, "new", "value"));
    larder_pool_close(pool);
}

TEST(unlinked_under_us,
     "a pool file that somebody deletes or replaces is noticed within 100 ms, and at the next request")
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
    write_at(offsetof(larder_geometry, seed), "damage", 6);
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

TEST(as_large_again, "a pool that is made in the place of a removed one is as large, if nobody asks for another size")
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
    write_at(offsetof(larder_header, dead), &dead, sizeof dead);
    larder_pool *pool = pool_open("p", 4 * MIB);
    EQUAL(pool->header->dead, 0);
    EQUAL(put_text(pool, "k", "v"), LARDER_OK);
    larder_pool_leave(pool);
    CHECK(holds_text(pool, "k", "v"));
    larder_pool_close(pool);
}

/* ---- making ---------------------------------------------------------------------------------------------- */

static void make_and_die(void *context)
{
    (void)context;
    signal(SIGPROF, SIG_DFL);
    larder_pool *pool = pool_open("p", 16 * MIB);
    larder_pool_close(pool);
}

TEST(makers_killed, "makers killed at any time leave nothing that hinders the next, nor files of theirs")
{
    rng r = {test_seed()};
    unsigned killed = 0;
    for (uint64_t i = 0; i < 150 + 200 * test_scale(); i++) {
        pool_remove("p", &(larder_error){.message = ""});
        pid_t pid = child_start(make_and_die, NULL);
        usleep((useconds_t)rng_below(&r, 12000));
        kill(pid, SIGKILL);
        killed += child_wait(pid) == 256 + SIGKILL;
        if (i % 4 == 0) {
            larder_pool *pool = pool_open("p", 16 * MIB);
            EQUAL(put_text(pool, "k", "v"), LARDER_OK);
            CHECK(holds_text(pool, "k", "v"));
            CHECK_POOL(pool);
            larder_pool_close(pool);
        }
    }
    COMPARE(killed, >, 20);
    larder_error error;
    pool_remove("p", &error);
    larder_pool_close(pool_open("p", 4 * MIB)); /* who makes one sweeps first */
    EQUAL(count_files(".new-"), 0);
}

typedef struct race {
    gate go;
    _Atomic uint32_t ready;
    uint8_t id[8][16];
} race;

static race *racing;

static void make_at_once(void *context)
{
    uintptr_t number = (uintptr_t)context;
    atomic_fetch_add(&racing->ready, 1);
    gate_wait(&racing->go, 1);
    larder_pool *pool = pool_open("p", 4 * MIB);
    memcpy(racing->id[number], pool->geometry.id, 16);
    larder_pool_close(pool);
}

TEST(made_at_once, "eight processes that make a pool at once all get the same one")
{
    racing = shared_memory(sizeof *racing);
    for (int round = 0; round < 10; round++) {
        pid_t pids[8];
        atomic_store(&racing->ready, 0);
        atomic_store(&racing->go.number, 0);
        for (uintptr_t i = 0; i < 8; i++) {
            pids[i] = child_start(make_at_once, (void *)i);
        }
        while (atomic_load(&racing->ready) < 8) {
            usleep(100);
        }
        gate_open(&racing->go, 1);
        for (int i = 0; i < 8; i++) {
            EQUAL(child_wait(pids[i]), 0);
            EQUAL(memcmp(racing->id[i], racing->id[0], 16), 0);
        }
        pool_remove("p", &(larder_error){.message = ""});
        EQUAL(count_files(""), 0);
    }
}

static void hold_directory(void *context)
{
    int fd = open(test_directory(), O_RDONLY | O_DIRECTORY);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    gate_open(context, 1);
    raise(SIGSTOP);
}

TEST(stopped_maker, "a stopped process that holds the directory is waited for a bounded time, and named as the cause")
{
    gate *g = shared_memory(sizeof *g);
    larder_pool_close(pool_open("there", 4 * MIB));
    pid_t pid = child_start(hold_directory, g);
    gate_wait(g, 1);
    larder_pool_close(pool_open("there", 4 * MIB)); /* what exists needs no lock */
    const larder_pool_config config = pool_config("p", 4 * MIB);
    CONTAINS(pool_refusal(&config), "Another process");
    larder_error error = {.message = ""};
    EQUAL(pool_remove("there", &error), -1);
    CONTAINS(error.message, "stopped");
    kill(pid, SIGKILL);
    child_wait(pid);
    larder_pool_close(pool_open("p", 4 * MIB));
}

/* ---- addresses ------------------------------------------------------------------------------------------- */

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
    EQUAL(pool->pinned_count, 0);
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

static void do_nothing(int signal)
{
    (void)signal;
}

TEST(made_amid_signals, "signals do not keep a pool from being made")
{
    const struct sigaction action = {.sa_handler = do_nothing}, none = {.sa_handler = SIG_DFL};
    const struct itimerval often = {{.tv_usec = 200}, {.tv_usec = 200}}, never = {{.tv_usec = 0}, {.tv_usec = 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    larder_pool_config config = pool_config("p", 64 * MIB);
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(&config, &error);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &none, NULL);
    REQUIRE(pool != NULL);
    larder_pool_close(pool);
}
