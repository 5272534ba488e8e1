#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "map.h"
#include "descriptor.h"
#include "directory.h"

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
        int fd = larder_open_at(directory, entry->d_name, O_RDONLY | O_NONBLOCK);
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

/* What a handle has written down of its pins: larder_pool.pinned. */
struct marks {
    struct marks *next;
    bool used;
    _Atomic uint32_t of[];
};

/* A file as this process maps it. Its memory is used again but never freed: a signal handler may be looking. */
struct larder_mapping {
    larder_mapping *next;
    dev_t device;
    ino_t inode;
    const uint8_t *ro;
    uint8_t *rw;
    uint64_t size;
    uint32_t users;         /* handles and graves; 0: the entry is free */
    uint32_t *pinned;       /* by how many of them, for each segment, if what is unpinned is protected; else NULL */
    larder_geometry layout; /* of the pool */
    _Atomic uint64_t slots[LARDER_SLOTS_MAX / 64]; /* a bit for each that is this process's */
    struct marks *_Atomic marks;                   /* of all its handles; the list only grows */
    _Atomic uint32_t *apart; /* for each segment: from here on so many have private pages; 0: none */
    _Atomic uint32_t apart_count;
    _Atomic uintptr_t from, to; /* the segments, as PHP sees them; nothing if they lie elsewhere than they should */
};

static pthread_mutex_t mappings_lock = PTHREAD_MUTEX_INITIALIZER; /* for everything in this file from here on */
static larder_mapping *_Atomic mappings;                          /* the list only grows */

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

static void give_up_mapping(larder_mapping *mapping)
{
    atomic_store_explicit(&mapping->to, 0, memory_order_relaxed);
    unmap_both(mapping->ro, mapping->rw, mapping->size);
    free(mapping->pinned);
    free(mapping->apart);
    for (struct marks *at = mapping->marks, *next; at != NULL; at = next) {
        next = at->next;
        free(at);
    }
    mapping->marks = NULL;
    mapping->ro = NULL;
    mapping->pinned = NULL;
    mapping->apart = NULL;
}

void larder_unmap(larder_mapping *mapping)
{
    if (mapping == NULL) {
        return;
    }
    pthread_mutex_lock(&mappings_lock);
    if (--mapping->users == 0) {
        /* Under the lock: the process that maps the file next needs the address, and a fork must not copy it. */
        give_up_mapping(mapping);
    }
    pthread_mutex_unlock(&mappings_lock);
}

#define HUGE_PAGE ((size_t)1 << 21) /* of x86-64, and of aarch64 with pages of 4 KiB */

/* Of `size` and HUGE_PAGE more that are mapped, keeps what begins where a huge page may. Invariant: so does every
 * mapping of a pool's file, as its address in the header does. Only there can the kernel map 2 MiB of it at one page
 * fault, where /dev/shm has huge pages. */
static void *cut_to_huge_page(void *at, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE); /* a pool need not end with one, where they are large */
    uintptr_t from = (uintptr_t)at, end = from + size + HUGE_PAGE;
    uintptr_t start = (from + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, used = (start + size + page - 1) / page * page;
    if (start != from) {
        munmap(at, start - from);
    }
    if (used < end) {
        munmap((void *)used, end - used);
    }
    return (void *)start;
}

/* Maps the file with LARDER_MARGIN of zeros behind it; at that address, if one is given, or nowhere. A page that cannot
 * be written is private: see map.h. */
static void *map_at(uint64_t address, uint64_t size, int fd, int protection)
{
    int kind = (protection & PROT_WRITE) != 0 ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (address == 0 ? 0 : MAP_FIXED_NOREPLACE);
    size_t spare = address == 0 ? HUGE_PAGE : 0;
    void *at = mmap((void *)(uintptr_t)address, size + LARDER_MARGIN + spare, PROT_READ, flags, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    if (spare != 0) {
        at = cut_to_huge_page(at, size + LARDER_MARGIN);
    }
    bool there = address == 0 || (uintptr_t)at == address; /* a kernel before 4.17 takes the address as a wish */
    if (!there || mmap(at, size, protection, kind | MAP_FIXED, fd, 0) == MAP_FAILED) {
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
        if (at->users > 0 && at->device == pool->attached.device && at->inode == pool->attached.inode &&
            at->size == pool->geometry.size) {
            if ((uintptr_t)at->ro == pool->geometry.base) {
                return at;
            }
            found = at;
        }
    }
    return found;
}

/* A free entry. NULL: there is no memory for another. */
static larder_mapping *unused(void)
{
    larder_mapping *first = mappings, *at = first;
    while (at != NULL && at->users > 0) {
        at = at->next;
    }
    if (at == NULL && (at = calloc(1, sizeof *at)) != NULL) {
        at->next = first;
        /* release: a signal handler that finds it finds it empty. */
        atomic_store_explicit(&mappings, at, memory_order_release);
    }
    return at;
}

static larder_mapping *make(const larder_pool *pool, int fd, const uint8_t *ro)
{
    const larder_geometry *g = &pool->geometry;
    larder_mapping *mapping = unused();
    uint8_t *rw = map_at(0, g->size, fd, PROT_READ | PROT_WRITE);
    _Atomic uint32_t *apart = calloc(g->segment_count, sizeof *apart);
    uint32_t *pinned = pool->config.protect_unpinned ? calloc(g->segment_count, sizeof *pinned) : NULL;
    if (mapping == NULL || rw == NULL || apart == NULL || (pinned == NULL && pool->config.protect_unpinned)) {
        unmap_both(NULL, rw, g->size);
        free(apart);
        free(pinned);
        return NULL;
    }
    mapping->device = pool->attached.device;
    mapping->inode = pool->attached.inode;
    mapping->ro = ro;
    mapping->rw = rw;
    mapping->size = g->size;
    mapping->pinned = pinned;
    mapping->layout = *g;
    mapping->apart = apart;
    /* relaxed: no other process has it yet. */
    for (size_t i = 0; i < sizeof mapping->slots / sizeof mapping->slots[0]; i++) {
        atomic_store_explicit(&mapping->slots[i], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&mapping->apart_count, 0, memory_order_relaxed);
    if (pinned != NULL) {
        mprotect((uint8_t *)(uintptr_t)ro + g->segments_at, g->size - g->segments_at, PROT_NONE);
    }
    if ((uintptr_t)ro == g->base) {
        atomic_store_explicit(&mapping->from, (uintptr_t)ro + g->segments_at, memory_order_relaxed);
        /* release: a signal handler finds all of the above. */
        atomic_store_explicit(&mapping->to, (uintptr_t)ro + g->size, memory_order_release);
    }
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

/* For a new handle, with nothing in them. NULL: there is no memory. */
static struct marks *take_marks(larder_mapping *mapping)
{
    struct marks *first = mapping->marks, *at = first;
    while (at != NULL && at->used) {
        at = at->next;
    }
    if (at == NULL && (at = calloc(1, sizeof *at + mapping->layout.segment_count * sizeof at->of[0])) != NULL) {
        at->next = first;
        /* release: a signal handler that finds it finds it empty. */
        atomic_store_explicit(&mapping->marks, at, memory_order_release);
    }
    if (at != NULL) {
        at->used = true;
    }
    return at;
}

bool larder_map(larder_pool *pool, int fd, larder_error *error)
{
    pthread_mutex_lock(&mappings_lock);
    larder_mapping *mapping = find_or_make(pool, fd);
    struct marks *marks = mapping == NULL ? NULL : take_marks(mapping);
    int why = errno;
    if (mapping != NULL && marks == NULL && mapping->users == 0) {
        give_up_mapping(mapping);
    }
    mapping = marks == NULL ? NULL : mapping;
    if (mapping != NULL) {
        mapping->users++;
    }
    pthread_mutex_unlock(&mappings_lock);
    if (mapping == NULL) {
        return larder_fail(error, "The pool %s cannot be mapped (%s); raise the limit on address space (ulimit -v).",
                           pool->paths.full, strerror(why));
    }
    pool->shift = (intptr_t)((uintptr_t)mapping->ro - pool->geometry.base);
    pool->attached.mapping = mapping;
    pool->pinned = marks->of;
    if (pool->shift != 0 && pool->config.zero_copy == LARDER_ZERO_COPY_ON) {
        return larder_fail(
            error,
            "Values of the pool %s cannot be used in place, because something else lies at its address %#llx in "
            "this process; set larder.zero_copy to auto to copy them here.",
            pool->paths.full, (unsigned long long)pool->geometry.base);
    }
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
    larder_mapping *mapping = pool->attached.mapping;
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

/* ---- private pages ------------------------------------------------------------------------------------- */

void larder_map_has_slot(larder_mapping *mapping, uint32_t slot, bool has)
{
    _Atomic uint64_t *word = &mapping->slots[slot / 64];
    uint64_t bit = UINT64_C(1) << slot % 64;
    /* seq_cst: before its first pin, and after its last. */
    if (has) {
        atomic_fetch_or_explicit(word, bit, memory_order_seq_cst);
    } else {
        atomic_fetch_and_explicit(word, ~bit, memory_order_seq_cst);
    }
}

bool larder_map_is_apart(const larder_mapping *mapping, uint32_t segment)
{
    /* acquire: a reader that finds it not apart any more finds the page gone. */
    return atomic_load_explicit(&mapping->apart[segment], memory_order_acquire) != 0;
}

void larder_map_give_marks_back(larder_pool *pool)
{
    if (pool->pinned != NULL) {
        pthread_mutex_lock(&mappings_lock);
        ((struct marks *)((uint8_t *)pool->pinned - offsetof(struct marks, of)))->used = false;
        pthread_mutex_unlock(&mappings_lock);
        pool->pinned = NULL;
    }
}

/* A slot of this process's that pins the segment, or LARDER_NO_SLOT. */
static uint32_t pinning_slot(const larder_mapping *mapping, uint32_t segment)
{
    const _Atomic uint64_t *pins = (const _Atomic uint64_t *)(mapping->rw + mapping->layout.pins_at);
    for (uint32_t w = 0; w < sizeof mapping->slots / sizeof mapping->slots[0]; w++) {
        for (uint64_t left = atomic_load_explicit(&mapping->slots[w], memory_order_acquire); left != 0;
             left &= left - 1) {
            uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(left);
            /* acquire: all reads and writes under a pin that has fallen are over. */
            uint64_t word = atomic_load_explicit(&pins[(size_t)slot * mapping->layout.pin_words + segment / 64],
                                                 memory_order_acquire);
            if ((word >> segment % 64 & 1) != 0) {
                return slot;
            }
        }
    }
    return LARDER_NO_SLOT;
}

/* Where the run begins that the segment is part of, and how long it is. */
static uint32_t run_around(const larder_mapping *mapping, uint32_t segment, uint32_t *run)
{
    const larder_segment *table = (const larder_segment *)(mapping->rw + mapping->layout.table_at);
    uint32_t first = segment;
    while (first > 0 && atomic_load_explicit(&table[first].state, memory_order_acquire) == LARDER_TAIL) {
        first--;
    }
    *run = table[first].run > 1 ? table[first].run : 1;
    return segment - first < *run ? first : segment;
}

static larder_mapping *mapping_at(uintptr_t address)
{
    larder_mapping *at = atomic_load_explicit(&mappings, memory_order_acquire);
    while (at != NULL && (address >= atomic_load_explicit(&at->to, memory_order_acquire) ||
                          address < atomic_load_explicit(&at->from, memory_order_relaxed))) {
        at = at->next;
    }
    return at;
}

/* Its handles use nothing in place there from now on. */
static void mark_all(larder_mapping *mapping, uint32_t segment)
{
    /* seq_cst: after the segment is apart; a reader that pins it from now on finds that. */
    atomic_thread_fence(memory_order_seq_cst);
    for (struct marks *at = atomic_load_explicit(&mapping->marks, memory_order_acquire); at != NULL; at = at->next) {
        uint32_t pinned = atomic_load_explicit(&at->of[segment], memory_order_relaxed);
        /* seq_cst: before the page is copied, so that a process that reads what is written to the file from then on
         * sees it.
         */
        while (pinned != 0 &&
               !atomic_compare_exchange_weak_explicit(&at->of[segment], &pinned, pinned | LARDER_PINNED_APART,
                                                      memory_order_seq_cst, memory_order_relaxed)) {
        }
    }
}

bool larder_map_part(uintptr_t address)
{
    larder_mapping *mapping = mapping_at(address);
    if (mapping == NULL) {
        return false;
    }
    const larder_geometry *layout = &mapping->layout;
    uint32_t run, segment = (uint32_t)((address - mapping->from) >> layout->segment_shift);
    if (segment >= layout->segment_count) {
        return false;
    }
    segment = run_around(mapping, segment, &run);
    uint32_t slot = pinning_slot(mapping, segment);
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = address & ~(page - 1);
    if (slot == LARDER_NO_SLOT) {
        return false;
    }
    if (atomic_exchange_explicit(&mapping->apart[segment], run, memory_order_seq_cst) == 0) {
        atomic_fetch_add_explicit(&mapping->apart_count, 1, memory_order_relaxed);
    }
    mark_all(mapping, segment);
    if (mprotect((void *)at, page, PROT_READ | PROT_WRITE) != 0) {
        return false;
    }
    larder_slot *own = (larder_slot *)(mapping->rw + layout->slots_at) + slot;
    /* relaxed: a figure. */
    atomic_fetch_add_explicit(&own->counter[LARDER_PRIVATE_PAGES], 1, memory_order_relaxed);
    return true;
}

void larder_map_reunite(const larder_pool *pool)
{
    larder_mapping *mapping = pool->attached.mapping;
    /* relaxed: the pages that this thread has written to are counted. */
    if (mapping == NULL || atomic_load_explicit(&mapping->apart_count, memory_order_relaxed) == 0) {
        return;
    }
    pthread_mutex_lock(&mappings_lock);
    /* Of a parent's slot, whose pins this process had inherited, no other trace is left. */
    for (uint32_t w = 0; mapping->users == 1 && w < sizeof mapping->slots / sizeof mapping->slots[0]; w++) {
        uint64_t own =
            pool->slot != NULL && pool->writer.slot_index / 64 == w ? UINT64_C(1) << pool->writer.slot_index % 64 : 0;
        atomic_store_explicit(&mapping->slots[w], own, memory_order_relaxed);
    }
    /* A reader that pins a segment later finds it apart, and reads nothing in place, or is found here: see map.h. */
    atomic_thread_fence(memory_order_seq_cst);
    for (uint32_t i = 0; i < mapping->layout.segment_count; i++) {
        uint32_t run = atomic_load_explicit(&mapping->apart[i], memory_order_relaxed);
        if (run == 0 || pinning_slot(mapping, i) != LARDER_NO_SLOT) {
            continue;
        }
        uint8_t *at = (uint8_t *)mapping->from + ((size_t)i << mapping->layout.segment_shift);
        size_t length = (size_t)run << mapping->layout.segment_shift;
        mprotect(at, length, mapping->pinned != NULL ? PROT_NONE : PROT_READ);
        madvise(at, length, MADV_DONTNEED);
        atomic_fetch_sub_explicit(&mapping->apart_count, 1, memory_order_relaxed);
        /* release: the page is gone before the mark. */
        atomic_store_explicit(&mapping->apart[i], 0, memory_order_release);
    }
    pthread_mutex_unlock(&mappings_lock);
}
