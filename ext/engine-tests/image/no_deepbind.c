/* Preloaded for the sanitizers only: PHP loads modules with RTLD_DEEPBIND, which would hide the sanitizers'
 * malloc from them, and which the sanitizers therefore refuse. */
#define _GNU_SOURCE
#include <dlfcn.h>

void *dlopen(const char *file, int mode)
{
    void *(*next)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    return next(file, mode & ~RTLD_DEEPBIND);
}
