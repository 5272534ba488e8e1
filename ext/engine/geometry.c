/* How the parts share the space. What one item of 20 bytes under a key of 20 bytes needs decides the index: such an
 * item takes 72 bytes, so a seventh of the pool in words of 8 bytes gives each one a word with two fifths to spare.
 * With a fifth, one key in 200,000 finds both of its buckets full. Everything else is small: ghosts a 32nd, tags a
 * 60th (a quarter of that cells, an eighth the filter, a 16th windows, the rest the table), item starts a 64th of the
 * segments.
 */
#include "geometry.h"
#include "larder.h"

#include <string.h>

#define SEGMENTS_ALIGNED 65536u /* to the largest pages that systems use: segments are protected one by one */

static uint64_t pages(uint64_t bytes)
{
    return (bytes + LARDER_PAGE - 1) / LARDER_PAGE * LARDER_PAGE;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

uint64_t larder_round_size(uint64_t size)
{
    return size > LARDER_SIZE_MAX ? size : pages(size);
}

static uint32_t segment_shift_of(uint64_t size)
{
    uint32_t shift = 16; /* 64 KiB: 4 MiB then have 50 segments */
    while (shift < 20 && size >> shift > 512) {
        shift++;
    }
    return shift;
}

static uint32_t unit_shift_of(uint64_t size)
{
    uint32_t shift = 3;
    while (size >> shift > UINT64_C(1) << 32) {
        shift++;
    }
    return shift;
}

/* Lays the parts out one behind the other for that many segments; returns where the last one ends. */
static uint64_t lay_out(larder_geometry *g, uint64_t segments)
{
    uint64_t at = LARDER_PAGE;
    g->segment_count = (uint32_t)segments;
    g->pin_words = (uint32_t)((segments + 63) / 64);
    g->slots_at = at;
    at += pages((uint64_t)g->slot_count * sizeof(larder_slot));
    g->pins_at = at;
    at += pages((uint64_t)(2 * g->slot_count + LARDER_QUOTAS) * g->pin_words * sizeof(uint64_t));
    g->tags_at = at;
    at += pages((uint64_t)g->tag_count * sizeof(uint64_t));
    g->recent_at = at;
    at += pages((uint64_t)g->recent_count * sizeof(larder_recent));
    g->carried_at = at;
    at += pages((uint64_t)g->carried_count * sizeof(uint64_t));
    g->windows_at = at;
    at += pages((uint64_t)g->window_count * sizeof(larder_window));
    g->leases_at = at;
    at += pages((uint64_t)g->lease_count * sizeof(larder_lease));
    g->buckets_at = at;
    at += pages((uint64_t)g->bucket_count * sizeof(larder_bucket));
    g->deletions_at = at;
    at += pages((uint64_t)g->deletion_count * sizeof(uint64_t));
    g->ghosts_at = at;
    at += pages((uint64_t)g->ghost_count * sizeof(uint32_t));
    g->table_at = at;
    at += pages(segments * sizeof(larder_segment));
    g->generations_at = at;
    at += pages(segments * sizeof(uint32_t));
    g->starts_at = at;
    at += pages(segments << g->segment_shift >> 6); /* a bit for each 8 bytes */
    at = (at + SEGMENTS_ALIGNED - 1) / SEGMENTS_ALIGNED * SEGMENTS_ALIGNED;
    g->segments_at = at;
    return at + (segments << g->segment_shift);
}

void larder_geometry_plan(larder_geometry *g, uint64_t size)
{
    memset(g, 0, sizeof *g);
    g->magic = LARDER_MAGIC;
    g->format = LARDER_FORMAT;
    g->size = size;
    g->segment_shift = segment_shift_of(size);
    g->unit_shift = unit_shift_of(size);
    g->slot_count = (uint32_t)clamp(size >> 16, 128, LARDER_SLOTS_MAX);
    g->tag_count = (uint32_t)clamp(size / 256 / sizeof(uint64_t), 1, UINT32_C(1) << 31);
    g->recent_count = (uint32_t)clamp(size / 1024 * 10 / sizeof(larder_recent), 1, UINT32_C(1) << 31);
    g->carried_count = (uint32_t)clamp(size / 512 / sizeof(uint64_t), 1, UINT32_C(1) << 31);
    g->window_count = (uint32_t)clamp(size / 1024 / sizeof(larder_window), 1, UINT32_C(1) << 31);
    g->lease_count = (uint32_t)clamp(size >> 14, 256, 65536);
    g->bucket_count = (uint32_t)clamp(size / 7 / sizeof(larder_bucket), 1, UINT32_MAX);
    g->deletion_count = (uint32_t)clamp(g->bucket_count / 8, 512, UINT32_MAX);
    g->ghost_count = (uint32_t)clamp(size / 32 / sizeof(uint32_t), 1, UINT32_C(1) << 31);
    uint64_t segments = size >> g->segment_shift;
    while (segments > 0 && lay_out(g, segments) > size) {
        segments -= 1 + (lay_out(g, segments) - size) / ((UINT64_C(1) << g->segment_shift) * 2);
    }
}

uint32_t larder_geometry_checksum(const larder_geometry *geometry)
{
    const unsigned char *bytes = (const unsigned char *)geometry;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < offsetof(larder_geometry, checksum); i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

enum larder_verdict larder_geometry_judge(const larder_geometry *geometry, uint64_t file_size)
{
    if (geometry->magic != LARDER_MAGIC || larder_geometry_checksum(geometry) != geometry->checksum ||
        geometry->size != file_size) {
        return LARDER_DAMAGED;
    }
    larder_geometry expected;
    larder_geometry_plan(&expected, file_size);
    memcpy(expected.id, geometry->id, sizeof expected.id);
    expected.base = geometry->base;
    expected.created = geometry->created;
    expected.seed = geometry->seed;
    expected.evict = geometry->evict;
    expected.checksum = geometry->checksum;
    bool sound = memcmp(&expected, geometry, sizeof expected) == 0 && geometry->base % LARDER_PAGE == 0 &&
                 geometry->base != 0 && geometry->evict <= 1;
    return sound ? LARDER_SOUND : LARDER_DAMAGED;
}
