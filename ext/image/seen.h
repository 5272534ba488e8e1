/* The parts that were met while a value is walked: a small open-addressing table from an address, or a name, to
 * the place it was given. Only things that can be met twice are entered, see larder_may_be_shared. */
#ifndef LARDER_SEEN_H
#define LARDER_SEEN_H

#include "php.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARDER_SEEN_AT_FIRST 64

struct larder_seen_entry {
    const void *key; /* NULL: free */
    size_t place;
};

struct larder_seen {
    struct larder_seen_entry *entries;
    uint32_t capacity; /* a power of two */
    uint32_t count;
    bool of_names; /* keys are strings, compared by what they say */
    struct larder_seen_entry first[LARDER_SEEN_AT_FIRST];
};

void larder_seen_init(struct larder_seen *seen, bool of_names);
void larder_seen_free(struct larder_seen *seen);
void larder_seen_grow(struct larder_seen *seen);

/* One owner, and not PHP's for ever: it is met once in a value at most. */
static inline bool larder_may_be_shared(const zend_refcounted_h *thing)
{
    return thing->refcount > 1 || (thing->u.type_info & (GC_IMMUTABLE << GC_FLAGS_SHIFT)) != 0;
}

static inline struct larder_seen_entry *larder_seen_slot(struct larder_seen *seen, const void *key)
{
    uint32_t mask = seen->capacity - 1;
    /* Fibonacci hashing: the high half of the product depends on all bits of the address. */
    uint32_t index = (uint32_t)((((uintptr_t)key >> 3) * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    while (seen->entries[index].key && seen->entries[index].key != key) {
        index = (index + 1) & mask;
    }
    return &seen->entries[index];
}

static inline struct larder_seen_entry *larder_seen_name_slot(struct larder_seen *names, zend_string *name)
{
    uint32_t mask = names->capacity - 1;
    uint32_t index = (uint32_t)((zend_string_hash_val(name) * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & mask;
    for (;; index = (index + 1) & mask) {
        zend_string *there = (zend_string *)(uintptr_t)names->entries[index].key;
        if (!there || (ZSTR_H(there) == ZSTR_H(name) && zend_string_equal_content(there, name))) {
            return &names->entries[index];
        }
    }
}

static inline size_t larder_seen_enter(struct larder_seen *seen, struct larder_seen_entry *entry, const void *key,
                                       size_t place)
{
    entry->key = key;
    entry->place = place;
    if (++seen->count > seen->capacity / 2) {
        larder_seen_grow(seen);
    }
    return place;
}

/* The place that `key` was given before; `next`, and remembered, if it is met for the first time. Callers give
 * out places in ascending order, so that the answer is `next` exactly if it is new. */
static inline size_t larder_seen_place(struct larder_seen *seen, const void *key, size_t next)
{
    struct larder_seen_entry *entry = larder_seen_slot(seen, key);
    if (entry->key) {
        return entry->place;
    }
    return larder_seen_enter(seen, entry, key, next);
}

/* The same for names that lie in different strings: the keys of rows that were decoded or unserialised. */
static inline size_t larder_seen_name(struct larder_seen *names, zend_string *name, size_t next)
{
    struct larder_seen_entry *entry = larder_seen_name_slot(names, name);
    if (entry->key) {
        return entry->place;
    }
    return larder_seen_enter(names, entry, name, next);
}

#endif
