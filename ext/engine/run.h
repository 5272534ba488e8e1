/* Runs: neighbouring segments for a value that is larger than one. The window of the pool in which the least would be
 * lost is emptied and taken as a whole.
 */
#ifndef LARDER_RUN_H
#define LARDER_RUN_H

#include "segment.h"

/* Frees `count` neighbouring segments and takes them, marked as tails, off all lists. Under the segment lock. */
enum larder_result larder_make_run(larder_pool *pool, uint32_t count, uint32_t *head);

#endif
