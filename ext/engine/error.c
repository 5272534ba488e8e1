#include "error.h"

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
