/* Keys and values of the stores' protocols. */
#include "protocol.h"

#include <string.h>

size_t larder_key(uint64_t key, char name[LARDER_KEY_SIZE])
{
    memcpy(name, "key:", 4);
    for (int digit = 15; digit >= 4; digit--) {
        name[digit] = (char)('0' + key % 10);
        key /= 10;
    }
    name[16] = '\0';

    return 16;
}

/* Eight letters of the value, from the key and their place (the finalizer of SplitMix64). */
static uint64_t letters(uint64_t key, size_t place)
{
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15) + place;

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);

    /* Four bits of each byte choose one of the letters a to o and the grave accent: no control characters. */
    return (mixed & UINT64_C(0x0f0f0f0f0f0f0f0f)) | UINT64_C(0x6060606060606060);
}

void larder_value(uint64_t key, char *value, size_t bytes)
{
    for (size_t place = 0; place < bytes; place += 8) {
        uint64_t eight = letters(key, place);
        memcpy(value + place, &eight, bytes - place < 8 ? bytes - place : 8);
    }
}

bool larder_is_value(uint64_t key, const char *value, size_t bytes)
{
    for (size_t place = 0; place < bytes; place += 8) {
        uint64_t eight = letters(key, place);
        if (memcmp(value + place, &eight, bytes - place < 8 ? bytes - place : 8) != 0) {
            return false;
        }
    }

    return true;
}
