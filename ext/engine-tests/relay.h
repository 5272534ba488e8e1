/* Processes that work at once, and are stopped and woken, or killed, at any instruction. Where one was killed another
 * takes its place.
 */
#ifndef LARDER_RELAY_H
#define LARDER_RELAY_H

#include "fixture.h"

#define RELAY_PLACES 4u

typedef struct relay {
    bool deaths;
    rng r; /* which is disturbed, and for how long */
    void (*live)(uint64_t place,
                 uint64_t incarnation); /* in the process; `incarnation` counts those that began before */
    void (*has_died)(uint64_t place);   /* nothing of what it did is still to come */
} relay;

/* One after the other is disturbed, until one of them has come to its end; the rest is theirs. Returns when all have:
 * how many were begun. */
uint64_t relay_run(relay *all);

#endif
