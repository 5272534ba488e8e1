/* Leases: the right of one process to compute a missing item while the others wait, or serve what they have.
 *
 * A lease is one word in a table, at a place that follows from the key. It is taken by a CAS, and it ends when its
 * holder gives it back, dies (its slot's lock says so, as everywhere), or has had it for too long. Whoever needs it
 * then takes it over. Nothing depends on a lease but work done twice: two keys that meet at one place, or a holder that
 * was stopped and wakes up after its time, make two computations, and the fills of both are judged by their tokens.
 *
 *     word = tag of the key (16 bits) | end, in tenths of a second (27) | incarnation (8) | slot + 1 (13)
 *
 * After a computation that failed nobody is to try again at once: then nobody has the lease, for a time.
 */
#ifndef LARDER_LEASE_H
#define LARDER_LEASE_H

#include "index.h"

#define LARDER_LEASE_MS     10000u /* that a holder has, unless it asks for another time */
#define LARDER_LEASE_MOST_S 3600u
#define LARDER_WAITERS_MAX  256u /* at one lease; others go on without */

enum larder_lease_result {
    LARDER_LEASE_TAKEN,  /* it is ours: larder_lease_give_back() it */
    LARDER_LEASE_HELD,   /* somebody else computes this key */
    LARDER_LEASE_OURS,   /* this process does so already, further up in its calls */
    LARDER_LEASE_NOWHERE /* another key's lease is in its place, or the pool cannot be used: go on without */
};

enum larder_lease_result larder_lease_take(larder_pool *pool, const larder_key *key, uint32_t milliseconds);
void larder_lease_give_back(larder_pool *pool, const larder_key *key);

/* Gives it back, but in such a way that nobody has it for so long, whatever becomes of this process. */
void larder_lease_hold_off(larder_pool *pool, const larder_key *key, uint32_t milliseconds);

/* Waits, for so long at most, until the key's lease is free, its holder dead or past its time, or the pool removed or
 * saved; not at all if too many wait already. Is it to be had? */
bool larder_lease_wait(larder_pool *pool, const larder_key *key, uint32_t milliseconds);

/* The request ends: gives all back that it still has. */
void larder_leases_end(larder_pool *pool);

#endif
