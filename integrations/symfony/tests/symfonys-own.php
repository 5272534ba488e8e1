<?php

declare(strict_types=1);

// What tools/symfony-tests has before the tests of Symfony itself. They get a pool, a store of locks and a storage of limiters of Larder's.

namespace Larder\Symfony\Tests;

use Larder\Cache;
use Larder\SharedMemory;
use Larder\Symfony\LarderAdapter;
use Larder\Symfony\LockStore;
use Larder\Symfony\RateLimiterStorage;

require getenv('LARDER_PACKAGES') . '/autoload.php';

/** Tests of Symfony, and of php-cache for any pool, lie where the tool has put them. */
spl_autoload_register(static function (string $class): void {
    $own = (string) getenv('LARDER_OWN');
    foreach (['Symfony\Component\\' => 'src/Symfony/Component/', 'Symfony\Bridge\PhpUnit\\' => 'src/Symfony/Bridge/PhpUnit/', 'Cache\IntegrationTests\\' => 'usr/share/php/Cache/IntegrationTests/'] as $namespace => $folder) {
        $file = "{$own}/{$folder}" . str_replace('\\', '/', substr($class, \strlen($namespace))) . '.php';
        if (str_starts_with($class, $namespace) && is_file($file)) {
            require $file;
        }
    }
});

register_shutdown_function(static function (): void {
    foreach (['pool', 'locks', 'limits'] as $kind) {
        SharedMemory::remove('symfonys-own-' . $kind . '-' . getmypid());
    }
});

/** A place of Larder's; each kind of items has one of its own. */
function place(string $kind): string
{
    $name = 'symfonys-own-' . $kind . '-' . getmypid();

    return "shm:{$name}?size=16M" . ($kind === 'pool' ? '' : '&evict=no');
}

function pool(string $namespace, int $lifetime = 0): LarderAdapter
{
    return new LarderAdapter(place('pool'), $namespace, $lifetime);
}

function locks(): LockStore
{
    return new LockStore(place('locks'));
}

/** Empty, as the storage is that it takes the place of. */
function limits(): RateLimiterStorage
{
    $cache = Cache::open(place('limits'));
    $cache->clear();

    return new RateLimiterStorage($cache);
}
