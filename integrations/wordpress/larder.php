<?php

declare(strict_types=1);
/**
 * Plugin Name: Larder
 * Description: An object cache that the web and the command line share, and that loses no option to a race.
 * Version: 0.1.0
 * Requires at least: 6.1
 * Requires PHP: 8.2
 * License: MIT
 * Network: true
 * Text Domain: larder
 * Domain Path: /languages
 *
 * @package Larder
 */

defined('ABSPATH') || exit;

// This file and the drop-in have to be read by any PHP that WordPress runs on.
$larder_fault = '';
if (PHP_VERSION_ID >= 80200) {
    try {
        @include_once __DIR__ . '/autoload.php';
        call_user_func([ 'Larder\WordPress\Plugin', 'start' ], __FILE__);
    } catch (Error $larder_failure) {
        $larder_fault = $larder_failure->getMessage();
    }
}
if (PHP_VERSION_ID < 80200 || '' !== $larder_fault) {
    $larder_notice = function () use ($larder_fault) {
        echo '<div class="notice notice-error"><p>';
        echo esc_html('' === $larder_fault
            /* translators: %s: a version of PHP. */
            ? sprintf(__('Larder needs PHP 8.2 or later; this site runs on %s, and goes on without Larder.', 'larder'), PHP_VERSION)
            /* translators: %s: an error of PHP. */
            : sprintf(__('Larder could not start (%s), and the site goes on without it; install the plugin anew.', 'larder'), $larder_fault));
        echo '</p></div>';
    };
    add_action('admin_notices', $larder_notice);
    add_action('network_admin_notices', $larder_notice);
}
