#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "enter.h"
#include "aside.h"
#include "attach.h"
#include "formats.h"
#include "larder.h"
#include "map.h"
#include "slot.h"
#include "token.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CHECK_EVERY_MS    100u /* how long a pool may be gone before a long-running process looks */
#define CHECK_EVERY_CALLS 64   /* ... and operations, when they come quickly */

/* The pool is no longer the one of its name. Values that this request holds stay where they are until it ends. */
static bool reattach(larder_pool *pool)
{
    if ((pool->request.pinned_count > 0 || pool->attached.inherited_fd >= 0) && pool->request.in_request) {
        larder_grave *grave = malloc(sizeof *grave);
        if (grave == NULL) {
            return false;
        }
        *grave = (larder_grave){.next = pool->graves,
                                .mapping = pool->attached.mapping,
                                .ro = pool->ro,
                                .size = pool->geometry.size,
                                .slot_fd = pool->attached.slot_fd,
                                .inherited_fd = pool->attached.inherited_fd};
        pool->graves = grave;
        pool->attached.inherited_fd = -1;
        pool->attached.slot_fd = -1;
        pool->slot = NULL;
        larder_pins_forget(pool);
        larder_map_give_marks_back(pool);
        pool->attached.mapping = NULL;
    }
    larder_detach(pool);
    return larder_attach(pool, &pool->request.trouble);
}

/* The file that lies there. A request that begins within CHECK_EVERY_MS of the last look asks for the open file instead
 * of the path, which takes a third of the time: one that was removed or replaced has no name left. A renamed one is
 * found as late as in a request that goes on. */
static bool look(larder_pool *pool, struct stat *status)
{
    if (pool->attached.slot_fd >= 0 && pool->attached.checked_at - pool->attached.named_at < CHECK_EVERY_MS) {
        return fstat(pool->attached.slot_fd, status) == 0 && status->st_nlink > 0;
    }
    pool->attached.named_at = pool->attached.checked_at;
    return stat(pool->paths.full, status) == 0;
}

static bool is_sound(larder_pool *pool)
{
    struct stat status;
    return atomic_load_explicit(&pool->header->dead, memory_order_relaxed) == 0 && look(pool, &status) &&
           status.st_dev == pool->attached.device && status.st_ino == pool->attached.inode &&
           (uint64_t)status.st_size == pool->geometry.size &&
           memcmp(&pool->header->geometry, &pool->geometry, sizeof pool->geometry) == 0;
}

/* A child that came into being without fork(), and so without its handlers. */
static void adopt_orphan(larder_pool *pool)
{
    if (pool->entered->known == 0) {
        pool->attached.spare_index = LARDER_NO_SLOT;
        larder_slot_in_child(pool);
        pool->entered->known = 1;
    }
}

/* At the start of a request, and each CHECK_EVERY_MS: is this the pool to work with, and if not, which one is? */
static bool settle(larder_pool *pool)
{
    larder_error *trouble = &pool->request.trouble;
    bool is_others = larder_user_is_another(pool);
    if (is_others) {
        larder_follow_user(pool);
    }
    bool sound = !is_others && pool->rw != NULL && !pool->attached.fork_lost_file && is_sound(pool);
    bool better =
        sound && ((!pool->request.in_request && larder_map_would_be_better(pool)) || larder_home_is_back(pool));
    pool->attached.fork_lost_file = false;
    if (sound && !better) {
        larder_formats_look_again(pool);
    } else if (!reattach(pool)) { /* which has to meet them: U2 */
        return false;
    }
    return pool->slot != NULL || larder_slot_take(pool, trouble);
}

bool larder_pool_is_due(const larder_pool *pool)
{
    return larder_pool_now(pool) - pool->attached.checked_at >= CHECK_EVERY_MS;
}

bool larder_pool_enter_slowly(larder_pool *pool)
{
    uint64_t now = larder_pool_now(pool);
    bool begins = pool->entered->countdown < 0;
    pool->entered->countdown = 0;
    adopt_orphan(pool);
    larder_memory_age(pool->memory, now);
    bool lost = pool->rw == NULL || pool->slot == NULL;
    bool recent = now - pool->attached.checked_at < CHECK_EVERY_MS;
    if (lost && recent && pool->request.in_request && !pool->request.waits) {
        return false; /* tried a moment ago */
    }
    bool is_other = pool->request.waits && larder_user_is_another(pool);
    if (begins || lost || !recent || is_other || atomic_load_explicit(&pool->header->dead, memory_order_relaxed) != 0) {
        pool->attached.checked_at = now;
        if (begins && pool->zero_copy) {
            larder_stray_watch(); /* others may have taken the signal meanwhile */
        }
        bool settled = settle(pool);
        pool->request.in_request = true;
        if (!settled) {
            return false;
        }
    }
    /* As long as calls come quickly, the clock is read at every 64th. */
    pool->entered->countdown = now - pool->attached.counted_at <= 1 ? CHECK_EVERY_CALLS : 1;
    pool->attached.counted_at = now;
    return true;
}

bool larder_pool_visit(larder_pool *pool)
{
    bool before = pool->config.only_existing;
    pool->config.only_existing = true;
    bool reached = larder_pool_enter_slowly(pool);
    pool->config.only_existing = before;
    if (!reached) {
        pool->attached.checked_at = 0; /* the next use looks anew, and makes another pool */
    }
    return reached;
}
