<?php

declare(strict_types=1);
/**
 * Larder's object cache: this file only finds the plugin. The plugin writes it, and removes it when it is deactivated.
 *
 * Without the plugin, or on a PHP before 8.2, it does nothing, and WordPress goes on without a persistent object cache.
 *
 * Plugin Name: Larder (drop-in)
 * Version: LARDER_VERSION
 */

defined('ABSPATH') || exit;

(static function () {
    $installed = [ /* settings */ ];
    $folder    = isset($installed['plugin']) ? $installed['plugin'] : '';
    if ('' !== $folder && '/' !== $folder[0]) {
        $folder = __DIR__ . '/' . $folder;
    }
    if (PHP_VERSION_ID < 80200 || defined('WP_LARDER_DISABLED') && WP_LARDER_DISABLED || ! is_file($folder . '/object-cache.php')) {
        return;
    }
    define('LARDER_DROP_IN', $installed);
    require $folder . '/object-cache.php';
})();
