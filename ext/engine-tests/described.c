#include "increment.h"
#include "fixture.h"

typedef struct front {
    uint64_t self; /* of a block: its address; else 0 */
    uint64_t key, version, size;
} front;

static uint64_t pattern(const front *f, size_t word)
{
    return rng_mix(f->key * UINT64_C(0x9e3779b97f4a7c15) + f->version + ((uint64_t)word << 40));
}

typedef struct writing {
    described *what;
    size_t size;
} writing;

static void write_described(const void *context, void *to, uintptr_t address)
{
    const writing *w = context;
    described *what = w->what;
    if (what->versions != NULL) {
        what->version = atomic_fetch_add(what->versions, 1);
    }
    if (what->moments != NULL) {
        what->written = atomic_fetch_add(what->moments, 1) + 1;
    }
    const front f = {.self = what->block ? address : 0, .key = what->key, .version = what->version, .size = w->size};
    uint8_t *at = to;
    memcpy(at, &f, sizeof f);
    for (size_t done = sizeof f; done < w->size; done += sizeof(uint64_t)) {
        uint64_t word = pattern(&f, done / sizeof word);
        memcpy(at + done, &word, w->size - done < sizeof word ? w->size - done : sizeof word);
    }
}

enum larder_result put_described_under(larder_pool *pool, larder_key key, described *what, size_t size,
                                       const larder_terms *terms)
{
    const writing w = {.what = what, .size = size};
    const larder_value value = {.kind = what->block ? BLOCK_KIND : LARDER_BYTES_KIND,
                                .has_abi = what->block,
                                .size = size,
                                .write = write_described,
                                .context = &w};
    return larder_store(pool, &key, &value, terms);
}

enum larder_result put_described(larder_pool *pool, larder_key key, described *what, size_t size, enum larder_mode mode,
                                 uint64_t expiry)
{
    const larder_terms terms = {.mode = mode, .expiry = expiry};
    return put_described_under(pool, key, what, size, &terms);
}

static enum reading judge(const larder_pool *pool, const void *bytes, size_t size, const larder_hit *hit,
                          uintptr_t address, uint64_t number, described *what)
{
    const uint8_t *at = bytes;
    front f;
    if (size < sizeof f) {
        return READ_TORN;
    }
    memcpy(&f, at, sizeof f);
    bool block = hit->hold != LARDER_UNPINNED && hit->item->kind == BLOCK_KIND;
    *what = (described){.key = f.key, .version = f.version, .block = block};
    if (f.key != number || f.size != size || f.self != (block ? address - (uintptr_t)larder_hit_shift(pool, hit) : 0)) {
        return READ_TORN;
    }
    for (size_t done = sizeof f; done < size; done += sizeof(uint64_t)) {
        uint64_t word = pattern(&f, done / sizeof word);
        if (memcmp(at + done, &word, size - done < sizeof word ? size - done : sizeof word) != 0) {
            return READ_TORN;
        }
    }
    return READ_WHOLE;
}

bool was_undone(const larder_pool *pool, enum larder_result result)
{
    return pool->geometry.evict == 0 && (result == LARDER_FULL || result == LARDER_PINNED || result == LARDER_LARGE ||
                                         result == LARDER_BUSY || result == LARDER_LOST);
}

enum reading read_described(larder_pool *pool, larder_key key, uint64_t number, described *what, larder_hit *hit)
{
    size_t size;
    if (!larder_get(pool, &key, hit)) {
        return READ_NOTHING;
    }
    const void *value = larder_hit_value(pool, hit, &size);
    if (hit->hold == LARDER_UNPINNED) {
        enum reading seen = READ_NOTHING;
        void *copy = malloc(value == NULL ? 1 : size + 1); /* what is torn may say any size */
        if (value != NULL) {
            memcpy(copy, value, size);
        }
        bool whole = larder_hit_confirm(pool, hit);
        if (whole && value != NULL) {
            seen = judge(pool, copy, size, hit, (uintptr_t)value, number, what);
        }
        free(copy);
        if (whole || !larder_get_pinned(pool, &key, hit)) {
            return seen;
        }
        value = larder_hit_value(pool, hit, &size);
    }
    enum reading seen = value == NULL ? READ_NOTHING : judge(pool, value, size, hit, (uintptr_t)value, number, what);
    larder_hit_drop(pool, hit);
    return seen;
}

void block_moved(void *copy, size_t size, uint8_t kind, intptr_t move)
{
    uint64_t self;
    (void)size;
    if (kind == BLOCK_KIND) {
        memcpy(&self, copy, sizeof self);
        self += (uint64_t)move;
        memcpy(copy, &self, sizeof self);
    }
}

enum larder_result put_block(larder_pool *pool, uint64_t number, size_t size)
{
    described what = {.key = number, .version = number, .block = true};
    return put_described(pool, key_number(number), &what, size, LARDER_SET, LARDER_NO_EXPIRY);
}

bool has_block(larder_pool *pool, uint64_t number)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    CHECK(seen != READ_TORN);
    return seen == READ_WHOLE;
}

const void *read_block(larder_pool *pool, uint64_t number, size_t *size)
{
    larder_hit hit;
    described what;
    enum reading seen = read_described(pool, key_number(number), number, &what, &hit);
    EQUAL(seen, READ_WHOLE);
    if (seen != READ_WHOLE) {
        test_give_up();
    }
    EQUAL(hit.hold, LARDER_HELD);
    return larder_hit_value(pool, &hit, size);
}

void work_at_random(larder_pool *pool, rng *r, uint64_t keys, size_t most)
{
    uint64_t number = rng_below(r, keys);
    const larder_key key = key_number(number), counter = key_of("counter");
    described what = {.key = number, .version = rng_next(r), .block = rng_below(r, 2) == 0};
    larder_hit hit;
    int64_t now;
    switch (rng_below(r, 7)) {
    case 0:
        larder_delete(pool, &key);
        break;
    case 1:
        larder_touch(pool, &key, LARDER_NO_EXPIRY);
        break;
    case 2:
        larder_increment(pool, &counter, 1, 0, LARDER_NO_EXPIRY, &now);
        break;
    case 3:
        read_described(pool, key, number, &what, &hit);
        break;
    default:
        put_described(pool, key, &what, DESCRIBED_LEAST + rng_below(r, most), LARDER_SET, LARDER_NO_EXPIRY);
    }
}

larder_pool *pool_with_block(void)
{
    larder_pool *pool = pool_timed(4 * MIB, true);
    EQUAL(put_block(pool, 1, 30000), LARDER_OK);
    return pool;
}
