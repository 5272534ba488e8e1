/* Where PHP has to be told something before it calls others. */
#ifndef LARDER_HOOKS_H
#define LARDER_HOOKS_H

#include <stdbool.h>

/* MINIT: `late`, if PHP has started already. MSHUTDOWN. */
void larder_hooks_begin(bool late);
void larder_hooks_end(void);

#endif
