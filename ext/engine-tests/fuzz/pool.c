/* A file that is found in a pool's place: of other things, cut short, or a pool that was written over. Opening it
 * gives a sound pool or a reason, and reads misses or values, whatever is in there.
 *
 *     first byte & 3   0: the rest is the file; 1: a pool, cut off where the next three bytes say, and patched;
 *                      2: a pool whose header is patched, 3: one that is patched anywhere
 *                & 4   the header's checksum is set right again
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "engine/geometry.h"
#include "engine/larder.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *sample, *bytes;
    static size_t length;
    if (sample == NULL) {
        larder_pool *pool = fuzz_open();
        fuzz_fill(pool);
        larder_pool_close(pool);
        sample = fuzz_read(fuzz_pool_path(), &length);
        bytes = malloc(length);
        fuzz_remove();
    }
    if (size < 4) {
        return 0;
    }
    if ((data[0] & 3) == 0) {
        fuzz_write(fuzz_pool_path(), data + 1, size - 1);
    } else {
        bool cut = (data[0] & 3) == 1;
        size_t left = cut ? ((size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16) % length : length;
        size_t from = cut ? 4 : 1;
        memcpy(bytes, sample, length);
        fuzz_patch(bytes, (data[0] & 3) == 2 ? sizeof(larder_header) : left, data + from, size - from);
        if ((data[0] & 4) != 0) {
            larder_geometry *geometry = (larder_geometry *)bytes;
            geometry->checksum = larder_geometry_checksum(geometry);
        }
        fuzz_write(fuzz_pool_path(), bytes, left);
    }
    larder_pool_config config = fuzz_config();
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(&config, &error);
    if (pool != NULL) {
        fuzz_use(pool);
        larder_pool_close(pool);
    } else if (error.message[0] == '\0') { /* a sound pool that does not evict, say, is refused with a reason */
        fuzz_found("a pool cannot be opened", "for no reason");
    }
    fuzz_remove();
    return 0;
}
