#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "children.h"
#include "test.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

pid_t child_start(void (*run)(void *context), void *context)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run(context);
        fflush(stdout);
        _exit(0);
    }
    REQUIRE(pid > 0);
    return pid;
}

int child_wait(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) {
        REQUIRE(errno == EINTR);
    }
    return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

void child_run(void (*run)(void *context), void *context)
{
    EQUAL(child_wait(child_start(run, context)), 0);
}

void *shared_memory(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return at;
}

void gate_open(gate *g, uint32_t number)
{
    atomic_store(&g->number, number);
    syscall(SYS_futex, &g->number, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void gate_wait(gate *g, uint32_t number)
{
    for (uint32_t seen; (seen = atomic_load(&g->number)) < number;) {
        const struct timespec moment = {.tv_sec = 0, .tv_nsec = 50000000};
        syscall(SYS_futex, &g->number, FUTEX_WAIT, seen, &moment, NULL, 0);
    }
}
