/* Seven words of one cache line, each with a fingerprint in its highest 16 bits: which of them have that of what is
 * looked for. The index (index.h) and the table of recent invalidations (recent.h) are made of such lines; what their
 * eighth word says differs.
 */
#ifndef LARDER_BUCKET_H
#define LARDER_BUCKET_H

#include "format.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Reading first and asking afterwards is a race to a thread sanitizer, and rightly so. */
#if defined(__SANITIZE_THREAD__)
#define LARDER_READS_UNPINNED 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LARDER_READS_UNPINNED 0
#endif
#endif
#ifndef LARDER_READS_UNPINNED
#define LARDER_READS_UNPINNED 1
#endif

/* Which words of a line have that fingerprint, as bits; to be loaded again before use. */
static inline uint32_t larder_words_with(const _Atomic uint64_t *line, uint64_t fingerprint)
{
#if defined(__SSE2__) && LARDER_READS_UNPINNED
    const __m128i *words = (const __m128i *)line;
    __m128i wanted = _mm_set1_epi16((short)fingerprint);
    uint32_t mask = 0;
#define LARDER_PAIR(i)                                                                                                 \
    (uint32_t) _mm_movemask_pd(_mm_castsi128_pd(_mm_cmpeq_epi16(_mm_load_si128(words + (i)), wanted))) << (2 * (i))
    mask = LARDER_PAIR(0) | LARDER_PAIR(1) | LARDER_PAIR(2) | LARDER_PAIR(3);
#undef LARDER_PAIR
    return mask & 0x7f; /* the last is a key version, or a floor */
#else
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LARDER_BUCKET_WORDS; i++) {
        /* relaxed: a first look. */
        uint64_t word = atomic_load_explicit(&line[i], memory_order_relaxed);
        mask |= (uint32_t)(word >> 48 == fingerprint) << i;
    }
    return mask;
#endif
}

#endif
