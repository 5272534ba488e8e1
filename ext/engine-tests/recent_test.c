/* The table of recent invalidations. */
#include "fixture.h"
#include "lines.h"

#include "engine/recent.h"
#include "engine/tag.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Enters the tag at a tick of its own. */
static uint64_t enter(larder_pool *pool, uint64_t tag)
{
    uint64_t tick = larder_tick(pool->header);
    larder_recent_enter(pool, tag, tick);
    return tick;
}

static uint64_t words_of(const larder_pool *pool)
{
    return (uint64_t)pool->geometry.recent_count * LARDER_BUCKET_WORDS;
}

/* Of a name, as those of items are: the lines of numbers in a row would be equally full. */
static uint64_t tag_number(uint64_t number)
{
    char name[32];
    return larder_tag_of(name, (size_t)snprintf(name, sizeof name, "tag-%llu", (unsigned long long)number));
}

TEST(never_lower,
     "a tag's version is never lower than the tick of its entry, whatever is entered before and after, or late")
{
    enum { TAGS = 20000 };
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t *ticks = calloc(TAGS, sizeof *ticks), entries = 3 * words_of(pool);
    rng r = {test_seed()};
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t tag = rng_below(&r, TAGS), tick = larder_tick(pool->header);
        tick -= rng_below(&r, 4) == 0 ? rng_below(&r, tick) : 0; /* was taken long ago */
        larder_recent_enter(pool, tag, tick);
        ticks[tag] = tick > ticks[tag] ? tick : ticks[tag];
        for (int looks = 0; looks < 4; looks++) {
            tag = looks == 0 ? tag : rng_below(&r, TAGS);
            if (!CHECK(larder_recent_version(pool, tag) >= ticks[tag])) {
                i = entries;
            }
        }
    }
    free(ticks);
    larder_pool_close(pool);
}

TEST(few_raised, "until the table is two thirds full, fewer than one tag in 500 has a version that others gave it")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    uint64_t raised = 0;
    for (uint64_t i = 0; i < words_of(pool) / 3 * 2; i++) {
        enter(pool, tag_number(i));
    }
    for (uint64_t i = 0; i < 100000; i++) {
        raised += larder_recent_version(pool, tag_number(1000000 + i)) != 0;
    }
    COMPARE(raised, <, 200); /* 15 are expected: ten words of 14 have one fingerprint of 65,536 */
    larder_pool_close(pool);
}

TEST(oldest_first,
     "a full table forgets what is oldest: where twice as many are entered, the last third raises no other")
{
    larder_pool *pool = pool_open("p", 64 * MIB);
    uint64_t entries = 2 * words_of(pool), tick = 0, raised = 0;
    for (uint64_t i = 0; i < entries; i++) {
        uint64_t its = enter(pool, tag_number(i));
        tick = i == entries - words_of(pool) / 3 ? its : tick;
    }
    for (uint64_t i = 0; i < 100000; i++) {
        raised += larder_recent_version(pool, tag_number(entries + i)) > tick;
    }
    COMPARE(raised, <, 1000);
    larder_pool_close(pool);
}

TEST(late_and_oldest,
     "an entry that is late, and older than all that fills its lines, is not lost, and nothing younger is forgotten")
{
    uint64_t tags[LINES_FULL + 2]; /* the last is not entered: its version is what the lines have forgotten */
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t late = larder_tick(pool->header);
    tags_of_two_lines(pool, tags, LINES_FULL + 2);
    for (uint32_t i = 0; i < LINES_FULL; i++) {
        enter(pool, tags[i]);
    }
    COMPARE(larder_recent_version(pool, tags[LINES_FULL]), <, late);
    larder_recent_enter(pool, tags[LINES_FULL], late);
    COMPARE(larder_recent_version(pool, tags[LINES_FULL]), >=, late);
    for (uint32_t i = 0; i < LINES_FULL; i++) {
        COMPARE(larder_recent_version(pool, tags[i]), >, late);
    }
    COMPARE(larder_recent_version(pool, tags[LINES_FULL + 1]), ==, late);
    larder_pool_close(pool);
}

TEST(behind_older_word, "what a line forgot counts although the other line has an older word of the fingerprint")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_recent *lines[2];
    uint64_t tag;
    tags_of_two_lines(pool, &tag, 1);
    uint64_t older = enter(pool, tag), younger = enter(pool, tag);
    larder_recent_lines(pool, tag, lines);
    for (uint32_t line = 0; line < 2; line++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            uint64_t word = lines[line]->word[i];
            lines[line]->word[i] = word == 0 ? 0 : word - younger + older; /* as two leave it that enter it at once */
        }
        lines[line]->floor = younger;
        COMPARE(larder_recent_version(pool, tag), ==, younger);
        lines[line]->floor = 0;
        COMPARE(larder_recent_version(pool, tag), ==, older);
    }
    larder_pool_close(pool);
}

/* ---- at every step -------------------------------------------------------------------------------------- */

static larder_pool *pool_beside;
static uint64_t tags_beside[2 * LINES_FULL], entered_beside, ticks_beside[2 * LINES_FULL];

/* Fills the lines with others, over and over. */
static void enter_others(void)
{
    for (uint32_t i = 0; i < LINES_FULL; i++) {
        ticks_beside[LINES_FULL + i] = enter(pool_beside, tags_beside[LINES_FULL + i]);
    }
    entered_beside = 1;
}

static void expect_all(const larder_pool *pool)
{
    for (uint32_t i = 0; i < 2 * LINES_FULL; i++) {
        COMPARE(larder_recent_version(pool, tags_beside[i]), >=, ticks_beside[i]);
    }
}

TEST(overtaken, "an entry whose word another process takes at any of its steps is not lost, nor is the other's")
{
    for (uint32_t filled = 0; filled <= LINES_FULL; filled += LINES_FULL / 2) {
        uint64_t steps = 0;
        do {
            larder_pool *pool = pool_open("p", 4 * MIB);
            pool_beside = pool_open("p", 4 * MIB);
            memset(ticks_beside, 0, sizeof ticks_beside);
            tags_of_two_lines(pool, tags_beside, 2 * LINES_FULL);
            for (uint32_t i = 1; i <= filled; i++) {
                ticks_beside[i] = enter(pool, tags_beside[i]);
            }
            entered_beside = 0;
            uint64_t tick = larder_tick(pool->header);
            fault_arm(0, steps, enter_others);
            larder_recent_enter(pool, tags_beside[0], tick);
            fault_disarm();
            ticks_beside[0] = tick;
            expect_all(pool);
            larder_pool_close(pool_beside);
            larder_pool_close(pool);
            pool_remove("p", &(larder_error){.message = ""});
            steps++;
        } while (entered_beside);
        COMPARE(steps, >=, filled < LINES_FULL ? 2 : 3);
    }
}

static void die(void)
{
    _exit(0);
}

static void enter_and_die(void *context)
{
    fault_arm(*(const unsigned *)context, 0, die);
    enter(pool_beside, tags_beside[LINES_FULL]);
    test_give_up();
}

TEST(killed, "a process that is killed while it replaces a word leaves no version lower than it was")
{
    for (unsigned point = LARDER_AT_FLOOR; point <= LARDER_AT_RECENT; point++) {
        pool_beside = pool_open("p", 4 * MIB);
        tags_of_two_lines(pool_beside, tags_beside, 2 * LINES_FULL);
        memset(ticks_beside, 0, sizeof ticks_beside);
        for (uint32_t i = 0; i < LINES_FULL; i++) {
            ticks_beside[i] = enter(pool_beside, tags_beside[i]);
        }
        child_run(enter_and_die, &point);
        expect_all(pool_beside);
        enter_others();
        expect_all(pool_beside);
        larder_pool_close(pool_beside);
    }
}

/* ---- what is damaged -------------------------------------------------------------------------------------- */

TEST(damaged_floor, "a floor that was damaged, and is ahead of the clock, is set right by the next entry in its line")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_recent *lines[2];
    uint64_t tags[2];
    tags_of_two_lines(pool, tags, 2);
    larder_recent_lines(pool, tags[0], lines);
    for (uint32_t line = 0; line < 2; line++) {
        lines[line]->floor = larder_now_logical(pool->header) + 1000000;
        enter(pool, tags[1]);
        COMPARE(larder_recent_version(pool, tags[0]), <=, larder_now_logical(pool->header));
    }
    larder_pool_close(pool);
}

TEST(damaged_word, "a word that was damaged, and is ahead of the clock, is set right by the next entry of its tag")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    larder_recent *lines[2];
    uint64_t tag = larder_tag_of("t", 1);
    enter(pool, tag);
    larder_recent_lines(pool, tag, lines);
    for (uint32_t line = 0; line < 2; line++) {
        for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
            lines[line]->word[i] += lines[line]->word[i] == 0 ? 0 : 1000000;
        }
    }
    COMPARE(larder_recent_version(pool, tag), >, larder_now_logical(pool->header));
    uint64_t tick = enter(pool, tag);
    COMPARE(larder_recent_version(pool, tag), ==, tick);
    larder_pool_close(pool);
}

TEST(beyond_words, "ticks that no word has room for are remembered in the floors")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    uint64_t tag = larder_tag_of("t", 1);
    for (int i = 0; i < 4; i++) {
        pool->header->clock = LARDER_RECENT_TICK - 2 + (uint64_t)i;
        uint64_t tick = enter(pool, tag);
        COMPARE(larder_recent_version(pool, tag), ==, tick);
    }
    COMPARE(larder_recent_version(pool, tag), >, LARDER_RECENT_TICK);
    larder_pool_close(pool);
}
