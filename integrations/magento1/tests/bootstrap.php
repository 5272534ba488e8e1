<?php

declare(strict_types=1);

require_once __DIR__ . '/Mage.php';

$zend = getenv('LARDER_ZEND');
if (is_string($zend) && $zend !== '') {
    set_include_path($zend . PATH_SEPARATOR . get_include_path());
    foreach (['Cache', 'Cache/Exception', 'Cache/Backend', 'Cache/Backend/ExtendedInterface'] as $file) {
        require_once "{$zend}/Zend/{$file}.php";
    }
} else {
    require_once __DIR__ . '/Zend/Cache.php';
}
