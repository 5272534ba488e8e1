<?php

/**
 * Finds the plugin's classes, and the library's: in the plugin's zip in the folder library, where they have a namespace of their own,
 * in a checkout where that has them.
 */

declare(strict_types=1);

$folders = is_dir(__DIR__ . '/library')
    ? ['Larder\\WordPress\\Library\\Psr\\' => 'library/Psr/', 'Larder\\WordPress\\Library\\' => 'library/Larder/', 'Larder\\WordPress\\' => 'src/', 'Larder\\' => 'library/Larder/']
    : ['Larder\\WordPress\\' => 'src/', 'Larder\\' => '../../src/', 'Psr\\Log\\' => '../../vendor/psr/log/src/', 'Psr\\EventDispatcher\\' => '../../vendor/psr/event-dispatcher/src/'];
spl_autoload_register(static function (string $class) use ($folders): void {
    foreach ($folders as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            $file = __DIR__ . '/' . $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
            }

            return;
        }
    }
});
unset($folders);
