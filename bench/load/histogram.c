#include "histogram.h"

/* Durations below 64 ns have a bucket each; above, the six bits after the leading one choose among 64 of its power. */
static unsigned bucket_of(uint64_t nanoseconds)
{
    if (nanoseconds < LARDER_HISTOGRAM_STEPS) {
        return (unsigned)nanoseconds;
    }
    unsigned power = 63u - (unsigned)__builtin_clzll(nanoseconds);
    unsigned step = (unsigned)(nanoseconds >> (power - 6)) & (LARDER_HISTOGRAM_STEPS - 1);

    return (power - 5) * LARDER_HISTOGRAM_STEPS + step;
}

static uint64_t top_of(unsigned bucket)
{
    if (bucket < LARDER_HISTOGRAM_STEPS) {
        return bucket;
    }
    unsigned power = bucket / LARDER_HISTOGRAM_STEPS + 5;
    uint64_t step = bucket % LARDER_HISTOGRAM_STEPS + LARDER_HISTOGRAM_STEPS + 1;

    return (step << (power - 6)) - 1;
}

void larder_histogram_add(struct larder_histogram *histogram, uint64_t nanoseconds)
{
    if (histogram->count == 0 || nanoseconds < histogram->min) {
        histogram->min = nanoseconds;
    }
    if (nanoseconds > histogram->max) {
        histogram->max = nanoseconds;
    }
    histogram->count++;
    histogram->sum += nanoseconds;
    histogram->buckets[bucket_of(nanoseconds)]++;
}

uint64_t larder_histogram_percentile(const struct larder_histogram *histogram, double share)
{
    uint64_t wanted = (uint64_t)(share * (double)histogram->count);
    uint64_t seen = 0;

    for (unsigned bucket = 0; bucket < LARDER_HISTOGRAM_BUCKETS; bucket++) {
        seen += histogram->buckets[bucket];
        if (seen > wanted) {
            uint64_t top = top_of(bucket);
            return top < histogram->max ? top : histogram->max;
        }
    }

    return histogram->max;
}
