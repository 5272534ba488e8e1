/* Scripts whose array literals are images. */
#ifndef IMAGE_TESTS_LITERALS_H
#define IMAGE_TESTS_LITERALS_H

#include "php.h"

/* From now on, in everything that is compiled. */
void literals_become_images(void);

#endif
