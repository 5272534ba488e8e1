/* For compilers without libFuzzer: runs the corpus, then inputs made from it at random.
 *
 *     TARGET directory inputs [seed]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "engine/fault.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LARGEST  4096u
#define STUCK    120u /* seconds for one input: many times what it takes */
#define EXAMPLES 256u

/* The engine's objects are those that have fault points; none is used here. */
void larder_fault(unsigned point)
{
    (void)point;
}

static uint64_t state;

static uint64_t below(uint64_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % limit;
}

static size_t examples;
static uint8_t example[EXAMPLES][LARGEST];
static size_t length[EXAMPLES];

static void load(const char *directory)
{
    struct dirent *entry;
    DIR *open = opendir(directory);
    while (open != NULL && (entry = readdir(open)) != NULL && examples < EXAMPLES) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file != NULL) {
            length[examples] = fread(example[examples], 1, LARGEST, file);
            examples++;
            fclose(file);
        }
    }
    if (open != NULL) {
        closedir(open);
    }
}

/* A few bytes changed, some put in, the end cut off, or another's end taken. */
static size_t vary(uint8_t *to)
{
    size_t from = below(examples), size = length[from];
    memcpy(to, example[from], size);
    for (uint64_t changes = 1 + below(8); changes > 0 && size > 0; changes--) {
        size_t at = below(size), other = below(examples);
        switch (below(5)) {
        case 0:
            to[at] = (uint8_t)below(256);
            break;
        case 1:
            to[at] ^= (uint8_t)(1u << below(8));
            break;
        case 2:
            size = at + 1;
            break;
        case 3:
            for (size_t i = 0; i < 8 && size < LARGEST; i++) {
                to[size++] = (uint8_t)(below(3) == 0 ? 0xff : below(256));
            }
            break;
        default:
            if (at < length[other]) {
                memcpy(to + at, example[other] + at, length[other] - at);
                size = length[other];
            }
        }
    }
    return size;
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: %s DIRECTORY INPUTS [SEED]\n", arguments[0]);
        return 2;
    }
    static uint8_t input[LARGEST];
    uint64_t seed =
        count > 3 ? (uint64_t)strtoull(arguments[3], NULL, 10) : ((uint64_t)time(NULL) << 16 ^ (uint64_t)getpid());
    uint64_t inputs = strtoull(arguments[2], NULL, 10);
    state = seed | 1;
    load(arguments[1]);
    if (examples == 0) {
        fprintf(stderr, "%s has no examples\n", arguments[1]);
        return 2;
    }
    /* Before, so that it is known whatever happens. */
    printf("fuzz %s: %zu examples and %llu inputs made from them, seed %llu\n", strrchr(arguments[0], '/') + 1,
           examples, (unsigned long long)inputs, (unsigned long long)seed);
    fflush(stdout);
    for (size_t i = 0; i < examples; i++) {
        alarm(STUCK);
        LLVMFuzzerTestOneInput(example[i], length[i]);
    }
    for (uint64_t i = 0; i < inputs; i++) {
        size_t size = vary(input);
        alarm(STUCK);
        LLVMFuzzerTestOneInput(input, size);
    }
    return 0;
}
