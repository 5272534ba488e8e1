/* Fault points (in builds with LARDER_FAULTS; see engine/fault.h): what happens in the middle of an operation. */
#ifndef LARDER_FAULTS_H
#define LARDER_FAULTS_H

#include "children.h"

#include <stdint.h>

/* At the `skip`+1st time that this process comes to the point (0: to any), `act` is called, once. */
void fault_arm(unsigned point, uint64_t skip, void (*act)(void));
void fault_disarm(void);

/* For `act`: kill -9 of itself. */
void fault_die(void);

/* For `act`: opens the gate to 1, and waits there for 2. */
extern gate *fault_gate;
void fault_stay(void);

/* Calls it at each point that this process comes to, but for those that it comes to itself. NULL: no more. */
void fault_meddle(void (*meddle)(unsigned point));

/* From now on this process gives way at random points: mostly for a moment, at times for long. */
void fault_jitter(uint64_t seed);

/* How often the point was passed since the start. */
uint64_t fault_count(unsigned point);

#endif
