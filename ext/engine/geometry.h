/* From a pool's size to where everything lies in it, and back: is this header one of ours? */
#ifndef LARDER_GEOMETRY_H
#define LARDER_GEOMETRY_H

#include "format.h"

#include <stdbool.h>
#include <stddef.h>

/* The geometry of a pool of that size (a multiple of LARDER_PAGE, in range). Size alone decides; id, base, created,
 * seed, evict and the checksum are left for the maker. */
void larder_geometry_plan(larder_geometry *geometry, uint64_t size);

uint32_t larder_geometry_checksum(const larder_geometry *geometry);

enum larder_verdict { LARDER_SOUND, LARDER_DAMAGED };

/* Judges a header read from a file of `file_size` bytes. */
enum larder_verdict larder_geometry_judge(const larder_geometry *geometry, uint64_t file_size);

#endif
