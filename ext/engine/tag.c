#include "tag.h"
#include "key.h"
#include "recent.h"

uint64_t larder_tag_of(const char *name, size_t length)
{
    return larder_hash(name, length);
}

void larder_tag_cells(const larder_pool *pool, uint64_t tag, _Atomic uint64_t *cells[LARDER_TAG_CELLS])
{
    /* Two hashes make as many as are wanted, as good as independent ones (Kirsch, Mitzenmacher: "Less hashing, same
     * performance", 2008). */
    uint64_t mixed = larder_mix(pool, tag);
    uint64_t step = (mixed * UINT64_C(0xd6e8feb86659fd93)) | 1;
    for (uint32_t i = 0; i < LARDER_TAG_CELLS; i++) {
        cells[i] = pool->tags + ((mixed >> 32) * pool->geometry.tag_count >> 32);
        mixed += step;
    }
}

/* model/token.pml: reader() */
bool larder_tags_allow(const larder_pool *pool, const larder_item *item)
{
    if (larder_tags_were_looked_at(pool, item)) {
        return true;
    }
    const uint64_t *tags = larder_item_tags(item);
    bool allowed = item->tags <= LARDER_TAGS_MAX; /* else it is damaged, or not pinned and gone */
    for (uint32_t i = 0; allowed && i < item->tags; i++) {
        allowed = larder_recent_version(pool, tags[i]) <= item->version;
    }
    return allowed;
}
