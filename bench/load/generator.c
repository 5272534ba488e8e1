#define _GNU_SOURCE
#include "generator.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define EVENTS 256

struct larder_connection {
    int socket;
    bool is_busy;
    uint64_t key; /* what the request on it asks for */
    uint64_t due; /* when the request on it was meant to start */
    size_t request_length;
    size_t sent;
    size_t received;
    char *request;
    char *answer;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);

    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

_Noreturn void larder_fail(const char *what)
{
    fprintf(stderr, "load: %s failed: %s\n", what, strerror(errno));
    exit(1);
}

static void disconnect(struct larder_connection *connection)
{
    if (connection->socket >= 0) {
        close(connection->socket);
        connection->socket = -1;
    }
}

static void watch(struct larder_generator *generator, struct larder_connection *connection, int operation,
                  uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = connection};
    if (epoll_ctl(generator->epoll, operation, connection->socket, &event) != 0) {
        larder_fail("epoll_ctl");
    }
}

static void open_connection(struct larder_generator *generator, struct larder_connection *connection)
{
    int one = 1;

    connection->socket = socket(generator->address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) {
        larder_fail("socket");
    }
    if (generator->address.any.sa_family == AF_INET) {
        setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    if (connect(connection->socket, &generator->address.any, generator->address_length) != 0 && errno != EINPROGRESS) {
        larder_fail("connect");
    }
    watch(generator, connection, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

/* Whether another request may start, and since when it is due. */
static bool take_turn(struct larder_generator *generator, uint64_t *due)
{
    uint64_t time = now();

    *due = time;
    if (generator->rate > 0) {
        *due = generator->start + (uint64_t)((double)generator->begun / generator->rate * (double)SECOND);
        if (*due > time) {
            return false;
        }
    }
    if ((generator->limit > 0 && generator->begun >= generator->limit) ||
        (generator->duration > 0 && *due - generator->start >= generator->duration)) {
        return false;
    }
    generator->begun++;

    return true;
}

/* The key of the request that was begun last (xorshift64). */
static uint64_t next_key(struct larder_generator *generator)
{
    if (generator->in_order) {
        return (generator->begun - 1) % generator->keys;
    }
    generator->random ^= generator->random << 13;
    generator->random ^= generator->random >> 7;
    generator->random ^= generator->random << 17;

    return generator->random % generator->keys;
}

static void finish(struct larder_generator *generator, struct larder_connection *connection, bool succeeded)
{
    connection->is_busy = false;
    generator->in_flight--;
    if (succeeded) {
        larder_histogram_add(&generator->latencies, now() - connection->due);
    } else {
        generator->errors++;
    }
    if (!succeeded || !generator->work.keep_alive) {
        disconnect(connection);
    }
}

/* Whether all of it is sent. */
static bool send_request(struct larder_generator *generator, struct larder_connection *connection)
{
    while (connection->sent < connection->request_length) {
        ssize_t sent = send(connection->socket, connection->request + connection->sent,
                            connection->request_length - connection->sent, MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno != EAGAIN && errno != ENOTCONN) {
                finish(generator, connection, false);
            }
            return false;
        }
        connection->sent += (size_t)sent;
    }

    return true;
}

static void begin(struct larder_generator *generator, struct larder_connection *connection)
{
    uint64_t due;

    if (connection->is_busy || !take_turn(generator, &due)) {
        return;
    }
    connection->is_busy = true;
    connection->key = next_key(generator);
    connection->due = due;
    connection->sent = 0;
    connection->received = 0;
    connection->request_length =
        generator->protocol->request(&generator->work, connection->key, connection->request, generator->buffer_size);
    if (connection->request_length == 0) {
        errno = EMSGSIZE;
        larder_fail("writing a request");
    }
    generator->in_flight++;
    if (connection->socket < 0) {
        /* It is sent when the connection stands. */
        open_connection(generator, connection);
    } else if (!send_request(generator, connection) && connection->is_busy) {
        watch(generator, connection, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    }
}

static void receive(struct larder_generator *generator, struct larder_connection *connection)
{
    while (connection->is_busy) {
        size_t room = generator->buffer_size - connection->received;
        ssize_t received = room == 0 ? 0 : recv(connection->socket, connection->answer + connection->received, room, 0);
        if (received < 0) {
            if (errno != EAGAIN) {
                finish(generator, connection, false);
            }
            return;
        }
        connection->received += (size_t)received;
        switch (generator->protocol->parse(&generator->work, connection->key, connection->answer, connection->received,
                                           received == 0)) {
        case LARDER_ANSWER_WHOLE:
            finish(generator, connection, true);
            break;
        case LARDER_ANSWER_FAILURE:
            finish(generator, connection, false);
            break;
        case LARDER_ANSWER_PARTIAL:
            break;
        }
    }
}

static void set_timer(struct larder_generator *generator)
{
    uint64_t due = generator->start + (uint64_t)((double)generator->begun / generator->rate * (double)SECOND);
    struct itimerspec time = {.it_value = {.tv_sec = (time_t)(due / SECOND), .tv_nsec = (long)(due % SECOND)}};

    if (timerfd_settime(generator->timer, TFD_TIMER_ABSTIME, &time, NULL) != 0) {
        larder_fail("timerfd_settime");
    }
}

static bool is_over(const struct larder_generator *generator)
{
    if (generator->in_flight > 0) {
        return false;
    }

    return (generator->limit > 0 && generator->begun >= generator->limit) ||
           (generator->duration > 0 && now() - generator->start >= generator->duration);
}

static void begin_all(struct larder_generator *generator)
{
    for (unsigned i = 0; i < generator->connection_count; i++) {
        begin(generator, &generator->connections[i]);
    }
    if (generator->rate > 0) {
        set_timer(generator);
    }
}

static void serve(struct larder_generator *generator, struct larder_connection *connection, uint32_t events)
{
    if (!connection->is_busy) {
        /* An idle connection speaks only to say that the server closed it. */
        disconnect(connection);
        begin(generator, connection);
        return;
    }
    if (connection->sent < connection->request_length && (events & EPOLLOUT) != 0 &&
        send_request(generator, connection)) {
        watch(generator, connection, EPOLL_CTL_MOD, EPOLLIN);
    }
    if (connection->is_busy) {
        receive(generator, connection);
    }
    begin(generator, connection);
}

void larder_generator_run(struct larder_generator *generator)
{
    struct epoll_event events[EVENTS];

    generator->begun = 0;
    generator->errors = 0;
    memset(&generator->latencies, 0, sizeof generator->latencies);
    generator->start = now();
    begin_all(generator);
    while (!is_over(generator)) {
        int count = epoll_wait(generator->epoll, events, EVENTS, 100);
        if (count < 0 && errno != EINTR) {
            larder_fail("epoll_wait");
        }
        bool is_due = false;
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                uint64_t expirations;
                is_due = read(generator->timer, &expirations, sizeof expirations) > 0;
            } else {
                serve(generator, events[i].data.ptr, events[i].events);
            }
        }
        if (is_due || (generator->rate > 0 && count > 0)) {
            begin_all(generator);
        }
    }
    generator->nanoseconds = now() - generator->start;
}

void larder_generator_prepare(struct larder_generator *generator)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

    generator->epoll = epoll_create1(EPOLL_CLOEXEC);
    generator->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    generator->connections = calloc(generator->connection_count, sizeof *generator->connections);
    if (generator->epoll < 0 || generator->timer < 0 || generator->connections == NULL ||
        epoll_ctl(generator->epoll, EPOLL_CTL_ADD, generator->timer, &event) != 0) {
        larder_fail("setting up");
    }
    for (unsigned i = 0; i < generator->connection_count; i++) {
        struct larder_connection *connection = &generator->connections[i];
        connection->socket = -1;
        connection->request = malloc(generator->buffer_size);
        connection->answer = malloc(generator->buffer_size);
        if (connection->request == NULL || connection->answer == NULL) {
            larder_fail("setting up");
        }
    }
}
