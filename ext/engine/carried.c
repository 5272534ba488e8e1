#include "carried.h"

/* The tag's word, and its two bits there. */
static _Atomic uint64_t *word_of(const larder_pool *pool, uint64_t tag, uint64_t *bits)
{
    uint64_t mixed = larder_mix(pool, tag) * UINT64_C(0xa0761d6478bd642f);
    *bits = UINT64_C(1) << (mixed >> 20 & 63) | UINT64_C(1) << (mixed >> 26 & 63);
    return pool->carried + ((mixed >> 32) * pool->geometry.carried_count >> 32);
}

/* model/token.pml: carry() */
void larder_carry(larder_pool *pool, const uint64_t *tags, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits;
        _Atomic uint64_t *word = word_of(pool, tags[i], &bits);
        /* seq_cst, both: one side of store/invalidate, whose other are the clock and the cells. Found set, the bits
         * were set by a store whose place in that order is before this load. */
        if ((atomic_load_explicit(word, memory_order_seq_cst) & bits) != bits) {
            LARDER_FAULT(LARDER_AT_CARRY);
            atomic_fetch_or_explicit(word, bits, memory_order_seq_cst);
        }
    }
}

/* model/token.pml: enter() */
bool larder_is_carried(const larder_pool *pool, uint64_t tag)
{
    uint64_t bits;
    const _Atomic uint64_t *word = word_of(pool, tag, &bits);
    /* seq_cst: after the tick and the cells; the other side. */
    return (atomic_load_explicit(word, memory_order_seq_cst) & bits) == bits;
}
