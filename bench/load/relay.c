/*
 * A link to a server with a delay, for a kernel that cannot give a network one, and a count of the round trips:
 *
 *   relay ADDRESS PORT SERVER-PORT MICROSECONDS
 *
 * Listens there, and passes what a client sends on to 127.0.0.1:SERVER-PORT once it has waited for so long. Answers are passed on at once, so that
 * each round trip takes so much longer. A line on the standard input is answered with the round trips so far: how often a client sent
 * something after it had an answer. The end of the standard input ends the relay.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_LINKS 64
#define CHUNK      (256 * 1024)
#define SECOND     1000000000U

/* What a client has sent, until it is due. */
struct chunk {
    struct chunk *next;
    uint64_t due;
    size_t length;
    char bytes[];
};

struct link {
    int client;
    int server;
    bool answered; /* since the client sent something */
    struct chunk *first;
    struct chunk *last;
};

static struct link links[MOST_LINKS];
static size_t count;
static uint64_t delay;
static unsigned long long trips;
static char buffer[CHUNK];

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);

    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static struct sockaddr_in address_of(const char *address, int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &name.sin_addr);

    return name;
}

static bool pass(int to, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(to, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        bytes += sent;
        length -= (size_t)sent;
    }

    return true;
}

static void begin(int listener, int port)
{
    int one = 1;
    struct sockaddr_in name = address_of("127.0.0.1", port);
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (client < 0 || server < 0 || count == MOST_LINKS ||
        connect(server, (struct sockaddr *)&name, sizeof name) != 0) {
        if (client >= 0) {
            close(client);
        }
        if (server >= 0) {
            close(server);
        }

        return;
    }
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    links[count++] = (struct link){.client = client, .server = server, .answered = true};
}

static void end(size_t at)
{
    struct link *link = &links[at];

    while (link->first != NULL) {
        struct chunk *next = link->first->next;
        free(link->first);
        link->first = next;
    }
    close(link->client);
    close(link->server);
    links[at] = links[--count];
}

static bool hear(struct link *link)
{
    ssize_t length = recv(link->client, buffer, sizeof buffer, MSG_DONTWAIT);

    if (length <= 0) {
        return length < 0 && (errno == EAGAIN || errno == EINTR);
    }
    trips += link->answered ? 1 : 0;
    link->answered = false;
    if (delay == 0) {
        return pass(link->server, buffer, (size_t)length);
    }
    struct chunk *chunk = malloc(sizeof *chunk + (size_t)length);
    if (chunk == NULL) {
        return false;
    }
    chunk->next = NULL;
    chunk->due = now() + delay;
    chunk->length = (size_t)length;
    memcpy(chunk->bytes, buffer, (size_t)length);
    if (link->first == NULL) {
        link->first = chunk;
    } else {
        link->last->next = chunk;
    }
    link->last = chunk;

    return true;
}

static bool answer(struct link *link)
{
    ssize_t length = recv(link->server, buffer, sizeof buffer, MSG_DONTWAIT);

    if (length <= 0) {
        return length < 0 && (errno == EAGAIN || errno == EINTR);
    }
    link->answered = true;

    return pass(link->client, buffer, (size_t)length);
}

static bool deliver(struct link *link)
{
    while (link->first != NULL && link->first->due <= now()) {
        struct chunk *chunk = link->first;
        bool passed = pass(link->server, chunk->bytes, chunk->length);
        link->first = chunk->next;
        free(chunk);
        if (!passed) {
            return false;
        }
    }

    return true;
}

/* Until when there is nothing to deliver, at most a second. */
static struct timespec until_due(void)
{
    uint64_t time = now();
    uint64_t wait = SECOND;

    for (size_t i = 0; i < count; i++) {
        if (links[i].first != NULL) {
            uint64_t due = links[i].first->due;
            uint64_t left = due > time ? due - time : 0;
            wait = left < wait ? left : wait;
        }
    }

    return (struct timespec){.tv_sec = (time_t)(wait / SECOND), .tv_nsec = (long)(wait % SECOND)};
}

static void serve(int listener, int port)
{
    while (true) {
        struct pollfd polled[2 + 2 * MOST_LINKS] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                                    {.fd = listener, .events = POLLIN}};
        size_t known = count;
        for (size_t i = 0; i < known; i++) {
            polled[2 + 2 * i] = (struct pollfd){.fd = links[i].client, .events = POLLIN};
            polled[3 + 2 * i] = (struct pollfd){.fd = links[i].server, .events = POLLIN};
        }
        struct timespec wait = until_due();
        ppoll(polled, 2 + 2 * known, &wait, NULL);
        /* From the last one: what has ended gives its place to the last. */
        for (size_t i = known; i-- > 0;) {
            bool lives = deliver(&links[i]);
            lives = lives && (polled[2 + 2 * i].revents == 0 || hear(&links[i]));
            lives = lives && (polled[3 + 2 * i].revents == 0 || answer(&links[i]));
            if (!lives) {
                end(i);
            }
        }
        if (polled[1].revents != 0) {
            begin(listener, port);
        }
        if (polled[0].revents != 0) {
            char line[16];
            if (read(STDIN_FILENO, line, sizeof line) <= 0) {
                return;
            }
            printf("%llu\n", trips);
            fflush(stdout);
        }
    }
}

int main(int argc, char **argv)
{
    int one = 1;

    if (argc != 5) {
        fputs("relay: ADDRESS PORT SERVER-PORT MICROSECONDS\n", stderr);
        return 2;
    }
    struct sockaddr_in name = address_of(argv[1], atoi(argv[2]));
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    delay = strtoull(argv[4], NULL, 10) * 1000;
    /* The kernel may otherwise wake it 50 microseconds late. */
    prctl(PR_SET_TIMERSLACK, 1UL);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (listener < 0 || bind(listener, (struct sockaddr *)&name, sizeof name) != 0 ||
        listen(listener, MOST_LINKS) != 0) {
        fprintf(stderr, "relay: %s:%s: %s\n", argv[1], argv[2], strerror(errno));
        return 1;
    }
    puts("ready");
    fflush(stdout);
    serve(listener, atoi(argv[3]));

    return 0;
}
