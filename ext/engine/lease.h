/* Leases: the right of one process to compute a missing item while the others wait, or serve what they have.
 *
 * A lease is one word in a table, at a place that follows from the key. It is taken by a CAS, and it ends when its
 * holder gives it back, dies (its slot's lock says so, as everywhere), or has had it for too long. A process that
 * needs it then takes it over. Nothing depends on a lease but work done twice: two keys that meet at one place, or a
 * holder that was stopped and wakes up after its time, make two computations, and the fills of both are judged by
 * their tokens.
 *
 *     word = tag of the key (16 bits) | end, in tenths of a second (27) | incarnation (8) | slot + 1 (13)
 *
 * After a computation that failed no process should try again at once: for a time the lease cannot be had.
 */
#ifndef LARDER_LEASE_H
#define LARDER_LEASE_H

#include "pool.h"
#include "terms.h"

/* The request ends: gives all back that it still has. */
void larder_leases_end(larder_pool *pool);

#endif
