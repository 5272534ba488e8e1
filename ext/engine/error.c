#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

bool larder_fail(larder_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->waited = false;
    return false;
}

const char *larder_remedy(int code, const char *otherwise)
{
    switch (code) {
    case EMFILE:
        return "raise the limit on files that this process may have open (ulimit -n), or find out which it does not "
               "close";
    case ENFILE:
        return "raise the limit on files that this machine may have open (sysctl fs.file-max)";
    default:
        return otherwise;
    }
}
