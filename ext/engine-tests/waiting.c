#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "waiting.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

static _Thread_local uint64_t asked_for;
static _Thread_local void (*meddler)(void);

uint64_t waited_ns(void)
{
    return asked_for;
}

void waiting_meddle(void (*meddle)(void))
{
    meddler = meddle;
}

/* In place of the C library's, for the engine is linked to this program. */
int nanosleep(const struct timespec *time, struct timespec *rest)
{
    asked_for += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
    if (meddler != NULL) {
        void (*meddle)(void) = meddler;
        meddler = NULL; /* the meddler may have to wait, too */
        meddle();
        meddler = meddle;
    }
    int code = clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
    errno = code == 0 ? errno : code;
    return code == 0 ? 0 : -1;
}
