/*
 * A load generator: one thread, one epoll, as many connections as asked for.
 *
 * Closed loop: each connection sends its next request when it has its answer. Open loop (--rate): requests are due at
 * fixed times whether or not the server keeps up, and a request that waits for a free connection is already late: its
 * latency counts from when it was due. Without keep-alive every request opens a connection, and that is part of it.
 *
 * The result is one line of JSON. It has the generator's own processor time, because a generator that uses up its
 * processor measures itself.
 */
#define _GNU_SOURCE
#include "histogram.h"
#include "protocol.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND      UINT64_C(1000000000)
#define ANSWER_SIZE (256 * 1024)
#define EVENTS      256

struct connection {
    int socket;
    bool is_busy;
    uint64_t due; /* when the request on it was meant to start */
    size_t sent;
    size_t received;
    char answer[ANSWER_SIZE];
};

struct load {
    struct sockaddr_in address;
    char request[4096];
    size_t request_length;
    bool keep_alive;
    unsigned connection_count;
    struct connection *connections;
    uint64_t limit;   /* requests to make; 0: until the deadline */
    uint64_t seconds; /* ns that requests may start in; 0: until the limit */
    double rate;      /* requests a second that are due; 0: closed loop */
    int epoll;
    int timer;
    uint64_t start;
    uint64_t begun;
    uint64_t in_flight;
    uint64_t errors;
    struct larder_histogram latencies;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);

    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "load: %s failed: %s\n", what, strerror(errno));
    exit(1);
}

static void disconnect(struct connection *connection)
{
    if (connection->socket >= 0) {
        close(connection->socket);
        connection->socket = -1;
    }
}

static void watch(struct load *load, struct connection *connection, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (epoll_ctl(load->epoll, operation, connection->socket, &event) != 0) {
        fail("epoll_ctl");
    }
}

static void open_connection(struct load *load, struct connection *connection)
{
    int one = 1;

    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) {
        fail("socket");
    }
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(connection->socket, (struct sockaddr *)&load->address, sizeof load->address) != 0 &&
        errno != EINPROGRESS) {
        fail("connect");
    }
    watch(load, connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

/* Whether another request may start, and since when it is due. */
static bool take_turn(struct load *load, uint64_t *due)
{
    uint64_t time = now();

    *due = time;
    if (load->rate > 0) {
        *due = load->start + (uint64_t)((double)load->begun / load->rate * (double)SECOND);
        if (*due > time) {
            return false;
        }
    }
    if ((load->limit > 0 && load->begun >= load->limit) || (load->seconds > 0 && *due - load->start >= load->seconds)) {
        return false;
    }
    load->begun++;

    return true;
}

static void finish(struct load *load, struct connection *connection, bool succeeded)
{
    connection->is_busy = false;
    load->in_flight--;
    if (succeeded) {
        larder_histogram_add(&load->latencies, now() - connection->due);
    } else {
        load->errors++;
    }
    if (!succeeded || !load->keep_alive) {
        disconnect(connection);
    }
}

static void send_request(struct load *load, struct connection *connection)
{
    while (connection->sent < load->request_length) {
        ssize_t sent = send(connection->socket, load->request + connection->sent,
                            load->request_length - connection->sent, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno != EAGAIN && errno != ENOTCONN) {
                finish(load, connection, false);
            }
            return;
        }
        connection->sent += (size_t)sent;
    }
    watch(load, connection, EPOLL_CTL_MOD, EPOLLIN);
}

static void begin(struct load *load, struct connection *connection)
{
    uint64_t due;

    if (connection->is_busy || !take_turn(load, &due)) {
        return;
    }
    connection->is_busy = true;
    connection->due = due;
    connection->sent = 0;
    connection->received = 0;
    load->in_flight++;
    if (connection->socket < 0) {
        /* It is sent when the connection stands. */
        open_connection(load, connection);
    } else {
        send_request(load, connection);
        if (connection->is_busy && connection->sent < load->request_length) {
            watch(load, connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
        }
    }
}

static void receive(struct load *load, struct connection *connection)
{
    while (connection->is_busy) {
        size_t room = ANSWER_SIZE - connection->received;
        ssize_t received = room == 0 ? 0 : recv(connection->socket, connection->answer + connection->received, room, 0);
        if (received < 0) {
            if (errno != EAGAIN) {
                finish(load, connection, false);
            }
            return;
        }
        connection->received += (size_t)received;
        switch (larder_http_parse(connection->answer, connection->received, received == 0)) {
        case LARDER_ANSWER_WHOLE:
            finish(load, connection, true);
            break;
        case LARDER_ANSWER_FAILURE:
            finish(load, connection, false);
            break;
        case LARDER_ANSWER_PARTIAL:
            break;
        }
    }
}

static void set_timer(struct load *load)
{
    uint64_t due = load->start + (uint64_t)((double)load->begun / load->rate * (double)SECOND);
    struct itimerspec time = {.it_value = {.tv_sec = (time_t)(due / SECOND), .tv_nsec = (long)(due % SECOND)}};

    if (timerfd_settime(load->timer, TFD_TIMER_ABSTIME, &time, NULL) != 0) {
        fail("timerfd_settime");
    }
}

static bool is_over(const struct load *load)
{
    if (load->in_flight > 0) {
        return false;
    }

    return (load->limit > 0 && load->begun >= load->limit) ||
           (load->seconds > 0 && now() - load->start >= load->seconds);
}

static void begin_all(struct load *load)
{
    for (unsigned i = 0; i < load->connection_count; i++) {
        begin(load, &load->connections[i]);
    }
    if (load->rate > 0) {
        set_timer(load);
    }
}

static void run(struct load *load)
{
    struct epoll_event events[EVENTS];

    load->start = now();
    begin_all(load);
    while (!is_over(load)) {
        int count = epoll_wait(load->epoll, events, EVENTS, 100);
        if (count < 0 && errno != EINTR) {
            fail("epoll_wait");
        }
        bool is_due = false;
        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;
            if (connection == NULL) {
                uint64_t expirations;
                is_due = read(load->timer, &expirations, sizeof expirations) > 0;
                continue;
            }
            if (connection->is_busy && connection->sent < load->request_length && (events[i].events & EPOLLOUT) != 0) {
                send_request(load, connection);
            }
            if (connection->is_busy) {
                receive(load, connection);
            } else {
                /* An idle connection speaks only to say that the server closed it. */
                disconnect(connection);
            }
            begin(load, connection);
        }
        if (is_due || (load->rate > 0 && count > 0)) {
            begin_all(load);
        }
    }
}

static void report(const struct load *load)
{
    double seconds = (double)(now() - load->start) / (double)SECOND;
    const struct larder_histogram *latencies = &load->latencies;
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    printf("{\"requests\": %llu, \"errors\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, \"latency_ns\": {",
           (unsigned long long)latencies->count, (unsigned long long)load->errors, seconds,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    printf("\"min\": %llu, \"mean\": %llu, \"p50\": %llu, \"p90\": %llu, \"p99\": %llu, \"max\": %llu}}\n",
           (unsigned long long)latencies->min,
           (unsigned long long)(latencies->count > 0 ? latencies->sum / latencies->count : 0),
           (unsigned long long)larder_histogram_percentile(latencies, 0.5),
           (unsigned long long)larder_histogram_percentile(latencies, 0.9),
           (unsigned long long)larder_histogram_percentile(latencies, 0.99), (unsigned long long)latencies->max);
}

static void usage(void)
{
    fputs(
        "usage: load --port PORT --path PATH [--connections N] (--requests N | --seconds S) [--rate R] [--keep-alive]\n"
        "Loads an HTTP server on 127.0.0.1 and prints what it saw as JSON.\n",
        stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"port", required_argument, NULL, 'p'},        {"path", required_argument, NULL, 'u'},
        {"connections", required_argument, NULL, 'c'}, {"requests", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 's'},     {"rate", required_argument, NULL, 'r'},
        {"keep-alive", no_argument, NULL, 'k'},        {NULL, 0, NULL, 0},
    };
    struct load *load = calloc(1, sizeof *load);
    const char *path = NULL;
    unsigned long port = 0;
    int option;

    if (load == NULL) {
        fail("calloc");
    }
    load->connection_count = 1;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (option) {
        case 'p':
            port = strtoul(optarg, NULL, 10);
            break;
        case 'u':
            path = optarg;
            break;
        case 'c':
            load->connection_count = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'n':
            load->limit = strtoull(optarg, NULL, 10);
            break;
        case 's':
            load->seconds = (uint64_t)(strtod(optarg, NULL) * (double)SECOND);
            break;
        case 'r':
            load->rate = strtod(optarg, NULL);
            break;
        case 'k':
            load->keep_alive = true;
            break;
        default:
            usage();
        }
    }
    if (path == NULL || port == 0 || port > 65535 || load->connection_count == 0 ||
        (load->limit == 0 && load->seconds == 0)) {
        usage();
    }
    load->address = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    load->request_length =
        larder_http_request(load->request, sizeof load->request, "127.0.0.1", path, load->keep_alive);
    load->connections = calloc(load->connection_count, sizeof *load->connections);
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (load->request_length == 0 || load->connections == NULL || load->epoll < 0 || load->timer < 0) {
        fail("setting up");
    }
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(load->epoll, EPOLL_CTL_ADD, load->timer, &event) != 0) {
        fail("epoll_ctl");
    }
    for (unsigned i = 0; i < load->connection_count; i++) {
        load->connections[i].socket = -1;
    }
    run(load);
    report(load);

    return 0;
}
