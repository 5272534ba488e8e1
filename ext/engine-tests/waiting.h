/* How long the engine waits, by its own account and not by the clock: on a machine that is busy, nothing takes as long
 * as it should.
 */
#ifndef LARDER_WAITING_H
#define LARDER_WAITING_H

#include <stdint.h>

/* The sum of the naps that this thread has asked the kernel for, in nanoseconds, through nanosleep(): the engine's way
 * of waiting for the segment lock and for a directory's. */
uint64_t waited_ns(void);

/* Called before each of them. NULL: no more. */
void waiting_meddle(void (*meddle)(void));

#endif
