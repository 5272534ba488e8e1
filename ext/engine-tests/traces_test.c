/* Miss ratios on recorded accesses, against an LRU that holds exactly as many items as the pool held at most. Every
 * miss is followed by a store; all values have one size. LARDER_TRACES names the directory with the unpacked traces.
 */
#include "fixture.h"

typedef struct trace {
    uint32_t *access; /* keys, renumbered from 0 in order of appearance */
    size_t length;
    uint32_t keys;
} trace;

static uint32_t number_of(uint64_t *table, size_t size, uint32_t key, uint32_t *count)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) % size;
    while (table[at] != 0 && table[at] >> 32 != key) {
        at = (at + 1) % size;
    }
    if (table[at] == 0) {
        table[at] = (uint64_t)key << 32 | ++*count;
    }
    return (uint32_t)table[at] - 1;
}

static trace load(const char *name, size_t most)
{
    char path[1024];
    const char *directory = getenv("LARDER_TRACES");
    snprintf(path, sizeof path, "%s/%s.trace", directory == NULL ? "." : directory, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        test_failed(__FILE__, __LINE__, "there is no %s; set LARDER_TRACES", path);
        test_give_up();
    }
    enum { TABLE = 1 << 20 };
    uint64_t *table = calloc(TABLE, sizeof *table);
    trace t = {.access = malloc(most * sizeof *t.access)};
    uint8_t bytes[4];
    while (t.length < most && fread(bytes, 1, 4, file) == 4) {
        uint32_t key = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
        t.access[t.length++] = number_of(table, TABLE, key + 1, &t.keys);
    }
    free(table);
    fclose(file);
    REQUIRE(t.length > 1000);
    return t;
}

/* ---- the LRU --------------------------------------------------------------------------------------------- */

typedef struct lru {
    uint32_t *next, *previous; /* a ring through `keys`, the sentinel; next[k] == NOWHERE: not held */
    uint32_t keys, count;
} lru;

#define NOWHERE UINT32_MAX

static void unlink_key(lru *l, uint32_t key)
{
    l->next[l->previous[key]] = l->next[key];
    l->previous[l->next[key]] = l->previous[key];
    l->next[key] = NOWHERE;
    l->count--;
}

static void push_key(lru *l, uint32_t key)
{
    uint32_t first = l->next[l->keys];
    l->next[key] = first;
    l->previous[key] = l->keys;
    l->previous[first] = key;
    l->next[l->keys] = key;
    l->count++;
}

static double lru_misses(const trace *t, uint64_t capacity)
{
    lru l = {.next = malloc((t->keys + 1) * sizeof(uint32_t)),
             .previous = malloc((t->keys + 1) * sizeof(uint32_t)),
             .keys = t->keys};
    memset(l.next, 0xff, (t->keys + 1) * sizeof(uint32_t));
    l.next[t->keys] = l.previous[t->keys] = t->keys;
    uint64_t misses = 0;
    for (size_t i = 0; i < t->length; i++) {
        uint32_t key = t->access[i];
        if (l.next[key] != NOWHERE) {
            unlink_key(&l, key);
        } else {
            misses++;
            if (l.count == capacity) {
                unlink_key(&l, l.previous[t->keys]);
            }
        }
        push_key(&l, key);
    }
    free(l.next);
    free(l.previous);
    return (double)misses / (double)t->length;
}

/* ---- the engine ------------------------------------------------------------------------------------------ */

typedef struct outcome {
    double misses;
    uint64_t most; /* items alive at once */
    uint64_t capacity, bytes;
} outcome;

static outcome replay(const trace *t, uint64_t wanted)
{
    static char value[100000], back[100000];
    larder_pool_config config = pool_config("p", 4 * MIB);
    config.now = clock_now;
    larder_pool *pool = pool_open_as(&config);
    uint64_t room = (uint64_t)(pool->geometry.segment_count - 2) * larder_segment_bytes(pool);
    size_t size = room / wanted - sizeof(larder_item) - 4;
    outcome o = {.capacity = room};
    uint64_t misses = 0;
    for (size_t i = 0; i < t->length; i++) {
        const char *bytes = (const char *)&t->access[i];
        const larder_key key = {bytes, 4, larder_hash(bytes, 4)};
        size_t found;
        if (!take(pool, key, back, sizeof back, &found)) {
            misses++;
            EQUAL(put_bytes(pool, key, value, size), LARDER_OK);
        }
        if (i % 256 == 0) {
            larder_stats stats;
            larder_pool_leave(pool);
            larder_stats_read(pool, &stats);
            o.most = stats.items > o.most ? stats.items : o.most;
            o.bytes = stats.bytes > o.bytes ? stats.bytes : o.bytes;
        }
    }
    CHECK_POOL(pool);
    larder_pool_close(pool);
    larder_pool_remove(test_directory(), "p", &(larder_error){.message = ""});
    o.misses = (double)misses / (double)t->length;
    return o;
}

static void compare(const char *name, const trace *t, double share)
{
    outcome o = replay(t, (uint64_t)(share * t->keys));
    double reference = lru_misses(t, o.most);
    printf("    %-8s %5llu items, %3.0f %% of the bytes in use: misses %.4f, an LRU's %.4f\n", name,
           (unsigned long long)o.most, 100.0 * (double)o.bytes / (double)o.capacity, o.misses, reference);
    if (o.misses > reference) {
        test_failed(__FILE__, __LINE__, "%s at %llu items: %.4f is worse than an LRU's %.4f", name,
                    (unsigned long long)o.most, o.misses, reference);
    }
    COMPARE(o.bytes * 100, >=,
            o.capacity * 90); /* a pool that holds less than it could is not excused by its reserves */
}

TEST(web, "product pages: no more misses than an LRU of as many items, at 5, 10 and 25 % of the keys")
{
    trace t = load("web07", 80000);
    compare("web07", &t, 0.05);
    compare("web07", &t, 0.10);
    compare("web07", &t, 0.25);
    free(t.access);
}

TEST(orm, "database objects: no more misses than an LRU of as many items, at 5, 10 and 25 % of the keys")
{
    trace t = load("orm-busy", 5000000);
    compare("orm-busy", &t, 0.05);
    compare("orm-busy", &t, 0.10);
    compare("orm-busy", &t, 0.25);
    free(t.access);
}
