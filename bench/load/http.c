#define _GNU_SOURCE
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static size_t request(const struct larder_work *work, uint64_t key, char *buffer, size_t size)
{
    int length = snprintf(buffer, size, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: %s\r\n%s%s\r\n",
                          work->paths[key], work->keep_alive ? "keep-alive" : "close",
                          work->header == NULL ? "" : work->header, work->header == NULL ? "" : "\r\n");

    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

/* The value of a header, or NULL; head is the whole head with its closing empty line. */
static const char *header(const char *head, size_t length, const char *name)
{
    size_t name_length = strlen(name);
    const char *line = head;
    const char *end = head + length;

    while ((line = memmem(line, (size_t)(end - line), "\r\n", 2)) != NULL) {
        line += 2;
        if ((size_t)(end - line) > name_length && strncasecmp(line, name, name_length) == 0 &&
            line[name_length] == ':') {
            line += name_length + 1;
            while (line < end && *line == ' ') {
                line++;
            }
            return line;
        }
    }

    return NULL;
}

static enum larder_answer chunks(const char *body, size_t length)
{
    const char *end = body + length;

    for (;;) {
        const char *line_end = memmem(body, (size_t)(end - body), "\r\n", 2);
        if (line_end == NULL) {
            return LARDER_ANSWER_PARTIAL;
        }
        char *after = NULL;
        unsigned long size = strtoul(body, &after, 16);
        if (after == body) {
            return LARDER_ANSWER_FAILURE;
        }
        body = line_end + 2;
        if ((size_t)(end - body) < size + 2) {
            return LARDER_ANSWER_PARTIAL;
        }
        if (size == 0) {
            return LARDER_ANSWER_WHOLE;
        }
        body += size + 2;
    }
}

static enum larder_answer parse(const struct larder_work *work, uint64_t key, const char *bytes, size_t length,
                                bool ended)
{
    (void)work;
    (void)key;
    const char *head_end = memmem(bytes, length, "\r\n\r\n", 4);
    if (head_end == NULL) {
        return ended ? LARDER_ANSWER_FAILURE : LARDER_ANSWER_PARTIAL;
    }
    if (strncmp(bytes, "HTTP/1.1 200", 12) != 0) {
        return LARDER_ANSWER_FAILURE;
    }
    size_t head_length = (size_t)(head_end - bytes) + 4;
    const char *body = bytes + head_length;
    size_t body_length = length - head_length;
    const char *value = header(bytes, head_length, "Content-Length");
    enum larder_answer answer;

    if (value != NULL) {
        answer = body_length >= strtoul(value, NULL, 10) ? LARDER_ANSWER_WHOLE : LARDER_ANSWER_PARTIAL;
    } else if ((value = header(bytes, head_length, "Transfer-Encoding")) != NULL &&
               strncasecmp(value, "chunked", 7) == 0) {
        answer = chunks(body, body_length);
    } else {
        return ended ? LARDER_ANSWER_WHOLE : LARDER_ANSWER_PARTIAL;
    }

    return answer == LARDER_ANSWER_PARTIAL && ended ? LARDER_ANSWER_FAILURE : answer;
}

const struct larder_protocol larder_http = {request, parse};
