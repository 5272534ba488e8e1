/* Planning a pool's parts, and judging a header. */
#include "fixture.h"
#include "engine/geometry.h"

typedef struct part {
    uint64_t at, bytes;
} part;

static void check_plan(uint64_t size)
{
    larder_geometry g;
    larder_geometry_plan(&g, size);
    uint64_t segment = UINT64_C(1) << g.segment_shift;
    const part parts[] = {
        {0, sizeof(larder_header)},
        {g.slots_at, g.slot_count * sizeof(larder_slot)},
        {g.pins_at, (uint64_t)g.slot_count * g.pin_words * 8},
        {g.tags_at, g.tag_count * sizeof(uint64_t)},
        {g.recent_at, (uint64_t)g.recent_count * sizeof(larder_recent)},
        {g.carried_at, (uint64_t)g.carried_count * sizeof(uint64_t)},
        {g.windows_at, (uint64_t)g.window_count * sizeof(larder_window)},
        {g.leases_at, g.lease_count * sizeof(larder_lease)},
        {g.buckets_at, (uint64_t)g.bucket_count * sizeof(larder_bucket)},
        {g.deletions_at, (uint64_t)g.deletion_count * sizeof(uint64_t)},
        {g.ghosts_at, (uint64_t)g.ghost_count * sizeof(uint32_t)},
        {g.table_at, g.segment_count * sizeof(larder_segment)},
        {g.generations_at, g.segment_count * sizeof(uint32_t)},
        {g.starts_at, g.segment_count * segment / 64},
        {g.segments_at, g.segment_count * segment},
        {size, 0},
    };
    for (size_t i = 0; i + 1 < sizeof parts / sizeof parts[0]; i++) {
        COMPARE(parts[i].at + parts[i].bytes, <=, parts[i + 1].at);
        EQUAL(parts[i].at % LARDER_PAGE, 0);
    }
    COMPARE(size - parts[14].at - parts[14].bytes, <, 2 * segment);
    COMPARE(g.segment_count, >=, 32);
    COMPARE(g.segment_shift, >=, 16);
    COMPARE(g.segment_shift, <=, 20);
    COMPARE(g.pin_words * UINT64_C(64), >=, g.segment_count);
    COMPARE((size - 8) >> g.unit_shift, <=, UINT32_MAX); /* every offset fits into a word */
    COMPARE(g.slot_count, >=, 128);
    COMPARE(parts[14].bytes, >=, size / 4 * 3); /* most of it is for values */
    COMPARE((uint64_t)g.bucket_count * LARDER_BUCKET_WORDS, >=, size / 80);
}

TEST(divided_up, "every size from 4 MiB to 1 TiB is divided up without overlap, and most of it is for values")
{
    for (uint64_t size = LARDER_SIZE_MIN; size <= LARDER_SIZE_MAX; size *= 2) {
        check_plan(size);
        if (size < LARDER_SIZE_MAX) {
            check_plan(size + LARDER_PAGE);
            check_plan(larder_round_size(size / 3 * 4));
            check_plan(2 * size - LARDER_PAGE);
        }
    }
    for (uint64_t size = LARDER_SIZE_MIN; size < 24 * MIB; size += 17 * LARDER_PAGE) {
        check_plan(size);
    }
}

TEST(rounded, "a size is rounded up to whole pages, and one beyond all bounds is left for the refusal")
{
    EQUAL(larder_round_size(1), LARDER_PAGE);
    EQUAL(larder_round_size(LARDER_PAGE), LARDER_PAGE);
    EQUAL(larder_round_size(LARDER_PAGE + 1), 2 * LARDER_PAGE);
    CHECK(larder_round_size(UINT64_MAX) == UINT64_MAX);
}

static larder_geometry sound_header(uint64_t size)
{
    larder_geometry g;
    larder_geometry_plan(&g, size);
    g.base = UINT64_C(0x110000000000);
    g.created = 1;
    g.seed = 2;
    g.evict = 1;
    memset(g.id, 3, sizeof g.id);
    g.checksum = larder_geometry_checksum(&g);
    return g;
}

TEST(flips_found, "a header with any byte changed is damaged")
{
    for (size_t i = 0; i < sizeof(larder_geometry); i++) {
        larder_geometry g = sound_header(8 * MIB);
        EQUAL(larder_geometry_judge(&g, 8 * MIB), LARDER_SOUND);
        ((uint8_t *)&g)[i] ^= 0x40;
        EQUAL(larder_geometry_judge(&g, 8 * MIB), LARDER_DAMAGED);
    }
}

TEST(consistent_lies, "a header whose checksum is right is still damaged if it is not the plan for its size")
{
    static const size_t offsets[] = {
        offsetof(larder_geometry, slots_at),      offsetof(larder_geometry, buckets_at),
        offsetof(larder_geometry, segments_at),   offsetof(larder_geometry, starts_at),
        offsetof(larder_geometry, slot_count),    offsetof(larder_geometry, bucket_count),
        offsetof(larder_geometry, segment_count), offsetof(larder_geometry, pin_words),
        offsetof(larder_geometry, unit_shift),    offsetof(larder_geometry, segment_shift),
        offsetof(larder_geometry, base),          offsetof(larder_geometry, size),
    };
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        larder_geometry g = sound_header(8 * MIB);
        ((uint8_t *)&g)[offsets[i]] ^= 1;
        g.checksum = larder_geometry_checksum(&g);
        EQUAL(larder_geometry_judge(&g, 8 * MIB), LARDER_DAMAGED);
    }
    larder_geometry g = sound_header(8 * MIB);
    EQUAL(larder_geometry_judge(&g, 8 * MIB - LARDER_PAGE), LARDER_DAMAGED);
    g.format++;
    g.checksum = larder_geometry_checksum(&g);
    EQUAL(larder_geometry_judge(&g, 8 * MIB), LARDER_DAMAGED);
    g = sound_header(8 * MIB);
    g.evict = 2;
    g.checksum = larder_geometry_checksum(&g);
    EQUAL(larder_geometry_judge(&g, 8 * MIB), LARDER_DAMAGED);
}
