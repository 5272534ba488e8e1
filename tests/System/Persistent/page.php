<?php

declare(strict_types=1);

// A page that keeps its connection for the next one, for PersistentConnectionTest: what it does is in the query, what came of it is printed.

use Larder\Cache;

require __DIR__ . '/../../../vendor/autoload.php';

$asked = array_filter($_GET, is_string(...));
ini_set('memory_limit', $asked['limit'] ?? '256M');
$cache = Cache::open($asked['dsn'] ?? '', strict: true);
$value = $cache->get($asked['key'] ?? '');
echo is_string($value) ? substr($value, 0, 20) : 'nothing';
