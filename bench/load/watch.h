/* Processor time of other processes: the servers that the load goes to. */
#ifndef LARDER_LOAD_WATCH_H
#define LARDER_LOAD_WATCH_H

#include <stddef.h>
#include <stdint.h>

/* User and system time of all living threads of these processes, in ns; 0 where the kernel does not count it. */
uint64_t larder_watch(const long *processes, size_t count);

#endif
