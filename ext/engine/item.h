/* An item as it lies in a segment: header (32 bytes, format.h) | tags | key | value. Where its parts are, and what its
 * header says.
 */
#ifndef LARDER_ITEM_H
#define LARDER_ITEM_H

#include "key.h"
#include "pool.h"

/* The item's own words behind its header, if it has tags. */
static inline _Atomic uint64_t *larder_item_looked_at(larder_item *item)
{
    return (_Atomic uint64_t *)(item + 1);
}

static inline const uint64_t *larder_item_tags(const larder_item *item)
{
    return (const uint64_t *)(item + 1) + 1;
}

static inline size_t larder_item_key_at(uint32_t tags)
{
    return sizeof(larder_item) + (tags == 0 ? 0 : (tags + 1) * sizeof(uint64_t));
}

/* What the engine has to know about kinds of values; the rest is between the callers (see image.h). */
#define LARDER_BYTES_KIND      0u /* not aligned */
#define LARDER_COUNTER_KIND    1u
#define LARDER_INT_KIND        2u
#define LARDER_LAST_SMALL_KIND 6u /* up to here: always copied out, in a moment */

static inline size_t larder_item_value_at(uint32_t tags, uint32_t key_length, uint8_t kind)
{
    size_t end = larder_item_key_at(tags) + key_length;
    return kind == LARDER_BYTES_KIND ? end : (end + 7) / 8 * 8;
}

static inline const char *larder_item_key(const larder_item *item)
{
    return (const char *)item + larder_item_key_at(item->tags);
}

static inline size_t larder_item_bytes(const larder_pool *pool, const larder_item *item)
{
    return (size_t)item->units << pool->unit_shift;
}

static inline uint8_t larder_item_level(const larder_item *item)
{
    return (uint8_t)((item->traits & LARDER_LEVEL_MASK) >> LARDER_LEVEL_SHIFT);
}

/* Did its computation begin at that tick or later? Of an item whose version was raised this is unknown: a caller that
 * must not leave anything older takes it for older. */
static inline bool larder_is_since(const larder_item *item, uint64_t tick)
{
    return item->version >= tick && (item->traits & LARDER_VERSION_RAISED) == 0;
}

/* Do its values have this PHP's ABI, or none? */
static inline bool larder_is_readable(const larder_pool *pool, const larder_item *item)
{
    uint8_t abi = item->traits & LARDER_ABI_MASK;
    return abi == 0 || abi == pool->abi;
}

/* Reads no further behind the item's header than LARDER_MARGIN, whatever nonsense it says: so much is mapped behind the
 * pool. */
static inline bool larder_has_key(const larder_item *item, const larder_key *key)
{
    return item->key_length == key->length &&
           larder_same_bytes((const char *)item + larder_item_key_at(item->tags), key->bytes, key->length);
}

#endif
