<?php

declare(strict_types=1);
/**
 * Larder's page cache: this file only finds the plugin. The plugin writes it, and removes it when it is deactivated.
 *
 * WordPress loads it if wp-config.php says define('WP_CACHE', true). A line in wp-config.php may load it before that, and is quicker:
 * the settings of Larder show both. Without the plugin, or on a PHP before 8.2, it does nothing.
 *
 * Plugin Name: Larder (drop-in)
 * Version: LARDER_VERSION
 */

if (! defined('ABSPATH')) {
    return;
}

(static function () {
    $installed = [ /* settings */ ];
    // In a copy of the site it is not yet that of the copy.
    $is_here = isset($installed['content']) && __DIR__ === $installed['content'];
    if (PHP_VERSION_ID < 80200 || ! $is_here || defined('WP_LARDER_DISABLED') && WP_LARDER_DISABLED) {
        return;
    }
    $folder = isset($installed['plugin']) ? $installed['plugin'] : '';
    if ('' !== $folder && '/' !== $folder[0]) {
        $folder = __DIR__ . '/' . $folder;
    }
    $is_late = defined('LARDER_PAGE_CACHE_LATE');
    if (! defined('LARDER_PAGE_CACHE')) {
        // Where the plugin is gone there is nothing to load. To look for it first would take a hit as long as loading it.
        if ($is_late ? ! is_file($folder . '/src/PageHit.php') : false === @include_once $folder . '/src/PageHit.php') {
            return;
        }
        if (! $is_late) {
            Larder\WordPress\PageHit::run($installed);
        }
        define('LARDER_PAGE_CACHE', $installed);
    }
    if (! $is_late) {
        require_once $folder . '/src/PageRequest.php';
        Larder\WordPress\PageRequest::run($installed);
    }
})();
