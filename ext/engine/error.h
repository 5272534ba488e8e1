/* Why something cannot be done: one sentence that says what happened, to what, and what to do. */
#ifndef LARDER_ERROR_H
#define LARDER_ERROR_H

#include <stdbool.h>

#define LARDER_PATH_MAX 1024u

typedef struct larder_error {
    char message[LARDER_PATH_MAX + 768];
    bool waited; /* another process was waited for in vain; trying again may wait as long */
} larder_error;

/* Writes the sentence. Returns false, so that it can be what a failing function returns. */
bool larder_fail(larder_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What to do when a file could not be opened for that reason, if it is for want of descriptors; else what the caller
 * says. */
const char *larder_remedy(int code, const char *otherwise);

#endif
