/* Figures for operators. Counters are kept per slot and added up here; nothing is measured in the hot path. */
#ifndef LARDER_STATS_H
#define LARDER_STATS_H

#include "pool.h"

typedef struct larder_stats {
    uint64_t items, bytes; /* alive, or expired and not yet reclaimed */
    uint64_t capacity;     /* bytes that all segments have together */
    uint64_t counters[LARDER_COUNTERS];
    uint64_t segments[LARDER_SEGMENT_STATES];
    uint64_t small_segments, main_segments;
    uint64_t limbo_bytes;
    uint64_t pinned_bytes; /* of the segments that requests pin for as long as they run */
    uint64_t segment_bytes;
    uint32_t processes;          /* slots in use */
    uint64_t oldest_pin_ms;      /* how long the oldest pin has been held; 0: none */
    uint64_t oldest_pin_process; /* whose it is, by the id that its holder knows itself by; 0: none */
} larder_stats;

/* False: the pool cannot be reached, and the figures are all zero. */
bool larder_stats_read(larder_pool *pool, larder_stats *stats);

#endif
