/* Two clocks. The wall clock says when items expire; the logical clock, one per pool, says what is newer: it
 * ticks on every write, delete and clear, and everything that could be stale is judged by it. */
#ifndef LARDER_CLOCK_H
#define LARDER_CLOCK_H

#include "fault.h"
#include "format.h"

/* Milliseconds since 1970, of a clock that is read without a system call. Tests replace it. */
typedef uint64_t (*larder_wall_clock)(void);
uint64_t larder_wall_ms(void);

/* When an item of `ttl` seconds (1 or more) expires; to two milliseconds, which leaves the odd ones to movers. Beyond
 * the clock's range it never does. */
static inline uint64_t larder_expiry(uint64_t now_ms, uint64_t ttl)
{
    return ttl > (LARDER_NO_EXPIRY - 3 - now_ms) / 1000 ? LARDER_NO_EXPIRY : (now_ms + ttl * 1000) & ~UINT64_C(1);
}

/* What the copy of an item that is being moved has instead: odd, but hardly another time. A touch of the copy can then
 * be told from none, even if it gives the item the expiry it had before. */
static inline uint64_t larder_provisional_expiry(uint64_t expiry)
{
    return expiry == LARDER_NO_EXPIRY ? LARDER_NO_EXPIRY - 2 : expiry | 1;
}

/* An item's expiry for a reader: it may be provisional, and remains so if the mover died. */
static inline uint64_t larder_told_expiry(const _Atomic uint64_t *at)
{
    /* relaxed: an expiry stands alone. */
    uint64_t expiry = atomic_load_explicit(at, memory_order_relaxed);
    return expiry == LARDER_NO_EXPIRY - 2 ? LARDER_NO_EXPIRY : expiry;
}

static inline uint64_t larder_now_logical(larder_header *header)
{
    /* acquire: all that was written before the tick we see is visible to us, so that a computation which begins
     * now reads at least that. */
    return atomic_load_explicit(&header->clock, memory_order_acquire);
}

/* model/token.pml: tick() */
static inline uint64_t larder_tick(larder_header *header)
{
    LARDER_FAULT(LARDER_AT_TICK);
    /* seq_cst: ticks, key versions and words take part in Dekker-like protocols (see index.h). */
    return atomic_fetch_add_explicit(&header->clock, 1, memory_order_seq_cst) + 1;
}

/* Raises `*at` to `value` if it is lower. Concurrent raises end at the highest. */
static inline void larder_raise(_Atomic uint64_t *at, uint64_t value)
{
    /* seq_cst, the loads too: as for the tick. If another has raised it already, what we read next must still come
     * after that. */
    uint64_t seen = atomic_load_explicit(at, memory_order_seq_cst);
    while (seen < value &&
           !atomic_compare_exchange_weak_explicit(at, &seen, value, memory_order_seq_cst, memory_order_seq_cst)) {
    }
}

#endif
