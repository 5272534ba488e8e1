/* Pins: a process's marks on the segments it reads from.
 *
 * Invariant: a segment whose bit is set in the pins of a living slot, set under generation g and confirmed while the
 * segment still had generation g, keeps its bytes until the bit is cleared.
 *
 * Reader and reclaimer each write one thing and read the other's, with a full fence in between, so that at least
 * one of them sees the other:
 *
 *     reader:    set the pin | full fence | load the generation: unchanged, or give up
 *     reclaimer: raise the generation | full fence | load the pins: none, or leave the segment in limbo
 *
 * So do a writer and a process that is about to take a sealed segment for dead: either the writer finds it sealed and
 * reserves nothing there, or its pin is seen and the segment left alone.
 *
 * A pin that hands out values lasts until the request ends; quota.h says how many of them may. A pin under which
 * something is only looked at or copied is brief. Both are one bit; a process never sets a bit it has set already.
 */
#ifndef LARDER_PIN_H
#define LARDER_PIN_H

#include "pool.h"

/* Pins the segment under that generation. False: it has moved on, and nothing is pinned. */
bool larder_pin_set(larder_pool *pool, uint32_t segment, uint32_t generation);

/* A pin is kept until the request ends: since when is written down. */
void larder_pin_keep(larder_pool *pool);

/* Drops one pin. */
void larder_pin_drop(larder_pool *pool, uint32_t segment);

/* Drops all. */
void larder_pins_drop(larder_pool *pool);

/* Does any process pin it? Buries the dead it meets. Begins with a full fence. */
bool larder_pinned_by_any(larder_pool *pool, uint32_t segment);

/* 0, or generation + 1 under which this process pins the segment, with or without LARDER_PINNED_APART. */
static inline uint32_t larder_pinned(const larder_pool *pool, uint32_t segment)
{
    /* relaxed: its owner writes it, and so does the handler of a signal; see map.h. */
    return atomic_load_explicit(&pool->pinned[segment], memory_order_relaxed);
}

static inline bool larder_pin_holds(const larder_pool *pool, uint32_t segment, uint32_t generation)
{
    return (larder_pinned(pool, segment) & ~LARDER_PINNED_APART) == generation + 1;
}

/* May what lies in the segment, which it pins, be used where PHP sees it? */
static inline bool larder_is_in_place(const larder_pool *pool, uint32_t segment)
{
    return (larder_pinned(pool, segment) & LARDER_PINNED_APART) == 0;
}

#endif
