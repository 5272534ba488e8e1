#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "request.h"
#include "lease.h"
#include "map.h"
#include "quota.h"
#include "slot.h"
#include "token.h"

#include <stdlib.h>
#include <unistd.h>

void larder_graves_bury(larder_pool *pool)
{
    while (pool->graves != NULL) {
        larder_grave *grave = pool->graves;
        pool->graves = grave->next;
        larder_unmap(grave->mapping);
        if (grave->inherited_fd >= 0) {
            close(grave->inherited_fd);
        }
        if (grave->slot_fd >= 0) {
            close(grave->slot_fd);
        }
        free(grave);
    }
}

bool larder_pool_contains(const larder_pool *pool, const void *address)
{
    bool contains = (uintptr_t)address - (uintptr_t)pool->ro < pool->geometry.size;
    for (const larder_grave *grave = pool->graves; grave != NULL && !contains; grave = grave->next) {
        contains = (uintptr_t)address - (uintptr_t)grave->ro < grave->size;
    }
    return contains;
}

/* What a request did and must not do to the next. */
static void end_what_it_began(larder_pool *pool)
{
    larder_memory_forget(pool->memory);
    if (pool->slot != NULL) {
        larder_leases_end(pool);
    }
}

void larder_pool_begin_another(larder_pool *pool)
{
    end_what_it_began(pool);
    larder_pool_doubt(pool);
}

void larder_pool_leave(larder_pool *pool)
{
    end_what_it_began(pool);
    if (pool->slot != NULL) {
        if (pool->pins_shared) {
            /* A child still relies on them: the slot is left to it, and buried when it ends. */
            larder_pins_forget(pool);
            larder_slot_release(pool);
        } else {
            larder_quota_end(pool);
        }
    }
    if (pool->inherited_fd >= 0) {
        close(pool->inherited_fd);
        pool->inherited_fd = -1;
    }
    larder_graves_bury(pool);
    larder_map_reunite(pool);
    pool->in_request = false;
    pool->entered->countdown = 0;
}
