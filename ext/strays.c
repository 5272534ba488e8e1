/* A signal handler notes which function wrote, and PHP's interrupt writes it to the log, which the handler may not. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "strays.h"

#include "engine/larder.h"

#include "php_main.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <syslog.h>

#define NAMES     64u
#define NAME_SIZE 160u

enum state { FREE, TO_BE_TOLD, TOLD };

/* The functions that were met so far, for all threads. */
static struct writer {
    _Atomic uint32_t state;
    char name[NAME_SIZE];
} writers[NAMES];
static _Atomic uint32_t writers_count;
/* That there are more than can be named. */
static _Atomic uint32_t others;

static void (*interrupt_before)(zend_execute_data *execute_data);

static size_t append(char *to, size_t at, const char *text, size_t length)
{
    size_t most = NAME_SIZE - 1 - at;
    length = length < most ? length : most;
    memcpy(to + at, text, length);
    to[at + length] = '\0';
    return at + length;
}

#define APPEND(to, at, string) append(to, at, ZSTR_VAL(string), ZSTR_LEN(string))

/* What PHP is executing: a function, or the code of a file. */
static void name_function(char name[NAME_SIZE])
{
    const zend_execute_data *call = EG(current_execute_data);
    const zend_function *function = call == NULL ? NULL : call->func;
    size_t at = 0;
    if (function == NULL) {
        append(name, 0, "PHP", 3);
    } else if (function->common.function_name != NULL) {
        if (function->common.scope != NULL) {
            at = APPEND(name, at, function->common.scope->name);
            at = append(name, at, "::", 2);
        }
        at = APPEND(name, at, function->common.function_name);
        append(name, at, "()", 2);
    } else if (ZEND_USER_CODE(function->type) && function->op_array.filename != NULL) {
        at = append(name, 0, "The code of ", strlen("The code of "));
        APPEND(name, at, function->op_array.filename);
    } else {
        append(name, 0, "A function", strlen("A function"));
    }
}

/* In the signal handler. */
static void note(void)
{
    char name[NAME_SIZE];
    name_function(name);
    for (uint32_t i = 0; i < NAMES; i++) {
        /* acquire: the name is complete. */
        if (atomic_load_explicit(&writers[i].state, memory_order_acquire) >= TO_BE_TOLD &&
            strcmp(writers[i].name, name) == 0) {
            return;
        }
    }
    uint32_t place = atomic_fetch_add_explicit(&writers_count, 1, memory_order_relaxed);
    if (place >= NAMES) {
        uint32_t expected = FREE;
        atomic_compare_exchange_strong_explicit(&others, &expected, TO_BE_TOLD, memory_order_relaxed,
                                                memory_order_relaxed);
        zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
        return;
    }
    memcpy(writers[place].name, name, sizeof name);
    /* release: after the name. */
    atomic_store_explicit(&writers[place].state, TO_BE_TOLD, memory_order_release);
    zend_atomic_bool_store_ex(&EG(vm_interrupt), true);
}

/* Is it to be told? Then it is this thread that does. acquire: its account was written before. */
static bool begin_to_tell(_Atomic uint32_t *state)
{
    uint32_t expected = TO_BE_TOLD;
    return atomic_compare_exchange_strong_explicit(state, &expected, TOLD, memory_order_acquire, memory_order_relaxed);
}

void larder_strays_tell(void)
{
    uint32_t count = atomic_load_explicit(&writers_count, memory_order_relaxed);
    for (uint32_t i = 0; i < count && i < NAMES; i++) {
        char *message;
        if (!begin_to_tell(&writers[i].state)) {
            continue;
        }
        zend_spprintf(
            &message, 0,
            "Larder: %s wrote into a value that lies in shared memory. No other process sees that; until its "
            "request ends, this one works with copies of the pages concerned (private_pages in statistics()). "
            "Give the function a copy of the value that it may change: unserialize(serialize($value)).",
            writers[i].name);
        php_log_err_with_severity(message, LOG_WARNING);
        efree(message);
    }
    if (begin_to_tell(&others)) {
        php_log_err_with_severity(
            "Larder: more functions wrote into values that lie in shared memory than this process "
            "names. Further ones are only counted (private_pages in statistics()).",
            LOG_WARNING);
    }
}

static void tell_and_go_on(zend_execute_data *execute_data)
{
    larder_strays_tell();
    if (interrupt_before != NULL) {
        interrupt_before(execute_data);
    }
}

/* A handler of a signal has to stay, even when PHP unloads its modules. */
static void stay_loaded(void)
{
    Dl_info self;
    if (dladdr((const void *)(uintptr_t)larder_strays_begin, &self) != 0) {
        dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

void larder_strays_begin(void)
{
    stay_loaded();
    interrupt_before = zend_interrupt_function;
    zend_interrupt_function = tell_and_go_on;
    larder_stray_listen(note);
}

void larder_strays_end(void)
{
    larder_strays_tell();
    larder_stray_listen(NULL);
    larder_stray_ignore();
    if (zend_interrupt_function == tell_and_go_on) {
        zend_interrupt_function = interrupt_before;
    }
}
