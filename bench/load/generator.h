/*
 * The generator itself: one thread, one epoll, as many connections as asked for.
 *
 * Closed loop: each connection sends its next request when it has its answer. Open loop (a rate): requests are due at
 * fixed times whether or not the server keeps up, and a request that waits for a free connection is already late: its
 * latency counts from when it was due. Without keep-alive every request opens a connection, and that is part of it.
 */
#ifndef LARDER_LOAD_GENERATOR_H
#define LARDER_LOAD_GENERATOR_H

#include "histogram.h"
#include "protocol.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

struct larder_connection;

struct larder_generator {
    /* Set by the caller. */
    const struct larder_protocol *protocol;
    struct larder_work work;
    union {
        struct sockaddr any;
        struct sockaddr_in tcp;
        struct sockaddr_un local;
    } address;
    socklen_t address_length;
    size_t buffer_size; /* for a request, and for an answer */
    unsigned connection_count;
    uint64_t limit;    /* requests to make; 0: until the deadline */
    uint64_t duration; /* ns that requests may start in; 0: until the limit */
    double rate;       /* requests a second that are due; 0: closed loop */
    uint64_t keys;     /* stores: how many keys there are */
    bool in_order;     /* stores: each key once, in their order, instead of at random */
    uint64_t random;   /* the state of the random numbers */

    /* The generator's own. */
    struct larder_connection *connections;
    int epoll;
    int timer;
    uint64_t start;
    uint64_t begun;
    uint64_t in_flight;

    /* What a run found. */
    uint64_t errors;
    uint64_t nanoseconds;
    struct larder_histogram latencies;
};

/* Makes ready for runs; any failure in here ends the program with a message. */
void larder_generator_prepare(struct larder_generator *generator);

/* Makes requests until the limit or the deadline, and waits for all answers. May be called again. */
void larder_generator_run(struct larder_generator *generator);

/* Ends the program with what failed, and why. */
_Noreturn void larder_fail(const char *what);

#endif
