/* Figures for operators. Counters are kept per slot and added up here; nothing is measured in the hot path. */
#include "larder.h"
#include "enter.h"
#include "quota.h"
#include "segment.h"
#include "slot.h"

#include <string.h>

static void add_segments(const larder_pool *pool, larder_stats *stats)
{
    uint64_t clear = atomic_load_explicit(&pool->header->last_clear, memory_order_relaxed);
    for (uint32_t i = 0; i < pool->geometry.segment_count; i++) {
        const larder_segment *segment = &pool->segments[i];
        uint32_t state = atomic_load_explicit(&segment->state, memory_order_relaxed);
        uint64_t latest = atomic_load_explicit(&segment->latest_version, memory_order_relaxed);
        stats->segments[state % LARDER_SEGMENT_STATES]++;
        if (state == LARDER_LIMBO) {
            stats->limbo_bytes += (uint64_t)segment->run << pool->segment_shift;
        }
        if (state != LARDER_OPEN && state != LARDER_SEALED) {
            continue;
        }
        if (segment->queue == LARDER_SMALL) {
            stats->small_segments++;
        } else {
            stats->main_segments++;
        }
        if (latest >= clear) {
            stats->items += larder_segment_live_items(segment);
            stats->bytes += larder_segment_live_units(segment) << pool->unit_shift;
        }
    }
}

static void add_slots(larder_pool *pool, larder_stats *stats)
{
    uint32_t used = larder_slots_used(pool);
    uint64_t now = larder_pool_now(pool);
    for (uint32_t i = 0; i < used; i++) {
        const larder_slot *slot = &pool->slots[i];
        for (uint32_t c = 0; c < LARDER_COUNTERS; c++) {
            stats->counters[c] += atomic_load_explicit(&slot->counter[c], memory_order_relaxed);
        }
        if (larder_slot_bury(pool, i)) {
            continue;
        }
        stats->processes++;
        uint64_t since = atomic_load_explicit(&slot->pinned_since, memory_order_relaxed);
        if (atomic_load_explicit(&slot->pinned, memory_order_relaxed) > 0 && since != 0 && now > since &&
            now - since > stats->oldest_pin_ms) {
            stats->oldest_pin_ms = now - since;
            stats->oldest_pin_process = atomic_load_explicit(&slot->process, memory_order_relaxed);
        }
    }
}

bool larder_stats_read(larder_pool *pool, larder_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    if (!larder_pool_enter(pool)) {
        return false;
    }
    stats->segment_bytes = larder_segment_bytes(pool);
    stats->capacity = (uint64_t)pool->geometry.segment_count << pool->segment_shift;
    add_segments(pool, stats);
    add_slots(pool, stats);
    larder_quota_survey(pool);
    stats->pinned_bytes = larder_quota_covered(pool, LARDER_QUOTA_OF_ALL);
    return true;
}
