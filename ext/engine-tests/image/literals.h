/* Scripts whose array literals are images. */
#ifndef IMAGE_TESTS_LITERALS_H
#define IMAGE_TESTS_LITERALS_H

#include "php.h"

#include "image/image.h"

/* From now on, in everything that is compiled. */
void literals_become_images(void);

/* ---- what image_tests.c does for them ---- */

/* Writes the image in memory of its own, which is read-only then and stays until the request has ended. */
const void *image_place(const larder_image_plan *plan);

/* Does this lie in such memory? */
bool image_holds(const void *address);

#endif
