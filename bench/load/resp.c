/* The protocol of Redis and Valkey: SET and GET as arrays of bulk strings. */
#include "protocol.h"

#include <stdio.h>
#include <string.h>

static size_t request(const struct larder_work *work, uint64_t key, char *buffer, size_t size)
{
    char name[LARDER_KEY_SIZE];
    size_t name_length = larder_key(key, name);
    int head;

    if (!work->is_write) {
        head = snprintf(buffer, size, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", name_length, name);
        return head > 0 && (size_t)head < size ? (size_t)head : 0;
    }
    head = snprintf(buffer, size, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n", name_length, name, work->value_bytes);
    if (head <= 0 || (size_t)head + work->value_bytes + 2 > size) {
        return 0;
    }
    larder_value(key, buffer + head, work->value_bytes);
    buffer[(size_t)head + work->value_bytes] = '\r';
    buffer[(size_t)head + work->value_bytes + 1] = '\n';

    return (size_t)head + work->value_bytes + 2;
}

static enum larder_answer parse(const struct larder_work *work, uint64_t key, const char *bytes, size_t length,
                                bool ended)
{
    char head[32];
    size_t head_length;

    if (work->is_write) {
        head_length = 5;
        memcpy(head, "+OK\r\n", head_length);
    } else {
        head_length = (size_t)snprintf(head, sizeof head, "$%zu\r\n", work->value_bytes);
    }
    if (memcmp(bytes, head, length < head_length ? length : head_length) != 0) {
        return LARDER_ANSWER_FAILURE;
    }
    size_t whole = work->is_write ? head_length : head_length + work->value_bytes + 2;
    if (length < whole) {
        return ended ? LARDER_ANSWER_FAILURE : LARDER_ANSWER_PARTIAL;
    }

    return length == whole && (work->is_write || larder_is_value(key, bytes + head_length, work->value_bytes))
               ? LARDER_ANSWER_WHOLE
               : LARDER_ANSWER_FAILURE;
}

const struct larder_protocol larder_resp = {request, parse};
