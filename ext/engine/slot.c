#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "slot.h"
#include "descriptor.h"
#include "map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool lock_byte(int fd, uint32_t index, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = LARDER_SLOT_LOCK + (off_t)index, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* A descriptor of our own open-file description, or -1 with errno; the lock on it must not be shared with another
 * slot's. */
static int open_again(const larder_pool *pool)
{
    int fd = larder_open(pool->paths.full, O_RDWR);
    struct stat status;
    if (fd >= 0 &&
        (fstat(fd, &status) != 0 || status.st_dev != pool->attached.device || status.st_ino != pool->attached.inode)) {
        close(fd);
        errno = ENOENT; /* there is none of ours any more */
        return -1;
    }
    return fd;
}

bool larder_slot_has_its_name(const larder_pool *pool)
{
    struct stat status;
    return stat(pool->paths.full, &status) == 0 && status.st_dev == pool->attached.device &&
           status.st_ino == pool->attached.inode;
}

/* The segments that count against quotas as kept by the slot's owner, or none. relaxed: figures. */
static void set_kept(larder_pool *pool, uint32_t index, const _Atomic uint64_t *from)
{
    _Atomic uint64_t *kept = pool->kept + (size_t)index * pool->geometry.pin_words;
    for (uint32_t i = 0; i < pool->geometry.pin_words; i++) {
        uint64_t bits = from == NULL ? 0 : atomic_load_explicit(&from[i], memory_order_relaxed);
        if (atomic_load_explicit(&kept[i], memory_order_relaxed) != bits) {
            atomic_store_explicit(&kept[i], bits, memory_order_relaxed);
        }
    }
}

/* model/pin.pml: take_slot(), bury() */
static void clear_pins(larder_pool *pool, uint32_t index)
{
    _Atomic uint64_t *pins = pool->pins + (size_t)index * pool->geometry.pin_words;
    for (uint32_t i = 0; i < pool->geometry.pin_words; i++) {
        LARDER_FAULT(LARDER_AT_BURY);
        /* release: what the holder read came before. No other process writes here: we hold the slot's lock. */
        if (atomic_load_explicit(&pins[i], memory_order_relaxed) != 0) {
            atomic_store_explicit(&pins[i], 0, memory_order_release);
        }
    }
    atomic_store_explicit(&pool->slots[index].pinned, 0, memory_order_release);
    set_kept(pool, index, NULL);
    /* relaxed: a figure. */
    atomic_store_explicit(&pool->slots[index].pinned_since, 0, memory_order_relaxed);
}

/* model/in_flight.pml: ask(), invalidator(), dead */
static void clear_in_flight(larder_pool *pool, uint32_t index)
{
    for (uint32_t i = 0; i < LARDER_IN_FLIGHT_WORDS; i++) {
        _Atomic uint64_t *word = &pool->slots[index].in_flight[i];
        /* relaxed: we hold the slot's lock, so no other process writes here. Its last holder has promised nothing that
         * it did not finish. */
        if (atomic_load_explicit(word, memory_order_relaxed) != 0) {
            LARDER_FAULT(LARDER_AT_IN_FLIGHT);
            atomic_store_explicit(word, 0, memory_order_relaxed);
        }
    }
}

/* The remains of the slot's last holder: its pins, and its operation in flight. The caller holds the slot's lock. */
static void clear_traces(larder_pool *pool, uint32_t index)
{
    clear_pins(pool, index);
    clear_in_flight(pool, index);
}

/* model/pin.pml: take_slot(), slots_used */
static void note_used(larder_header *header, uint32_t count)
{
    uint32_t seen = atomic_load_explicit(&header->slots_used, memory_order_relaxed);
    LARDER_FAULT(LARDER_AT_SLOT_USED);
    /* seq_cst: a process that looks for pins after a full fence must find this slot counted before its first pin. */
    while (seen < count && !atomic_compare_exchange_weak_explicit(&header->slots_used, &seen, count,
                                                                  memory_order_seq_cst, memory_order_relaxed)) {
    }
}

/* Locks a free slot from that one on through `fd`; LARDER_NO_SLOT if there is none. model/pin.pml: take_slot() */
static uint32_t lock_any(larder_pool *pool, int fd, uint32_t from)
{
    for (uint32_t i = from; i < pool->geometry.slot_count; i++) {
        if (lock_byte(fd, i, F_WRLCK)) {
            LARDER_FAULT(LARDER_AT_SLOT_TAKE);
            clear_traces(pool, i);
            /* relaxed: a figure. */
            atomic_store_explicit(&pool->slots[i].quick, pool->config.short_requests, memory_order_relaxed);
            note_used(pool->header, i + 1);
            return i;
        }
    }
    return LARDER_NO_SLOT;
}

/* model/lock.pml: take_slot(), incarnation */
static void hold(larder_pool *pool, int fd, uint32_t index)
{
    pool->slot = &pool->slots[index];
    pool->writer.slot_index = index;
    pool->attached.slot_fd = fd;
    pool->attached.own_pins = pool->pins + (size_t)index * pool->geometry.pin_words;
    pool->attached.own_kept = pool->kept + (size_t)index * pool->geometry.pin_words;
    larder_map_has_slot(pool->attached.mapping, index, true);
    LARDER_FAULT(LARDER_AT_INCARNATION);
    /* acq_rel: the pins cleared before belong to the incarnation before. */
    pool->writer.incarnation = atomic_fetch_add_explicit(&pool->slot->incarnation, 1, memory_order_acq_rel) + 1;
    /* relaxed: figures. That another process is alone in the pool is to be found out anew. */
    atomic_store_explicit(&pool->header->lonely, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->header->buried_at, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->slot->process, (uint32_t)getpid(), memory_order_relaxed);
}

bool larder_slot_take(larder_pool *pool, larder_error *error)
{
    int fd = open_again(pool), code = errno;
    uint32_t index = fd < 0 ? LARDER_NO_SLOT : lock_any(pool, fd, 0);
    /* Asked once the lock is held. Another version, which knows nothing of a header's mark, may have taken the name
     * away before it could see the lock: formats.h. */
    if (fd < 0 && code != ENOENT) {
        larder_fail(error, "The pool file %s cannot be opened once more (%s); %s.", pool->paths.full, strerror(code),
                    larder_remedy(code, "check who owns it"));
    } else if (fd < 0 || !larder_slot_has_its_name(pool)) {
        larder_fail(error, "The pool file %s was replaced while it was being opened; try again.", pool->paths.full);
    } else if (index == LARDER_NO_SLOT) {
        larder_fail(error,
                    "All %u places for processes in the pool \"%s\" are taken by running ones; make the pool larger "
                    "(larder.size), which gives it more places.",
                    pool->geometry.slot_count, pool->name);
    } else {
        hold(pool, fd, index);
        return true;
    }
    if (fd >= 0) {
        close(fd);
    }
    return false;
}

static void close_and_forget(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
        *fd = -1;
    }
}

/* Its pins are not this process's any more. */
static void part_with(larder_pool *pool)
{
    if (pool->slot != NULL && pool->attached.mapping != NULL) {
        larder_map_has_slot(pool->attached.mapping, pool->writer.slot_index, false);
    }
    pool->slot = NULL;
}

void larder_slot_release(larder_pool *pool)
{
    close_and_forget(&pool->attached.slot_fd);
    close_and_forget(&pool->attached.inherited_fd);
    part_with(pool);
    pool->attached.pins_shared = false;
}

/* model/pin.pml: bury() */
bool larder_slot_bury(larder_pool *pool, uint32_t index)
{
    /* Through the handle's other descriptor: our own slot's lock is in its way as any other process's is. While
     * we hold the lock no process can take the slot and pin something that we would then drop. */
    if (!lock_byte(pool->attached.fd, index, F_WRLCK)) {
        return false;
    }
    clear_traces(pool, index);
    lock_byte(pool->attached.fd, index, F_UNLCK);
    return true;
}

#define SIGHTING_LASTS_MS 10u

bool larder_slot_seems_alive(larder_pool *pool, uint32_t index)
{
    if (pool->slot != NULL && index == pool->writer.slot_index) {
        return true;
    }
    larder_sighting *last = &pool->upkeep.sighted[index % LARDER_SIGHTINGS];
    uint64_t now = larder_pool_now(pool);
    if (last->slot == index && last->attachment == pool->attached.number && now - last->at < SIGHTING_LASTS_MS) {
        return true;
    }
    if (larder_slot_bury(pool, index)) {
        return false;
    }
    *last = (larder_sighting){.at = now, .slot = index, .attachment = pool->attached.number};
    return true;
}

void larder_pins_forget(larder_pool *pool)
{
    while (pool->request.pinned_count > 0) {
        atomic_store_explicit(&pool->pinned[pool->request.pinned_list[--pool->request.pinned_count]], 0,
                              memory_order_relaxed);
    }
    pool->request.kept_count = 0;
}

/* model/fork.pml: parent() */
void larder_slot_before_fork(larder_pool *pool)
{
    pool->attached.spare_index = LARDER_NO_SLOT;
    if (pool->slot == NULL) {
        return;
    }
    pool->attached.spare_fd = open_again(pool);
    if (pool->attached.spare_fd < 0) {
        return;
    }
    /* Behind our own, because pins are looked for in this order: a process that does not see ours any more, because we
     * dropped it after the fork, sees the copy that we made before. */
    pool->attached.spare_index =
        lock_any(pool, pool->attached.spare_fd, pool->request.pinned_count > 0 ? pool->writer.slot_index + 1 : 0);
    if (pool->attached.spare_index == LARDER_NO_SLOT) {
        close_and_forget(&pool->attached.spare_fd);
        return;
    }
    _Atomic uint64_t *spare = pool->pins + (size_t)pool->attached.spare_index * pool->geometry.pin_words;
    for (uint32_t i = 0; i < pool->geometry.pin_words; i++) {
        LARDER_FAULT(LARDER_AT_FORK);
        /* release: our own pins hold these segments until after the fork, so a reclaimer may see either. */
        atomic_store_explicit(&spare[i], atomic_load_explicit(&pool->attached.own_pins[i], memory_order_relaxed),
                              memory_order_release);
    }
    /* relaxed: figures. The copies count as any pins do, from now on. */
    set_kept(pool, pool->attached.spare_index, pool->attached.own_kept);
    larder_slot *slot = &pool->slots[pool->attached.spare_index];
    uint64_t since = atomic_load_explicit(&pool->slot->pinned_since, memory_order_relaxed);
    atomic_store_explicit(&slot->pinned_since, since, memory_order_relaxed);
    atomic_store_explicit(&slot->pinned, pool->request.pinned_count, memory_order_relaxed);
}

void larder_slot_in_parent(larder_pool *pool)
{
    if (pool->attached.spare_index == LARDER_NO_SLOT) {
        pool->attached.pins_shared = pool->slot != NULL && pool->request.pinned_count > 0;
    }
    close_and_forget(&pool->attached.spare_fd); /* the child has it too, and with it the lock */
}

/* What our parent has inherited itself is let go of at the end of the request, as all else that is only held. */
static void keep_inherited(larder_pool *pool)
{
    larder_grave *grave = pool->attached.inherited_fd < 0 ? NULL : malloc(sizeof *grave);
    if (grave != NULL) { /* else it stays until the process ends */
        *grave = (larder_grave){.next = pool->graves, .slot_fd = -1, .inherited_fd = pool->attached.inherited_fd};
        pool->graves = grave;
    }
}

void larder_slot_in_child(larder_pool *pool)
{
    pool->attached.checked_at = 0; /* the parent tried it a moment ago */
    memset(pool->request.leases_held, 0, sizeof pool->request.leases_held);
    /* Locks taken through a shared open-file description do not exclude each other: questions need their own. */
    int own = open_again(pool);
    if (own >= 0) {
        close(pool->attached.fd);
        pool->attached.fd = own;
    } else {
        pool->attached.fork_lost_file = true;
    }
    if (pool->slot == NULL) {
        return;
    }
    if (pool->attached.spare_index == LARDER_NO_SLOT) {
        keep_inherited(pool);
        pool->attached.inherited_fd = pool->attached.slot_fd;
        pool->attached.slot_fd = -1;
        pool->slot = NULL;
        larder_pins_forget(pool);
        return;
    }
    close(pool->attached.slot_fd); /* the parent's; ours must not keep it alive */
    part_with(pool);
    hold(pool, pool->attached.spare_fd, pool->attached.spare_index);
    pool->attached.spare_fd = -1;
}

/* The thread may have closed it just then, and another file may have its number by now. */
static void close_if_pool(const larder_pool *pool, int *fd)
{
    struct stat status;
    if (*fd >= 0 && fstat(*fd, &status) == 0 && status.st_dev == pool->attached.device &&
        status.st_ino == pool->attached.inode) {
        close(*fd);
    }
    *fd = -1;
}

void larder_slot_of_lost_thread(larder_pool *pool)
{
    close_if_pool(pool, &pool->attached.slot_fd);
    close_if_pool(pool, &pool->attached.inherited_fd);
    close_if_pool(pool, &pool->attached.fd);
    part_with(pool);
    pool->request.pinned_count = 0;
    memset(pool->request.leases_held, 0, sizeof pool->request.leases_held);
    /* These may be half changed, and are left as they are. */
    pool->graves = NULL;
    pool->pinned = NULL;
    pool->request.pinned_list = NULL;
    pool->attached.snapshot_fd = -1;
}

/* ---- the loader ------------------------------------------------------------------------------------------- */

/* model/save.pml: is_loading() */
bool larder_slot_loads(larder_pool *pool, uint64_t loader)
{
    uint32_t slot = (uint32_t)loader - 1;
    bool gone;
    if (loader == LARDER_LOADER_COMES) {
        gone = larder_pool_now(pool) - pool->geometry.created >= LARDER_LOADER_COMES_MS;
    } else {
        /* acquire: as for the owner of the segment lock, before it is asked whether it lives. */
        gone = slot >= pool->geometry.slot_count ||
               atomic_load_explicit(&pool->slots[slot].incarnation, memory_order_acquire) != loader >> 32 ||
               !larder_slot_seems_alive(pool, slot);
    }
    if (!gone) {
        return true;
    }
    LARDER_FAULT(LARDER_AT_GIVE_UP);
    /* seq_cst: either the loader finds that the snapshot is no longer its own, or we find that it has begun. */
    return !atomic_compare_exchange_strong_explicit(&pool->header->loader, &loader, 0, memory_order_seq_cst,
                                                    memory_order_seq_cst);
}
