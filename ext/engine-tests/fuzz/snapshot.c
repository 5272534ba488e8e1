/* A snapshot that is found when a pool is made: the pool begins with what is in it, or empty, and is sound in any case.
 *
 *     first byte & 3   0: the rest is the file; 1: a snapshot, cut off where the next three bytes say; else one that is
 *                      patched
 *                & 4   the checksums are set right again, so that what is read behind them is tried, too
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "engine/check.h"
#include "engine/larder.h"
#include "engine/snapshot.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char name[sizeof(((larder_saved *)0)->path)];

static uint8_t *make_sample(size_t *length)
{
    larder_pool_config config = fuzz_config();
    larder_saved saved;
    larder_error error = {.message = ""};
    larder_pool *pool = fuzz_open();
    fuzz_fill(pool);
    larder_pool_close(pool);
    if (larder_pool_save(&config, &saved, &error) != 1) {
        fuzz_found("the pool cannot be saved", error.message);
    }
    memcpy(name, saved.path, sizeof name);
    return fuzz_read(name, length);
}

/* The file is itself again, and adds up. */
static void set_right(uint8_t *bytes, size_t length)
{
    larder_snapshot_header header;
    if (length < sizeof header) {
        return;
    }
    memcpy(&header, bytes, sizeof header);
    header.bytes = length - sizeof header;
    header.records_sum = larder_snapshot_sum(0, bytes + sizeof header, (length - sizeof header) / 8 * 8);
    int fd = open(name, O_RDONLY);
    (void)larder_snapshot_identify(fd, &header);
    close(fd);
    header.sum = larder_snapshot_sum(0, &header, offsetof(larder_snapshot_header, sum));
    memcpy(bytes, &header, sizeof header);
}

static void write_over(const uint8_t *bytes, size_t length)
{
    int fd = open(name, O_WRONLY);
    if (fd < 0 || pwrite(fd, bytes, length, 0) != (ssize_t)length || ftruncate(fd, (off_t)length) != 0) {
        fuzz_found("cannot be written", name);
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t *sample, *bytes;
    static size_t length;
    if (sample == NULL) {
        sample = make_sample(&length);
        bytes = malloc(length);
    }
    if (size < 4) {
        return 0;
    }
    fuzz_write(name, sample, length);
    if ((data[0] & 3) == 0) {
        write_over(data + 1, size - 1);
    } else {
        size_t left = length;
        memcpy(bytes, sample, length);
        if ((data[0] & 3) == 1) {
            left = ((size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16) % length;
        } else {
            fuzz_patch(bytes, length, data + 1, size - 1);
        }
        if ((data[0] & 4) != 0) {
            set_right(bytes, left);
        }
        write_over(bytes, left);
    }
    larder_pool *pool = fuzz_open();
    larder_error error = {.message = ""};
    if (!larder_check(pool, false, &error)) {
        fuzz_found("a pool that began with a snapshot is not sound", error.message);
    }
    fuzz_use(pool);
    larder_pool_close(pool);
    fuzz_remove();
    return 0;
}
