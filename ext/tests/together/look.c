/* A full look at pools of this user that are not in use: look NAME…; says what is wrong. */
#include "engine/check.h"
#include "engine/larder.h"

#include <stdio.h>

static bool is_sound(const char *name)
{
    const larder_pool_config config = {.name = name, .only_existing = true};
    larder_error error = {.message = ""};
    larder_pool *pool = larder_pool_open(&config, &error);
    if (pool == NULL) {
        printf("the pool %s cannot be opened: %s\n", name, error.message[0] != '\0' ? error.message : "there is none");
        return false;
    }
    bool sound = larder_check(pool, false, &error);
    if (!sound) {
        printf("the pool %s is not sound: %s\n", name, error.message);
    }
    larder_pool_close(pool);
    return sound;
}

int main(int count, char **names)
{
    bool sound = count > 1;
    for (int i = 1; i < count; i++) {
        sound = is_sound(names[i]) && sound;
    }
    return sound ? 0 : 1;
}
