/* The table of what was met already: making it, growing it. */
#include "seen.h"

void larder_seen_init(struct larder_seen *seen, bool of_names)
{
    seen->entries = seen->first;
    seen->capacity = LARDER_SEEN_AT_FIRST;
    seen->count = 0;
    seen->of_names = of_names;
    memset(seen->first, 0, sizeof(seen->first));
}

void larder_seen_free(struct larder_seen *seen)
{
    if (seen->entries != seen->first) {
        efree(seen->entries);
    }
}

void larder_seen_grow(struct larder_seen *seen)
{
    struct larder_seen_entry *old = seen->entries;
    uint32_t old_capacity = seen->capacity;

    seen->capacity = old_capacity * 4;
    seen->entries = ecalloc(seen->capacity, sizeof(*seen->entries));
    for (uint32_t i = 0; i < old_capacity; i++) {
        const void *key = old[i].key;
        if (key && seen->of_names) {
            *larder_seen_name_slot(seen, (zend_string *)(uintptr_t)key) = old[i];
        } else if (key) {
            *larder_seen_slot(seen, key) = old[i];
        }
    }
    if (old != seen->first) {
        efree(old);
    }
}
