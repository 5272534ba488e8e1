/* Counts durations in buckets whose width grows with the duration, so that each is known to within two per cent. */
#ifndef LARDER_LOAD_HISTOGRAM_H
#define LARDER_LOAD_HISTOGRAM_H

#include <stdint.h>

/* 64 buckets for each power of two from 1 ns to 2^63 ns. */
#define LARDER_HISTOGRAM_STEPS   64
#define LARDER_HISTOGRAM_BUCKETS (58 * LARDER_HISTOGRAM_STEPS + LARDER_HISTOGRAM_STEPS)

struct larder_histogram {
    uint64_t count;
    uint64_t sum;
    uint64_t min;
    uint64_t max;
    uint64_t buckets[LARDER_HISTOGRAM_BUCKETS];
};

void larder_histogram_add(struct larder_histogram *histogram, uint64_t nanoseconds);

/* The duration that this share of all durations (0 to 1) does not exceed. */
uint64_t larder_histogram_percentile(const struct larder_histogram *histogram, double share);

#endif
