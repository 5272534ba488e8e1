<?php

declare(strict_types=1);
/**
 * Leaves nothing behind: the drop-in, the directory of the database and the journal, and the pool.
 *
 * @package Larder
 */

defined('WP_UNINSTALL_PLUGIN') || exit;

if (PHP_VERSION_ID >= 80200) {
    require_once __DIR__ . '/autoload.php';
    call_user_func([ 'Larder\WordPress\Plugin', 'uninstall' ], __DIR__);
}
