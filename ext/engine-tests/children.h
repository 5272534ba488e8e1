/* Children of a test, and how they wait for each other. */
#ifndef LARDER_CHILDREN_H
#define LARDER_CHILDREN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Runs it in a forked child, which ends when it returns, or with its parent. */
pid_t child_start(void (*run)(void *context), void *context);

/* Waits: the exit status, or 256 + the signal it died of. */
int child_wait(pid_t pid);

/* Starts it and expects it to end well. */
void child_run(void (*run)(void *context), void *context);

/* Memory that children share with their parent, zeroed. */
void *shared_memory(size_t size);

/* For one process to wait for another: until the number is reached. */
typedef struct gate {
    _Atomic uint32_t number;
} gate;
void gate_open(gate *g, uint32_t number);
void gate_wait(gate *g, uint32_t number);

#endif
