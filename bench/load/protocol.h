/* What the generator must know of a protocol: what to send, and when an answer is whole. */
#ifndef LARDER_LOAD_PROTOCOL_H
#define LARDER_LOAD_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>

enum larder_answer {
    LARDER_ANSWER_PARTIAL, /* more must be read */
    LARDER_ANSWER_WHOLE,   /* the answer is there, and it is a success */
    LARDER_ANSWER_FAILURE, /* the answer is there, or cannot become one, and it is not a success */
};

/* Looks at everything received for one request so far; ended says that the server has closed the connection. */
typedef enum larder_answer larder_parse(const char *bytes, size_t length, bool ended);

/* HTTP/1.1: a status of 200, a body of a stated length, in chunks, or up to the end of the connection. */
larder_parse larder_http_parse;

/* Writes the request into a buffer; returns its length, or 0 if it does not fit. */
size_t larder_http_request(char *buffer, size_t size, const char *host, const char *path, bool keep_alive);

#endif
