/*
 * A load generator for web servers and caches on this machine.
 *
 * A run is a row of slices: each makes its requests, waits for its answers and is counted on its own, so that two
 * pages can take turns in slices so short that a disturbance of the machine disturbs both.
 *
 * The result is one line of JSON. It has the generator's own processor time, because a generator that uses up its
 * processor measures itself, and the time of the processes that --watch names.
 */
#define _GNU_SOURCE
#include "generator.h"
#include "watch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define SLICES  4096
#define WATCHED 512

struct plan {
    const char *paths[SLICES];
    size_t path_count;
    size_t slices; /* one for each path, or one with all paths; stores have one slice and no path */
    bool mixed;
    long watched[WATCHED];
    size_t watched_count;
    const char *socket;
    unsigned long port;
};

static _Noreturn void usage(void)
{
    fputs("usage: load [--protocol http|resp|memcached] (--port PORT | --socket PATH) (--requests N | --seconds S)\n"
          "            [--connections N] [--rate R] [--watch PID]…\n"
          "       http: --path PATH… [--keep-alive] [--header LINE]   one slice for each path, in this order\n"
          "             [--mixed]   one slice, each request of which has one of the paths at random\n"
          "       resp, memcached: [--set] [--keys N] [--value-bytes N] [--in-order] [--seed N]\n"
          "Loads a server on this machine, checks every answer, and prints what it saw as JSON.\n",
          stderr);
    exit(2);
}

static const struct larder_protocol *protocol_named(const char *name)
{
    if (strcmp(name, "http") == 0) {
        return &larder_http;
    }
    if (strcmp(name, "resp") == 0) {
        return &larder_resp;
    }
    if (strcmp(name, "memcached") == 0) {
        return &larder_memcached;
    }
    usage();
}

static void read_options(int argc, char **argv, struct larder_generator *generator, struct plan *plan)
{
    static const struct option options[] = {
        {"protocol", required_argument, NULL, 'P'},
        {"port", required_argument, NULL, 'p'},
        {"socket", required_argument, NULL, 'x'},
        {"path", required_argument, NULL, 'u'},
        {"mixed", no_argument, NULL, 'm'},
        {"connections", required_argument, NULL, 'c'},
        {"requests", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 's'},
        {"rate", required_argument, NULL, 'r'},
        {"watch", required_argument, NULL, 'w'},
        {"keep-alive", no_argument, NULL, 'k'},
        {"header", required_argument, NULL, 'H'},
        {"set", no_argument, NULL, 'S'},
        {"keys", required_argument, NULL, 'K'},
        {"value-bytes", required_argument, NULL, 'b'},
        {"in-order", no_argument, NULL, 'o'},
        {"seed", required_argument, NULL, 'e'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'P':
            generator->protocol = protocol_named(optarg);
            break;
        case 'p':
            plan->port = strtoul(optarg, NULL, 10);
            break;
        case 'x':
            plan->socket = optarg;
            break;
        case 'u':
            if (plan->path_count == SLICES) {
                usage();
            }
            plan->paths[plan->path_count++] = optarg;
            break;
        case 'm':
            plan->mixed = true;
            break;
        case 'c':
            generator->connection_count = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'n':
            generator->limit = strtoull(optarg, NULL, 10);
            break;
        case 's':
            generator->duration = (uint64_t)(strtod(optarg, NULL) * 1e9);
            break;
        case 'r':
            generator->rate = strtod(optarg, NULL);
            break;
        case 'w':
            if (plan->watched_count == WATCHED) {
                usage();
            }
            plan->watched[plan->watched_count++] = strtol(optarg, NULL, 10);
            break;
        case 'k':
            generator->work.keep_alive = true;
            break;
        case 'H':
            generator->work.header = optarg;
            break;
        case 'S':
            generator->work.is_write = true;
            break;
        case 'K':
            generator->keys = strtoull(optarg, NULL, 10);
            break;
        case 'b':
            generator->work.value_bytes = strtoull(optarg, NULL, 10);
            break;
        case 'o':
            generator->in_order = true;
            break;
        case 'e':
            generator->random = strtoull(optarg, NULL, 10) | 1;
            break;
        default:
            usage();
        }
    }
}

static void set_address(struct larder_generator *generator, const struct plan *plan)
{
    if (plan->socket != NULL) {
        generator->address.local.sun_family = AF_UNIX;
        if (strlen(plan->socket) >= sizeof generator->address.local.sun_path) {
            errno = ENAMETOOLONG;
            larder_fail("the socket's path");
        }
        memcpy(generator->address.local.sun_path, plan->socket, strlen(plan->socket) + 1);
        generator->address_length = sizeof generator->address.local;
        return;
    }
    generator->address.tcp = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)plan->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    generator->address_length = sizeof generator->address.tcp;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);

    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void print_slice(const struct larder_generator *generator, double cpu, uint64_t watched)
{
    const struct larder_histogram *latencies = &generator->latencies;

    printf("{\"requests\": %llu, \"errors\": %llu, \"seconds\": %.9f, \"cpu_seconds\": %.6f, \"watched_ns\": %llu, ",
           (unsigned long long)latencies->count, (unsigned long long)generator->errors,
           (double)generator->nanoseconds / 1e9, cpu, (unsigned long long)watched);
    printf("\"latency_ns\": {\"min\": %llu, \"mean\": %llu, \"p50\": %llu, \"p90\": %llu, \"p99\": %llu, "
           "\"p999\": %llu, \"max\": %llu}}",
           (unsigned long long)latencies->min,
           (unsigned long long)(latencies->count > 0 ? latencies->sum / latencies->count : 0),
           (unsigned long long)larder_histogram_percentile(latencies, 0.5),
           (unsigned long long)larder_histogram_percentile(latencies, 0.9),
           (unsigned long long)larder_histogram_percentile(latencies, 0.99),
           (unsigned long long)larder_histogram_percentile(latencies, 0.999), (unsigned long long)latencies->max);
}

int main(int argc, char **argv)
{
    /* Too large for the stack. */
    static struct larder_generator generator;
    static struct plan plan;

    generator.protocol = &larder_http;
    generator.connection_count = 1;
    generator.keys = 1;
    generator.random = 1;
    generator.work.value_bytes = 32;
    read_options(argc, argv, &generator, &plan);
    bool is_http = generator.protocol == &larder_http;
    if ((plan.socket == NULL && (plan.port == 0 || plan.port > 65535)) || generator.connection_count == 0 ||
        generator.keys == 0 || (generator.limit == 0 && generator.duration == 0) || is_http != (plan.path_count > 0)) {
        usage();
    }
    plan.slices = is_http && !plan.mixed ? plan.path_count : 1;
    if (!is_http) {
        generator.work.keep_alive = true;
    } else {
        generator.keys = plan.mixed ? plan.path_count : 1;
    }
    generator.buffer_size = is_http ? 256 * 1024 : generator.work.value_bytes + 256;
    set_address(&generator, &plan);
    larder_generator_prepare(&generator);
    printf("{\"slices\": [");
    for (size_t slice = 0; slice < plan.slices; slice++) {
        generator.work.paths = &plan.paths[slice];
        uint64_t watched = larder_watch(plan.watched, plan.watched_count);
        double cpu = cpu_seconds();
        larder_generator_run(&generator);
        printf("%s", slice == 0 ? "" : ", ");
        print_slice(&generator, cpu_seconds() - cpu, larder_watch(plan.watched, plan.watched_count) - watched);
    }
    puts("]}");

    return 0;
}
