/* Vacancies: where a new key's word goes. Both of its buckets fill up evenly; where both are full, somebody's item
 * gives its place up.
 */
#ifndef LARDER_VACANCY_H
#define LARDER_VACANCY_H

#include "index.h"

typedef struct larder_vacancy {
    _Atomic uint64_t *at;
    uint64_t word; /* what was seen there */
    bool is_taken; /* by an item, which goes */
} larder_vacancy;

/* Finds a word for a new key: in the emptier bucket, or in full ones the least useful. False: nothing there may go,
 * because the pool does not evict. */
bool larder_find_vacancy(larder_pool *pool, const larder_place *place, larder_vacancy *found);

/* Puts the pending word there; what was there is gone then. False: somebody else was faster. */
bool larder_take_vacancy(larder_pool *pool, const larder_vacancy *vacancy, uint64_t pending);

#endif
