/* Memory for images, as the tests of images want it.
 *
 * An image ends where its last page does, and the page behind is not there. It is written twice over different
 * rubbish: bytes that differ were never written. Where it lies is read-only, and stays until PHP has let go of
 * every value of the request.
 */
#ifndef IMAGE_TESTS_PLACE_H
#define IMAGE_TESTS_PLACE_H

#include "php.h"

#include "image/image.h"

struct image {
    uint8_t kind;
    zend_long counter; /* the engine's business, kept here instead */
    size_t size;
    char *at;
    char *pages;
    size_t length; /* of the pages */
    zend_object std;
};

/* Pages at that address, 0: anywhere. */
void *image_map(uint64_t address, size_t length);

/* Makes room for an image that ends with its pages, there or, 0, behind all others, and remembers to unmap it after the
 * request. */
void image_take_place(struct image *image, uint64_t address);

/* Writes it where it stays, read-only. */
void image_write(const larder_image_plan *plan, struct image *image);

/* The same for one of which nothing but its address is wanted. */
const void *image_place(const larder_image_plan *plan);

/* Does this lie in such memory? */
bool image_holds(const void *address);

/* All of them. */
zend_result image_unmap_all(void);

#endif
