#include "lines.h"

void tags_of_two_lines(const larder_pool *pool, uint64_t *tags, uint32_t count)
{
    const larder_recent *one = pool->recent, *other = pool->recent + 1;
    uint32_t found = 0;
    for (uint64_t tag = 0; found < count; tag++) {
        larder_recent *lines[2];
        larder_recent_lines(pool, tag, lines);
        if ((lines[0] == one && lines[1] == other) || (lines[0] == other && lines[1] == one)) {
            tags[found++] = tag;
        }
    }
}
