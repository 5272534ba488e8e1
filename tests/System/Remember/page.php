<?php

declare(strict_types=1);

// A page that serves what is stale, and computes after the response, for as long as the gate is closed; for RememberTest.

use Larder\Cache;
use Larder\Remember\StampedeOptions;

require __DIR__ . '/../../../vendor/autoload.php';

$asked = array_filter($_GET, is_string(...));
$gate = $asked['gate'] ?? '';
$cache = Cache::open($asked['dsn'] ?? '');
echo $cache->remember('key', static function () use ($gate): string {
    while (!file_exists($gate)) {
        usleep(1_000);
        clearstatcache();
    }

    return 'new';
}, 100, grace: 1_000, stampede: new StampedeOptions(afterResponse: true));
// What other code prints when the script ends is part of the response.
register_shutdown_function(static function (): void {
    echo ', and the end';
});
