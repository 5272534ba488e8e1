/* Functions that write into values: each is named once in PHP's error log. engine/stray.c has what becomes of the
 * write.
 */
#ifndef LARDER_STRAYS_H
#define LARDER_STRAYS_H

#include "php.h"

/* MINIT, MSHUTDOWN. */
void larder_strays_begin(void);
void larder_strays_end(void);

/* Writes to the log what has to be told by now. */
void larder_strays_tell(void);

#endif
