<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Tests\Scratch;
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
        foreach (['', 'sqlite:', 'array:'] as $store) {
            foreach ([false, true] as $isNetwork) {
                yield ($store === '' ? 'a pool' : $store) . ($isNetwork ? ', a network' : ', one site') => [$store, $isNetwork];
            }
        }
    }

    #[DataProvider('stores')]
    public function testRandomCallsHaveTheAnswersOfCore(string $store, bool $isNetwork): void
    {
        $scratch = new Scratch();
        $operations = (int) (getenv('LARDER_CALLS') ?: 50_000);
        $seed = random_int(1, 1_000_000);
        $dsn = $store === 'sqlite:' ? "sqlite:{$scratch->path}/site.db" : $store;
        $process = new Process([PHP_BINARY, '-d', 'extension=' . Workers::extension(), __DIR__ . '/differential.inc', (string) $operations, (string) $seed, $dsn, ...($isNetwork ? ['--network'] : [])], timeout: 3_000.0);
        self::assertSame(0, $process->run(), $process->getOutput() . $process->getErrorOutput());
        self::assertSame("{$operations} operations, no difference\n", $process->getOutput());
    }
}
