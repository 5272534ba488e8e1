/* The extension as PHP knows it: its module, settings and open pools. */
#ifndef PHP_LARDER_H
#define PHP_LARDER_H

#include "php.h"

#include "engine/larder.h"

#define PHP_LARDER_VERSION "0.1.0-dev"

extern zend_module_entry larder_module_entry;
#define phpext_larder_ptr &larder_module_entry

ZEND_BEGIN_MODULE_GLOBALS(larder)
char *size;            /* ini: bytes with PHP's suffixes; 0: automatic */
char *zero_copy;       /* ini: auto, on, off */
char *group;           /* ini: name or number of the group whose members share the pools; empty: none */
char *snapshot;        /* ini: the directory in which each user has one for snapshots; empty or off: none */
bool protect_unpinned; /* ini */
HashTable pools;       /* name => larder_pool, of this process (thread); kept from request to request */
HashTable waited_for;  /* names of pools whose makers or savers were waited for in vain: not again */
bool leave_later;      /* something that outlives the request still reads from a pool */
ZEND_END_MODULE_GLOBALS(larder)

ZEND_EXTERN_MODULE_GLOBALS(larder)
#define LARDER_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(larder, v)

#if defined(ZTS) && defined(COMPILE_DL_LARDER)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

/* Registers the classes; MINIT. */
void larder_register_classes(void);
void larder_computations_begin(void); /* remember.c */

#endif
