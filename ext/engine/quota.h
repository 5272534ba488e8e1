/* Quotas: how much of a pool the pins that last may cover together.
 *
 * What a pin covers can be neither evicted nor compacted before it falls: those that store do without it. So the pins
 * of all short requests together may cover three eighths of the segments, and those of requests that may be long a
 * sixteenth: they lie still while the rest of the pool is written over, and the room of dead items among them is lost to
 * every process. All segments of a large value count. Past that a read copies, under a pin that lasts for the copy.
 *
 * A request may be long if its process has not ended a short one before it, and is none that serves a site. Opening
 * the pool says which: else nothing tells it from a command that never ends. And it is long when it has pinned for more
 * than a second.
 *
 * A process that is alone in the pool may pin a quarter, however long its request is: no other does without that. It
 * keeps this when others come. Therefore what long requests cover leaves short ones their part. All pins
 * together cover five eighths at most: what the one that was alone has, and the part of the short ones. Where short
 * requests have become long, that is the bound for those that come after them.
 *
 *     pin that may last ---> room in the quota? ----------> yes: keep it; if nothing covered the segments before, set
 *                                  |no                          their bits and count them
 *                            last survey some ms ago? ----> no: copy
 *                                  |yes
 *                            make the bits anew from what is kept, and look again
 *
 * While a quota is used up nothing more is kept, in covered segments neither: requests that overlap would hand them on
 * to each other, so that they never could be emptied. (28 workers whose requests read a twelfth of 8,000 arrays missed
 * 0.9 % of their reads for this, and none without.)
 *
 * Bits for segments lie in rows behind the pins: for each slot of what its process keeps, and for each quota of what is
 * covered.
 *
 *     +------------+---------------------+---------+----------+
 *     | slots      | slots               | covered | covered  |
 *     | their pins | what they keep: the | by all  | by those |
 *     | (pin.h)    | lasting, with tails |         | of long  |
 *     +------------+---------------------+---------+----------+
 *
 * A covered bit is set by the first process to keep a segment, and read by the others, so that readers of the same
 * values do not take a line from each other. It stays when pins fall: others may keep the segment, too, and to find out
 * takes a look at all slots, which is a survey. So a quota costs next to nothing until it is used up.
 *
 * Invariants:
 *   Q1  Each segment that a living slot keeps has its covered bit, and a quota's count is that of its bits. One that
 *       is kept or dropped while a survey makes the word anew may be missed, until the next survey. These are figures:
 *       no segment is freed, or kept, because of one.
 *   Q2  Surveys for want of room come once in some ms for the whole pool, the others once a second or as a request ends
 *       that a quota was in the way of. The more rows there are, the fewer: a survey takes some hundredths of the time.
 *   Q3  The dead drop no pins. Once a second a survey asks of each slot that keeps some whether its owner lives.
 *   Q4  One process never keeps more than its kind may together, whatever the figures say: three eighths of the
 *       segments while its request is short, a quarter when it may be long.
 */
#ifndef LARDER_QUOTA_H
#define LARDER_QUOTA_H

#include "segment.h"

/* The handle has been attached to a pool: where rows lie, and what its quotas are. */
void larder_quota_begin(larder_pool *pool);

/* May the pin that this process has just set on the segment last until the request ends? Then it is kept, and counts.
 */
bool larder_quota_take(larder_pool *pool, uint32_t segment);

/* The request ends: drops all pins. */
void larder_quota_end(larder_pool *pool);

/* Makes the covered bits and their counts anew from what all slots keep. */
void larder_quota_survey(larder_pool *pool);

/* Bytes of the segments that are covered, as far as is known. */
static inline uint64_t larder_quota_covered(const larder_pool *pool, enum larder_quota quota)
{
    /* relaxed: a figure. */
    return (uint64_t)atomic_load_explicit(&pool->header->covered[quota], memory_order_relaxed) << pool->segment_shift;
}

#endif
