/* A PHP with several threads, as application servers have it: each thread serves requests, one after the other.
 *
 *     host NAME SEED THREADS RUNS REQUESTS [SETTING…]
 *
 * Each of so many threads serves so many requests (request.php) and ends, and another takes its place, so many times.
 * Then the main thread looks at what they have left (last.php). A script that fails exits with another code than 0.
 */
#include "sapi/embed/php_embed.h"

#include "php_main.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MOST 64

static const char *pools;
static zend_long first_seed;
static unsigned threads, runs, requests;
static atomic_uint failures; /* seq_cst, as it says nothing else: it is asked once a request */

typedef struct worker {
    pthread_t thread;
    unsigned number, run;
} worker;

/* ---- requests ---- */

static void tell(const char *name, zval *value)
{
    zend_hash_str_update(&EG(symbol_table), name, strlen(name), value);
}

static void tell_all(unsigned number, zend_long seed)
{
    zval value;
    ZVAL_STRING(&value, pools);
    tell("name", &value);
    ZVAL_LONG(&value, (zend_long)number);
    tell("number", &value);
    ZVAL_LONG(&value, seed);
    tell("seed", &value);
}

static bool serve(const char *script, unsigned number, zend_long seed)
{
    zend_file_handle file;
    if (php_request_startup() != SUCCESS) {
        fputs("a request does not start\n", stderr);
        return false;
    }
    SG(headers_sent) = 1;
    SG(request_info).no_headers = 1;
    tell_all(number, seed);
    zend_stream_init_filename(&file, script);
    php_execute_script(&file);
    zend_destroy_file_handle(&file);
    php_request_shutdown(NULL);
    return EG(exit_status) == 0; /* it is what a shutdown function or PHP itself made it, too */
}

/* ---- threads ---- */

static void *live(void *context)
{
    const worker *w = context;
#ifdef ZTS
    (void)ts_resource(0);
#endif
    for (unsigned i = 0; i < requests && atomic_load(&failures) == 0; i++) {
        zend_long seed = first_seed + (zend_long)((w->run * threads + w->number) * requests + i);
        if (!serve("request.php", w->number, seed)) {
            fprintf(stderr, "thread %u failed in its request %u of its run %u, with the seed " ZEND_LONG_FMT "\n",
                    w->number, i, w->run, seed);
            atomic_fetch_add(&failures, 1);
        }
    }
#ifdef ZTS
    ts_free_thread();
#endif
    return NULL;
}

static void begin_run(worker *w)
{
    if (pthread_create(&w->thread, NULL, live, w) != 0) {
        perror("a thread cannot be made");
        exit(1);
    }
}

/* While one ends and the next begins, the others go on. */
static void live_all(void)
{
    static worker workers[THREADS_MOST];
    for (unsigned i = 0; i < threads; i++) {
        workers[i].number = i;
        begin_run(&workers[i]);
    }
    for (unsigned run = 1; run <= runs; run++) {
        for (unsigned i = 0; i < threads; i++) {
            pthread_join(workers[i].thread, NULL);
            if (run < runs) {
                workers[i].run = run;
                begin_run(&workers[i]);
            }
        }
    }
}

/* ---- PHP ---- */

static bool start(char *settings)
{
#ifdef ZTS
    if (!php_tsrm_startup()) {
        return false;
    }
#endif
    zend_signal_startup();
    sapi_startup(&php_embed_module);
    php_embed_module.name = "uwsgi"; /* opcache works for the servers only that it knows by name */
    php_embed_module.php_ini_ignore = 1;
    php_embed_module.ini_entries = settings;
    return php_module_startup(&php_embed_module, NULL) == SUCCESS;
}

static void end(void)
{
    php_module_shutdown();
    sapi_shutdown();
#ifdef ZTS
    tsrm_shutdown();
#endif
}

/* One a line. False: there is no room for all. */
static bool write_settings(char *text, size_t size, int count, char **settings)
{
    int length = snprintf(
        text, size, "html_errors=0\ndisplay_errors=1\nerror_reporting=-1\nimplicit_flush=1\nmax_execution_time=0\n");
    size_t at = (size_t)length;
    for (int i = 0; i < count; i++) {
        length = snprintf(text + at, size - at, "%s\n", settings[i]);
        at += (size_t)length;
        if (length < 0 || at >= size) {
            return false;
        }
    }
    return true;
}

static unsigned number_of(const char *word)
{
    return (unsigned)strtoul(word, NULL, 10);
}

int main(int count, char **words)
{
    static char settings[4096];
    if (count < 6 || !write_settings(settings, sizeof settings, count - 6, words + 6)) {
        fputs("usage: host NAME SEED THREADS RUNS REQUESTS [SETTING...]\n", stderr);
        return 2;
    }
    pools = words[1];
    first_seed = strtoll(words[2], NULL, 10);
    threads = number_of(words[3]);
    runs = number_of(words[4]);
    requests = number_of(words[5]);
#ifdef ZTS
    const unsigned most = THREADS_MOST;
#else
    const unsigned most = 1; /* a PHP that is not made for threads serves one at a time */
#endif
    if (threads < 1 || threads > most || runs < 1 || requests < 1) {
        fprintf(stderr, "host: this PHP serves 1 to %u threads, each of at least one run of at least one request\n",
                most);
        return 2;
    }
    if (!start(settings)) {
        fputs("PHP does not start\n", stderr);
        return 1;
    }
    live_all();
    if (atomic_load(&failures) == 0 && !serve("last.php", 0, first_seed)) {
        atomic_fetch_add(&failures, 1);
    }
    end();
    return atomic_load(&failures) == 0 ? 0 : 1;
}
