#include "token.h"
#include "recent.h"
#include "slot.h"
#include "tag.h"
#include "in_flight.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_FIRST 64u /* a power of two, as all that follow: a quarter is to spare */
_Static_assert(LARDER_MISSES_MAX % 3 == 0 && (LARDER_MISSES_MAX / 3 & (LARDER_MISSES_MAX / 3 - 1)) == 0,
               "three quarters of a power of two are remembered at most");

typedef struct miss {
    uint64_t name; /* larder_name_of() a key; 0: the place is free */
    uint64_t token;
} miss;

/* The misses of some minutes. */
typedef struct misses {
    uint32_t count, bits; /* 1 << bits places */
    miss *places;         /* `first`, or from malloc() */
    miss first[PLACES_FIRST];
} misses;

typedef struct own_event {
    const void *cell;
    uint64_t tick, before; /* before: that of the last event which was not one's own */
} own_event;

struct larder_memory {
    larder_missed_bits bits; /* first: see token.h */
    larder_missed_bits young_bits;
    bool marked; /* are any of the bits set? */
    misses young, old;
    uint64_t began; /* ms; when the first of the young ones can have been missed */
    bool is_loaded; /* no miss that comes can have been while the pool's snapshot was being loaded */
    uint64_t doubt; /* ... but those up to this token can; 0: none */
    uint64_t since; /* from this tick on, `ticks` of the ticks were this request's own */
    uint64_t ticks;
    uint64_t noted[LARDER_OWN_MAX / 64]; /* a bit for each event that there may be */
    own_event event[LARDER_OWN_MAX];
};

/* ---- misses ---------------------------------------------------------------------------------------------- */

static void use_first_places(misses *its)
{
    its->places = its->first;
    its->bits = (uint32_t)__builtin_ctz(PLACES_FIRST);
    its->count = 0;
}

static void forget_misses(misses *its)
{
    if (its->places != its->first) {
        free(its->places);
    } else if (its->count > 0) {
        memset(its->first, 0, sizeof its->first);
    }
    use_first_places(its);
}

larder_memory *larder_memory_make(void)
{
    larder_memory *memory = calloc(1, sizeof *memory); /* most of it is never touched */
    if (memory != NULL) {
        use_first_places(&memory->young);
        use_first_places(&memory->old);
    }
    return memory;
}

void larder_memory_free(larder_memory *memory)
{
    if (memory != NULL) {
        forget_misses(&memory->young);
        forget_misses(&memory->old);
        free(memory);
    }
}

static uint32_t next_of(const misses *its, uint32_t at)
{
    return (at + 1) & ((UINT32_C(1) << its->bits) - 1);
}

static uint32_t home_of(const misses *its, uint64_t name)
{
    return (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> (64 - its->bits));
}

/* Where the name is, or the free place where it belongs. */
static uint32_t place_of(const misses *its, uint64_t name)
{
    uint32_t at = home_of(its, name);
    while (its->places[at].name != 0 && its->places[at].name != name) {
        at = next_of(its, at);
    }
    return at;
}

/* Frees the place; those behind it that would not be found any more move up. */
static void remove_miss(misses *its, uint32_t hole)
{
    uint32_t last = (UINT32_C(1) << its->bits) - 1;
    its->count--;
    for (uint32_t at = next_of(its, hole); its->places[at].name != 0; at = next_of(its, at)) {
        uint32_t from_home = (at - home_of(its, its->places[at].name)) & last;
        if (from_home >= ((at - hole) & last)) {
            its->places[hole] = its->places[at];
            hole = at;
        }
    }
    its->places[hole].name = 0;
}

/* Twice as many places. False: there is no memory. */
static bool grow(misses *its)
{
    misses larger = {.count = its->count, .bits = its->bits + 1};
    larger.places = calloc(UINT64_C(1) << larger.bits, sizeof *larger.places);
    if (larger.places == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < UINT32_C(1) << its->bits; i++) {
        if (its->places[i].name != 0) {
            larger.places[place_of(&larger, its->places[i].name)] = its->places[i];
        }
    }
    forget_misses(its);
    its->count = larger.count;
    its->bits = larger.bits;
    its->places = larger.places;
    return true;
}

/* The young grow old, and the old are forgotten. */
static void turn(larder_memory *memory)
{
    forget_misses(&memory->old);
    bool are_first = memory->young.places == memory->young.first;
    memory->old = memory->young;
    memory->old.places = are_first ? memory->old.first : memory->young.places;
    memset(memory->young.first, 0, sizeof memory->young.first);
    use_first_places(&memory->young);
    memory->bits = memory->young_bits;
    memset(&memory->young_bits, 0, sizeof memory->young_bits);
}

void larder_memory_age(larder_memory *memory, uint64_t now)
{
    if (memory->young.count + memory->old.count == 0 || now < memory->began) {
        memory->began = now; /* whatever is missed from here on; or the clock was set back */
        return;
    }
    for (int turns = 0; turns < 2 && now - memory->began >= LARDER_MISSES_MS; turns++) {
        turn(memory);
        memory->began = turns == 0 ? memory->began + LARDER_MISSES_MS : now;
    }
}

static uint64_t earlier(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* So that a hit of the key looks for its miss. */
static void mark(larder_memory *memory, const larder_key *key)
{
    uint32_t bit = larder_missed_bit(key);
    memory->bits.word[bit / 64] |= UINT64_C(1) << bit % 64;
    memory->young_bits.word[bit / 64] |= UINT64_C(1) << bit % 64;
    memory->marked = true;
}

static void remember_miss(larder_memory *memory, const larder_key *key, uint64_t token)
{
    misses *young = &memory->young;
    uint64_t name = larder_name_of(key);
    uint32_t at = place_of(young, name);
    if (young->places[at].name != 0) {
        return;
    }
    if (young->count >= (UINT32_C(3) << young->bits) / 4) {
        if (young->count >= LARDER_MISSES_MAX || !grow(young)) {
            turn(memory);
        }
        at = place_of(young, name);
    }
    young->places[at] = (miss){.name = name, .token = token};
    young->count++;
    mark(memory, key);
}

/* The token of the name's miss among these, which is used up; LARDER_NO_TOKEN. */
static uint64_t take_from(misses *its, uint64_t name)
{
    uint64_t token = LARDER_NO_TOKEN;
    uint32_t at = place_of(its, name);
    if (its->places[at].name != 0) {
        token = its->places[at].token;
        remove_miss(its, at);
    }
    return token;
}

/* Those that there are: most requests have few, and to clear the whole table takes a microsecond. */
static void forget_events(larder_memory *memory)
{
    for (uint32_t i = 0; i < LARDER_OWN_MAX / 64; i++) {
        for (uint64_t bits = memory->noted[i]; bits != 0; bits &= bits - 1) {
            memory->event[64 * i + (uint32_t)__builtin_ctzll(bits)].cell = NULL;
        }
        memory->noted[i] = 0;
    }
    memory->since = memory->ticks = 0;
}

void larder_memory_forget(larder_memory *memory)
{
    forget_misses(&memory->young);
    forget_misses(&memory->old);
    if (memory->marked) {
        memset(&memory->bits, 0, sizeof memory->bits);
        memset(&memory->young_bits, 0, sizeof memory->young_bits);
        memory->marked = false;
    }
    memory->doubt = 0;
    forget_events(memory);
}

static void make_foreign(misses *its)
{
    for (uint32_t i = 0; its->count > 0 && i < UINT32_C(1) << its->bits; i++) {
        its->places[i].token = LARDER_FOREIGN_TOKEN;
    }
}

void larder_memory_outlive(larder_memory *memory)
{
    make_foreign(&memory->young);
    make_foreign(&memory->old);
    memory->doubt = 0;
    forget_events(memory);
}

void larder_missed(larder_pool *pool, const larder_key *key)
{
    uint64_t token = larder_now_logical(pool->header);
    if (!pool->memory->is_loaded) {
        /* This miss was before we look, and the last item may have come in between. */
        pool->memory->is_loaded = !larder_pool_is_loading(pool);
        pool->memory->doubt = token;
    }
    remember_miss(pool->memory, key, token);
}

void larder_memory_watch_loading(larder_pool *pool)
{
    /* acquire: as in larder_pool_is_loading(). Whether the loader is alive, the first miss asks. */
    pool->memory->is_loaded = atomic_load_explicit(&pool->header->loader, memory_order_acquire) == 0;
}

bool larder_missed_in_doubt(const larder_pool *pool, uint64_t token)
{
    return token <= pool->memory->doubt;
}

void larder_missed_nowhere(larder_pool *pool, const larder_key *key)
{
    remember_miss(pool->memory, key, LARDER_FOREIGN_TOKEN);
}

uint64_t larder_missed_take(larder_pool *pool, const larder_key *key)
{
    larder_memory *memory = pool->memory;
    if (memory->young.count + memory->old.count == 0) {
        return LARDER_NO_TOKEN;
    }
    uint64_t name = larder_name_of(key), token = take_from(&memory->young, name);
    return memory->old.count == 0 ? token : earlier(token, take_from(&memory->old, name));
}

/* ---- own events ---------------------------------------------------------------------------------------- */

#define NEARBY 8u /* places in which a cell's event may be */

/* Where the cell's last event is, or belongs: if there is no room, in the place of another's. */
static own_event *event_of(larder_memory *memory, const void *cell)
{
    uint64_t home = ((uint64_t)(uintptr_t)cell >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 54;
    for (uint64_t i = home; i < home + NEARBY; i++) {
        own_event *event = &memory->event[i % LARDER_OWN_MAX];
        if (event->cell == cell || event->cell == NULL) {
            return event;
        }
    }
    return &memory->event[home];
}
_Static_assert(LARDER_OWN_MAX == 1024, "the highest ten bits choose an event's home");

/* model/token.pml: tick() */
uint64_t larder_own_tick(larder_pool *pool)
{
    larder_memory *memory = pool->memory;
    uint64_t tick = larder_tick(pool->header);
    if (tick != memory->since + memory->ticks + 1) {
        memory->since = tick - 1; /* another process has ticked: count anew */
        memory->ticks = 0;
    }
    memory->ticks++;
    return tick;
}

/* model/token.pml: own_are_all */
bool larder_own_are_all(const larder_pool *pool, uint64_t token)
{
    const larder_memory *memory = pool->memory;
    return token >= memory->since && memory->since + memory->ticks == larder_now_logical(pool->header);
}

/* model/token.pml: own_move() */
uint64_t larder_own_move(larder_pool *pool, _Atomic uint64_t *cell, enum larder_fault_point point, uint64_t *before)
{
    uint64_t began = larder_own_tick(pool), tick = began;
    (void)point; /* where there are no fault points */
    LARDER_FAULT(point);
    /* seq_cst: as for the tick. */
    *before = atomic_load_explicit(cell, memory_order_seq_cst);
    do {
        /* No cell is ahead of the clock, unless it was damaged; then it is set right. */
        while (*before >= tick && *before <= larder_now_logical(pool->header)) {
            tick = larder_own_tick(pool);
        }
    } while (!atomic_compare_exchange_weak_explicit(cell, before, tick, memory_order_seq_cst, memory_order_seq_cst));
    *before = larder_own_note(pool, cell, tick, *before);
    return began;
}

/* Is it what moved the cell to that tick? Backwards only: the former tick is younger if it was damaged. */
static bool is_event(const own_event *event, const void *cell, uint64_t tick)
{
    return event->cell == cell && event->tick == tick && event->before < tick;
}

uint64_t larder_own_note(larder_pool *pool, const void *cell, uint64_t tick, uint64_t before)
{
    larder_memory *memory = pool->memory;
    own_event *event = event_of(memory, cell);
    if (is_event(event, cell, before)) {
        before = event->before; /* no process finds the cell there any more */
    }
    *event = (own_event){.cell = cell, .tick = tick, .before = before};
    uint32_t place = (uint32_t)(event - memory->event);
    memory->noted[place / 64] |= UINT64_C(1) << place % 64;
    return before;
}

uint64_t larder_own_see_through(const larder_pool *pool, const void *cell, uint64_t now)
{
    const own_event *event = event_of(pool->memory, cell);
    return is_event(event, cell, now) ? event->before : now;
}

/* By the table of recent invalidations: an item that is older than that is not read. */
static uint64_t youngest_entry(const larder_pool *pool, const uint64_t *tags, uint32_t count)
{
    uint64_t youngest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t version = larder_recent_version(pool, tags[i]);
        youngest = version > youngest ? version : youngest;
    }
    return youngest;
}

/* The tag's version by its cells, and the version that it would have without this request's own events. */
static uint64_t foreign_version(const larder_pool *pool, uint64_t tag, uint64_t *version)
{
    _Atomic uint64_t *cells[LARDER_TAG_CELLS];
    uint64_t foreign = UINT64_MAX;
    *version = UINT64_MAX;
    larder_tag_cells(pool, tag, cells);
    for (uint32_t i = 0; i < LARDER_TAG_CELLS; i++) {
        uint64_t now = atomic_load_explicit(cells[i], memory_order_seq_cst);
        uint64_t others = larder_own_see_through(pool, cells[i], now);
        *version = now < *version ? now : *version;
        foreign = others < foreign ? others : foreign;
    }
    return foreign;
}

/* model/token.pml: storer(), judge */
bool larder_is_dead_by_now(larder_pool *pool, const uint64_t *tags, uint32_t count, uint64_t token, uint64_t *version)
{
    /* Before the cells: an invalidation of one of these tags whose entry is found here is found there, too. So the
     * version may be raised to the entry of a stranger, or of one's own: T4 of tag.h. */
    uint64_t entry = youngest_entry(pool, tags, count);
    /* Then: invalidations that are over by now are found in the cells. */
    if (larder_is_in_flight(pool, tags, count)) {
        return true;
    }
    uint64_t clear = atomic_load_explicit(&pool->header->last_clear, memory_order_seq_cst);
    uint64_t foreign = larder_own_see_through(pool, &pool->header->last_clear, clear);
    *version = token > clear ? token : clear;
    *version = entry > *version ? entry : *version;
    LARDER_FAULT(LARDER_AT_JUDGE);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t its, others = foreign_version(pool, tags[i], &its);
        foreign = others > foreign ? others : foreign;
        *version = its > *version ? its : *version;
    }
    /* Only after all cells were read: a process that was alone before may not have been when they were, and would give
     * the item the tick of another's event for its version. */
    return foreign > token && !larder_own_are_all(pool, token);
}
