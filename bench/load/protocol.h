/* What the generator must know of a protocol: what to send, and when an answer is whole and right. */
#ifndef LARDER_LOAD_PROTOCOL_H
#define LARDER_LOAD_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum larder_answer {
    LARDER_ANSWER_PARTIAL, /* more must be read */
    LARDER_ANSWER_WHOLE,   /* the answer is there, and it is the expected one */
    LARDER_ANSWER_FAILURE, /* the answer is there, or cannot become one, and it is not the expected one */
};

/* What all requests of a slice have in common. */
struct larder_work {
    const char **paths; /* HTTP: what is asked for; the key of a request is a place in it */
    bool keep_alive;    /* HTTP: whether the connection stays */
    const char *header; /* HTTP: a line of the request's head besides; NULL: none */
    bool is_write;      /* stores: set instead of get */
    size_t value_bytes; /* stores: the size of each value */
};

struct larder_protocol {
    /* Writes the request for a key into a buffer; returns its length, or 0 if it does not fit. */
    size_t (*request)(const struct larder_work *work, uint64_t key, char *buffer, size_t size);
    /* Looks at everything received for one request so far; ended says that the server has closed the connection. */
    enum larder_answer (*parse)(const struct larder_work *work, uint64_t key, const char *bytes, size_t length,
                                bool ended);
};

extern const struct larder_protocol larder_http;      /* HTTP/1.1: GET; 200 is right, with any body */
extern const struct larder_protocol larder_resp;      /* Redis's and Valkey's */
extern const struct larder_protocol larder_memcached; /* Memcached's text protocol */

/* Room for "key:" and twelve digits, as redis-benchmark names its keys. */
#define LARDER_KEY_SIZE 17

/* The name of a key, and its length. */
size_t larder_key(uint64_t key, char name[LARDER_KEY_SIZE]);

/* Writes the value of a key: each key has its own, so that another key's value is noticed. */
void larder_value(uint64_t key, char *value, size_t bytes);

/* Whether these bytes are the value of the key. */
bool larder_is_value(uint64_t key, const char *value, size_t bytes);

#endif
