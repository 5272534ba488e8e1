#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FIRST_ADDRESS UINT64_C(0x200000000000)
#define PAGE          UINT64_C(4096)

struct mapping {
    char *pages;
    size_t length;
    struct mapping *next;
};

static uint64_t next_address = FIRST_ADDRESS;
static struct mapping *mappings;

void *image_map(uint64_t address, size_t length)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED_NOREPLACE : 0);
    void *pages = mmap((void *)address, length, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (pages == MAP_FAILED || (address && (uint64_t)pages != address)) {
        zend_error_noreturn(E_ERROR, "cannot map %zu bytes at %p", length, (void *)address);
    }
    return pages;
}

void image_take_place(struct image *image, uint64_t address)
{
    image->length = (image->size + 2 * PAGE - 1) / PAGE * PAGE;
    if (!address) {
        address = next_address;
    }
    image->pages = image_map(address, image->length);
    image->at = image->pages + image->length - image->size;
    if (address + image->length + PAGE > next_address) {
        next_address = address + image->length + PAGE;
    }

    struct mapping *mapping = malloc(sizeof(*mapping));
    *mapping = (struct mapping){image->pages, image->length, mappings};
    mappings = mapping;
}

static bool write_twice(const larder_image_plan *plan, struct image *image)
{
    char *other = image_map(0, image->length);
    char *at = other + image->length - image->size;

    memset(image->pages, 0xAA, image->length);
    memset(other, 0x55, image->length);
    larder_image_write(plan, image->at, (uintptr_t)image->at);
    larder_image_write(plan, at, (uintptr_t)image->at);
    bool same = memcmp(image->at, at, image->size) == 0;
    for (char *before = image->pages; before < image->at; before++) {
        same = same && (unsigned char)*before == 0xAA;
    }
    munmap(other, image->length);
    return same;
}

void image_write(const larder_image_plan *plan, struct image *image)
{
    image->kind = plan->kind;
    image->size = plan->size;
    image_take_place(image, 0);
    if (plan->kind >= LARDER_FIRST_KIND_WITH_ABI && plan->size % 8) {
        zend_error_noreturn(E_ERROR, "the size of an image is not a multiple of 8");
    }
    if (plan->kind != LARDER_KIND_COUNTER && !write_twice(plan, image)) {
        zend_error_noreturn(E_ERROR, "writing did not cover the image, or went beyond it");
    }
    mprotect(image->pages, image->length, PROT_READ);
}

const void *image_place(const larder_image_plan *plan)
{
    struct image image;
    image_write(plan, &image);
    return image.at;
}

bool image_holds(const void *address)
{
    return (uintptr_t)address >= FIRST_ADDRESS && (uintptr_t)address < next_address;
}

zend_result image_unmap_all(void)
{
    while (mappings) {
        struct mapping *mapping = mappings;
        mappings = mapping->next;
        munmap(mapping->pages, mapping->length);
        free(mapping);
    }
    next_address = FIRST_ADDRESS;
    return SUCCESS;
}
