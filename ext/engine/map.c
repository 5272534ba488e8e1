#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "map.h"
#include "directory.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Where pools may be mapped: parts of the address space that programs, their heaps, libraries and sanitizers leave
 * alone. The last is for kernels with 39 bits of address space; and for the thread sanitizer, which ends a program that
 * tries the first. */
static const struct {
    uint64_t from, to;
} address_ranges[] = {
#ifndef __SANITIZE_THREAD__
    {UINT64_C(0x110000000000), UINT64_C(0x500000000000)},
#endif
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

/* Is there room for a pool of that size? */
static bool address_is_free(uint64_t address, uint64_t size)
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
    /* Not where its predecessor was made for: threads and requests may still have that mapped. */
    uint64_t random = 0;
    (void)!getrandom(&random, sizeof random, GRND_NONBLOCK);
    for (size_t r = 0; r < sizeof address_ranges / sizeof address_ranges[0]; r++) {
        uint64_t step = (size + LARDER_MARGIN + (UINT64_C(1) << 30) - 1) >> 30 << 30;
        uint64_t places = (address_ranges[r].to - address_ranges[r].from) / step;
        for (uint64_t tries = 0; tries < places && tries < 512; tries++) {
            uint64_t at = address_ranges[r].from + (random % places + tries) % places * step;
            if (!overlaps(at, at + size + LARDER_MARGIN, uses, used) && address_is_free(at, size)) {
                return at;
            }
        }
    }
    return address_ranges[0].from;
}

/* ---- mapping ------------------------------------------------------------------------------------------- */

/* A file as this process maps it. */
struct larder_mapping {
    larder_mapping *next;
    dev_t device;
    ino_t inode;
    const uint8_t *ro;
    uint8_t *rw;
    uint64_t size;
    uint32_t users;   /* handles and graves */
    uint32_t *pinned; /* by how many of them, for each segment, if what is unpinned is protected; else NULL */
};

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER; /* for everything in this file from here on */
static larder_mapping *mappings;

void larder_map_before_fork(void)
{
    pthread_mutex_lock(&mappings_lock);
}

void larder_map_after_fork(void)
{
    pthread_mutex_unlock(&mappings_lock);
}

static void unmap_both(const uint8_t *ro, uint8_t *rw, uint64_t size)
{
    if (ro != NULL) {
        munmap((void *)(uintptr_t)ro, size + LARDER_MARGIN);
    }
    if (rw != NULL) {
        munmap(rw, size + LARDER_MARGIN);
    }
}

static void free_mapping(larder_mapping *mapping)
{
    unmap_both(mapping->ro, mapping->rw, mapping->size);
    free(mapping->pinned);
    free(mapping);
}

void larder_unmap(larder_mapping *mapping)
{
    if (mapping == NULL) {
        return;
    }
    pthread_mutex_lock(&mappings_lock);
    bool last = --mapping->users == 0;
    if (last) {
        larder_mapping **at = &mappings;
        while (*at != mapping) {
            at = &(*at)->next;
        }
        *at = mapping->next;
        free_mapping(
            mapping); /* under the lock: who maps the file next needs the address, and a fork must not copy it */
    }
    pthread_mutex_unlock(&mappings_lock);
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

/* A mapping of this pool's file that another thread has, preferably at the pool's own address. */
static larder_mapping *find(const larder_pool *pool)
{
    larder_mapping *found = NULL;
    for (larder_mapping *at = mappings; at != NULL; at = at->next) {
        if (at->device == pool->device && at->inode == pool->inode && at->size == pool->geometry.size) {
            if ((uintptr_t)at->ro == pool->geometry.base) {
                return at;
            }
            found = at;
        }
    }
    return found;
}

static larder_mapping *make(const larder_pool *pool, int fd, const uint8_t *ro)
{
    const larder_geometry *g = &pool->geometry;
    larder_mapping *mapping = calloc(1, sizeof *mapping);
    uint8_t *rw = map_at(0, g->size, fd, PROT_READ | PROT_WRITE);
    uint32_t *pinned = pool->config.protect_unpinned ? calloc(g->segment_count, sizeof *pinned) : NULL;
    if (mapping == NULL || rw == NULL || (pinned == NULL && pool->config.protect_unpinned)) {
        unmap_both(NULL, rw, g->size);
        free(mapping);
        free(pinned);
        return NULL;
    }
    *mapping = (larder_mapping){.next = mappings,
                                .device = pool->device,
                                .inode = pool->inode,
                                .ro = ro,
                                .rw = rw,
                                .size = g->size,
                                .pinned = pinned};
    if (pinned != NULL) {
        mprotect((uint8_t *)(uintptr_t)ro + g->segments_at, g->size - g->segments_at, PROT_NONE);
    }
    mappings = mapping;
    return mapping;
}

/* One that other threads have at the pool's address; else there; else one that they have elsewhere; else elsewhere. */
static larder_mapping *find_or_make(const larder_pool *pool, int fd)
{
    const larder_geometry *g = &pool->geometry;
    larder_mapping *mapping = find(pool);
    if (mapping != NULL && (uintptr_t)mapping->ro == g->base) {
        return mapping;
    }
    const uint8_t *ro = map_at(g->base, g->size, fd, PROT_READ);
    if (ro == NULL && mapping != NULL) {
        return mapping;
    }
    if (ro == NULL) {
        ro = map_at(0, g->size, fd, PROT_READ);
    }
    mapping = ro == NULL ? NULL : make(pool, fd, ro);
    if (mapping == NULL) {
        unmap_both(ro, NULL, g->size);
    }
    return mapping;
}

bool larder_map(larder_pool *pool, int fd, larder_error *error)
{
    pthread_mutex_lock(&mappings_lock);
    larder_mapping *mapping = find_or_make(pool, fd);
    int why = errno;
    if (mapping != NULL) {
        mapping->users++;
    }
    pthread_mutex_unlock(&mappings_lock);
    if (mapping == NULL) {
        return larder_fail(error, "The pool %s cannot be mapped (%s); raise the limit on address space (ulimit -v).",
                           pool->path, strerror(why));
    }
    pool->shift = (intptr_t)((uintptr_t)mapping->ro - pool->geometry.base);
    if (pool->shift != 0 && pool->config.zero_copy == LARDER_ZERO_COPY_ON) {
        larder_unmap(mapping);
        return larder_fail(
            error,
            "Values of the pool %s cannot be used in place, because something else lies at its address %#llx in "
            "this process; set larder.zero_copy to auto to copy them here.",
            pool->path, (unsigned long long)pool->geometry.base);
    }
    pool->mapping = mapping;
    pool->rw = mapping->rw;
    pool->ro = mapping->ro;
    pool->zero_copy = pool->shift == 0 && pool->config.zero_copy != LARDER_ZERO_COPY_OFF;
    return true;
}

bool larder_map_would_be_better(const larder_pool *pool)
{
    if (pool->shift == 0) {
        return false;
    }
    pthread_mutex_lock(&mappings_lock);
    const larder_mapping *mapping = find(pool);
    bool better = (mapping != NULL && (uintptr_t)mapping->ro == pool->geometry.base) ||
                  address_is_free(pool->geometry.base, pool->geometry.size);
    pthread_mutex_unlock(&mappings_lock);
    return better;
}

void larder_map_protect(larder_pool *pool, uint32_t segment, bool readable)
{
    larder_mapping *mapping = pool->mapping;
    if (mapping->pinned == NULL) {
        return;
    }
    size_t length =
        ((size_t)1 << pool->segment_shift) * (pool->segments[segment].run > 1 ? pool->segments[segment].run : 1);
    const uint8_t *at = pool->ro + pool->segments_at + ((size_t)segment << pool->segment_shift);
    pthread_mutex_lock(&mappings_lock);
    /* Each time, because a count may not have come back to 0 (larder_pins_forget()), and the run be longer now. */
    if (readable ? ++mapping->pinned[segment] > 0 : --mapping->pinned[segment] == 0) {
        mprotect((void *)(uintptr_t)at, length, readable ? PROT_READ : PROT_NONE);
    }
    pthread_mutex_unlock(&mappings_lock);
}
