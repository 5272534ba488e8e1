/* Pins: what a request has read stays as it is until the request ends. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fixture.h"

#include "engine/slot.h"

#include <signal.h>
#include <unistd.h>

typedef struct seen {
    const void *value;
    size_t size;
    uint64_t sum;
} seen;

static bool look(larder_pool *pool, uint64_t number, seen *s)
{
    larder_hit hit;
    described what;
    if (read_described(pool, key_number(number), number, &what, &hit) != READ_WHOLE || hit.hold != LARDER_HELD) {
        return false;
    }
    s->value = larder_hit_value(pool, &hit, &s->size);
    s->sum = digest(s->value, s->size);
    return true;
}

/* As many bytes as the pool has, `times` over. */
static unsigned fill(larder_pool *pool, unsigned times, uint64_t from)
{
    unsigned stored = 0;
    uint64_t count = times * (pool->geometry.size / 3000);
    for (uint64_t i = 0; i < count; i++) {
        stored += put_block(pool, from + i, 3000) == LARDER_OK;
    }
    return stored;
}

TEST(bytes_stay, "a pinned segment's bytes never change while the pool is filled ten times over")
{
    larder_pool *reader = pool_open("p", 4 * MIB), *writer = pool_open("p", 4 * MIB);
    seen values[6];
    for (uint64_t i = 0; i < 6; i++) {
        EQUAL(put_block(writer, i, i % 2 == 0 ? 5000 : 60000), LARDER_OK);
        REQUIRE(look(reader, i, &values[i]));
    }
    larder_pool_begin_another(reader); /* what was read may live on */
    unsigned stored = fill(writer, 10, 1000);
    COMPARE(stored, >, 10 * (4 * MIB / 3000) * 9 / 10);
    for (int i = 0; i < 6; i++) {
        CHECK(digest(values[i].value, values[i].size) == values[i].sum);
    }
    CHECK_POOL(writer);
    larder_pool_leave(reader);
    larder_pool_close(reader);
    larder_pool_close(writer);
}

TEST(run_stays, "a large value that is pinned keeps all of its segments while the pool is filled ten times over")
{
    larder_pool *reader = pool_open("p", 4 * MIB), *writer = pool_open("p", 4 * MIB);
    seen value;
    EQUAL(put_block(writer, 1, 700000), LARDER_OK);
    larder_pool_leave(reader); /* a fifth of the pool is pinned only by processes that are known for short requests */
    REQUIRE(look(reader, 1, &value));
    fill(writer, 5, 1000);
    for (uint64_t i = 0; i < 40; i++) {
        put_block(writer, 2000000 + i, 300000);
    }
    CHECK(digest(value.value, value.size) == value.sum);
    larder_pool_leave(reader);
    CHECK_POOL(writer);
    larder_pool_close(reader);
    larder_pool_close(writer);
}

TEST(own_pins_too, "a process's own stores do not overwrite what it has read itself")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    seen value = {.value = NULL};
    EQUAL(put_block(pool, 1, 5000), LARDER_OK);
    REQUIRE(look(pool, 1, &value));
    larder_key key = key_number(1);
    CHECK(larder_delete(pool, &key));
    CHECK(digest(value.value, value.size) == value.sum);
    fill(pool, 10, 1000);
    CHECK(digest(value.value, value.size) == value.sum);
    larder_pool_leave(pool);
    EQUAL(pool->request.pinned_count, 0);
    larder_pool_close(pool);
}

TEST(leave_drops, "the end of a request drops all pins, and the memory is reclaimed")
{
    larder_pool *reader = pool_open("p", 4 * MIB), *writer = pool_open("p", 4 * MIB);
    seen value;
    fill(writer, 1, 0);
    larder_pool_leave(reader); /* from now on it is known for short requests, and may pin much */
    for (uint64_t i = 0; i < 1300; i++) {
        look(reader, i, &value);
    }
    COMPARE(reader->request.pinned_count, >, 5);
    larder_pool_leave(reader);
    for (uint32_t i = 0; i < reader->geometry.pin_words; i++) {
        CHECK(reader->attached.own_pins[i] == 0);
    }
    EQUAL(reader->slot->pinned, 0);
    fill(writer, 2, 5000);
    larder_stats stats;
    larder_stats_read(writer, &stats);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
    larder_pool_close(reader);
    larder_pool_close(writer);
}

TEST(share,
     "a process whose requests are short keeps pins on three eighths of the segments at most; past that it copies")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    fill(pool, 1, 0);
    larder_pool_leave(pool);
    unsigned held = 0, brief = 0;
    for (uint64_t i = 0; i < 1300; i++) {
        larder_hit hit;
        described what;
        if (read_described(pool, key_number(i), i, &what, &hit) == READ_WHOLE) {
            held += hit.hold == LARDER_HELD;
            brief += hit.hold == LARDER_BRIEFLY;
        }
    }
    COMPARE(pool->request.pinned_count, <=, pool->geometry.segment_count / 8 * 3);
    COMPARE(pool->request.pinned_count, >=, pool->geometry.segment_count / 8 * 3 - 1);
    COMPARE(held, >, 0);
    COMPARE(brief, >, 0);
    larder_pool_close(pool);
}

TEST(small_values, "small values are read without leaving a pin")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    for (uint64_t i = 0; i < 3000; i++) {
        put_bytes(pool, key_number(i), "some bytes", 10);
    }
    char bytes[16];
    size_t size;
    for (uint64_t i = 0; i < 3000; i++) {
        CHECK(take(pool, key_number(i), bytes, sizeof bytes, &size));
        CHECK(take(pool, key_number(i), bytes, sizeof bytes, &size)); /* with its mark set: without even a brief one */
    }
    EQUAL(pool->request.pinned_count, 0);
    larder_pool_close(pool);
}

TEST(wrong_generation, "a pin on a segment that has moved on is refused, and leaves nothing behind")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    put_text(pool, "k", "v");
    uint32_t segment = larder_open_of(pool, LARDER_SMALL);
    uint32_t generation = pool->generations[segment];
    CHECK(!larder_pin_set(pool, segment, generation + 1));
    EQUAL(pool->attached.own_pins[segment / 64], 0);
    CHECK(larder_pin_set(pool, segment, generation));
    CHECK(!larder_pin_set(pool, segment, generation + 1));
    CHECK(larder_pin_holds(pool, segment, generation));
    CHECK(larder_pinned_by_any(pool, segment));
    larder_pin_drop(pool, segment);
    EQUAL(pool->attached.own_pins[segment / 64], 0);
    CHECK(!larder_pinned_by_any(pool, segment));
    larder_pool_close(pool);
}

typedef struct reading_child {
    gate g;
    larder_pool *pool;
} reading_child;

static void pin_much(void *context)
{
    reading_child *child = context;
    seen value;
    larder_pool_leave(child->pool);
    for (uint64_t i = 0; i < 1300; i++) {
        look(child->pool, i, &value);
    }
    COMPARE(child->pool->request.pinned_count, >=, child->pool->attached.most_short - 1);
    gate_open(&child->g, 1);
    pause();
}

TEST(killed_reader, "the pins of a killed process fall, and its segments are used again")
{
    larder_pool *pool = pool_open("p", 4 * MIB);
    fill(pool, 1, 0);
    reading_child *child = shared_memory(sizeof *child);
    child->pool = pool;
    pid_t pid = child_start(pin_much, child);
    gate_wait(&child->g, 1);
    fill(pool, 3, 5000);
    larder_stats stats;
    larder_stats_read(pool, &stats);
    COMPARE(stats.segments[LARDER_LIMBO], >, 0); /* the child's pins hold */
    kill(pid, SIGKILL);
    child_wait(pid);
    fill(pool, 3, 9000);
    larder_stats_read(pool, &stats);
    EQUAL(stats.segments[LARDER_LIMBO], 0);
    CHECK_POOL(pool);
    larder_pool_close(pool);
}

TEST(all_pinned, "where everything is pinned a store is refused at once, by cause, and its old value is gone")
{
    enum { READERS = 5 };
    larder_pool *writer = pool_open("p", 4 * MIB), *readers[READERS];
    fill(writer, 1, 0);
    seen values[READERS][200];
    unsigned counts[READERS] = {0};
    uint32_t segments = writer->geometry.segment_count;
    for (int r = 0; r < READERS; r++) {
        readers[r] = pool_open("p", 4 * MIB);
        readers[r]->zero_copy = true; /* also the handles that could not have the address */
        readers[r]->attached.most_short = readers[r]->attached.most_long = readers[r]->attached.most_alone = segments;
    }
    for (uint64_t i = 0; i < 1398; i++) {
        seen value;
        int r = (int)(i % READERS);
        if (look(readers[r], i, &value) && counts[r] < 200) {
            values[r][counts[r]++] = value;
        }
    }
    unsigned stored = fill(writer, 2, 100000), refused = 2 * (unsigned)(4 * MIB / 3000) - stored;
    COMPARE(refused, >, 1000);
    larder_stats stats;
    larder_stats_read(writer, &stats);
    EQUAL(stats.counters[LARDER_REFUSED_PINNED], refused);
    for (int r = 0; r < READERS; r++) {
        for (unsigned i = 0; i < counts[r]; i++) {
            CHECK(digest(values[r][i].value, values[r][i].size) == values[r][i].sum);
        }
    }
    uint64_t last = 0;
    larder_hit hit;
    described what;
    for (uint64_t i = 100000; read_described(writer, key_number(i), i, &what, &hit) == READ_WHOLE; i++) {
        last = i;
    }
    COMPARE(last, >, 0);
    EQUAL(put_block(writer, last, 3000), LARDER_PINNED);
    EQUAL(read_described(writer, key_number(last), last, &what, &hit), READ_NOTHING);
    for (int r = 0; r < READERS; r++) {
        larder_pool_leave(readers[r]);
    }
    EQUAL(put_block(writer, last, 3000), LARDER_OK);
    for (int r = 0; r < READERS; r++) {
        larder_pool_close(readers[r]);
    }
    larder_pool_close(writer);
}
