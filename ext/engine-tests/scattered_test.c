/* What always finds room in a full pool, wherever that which no process may touch lies: what fits in two segments, as
 * long as nine sixteenths of the segments are not pinned.
 */
#include "fixture.h"

#include "engine/pin.h"

enum { BLOCK = 3000, READERS = 3, SEGMENTS = 64, STORES = 150 };

enum pattern { SPREAD, OLDEST, RANDOM, PATTERNS };

/* A full pool of 4 MiB, with a block in each segment that it can be pinned by. */
typedef struct scene {
    larder_pool *writer, *reader[READERS];
    uint64_t inside[SEGMENTS]; /* the number of one; 0: none */
    uint32_t count;            /* of segments */
    rng r;
} scene;

/* What short and long requests may pin together. */
static uint32_t most_of(const scene *s)
{
    return s->count / 8 * 3 + s->count / 16;
}

static scene open_full(uint64_t seed)
{
    scene s = {.writer = pool_timed(4 * MIB, true), .r = {seed}};
    s.count = s.writer->geometry.segment_count;
    REQUIRE(s.count <= SEGMENTS);
    for (int i = 0; i < READERS; i++) {
        s.reader[i] = pool_timed(4 * MIB, true);
    }
    for (uint64_t i = 1; i <= 4 * MIB / BLOCK; i++) {
        EQUAL(put_block(s.writer, i, BLOCK), LARDER_OK);
    }
    for (uint64_t i = 1; i <= 4 * MIB / BLOCK; i++) {
        larder_hit hit;
        described what;
        if (read_described(s.writer, key_number(i), i, &what, &hit) ==
            READ_WHOLE) { /* from now on it is worth keeping */
            s.inside[hit.segment] = i;
        }
    }
    larder_pool_leave(s.writer);
    for (int i = 0; i < READERS; i++) {
        s.reader[i]->attached.most_short = most_of(&s);
        larder_pool_leave(s.reader[i]); /* from now on they are known for short requests, and may pin much */
    }
    return s;
}

/* How many segments are older than this one? */
static uint32_t older_than(const scene *s, uint32_t segment)
{
    uint32_t older = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        older += s->inside[i] != 0 && s->writer->segments[i].sequence < s->writer->segments[segment].sequence;
    }
    return older;
}

static bool is_chosen(scene *s, enum pattern pattern, uint32_t segment, uint32_t left)
{
    switch (pattern) {
    case SPREAD:
        return (segment + 1) * most_of(s) / s->count != segment * most_of(s) / s->count;
    case OLDEST:
        return older_than(s, segment) < most_of(s);
    case RANDOM:
    case PATTERNS:
        break;
    }
    return rng_below(&s->r, s->count - segment) < left;
}

/* The readers take turns. As many as may be pinned, though all of these requests are short. */
static uint32_t pin_much(scene *s, enum pattern pattern)
{
    uint32_t pinned = 0, most = most_of(s);
    for (uint32_t i = 0; i < s->count && pinned < most; i++) {
        if (s->inside[i] != 0 && is_chosen(s, pattern, i, most - pinned)) {
            CHECK(has_block(s->reader[pinned++ % READERS], s->inside[i]));
        }
    }
    return pinned;
}

TEST(always_stored,
     "what fits in two segments is always stored while nine sixteenths of them are unpinned, wherever the others lie")
{
    uint64_t seed = test_seed();
    for (unsigned round = 0; round < 2 * PATTERNS; round++) {
        scene s = open_full(seed + round);
        uint64_t pinned = pin_much(&s, (enum pattern)(round % PATTERNS)), most = 2 * larder_segment_bytes(s.writer);
        COMPARE(pinned, >=, s.count / 8 * 3);
        for (uint64_t i = 0; i < STORES; i++) {
            /* Header and key take less than 100 bytes; what just fits is the hardest. */
            size_t size = most / (1 + rng_below(&s.r, 2)) - 100 - (i % 2 == 0 ? 0 : rng_below(&s.r, most / 2 - 1000));
            if (!EQUAL(put_block(s.writer, 100000 + rng_below(&s.r, 100), size), LARDER_OK)) {
                printf("    %zu bytes, store %llu of pattern %u\n", size, (unsigned long long)i, round % PATTERNS);
                test_give_up();
            }
        }
        for (int i = 0; i < READERS; i++) {
            pinned -= s.reader[i]->request.pinned_count;
            larder_pool_close(s.reader[i]);
        }
        EQUAL(pinned, 0); /* all of them all the time */
        CHECK_POOL(s.writer);
        larder_pool_close(s.writer);
        pool_remove("p", &(larder_error){.message = ""});
    }
}
