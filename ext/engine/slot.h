/* Slots: the places of processes (threads, under ZTS) in a pool.
 *
 * A slot is held by an open-file-description lock on one byte of the pool file, through a descriptor of its own.
 * Such a lock is dropped by the kernel at any death of its holder, is not dropped when some library closes another
 * descriptor of the file (as POSIX record locks are), and is held on as long as a forked child still has it. No
 * process id is used: ids are reused, and mean nothing across containers.
 */
#ifndef LARDER_SLOT_H
#define LARDER_SLOT_H

#include "pool.h"

/* Takes a slot for this handle: raises its incarnation and drops the pins of the process that died in it. */
bool larder_slot_take(larder_pool *pool, larder_error *error);

/* Does the pool's path lead to the file that this handle has open? */
bool larder_slot_has_its_name(const larder_pool *pool);

/* Gives the slot back. Its pins fall when the lock does: the next one to need them buries it. */
void larder_slot_release(larder_pool *pool);

/* Slots ever taken: no process needs to look beyond. */
static inline uint32_t larder_slots_used(const larder_pool *pool)
{
    /* seq_cst: after a full fence, a process that pinned before it is counted. Where a pin is found dropped (acquire),
     * the copy that was made of it before, for a child, is counted, too. */
    uint32_t used = atomic_load_explicit(&pool->header->slots_used, memory_order_seq_cst);
    return used < pool->geometry.slot_count ? used : pool->geometry.slot_count;
}

/* If the slot's holder is dead, drops its pins and returns true. Also true for a slot no process holds. */
bool larder_slot_bury(larder_pool *pool, uint32_t index);

/* The same the other way round, for where it is asked often and the dead may wait: a process that makes room meets the
 * pins of the same few processes again and again, and a question to the kernel costs as much as a small store. A
 * holder who was seen alive is taken for alive for 10 ms. */
bool larder_slot_seems_alive(larder_pool *pool, uint32_t index);

/* Forgets them in this process, leaving the slot's bits as they are (it was retired, or is a parent's). */
void larder_pins_forget(larder_pool *pool);

/* Around a fork. Before it the parent takes a second slot and pins there what it pins in its own; the child
 * becomes that slot's holder, so that values read before the fork stay where they are in both. */
void larder_slot_before_fork(larder_pool *pool);
void larder_slot_in_parent(larder_pool *pool);
void larder_slot_in_child(larder_pool *pool);

/* In a child: the handle of a thread that only the parent has, in whatever state it was. It is never used again; that
 * its slot stays the parent's alone is what matters, and that closing it later does no harm. */
void larder_slot_of_lost_thread(larder_pool *pool);

/* ---- the loader of the snapshot that the pool began with (snapshot.h) ---- */

#define LARDER_LOADER_COMES_MS 10000u

/* Does the process that is named as the loader still load? Not if it is dead, or has not begun in that time. */
bool larder_slot_loads(larder_pool *pool, uint64_t loader);

/* May a value yet come to this pool out of its snapshot? */
static inline bool larder_pool_is_loading(larder_pool *pool)
{
    /* acquire: if not, all that came is there to be replaced. */
    uint64_t loader = atomic_load_explicit(&pool->header->loader, memory_order_acquire);
    return loader != 0 && larder_slot_loads(pool, loader);
}

#endif
