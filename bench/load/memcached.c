/* Memcached's text protocol. */
#include "protocol.h"

#include <stdio.h>
#include <string.h>

static size_t request(const struct larder_work *work, uint64_t key, char *buffer, size_t size)
{
    char name[LARDER_KEY_SIZE];
    int head;

    larder_key(key, name);
    if (!work->is_write) {
        head = snprintf(buffer, size, "get %s\r\n", name);
        return head > 0 && (size_t)head < size ? (size_t)head : 0;
    }
    head = snprintf(buffer, size, "set %s 0 0 %zu\r\n", name, work->value_bytes);
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
    static const char tail[] = "\r\nEND\r\n";
    char head[64];
    size_t head_length;
    char name[LARDER_KEY_SIZE];

    if (work->is_write) {
        head_length = 8;
        memcpy(head, "STORED\r\n", head_length);
    } else {
        larder_key(key, name);
        head_length = (size_t)snprintf(head, sizeof head, "VALUE %s 0 %zu\r\n", name, work->value_bytes);
    }
    if (memcmp(bytes, head, length < head_length ? length : head_length) != 0) {
        return LARDER_ANSWER_FAILURE;
    }
    size_t whole = work->is_write ? head_length : head_length + work->value_bytes + sizeof tail - 1;
    if (length < whole) {
        return ended ? LARDER_ANSWER_FAILURE : LARDER_ANSWER_PARTIAL;
    }
    bool is_right = length == whole &&
                    (work->is_write || (larder_is_value(key, bytes + head_length, work->value_bytes) &&
                                        memcmp(bytes + head_length + work->value_bytes, tail, sizeof tail - 1) == 0));

    return is_right ? LARDER_ANSWER_WHOLE : LARDER_ANSWER_FAILURE;
}

const struct larder_protocol larder_memcached = {request, parse};
