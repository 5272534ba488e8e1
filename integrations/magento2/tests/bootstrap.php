<?php

declare(strict_types=1);

require_once __DIR__ . '/../../magento1/tests/bootstrap.php';
if (!class_exists(\Zend_Cache_Core::class)) {
    require_once __DIR__ . '/Core.php';
}
