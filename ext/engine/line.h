/* Cache lines that several processes write.
 *
 * A store changes half a dozen of them: the clock, its key's bucket, the entries of the segments that the old item lies
 * in and the new one is going to, the item's bit among the starts. Whoever changed one last has it in his cache, and to
 * get it from there takes as long as the rest of the store. One after the other, as the atomic operations come, each
 * would be waited for alone, and those that are read first would come twice: to be read, and to be changed. So a store
 * asks for each as soon as it knows which it is.
 */
#ifndef LARDER_LINE_H
#define LARDER_LINE_H

#include <stdint.h>

/* A hint: changes nothing, orders nothing, and may be given any address. */
static inline void larder_line_to_write(const volatile void *address)
{
#ifdef __x86_64__
    /* What compilers make of __builtin_prefetch() for any processor of this kind asks for a line to read. Where this is
     * not known, it does nothing. */
    __asm__ volatile("prefetchw (%0)" : : "r"(address));
#else
    __builtin_prefetch((const void *)(uintptr_t)address, 1);
#endif
}

#endif
