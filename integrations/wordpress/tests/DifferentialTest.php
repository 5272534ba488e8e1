<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Tests\Scratch;
use Larder\Tests\System\CacheServer;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Core's own object cache and ours answer random calls alike; what differs by design is listed in differential.inc. */
#[CoversNothing]
final class DifferentialTest extends TestCase
{
    /** @return iterable<string, array{string, bool}> */
    public static function stores(): iterable
    {
        $stores = ['a pool' => '', 'an array' => 'array:', 'SQLite' => 'sqlite:{file}', 'Redis' => 'redis+unix:{socket}', 'a tier over SQLite' => 'array: > sqlite:{file}', 'a tier over Redis' => 'array: > redis+unix:{socket}'];
        foreach ($stores as $name => $dsn) {
            foreach ([false, true] as $isNetwork) {
                yield $name . ($isNetwork ? ', a network' : ', one site') => [$dsn, $isNetwork];
            }
        }
    }

    #[DataProvider('stores')]
    public function testRandomCallsHaveTheAnswersOfCore(string $dsn, bool $isNetwork): void
    {
        $scratch = new Scratch();
        // Trips take most of the time of the others.
        $operations = (int) (getenv('LARDER_CALLS') ?: ($dsn === '' ? 50_000 : 10_000));
        $seed = random_int(1, 1_000_000);
        $server = str_contains($dsn, '{socket}') ? CacheServer::redis()->start() : null;
        try {
            $dsn = strtr($dsn, ['{file}' => "{$scratch->path}/site.db", '{socket}' => $server->socket ?? '']);
            $process = new Process([PHP_BINARY, '-d', 'extension=' . Workers::extension(), __DIR__ . '/differential.inc', (string) $operations, (string) $seed, $dsn, ...($isNetwork ? ['--network'] : [])], timeout: 3_000.0);
            self::assertSame(0, $process->run(), $process->getOutput() . $process->getErrorOutput());
            self::assertSame("{$operations} operations, no difference\n", $process->getOutput());
        } finally {
            $server?->stop();
        }
    }
}
