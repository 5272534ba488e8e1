<?php

/** What each request loads of the plugin, before WordPress loads plugins. By path: an autoloader would cost more than all of it. */

declare(strict_types=1);

require_once __DIR__ . '/src/Settings.php';
if (Larder\WordPress\Settings::isOutdated()) {
    // WordPress goes on without, and the plugin writes the drop-in anew.
    return;
}
require_once __DIR__ . '/src/Backend.php';
require_once __DIR__ . '/src/PoolBackend.php';
require_once __DIR__ . '/src/ObjectCache.php';
require_once __DIR__ . '/src/Opening.php';
require_once __DIR__ . '/src/Sample.php';
require_once __DIR__ . '/src/Fill.php';
require_once __DIR__ . '/autoload.php';
require_once __DIR__ . '/functions.php';

class_alias(Larder\WordPress\ObjectCache::class, 'WP_Object_Cache');
