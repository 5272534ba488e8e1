#include "token.h"
#include "tag.h"
#include "underway.h"

#include <stdlib.h>
#include <string.h>

#define PLACES      4096u  /* a power of two, with a quarter to spare */
#define FORGOTTEN   65536u /* bits */
#define FORGOTTEN_W (FORGOTTEN / 64)

typedef struct miss {
    uint64_t name;  /* larder_name_of() a key; never 0 */
    uint64_t token; /* LARDER_NO_TOKEN: it was used up */
    uint32_t turn;  /* its place in `turns` */
} miss;

typedef struct own_event {
    const void *cell;
    uint64_t tick, before; /* before: that of the last event which was not one's own */
} own_event;

struct larder_memory {
    uint32_t misses, events;
    uint32_t turn;  /* where in `turns` the next goes */
    uint64_t floor; /* the oldest of the misses that had to go; LARDER_NO_TOKEN */
    uint64_t since; /* from this tick on, `ticks` of the ticks were this request's own */
    uint64_t ticks;
    uint64_t turns[LARDER_MISSES_MAX]; /* names in the order of their misses; 0: it is not there any more */
    uint64_t forgotten[FORGOTTEN_W];   /* a Bloom filter: the keys whose misses had to go */
    miss miss[PLACES];
    own_event event[LARDER_OWN_MAX];
};

larder_memory *larder_memory_make(void)
{
    larder_memory *memory = calloc(1, sizeof *memory); /* most of it is never touched */
    if (memory != NULL) {
        memory->floor = LARDER_NO_TOKEN;
    }
    return memory;
}

void larder_memory_free(larder_memory *memory)
{
    free(memory);
}

static uint32_t home_of(uint64_t name)
{
    return (uint32_t)(name * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}
_Static_assert(PLACES == 1u << (64 - 52), "the highest twelve bits choose a miss's place");

/* Where the name is, or the free place where it belongs. */
static miss *place_of(larder_memory *memory, uint64_t name)
{
    uint32_t at = home_of(name);
    while (memory->miss[at].name != 0 && memory->miss[at].name != name) {
        at = (at + 1) % PLACES;
    }
    return &memory->miss[at];
}

/* Frees the place; those behind it that would not be found any more move up. */
static void remove_miss(larder_memory *memory, const miss *place)
{
    uint32_t hole = (uint32_t)(place - memory->miss);
    memory->turns[place->turn] = 0;
    memory->misses--;
    for (uint32_t at = (hole + 1) % PLACES; memory->miss[at].name != 0; at = (at + 1) % PLACES) {
        uint32_t from_home = (at - home_of(memory->miss[at].name)) % PLACES;
        if (from_home >= (at - hole) % PLACES) {
            memory->miss[hole] = memory->miss[at];
            hole = at;
        }
    }
    memory->miss[hole].name = 0;
}

/* A key's two bits of the filter. */
static void bits_of(uint64_t name, uint32_t bits[2])
{
    uint64_t mixed = name * UINT64_C(0xd6e8feb86659fd93);
    bits[0] = (uint32_t)(mixed >> 48);
    bits[1] = (uint32_t)(mixed >> 32) & (FORGOTTEN - 1);
}
_Static_assert(FORGOTTEN == 1u << (64 - 48), "the highest sixteen bits choose the first");

/* May it be one of those whose misses had to go? */
static bool is_forgotten(const larder_memory *memory, uint64_t name)
{
    uint32_t bits[2];
    bits_of(name, bits);
    return (memory->forgotten[bits[0] / 64] >> bits[0] % 64 & memory->forgotten[bits[1] / 64] >> bits[1] % 64 & 1) != 0;
}

static void forget(larder_memory *memory, const miss *place)
{
    uint32_t bits[2];
    bits_of(place->name, bits);
    if (place->token != LARDER_NO_TOKEN) {
        memory->forgotten[bits[0] / 64] |= UINT64_C(1) << bits[0] % 64;
        memory->forgotten[bits[1] / 64] |= UINT64_C(1) << bits[1] % 64;
        memory->floor = place->token < memory->floor ? place->token : memory->floor;
    }
    remove_miss(memory, place);
}

static void add_miss(larder_memory *memory, uint64_t name, uint64_t token)
{
    uint64_t oldest = memory->turns[memory->turn];
    if (oldest != 0) {
        forget(memory, place_of(memory, oldest));
    }
    *place_of(memory, name) = (miss){.name = name, .token = token, .turn = memory->turn};
    memory->turns[memory->turn] = name;
    memory->turn = (memory->turn + 1) % LARDER_MISSES_MAX;
    memory->misses++;
}

void larder_memory_forget(larder_memory *memory)
{
    for (uint32_t i = 0; memory->misses > 0; i++) {
        if (memory->turns[i] != 0) {
            remove_miss(memory, place_of(memory, memory->turns[i]));
        }
    }
    memory->turn = 0;
    if (memory->floor != LARDER_NO_TOKEN) {
        memset(memory->forgotten, 0, sizeof memory->forgotten);
        memory->floor = LARDER_NO_TOKEN;
    }
    memory->since = memory->ticks = 0;
    if (memory->events > 0) {
        memset(memory->event, 0, sizeof memory->event);
        memory->events = 0;
    }
}

void larder_memory_outlive(larder_memory *memory)
{
    for (uint32_t i = 0; memory->misses > 0 && i < PLACES; i++) {
        if (memory->miss[i].name != 0 && memory->miss[i].token != LARDER_NO_TOKEN) {
            memory->miss[i].token = LARDER_FOREIGN_TOKEN;
        }
    }
    memory->floor = memory->floor == LARDER_NO_TOKEN ? LARDER_NO_TOKEN : LARDER_FOREIGN_TOKEN;
    memory->since = memory->ticks = 0;
    if (memory->events > 0) {
        memset(memory->event, 0, sizeof memory->event);
        memory->events = 0;
    }
}

static void remember_miss(larder_memory *memory, const larder_key *key, uint64_t token)
{
    uint64_t name = larder_name_of(key);
    miss *place = place_of(memory, name);
    if (place->name == 0) {
        add_miss(memory, name, token);
    } else if (place->token == LARDER_NO_TOKEN) {
        place->token = token;
    }
}

void larder_missed(larder_pool *pool, const larder_key *key)
{
    remember_miss(pool->memory, key, larder_now_logical(pool->header));
}

void larder_missed_nowhere(larder_pool *pool, const larder_key *key)
{
    remember_miss(pool->memory, key, LARDER_FOREIGN_TOKEN);
}

uint64_t larder_missed_take(larder_pool *pool, const larder_key *key)
{
    larder_memory *memory = pool->memory;
    if (memory->misses == 0) {
        return LARDER_NO_TOKEN;
    }
    uint64_t name = larder_name_of(key);
    miss *place = place_of(memory, name);
    bool known = place->name != 0, forgotten = memory->floor != LARDER_NO_TOKEN && is_forgotten(memory, name);
    uint64_t token = known ? place->token : forgotten ? memory->floor : LARDER_NO_TOKEN;
    if (!forgotten) {
        if (known) {
            remove_miss(memory, place);
        }
    } else if (known) {
        place->token = LARDER_NO_TOKEN; /* it is not to be judged by the floor next time */
    } else {
        add_miss(memory, name, LARDER_NO_TOKEN);
    }
    return token;
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
        memory->since = tick - 1; /* somebody else has ticked: count anew */
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

/* Is it what moved the cell to that tick? Backwards only: what was there before is younger if it was damaged. */
static bool is_event(const own_event *event, const void *cell, uint64_t tick)
{
    return event->cell == cell && event->tick == tick && event->before < tick;
}

uint64_t larder_own_note(larder_pool *pool, const void *cell, uint64_t tick, uint64_t before)
{
    larder_memory *memory = pool->memory;
    own_event *event = event_of(memory, cell);
    if (is_event(event, cell, before)) {
        before = event->before; /* nobody finds the cell there any more */
    }
    *event = (own_event){.cell = cell, .tick = tick, .before = before};
    memory->events++;
    return before;
}

uint64_t larder_own_see_through(const larder_pool *pool, const void *cell, uint64_t now)
{
    const own_event *event = event_of(pool->memory, cell);
    return is_event(event, cell, now) ? event->before : now;
}

/* The tag's stamp, and what it would be without this request's own events. */
static uint64_t foreign_stamp(const larder_pool *pool, uint64_t tag, uint64_t *stamp)
{
    _Atomic uint64_t *cells[LARDER_TAG_CELLS];
    uint64_t foreign = UINT64_MAX;
    *stamp = UINT64_MAX;
    larder_tag_cells(pool, tag, cells);
    for (uint32_t i = 0; i < LARDER_TAG_CELLS; i++) {
        uint64_t now = atomic_load_explicit(cells[i], memory_order_seq_cst);
        uint64_t others = larder_own_see_through(pool, cells[i], now);
        *stamp = now < *stamp ? now : *stamp;
        foreign = others < foreign ? others : foreign;
    }
    return foreign;
}

/* model/token.pml: storer(), judge */
bool larder_is_dead_by_now(larder_pool *pool, const uint64_t *tags, uint32_t count, uint64_t token, uint64_t *stamp)
{
    /* First: what is over by then is found in the cells. */
    if (larder_is_underway(pool, tags, count)) {
        return true;
    }
    uint64_t clear = atomic_load_explicit(&pool->header->last_clear, memory_order_seq_cst);
    uint64_t foreign = larder_own_see_through(pool, &pool->header->last_clear, clear);
    *stamp = token > clear ? token : clear;
    LARDER_FAULT(LARDER_AT_JUDGE);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t its, others = foreign_stamp(pool, tags[i], &its);
        foreign = others > foreign ? others : foreign;
        *stamp = its > *stamp ? its : *stamp;
    }
    /* Only after all cells were read: who was alone before may not have been when they were, and would give the item
     * the tick of another's event for its stamp. */
    return foreign > token && !larder_own_are_all(pool, token);
}
