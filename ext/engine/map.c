#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "map.h"
#include "directory.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Where pools may be mapped: parts of the address space that programs, their heaps, libraries and sanitizers leave
 * alone. The last is for kernels with 39 bits of address space. */
static const struct {
    uint64_t from, to;
} address_ranges[] = {
    {UINT64_C(0x110000000000), UINT64_C(0x500000000000)},
    {UINT64_C(0x002000000000), UINT64_C(0x004000000000)},
};

typedef struct address_use {
    uint64_t from, to;
} address_use;

/* The addresses that other pools of this directory are mapped at: a process may open several. */
static size_t addresses_in_use(int directory, const char *own_name, address_use *uses, size_t most)
{
    size_t count = 0;
    DIR *listing = larder_directory_list(directory);
    if (listing == NULL) {
        return 0;
    }
    for (struct dirent *entry; count < most && (entry = readdir(listing)) != NULL;) {
        struct stat status;
        larder_geometry geometry;
        char name[LARDER_NAME_MAX + 1];
        uint32_t format;
        if (!larder_file_is_pool(entry->d_name, name, &format) || format != LARDER_FORMAT ||
            strcmp(name, own_name) == 0) {
            continue;
        }
        int fd = openat(directory, entry->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0) {
            continue;
        }
        if (fstat(fd, &status) == 0 && larder_file_judge(fd, &status, &geometry) == LARDER_SOUND) {
            uses[count++] = (address_use){geometry.base, geometry.base + geometry.size + LARDER_MARGIN};
        }
        close(fd);
    }
    closedir(listing);
    return count;
}

static bool overlaps(uint64_t from, uint64_t to, const address_use *uses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (from < uses[i].to && uses[i].from < to) {
            return true;
        }
    }
    return false;
}

bool larder_address_is_free(uint64_t address, uint64_t size)
{
    size += LARDER_MARGIN;
    void *at = mmap((void *)(uintptr_t)address, size, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED) {
        return false;
    }
    munmap(at, size);
    return (uintptr_t)at == address; /* a kernel before 4.17 takes the address as a wish */
}

uint64_t larder_choose_base(int directory, const char *name, uint64_t size)
{
    address_use uses[256];
    size_t used = addresses_in_use(directory, name, uses, sizeof uses / sizeof uses[0]);
    for (size_t r = 0; r < sizeof address_ranges / sizeof address_ranges[0]; r++) {
        uint64_t step = (size + LARDER_MARGIN + (UINT64_C(1) << 30) - 1) >> 30 << 30;
        unsigned tries = 0;
        for (uint64_t at = address_ranges[r].from; at + step <= address_ranges[r].to && tries < 512;
             at += step, tries++) {
            if (!overlaps(at, at + size + LARDER_MARGIN, uses, used) && larder_address_is_free(at, size)) {
                return at;
            }
        }
    }
    return address_ranges[0].from;
}

void larder_unmap(const uint8_t *ro, uint8_t *rw, uint64_t size)
{
    if (ro != NULL) {
        munmap((void *)(uintptr_t)ro, size + LARDER_MARGIN);
    }
    if (rw != NULL) {
        munmap(rw, size + LARDER_MARGIN);
    }
}

/* Maps the file with LARDER_MARGIN of zeros behind it; at that address, if one is given, or nowhere. */
static void *map_at(uint64_t address, uint64_t size, int fd, int protection)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address == 0 ? 0 : MAP_FIXED_NOREPLACE);
    void *at = mmap((void *)(uintptr_t)address, size + LARDER_MARGIN, PROT_READ, flags, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    bool there = address == 0 || (uintptr_t)at == address; /* a kernel before 4.17 takes the address as a wish */
    if (!there || mmap(at, size, protection, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        munmap(at, size + LARDER_MARGIN);
        return NULL;
    }
    return at;
}

bool larder_map(larder_pool *pool, int fd, larder_error *error)
{
    const larder_geometry *g = &pool->geometry;
    void *rw = map_at(0, g->size, fd, PROT_READ | PROT_WRITE);
    void *ro = rw == NULL ? NULL : map_at(g->base, g->size, fd, PROT_READ);
    if (rw != NULL && ro == NULL) {
        ro = map_at(0, g->size, fd, PROT_READ);
    }
    if (ro == NULL) {
        larder_fail(error, "The pool %s cannot be mapped (%s); raise the limit on address space (ulimit -v).",
                    pool->path, strerror(errno));
        larder_unmap(NULL, rw, g->size);
        return false;
    }
    pool->shift = (intptr_t)((uintptr_t)ro - g->base);
    if (pool->shift != 0 && pool->config.zero_copy == LARDER_ZERO_COPY_ON) {
        larder_fail(
            error,
            "Values of the pool %s cannot be used in place, because something else lies at its address %#llx in "
            "this process; set larder.zero_copy to auto to copy them here.",
            pool->path, (unsigned long long)g->base);
        larder_unmap(ro, rw, g->size);
        return false;
    }
    pool->rw = rw;
    pool->ro = ro;
    pool->zero_copy = pool->shift == 0 && pool->config.zero_copy != LARDER_ZERO_COPY_OFF;
    if (pool->config.protect_unpinned) {
        mprotect((uint8_t *)ro + g->segments_at, g->size - g->segments_at, PROT_NONE);
    }
    return true;
}
