/* Writes into values. PHP's functions change no array that others have, too. A few change what they are given all the
 * same, or count references of it, which does no harm to a value of PHP's own; here it is a write to memory that is
 * mapped read-only, and would end the process.
 *
 *     write to a value --> SIGSEGV --> within a segment that this process pins?
 *                                        |yes                              |no
 *                                        v                                 v
 *                          mark the segment, make the page writable    the handler that was there before
 *                                        |
 *                                        v
 *                          the write is repeated: the kernel copies the page, because the mapping is private
 *
 * The page is this process's own from then on: no other process sees what is written there, and it shows nothing that
 * others write. So nothing is read there by the engine (map.h: larder_map_is_apart()); values come from the writable
 * mapping, as copies. It is given back when no thread of the process pins its segment any more (map.h).
 *
 * Not answered, because only a mistake can cause it: a write to any other part of a pool, one by the engine's own code,
 * and one to a segment that is not pinned.
 *
 * The signal handler takes no lock and calls nothing but mprotect().
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "larder.h"
#include "map.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

/* Handlers that the signal had before, the latest last. There is more than one if others took it after us, and we took
 * it back: theirs then call ours for what is not their own, and may have to be passed by. */
#define EARLIER 8u
static pthread_mutex_t watching = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction earlier[EARLIER];
static _Atomic uint32_t earlier_count;
static _Atomic(void (*)(void)) listening;

/* The code of the engine, and of whatever it is linked with in one object. */
static uintptr_t code_from, code_to;

/* In the middle of a call of an earlier handler: how many were called so far, for which signal's context, and where the
 * handler that the system called has its frame. Not allocated when it is first used, as a module's other variables of a
 * thread are: a signal handler may not. */
static _Thread_local __attribute__((tls_model("initial-exec"))) struct {
    const void *context, *frame;
    uint32_t passed;
} forwarding;

/* ---- writes that are answered ---- */

static uintptr_t instruction_of(const void *context)
{
    const ucontext_t *at = context;
#if defined(__x86_64__)
    return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)at->uc_mcontext.pc;
#else
    (void)at;
    return 0;
#endif
}

static bool answer(const siginfo_t *info, const void *context)
{
    uintptr_t instruction = instruction_of(context), at = (uintptr_t)info->si_addr;
    bool ours = instruction >= code_from && instruction < code_to;
    /* Reading is allowed there, so it was a write, unless it was run as code. */
    if (info->si_code != SEGV_ACCERR || ours || instruction == at || !larder_map_part(at)) {
        return false;
    }
    /* acquire: what the listener uses was there before. */
    void (*listener)(void) = atomic_load_explicit(&listening, memory_order_acquire);
    if (listener != NULL) {
        listener();
    }
    return true;
}

/* ---- writes that are not ---- */

/* What would happen if there were no handler at all: the instruction is repeated, or the signal comes once more. */
static void end_as_usual(int signal, const siginfo_t *info)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(signal, &usual, NULL);
    if (info->si_code <= 0) { /* a process sent it */
        raise(signal);
    }
}

static void call(const struct sigaction *handler, int signal, siginfo_t *info, void *context)
{
    sigset_t before, own;
    pthread_sigmask(SIG_BLOCK, &handler->sa_mask, &before);
    if ((handler->sa_flags & SA_NODEFER) != 0) {
        sigemptyset(&own);
        sigaddset(&own, signal);
        pthread_sigmask(SIG_UNBLOCK, &own, NULL);
    }
    if ((handler->sa_flags & SA_SIGINFO) != 0) {
        handler->sa_sigaction(signal, info, context);
    } else {
        handler->sa_handler(signal);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void forward(int signal, siginfo_t *info, void *context)
{
    uint32_t passed = forwarding.passed;
    uint32_t count = atomic_load_explicit(&earlier_count, memory_order_acquire);
    if (passed >= count) {
        end_as_usual(signal, info);
        return;
    }
    struct sigaction *last = &earlier[count - 1 - passed];
    struct sigaction handler = *last;
    bool plain = (handler.sa_flags & SA_SIGINFO) == 0;
    if (plain && handler.sa_handler == SIG_IGN && info->si_code <= 0) {
        return;
    }
    if (plain && (handler.sa_handler == SIG_DFL || handler.sa_handler == SIG_IGN)) {
        end_as_usual(signal, info);
        return;
    }
    if (((unsigned)handler.sa_flags & SA_RESETHAND) != 0) {
        *last = (struct sigaction){.sa_handler = SIG_DFL};
    }
    forwarding.passed = passed + 1;
    call(&handler, signal, info, context);
    forwarding.passed = passed;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    int before = errno;
    const void *frame = __builtin_frame_address(0);
    /* Called by a handler that we have called: with the same context, and further down the stack. An earlier handler
     * that did not return, but jumped out, leaves traces; but the next signal, if its context lies in the same place,
     * has its frame there, too. */
    if (forwarding.context == context && forwarding.frame != frame) {
        forward(signal, info, context);
    } else if (!answer(info, context)) {
        forwarding.context = context;
        forwarding.frame = frame;
        forwarding.passed = 0;
        forward(signal, info, context);
        forwarding.context = NULL;
    }
    errno = before;
}

/* ---- being asked at all ---- */

static int find_own_code(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t from = object->dlpi_addr + part->p_vaddr, here = (uintptr_t)&find_own_code;
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X) != 0 && here - from < part->p_memsz) {
            code_from = from;
            code_to = from + part->p_memsz;
            return 1;
        }
    }
    return 0;
}

static bool is_ours(const struct sigaction *handler)
{
    return (handler->sa_flags & SA_SIGINFO) != 0 && handler->sa_sigaction == handle;
}

/* One that is there already comes to the end, and is called once only; else the oldest goes when there are too many. */
static uint32_t make_room_for(const struct sigaction *handler)
{
    uint32_t count = atomic_load_explicit(&earlier_count, memory_order_relaxed), i = 0;
    while (i < count && earlier[i].sa_sigaction != handler->sa_sigaction) {
        i++;
    }
    if (i == count && count < EARLIER) {
        return count;
    }
    i = i == count ? 0 : i;
    memmove(&earlier[i], &earlier[i + 1], (count - 1 - i) * sizeof earlier[0]);
    return count - 1;
}

void larder_stray_watch(void)
{
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) != 0 || is_ours(&now)) {
        return;
    }
    pthread_mutex_lock(&watching);
    if (code_to == 0) {
        dl_iterate_phdr(find_own_code, NULL);
    }
    if (sigaction(SIGSEGV, NULL, &now) == 0 && !is_ours(&now)) {
        uint32_t count = make_room_for(&now);
        earlier[count] = now;
        /* release: the handler finds it complete. */
        atomic_store_explicit(&earlier_count, count + 1, memory_order_release);
        struct sigaction ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
        sigemptyset(&ours.sa_mask);
        sigaction(SIGSEGV, &ours, NULL);
    }
    pthread_mutex_unlock(&watching);
}

void larder_stray_ignore(void)
{
    struct sigaction now;
    pthread_mutex_lock(&watching);
    uint32_t count = atomic_load_explicit(&earlier_count, memory_order_relaxed);
    if (count > 0 && sigaction(SIGSEGV, NULL, &now) == 0 && is_ours(&now)) {
        sigaction(SIGSEGV, &earlier[count - 1], NULL);
        atomic_store_explicit(&earlier_count, count - 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&watching);
}

void larder_stray_listen(void (*listener)(void))
{
    atomic_store_explicit(&listening, listener, memory_order_release);
}
