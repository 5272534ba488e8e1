/* Making room: S3-FIFO (Yang, Zhang, Qiu, Yue, Rashmi: "FIFO queues are all you need for cache eviction", SOSP 2023) on
 * segments, a few items at a time.
 */
#ifndef LARDER_EVICT_H
#define LARDER_EVICT_H

#include "segment.h"

/* Goes on with making room, just ahead of the writers: called by each store that takes `strides` times LARDER_STRIDE
 * bytes, and does as much as that is worth, up to a bound. Does nothing while there is room, or while another process
 * is at it. */
#define LARDER_STRIDE 1024u
void larder_make_room_ahead(larder_pool *pool, uint64_t strides);

/* Of what killed processes left in one segment, so many at most are told from what lives. */
#define LARDER_LEFT_AT_MOST 8u

/* Is nothing in the segment worth anything? Only believed when it is asked again behind the segment's pins: a writer
 * may be about to publish there. Where its account does not tell, `left` items are looked at, which are counted down.
 */
bool larder_is_all_dead(const larder_pool *pool, uint32_t segment, uint64_t now, uint32_t *left);

/* There is no free segment for writers: frees at least one, or says what stands in the way. Under the segment lock. */
enum larder_result larder_make_room_now(larder_pool *pool);

/* Where nothing is evicted: compacts until so many segments are free that what lives in any `count` neighbours can be
 * moved out of them. Under the segment lock. */
bool larder_make_room_for_run(larder_pool *pool, uint32_t count);

#endif
