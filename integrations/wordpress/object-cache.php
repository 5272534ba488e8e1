<?php

/** What each request loads of the plugin, before WordPress loads plugins. By path: an autoloader would cost more than all of it. */

declare(strict_types=1);

// Without all of it WordPress goes on with its own class: a plugin may be removed, or written anew, at this moment.
if (!(@include_once __DIR__ . '/src/Settings.php') || !(@include_once __DIR__ . '/autoload.php')) {
    return;
}
try {
    if (Larder\WordPress\Settings::isOutdated()) {
        // The plugin writes the drop-in anew.
        return;
    }
} catch (Error) {
    return;
}
if (!(@include_once __DIR__ . '/src/Backend.php')
    || !(@include_once __DIR__ . '/src/PoolBackend.php')
    || !(@include_once __DIR__ . '/src/ObjectCache.php')
    || !(@include_once __DIR__ . '/src/Opening.php')
    || !(@include_once __DIR__ . '/src/Sample.php')
    || !(@include_once __DIR__ . '/src/Fill.php')
    || !(@include_once __DIR__ . '/functions.php')) {
    return;
}

class_alias(Larder\WordPress\ObjectCache::class, 'WP_Object_Cache');
