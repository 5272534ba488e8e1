<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Remember\Patience;
use Larder\Remember\PoolRemembering;
use Larder\Remember\Remembering;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\DataProviderExternal;
use PHPUnit\Framework\TestCase;

/** What many processes get that ask for the same missing value at once. */
#[CoversClass(Remembering::class)]
#[CoversClass(AddedLeases::class)]
#[CoversClass(PoolRemembering::class)]
final class RememberTest extends TestCase
{
    private const PROCESSES = 50;

    #[DataProviderExternal(Place::class, 'kinds')]
    public function testOfFiftyProcessesThatMissAtOnceOneComputes(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        $diary = "{$scratch->path}/diary";
        $answers = Crowd::of(self::PROCESSES, static function () use ($place, $diary): array {
            $cache = Cache::open($place->dsn, strict: true);
            $compute = static function () use ($diary): array {
                $began = microtime(true);
                usleep(100_000);
                file_put_contents($diary, "{$began} " . microtime(true) . "\n", \FILE_APPEND | \LOCK_EX);

                return ['computed', $began];
            };
            $answers = [];
            // Through the first miss and an expiry.
            while (\count($answers) < 2) {
                $value = $cache->remember('key', $compute, 2, earliness: 0.0);
                $answers[(string) $value[1]] = $value[0];
                usleep(5_000);
            }

            return $answers;
        });
        $computations = array_map(
            static fn(string $line): array => array_map(floatval(...), explode(' ', $line)),
            file($diary, \FILE_IGNORE_NEW_LINES) ?: [],
        );
        sort($computations);
        self::assertGreaterThanOrEqual(2, \count($computations));
        for ($i = 1; $i < \count($computations); $i++) {
            // What lives for two seconds lives for more than one, even where a store counts the ticks of a clock.
            self::assertGreaterThan($computations[$i - 1][1] + 0.95, $computations[$i][0], 'Two processes computed at once.');
        }
        foreach ($answers as $each) {
            self::assertSame(['computed'], array_values(array_unique($each)));
        }
    }

    #[DataProviderExternal(Place::class, 'kinds')]
    public function testAProcessThatIsKilledWhileItComputesDelaysOthersByItsLeaseOnly(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        // Who waits in vain computes without a lease, too: that must be far off.
        $patience = new Patience(lease: 1.0, hard: 120.0);
        $child = pcntl_fork();
        if ($child === 0) {
            Cache::open($place->dsn)->remember('key', static function () use ($scratch): int {
                touch("{$scratch->path}/computing");
                sleep(1_000);

                return 0;
            }, patience: $patience);
        }
        for ($deadline = hrtime(true) + 60_000_000_000; !file_exists("{$scratch->path}/computing"); usleep(1_000)) {
            self::assertLessThan($deadline, hrtime(true), 'The other process does not get to its computation.');
        }
        posix_kill($child, \SIGKILL);
        pcntl_waitpid($child, $status);
        $cache = Cache::open($place->dsn, strict: true);
        $computed = 0;
        $began = hrtime(true);
        $value = $cache->remember('key', static function () use (&$computed): string {
            $computed++;

            return 'computed by another';
        }, patience: $patience);
        self::assertSame(['computed by another', 1], [$value, $computed]);
        self::assertLessThan(60.0, (hrtime(true) - $began) / 1e9, 'It is not the lease that ends the wait.');
        self::assertSame('computed by another', $cache->get('key'));
    }

    /** @return iterable<string, array{string}> */
    public static function someKinds(): iterable
    {
        yield 'shared memory' => ['shared memory'];
        yield 'SQLite' => ['SQLite'];
    }

    #[DataProvider('someKinds')]
    public function testWhatIsPutOffIsComputedWhenTheResponseIsOut(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        $gate = "{$scratch->path}/gate";
        $cache = Cache::open($place->dsn, strict: true);
        $cache->remember('key', static fn(): string => 'old', 1, grace: 1_000);
        usleep(1_200_000);
        $workers = new Workers([], 2);
        try {
            // The computation waits for the gate: a response that waited for it would never come.
            self::assertSame('old, and the end', $workers->client->get(__DIR__ . '/Remember/page.php', ['dsn' => $place->dsn, 'gate' => $gate]));
            self::assertFalse($cache->has('key'));
            touch($gate);
            do {
                usleep(5_000);
                $value = $cache->get('key');
            } while ($value === null);
            self::assertSame('new', $value);
            self::assertSame('new, and the end', $workers->client->get(__DIR__ . '/Remember/page.php', ['dsn' => $place->dsn, 'gate' => $gate]));
        } finally {
            $workers->stop();
        }
    }

    public function testAnExitOrAFatalErrorInAComputationGivesTheLeaseBack(): void
    {
        foreach (['exit;', 'ini_set("memory_limit", "32M"); str_repeat("x", 1 << 30);', 'nothing_of_that_name();'] as $end) {
            $scratch = new Scratch();
            $code = <<<PHP
                ini_set('display_errors', '0');
                ini_set('log_errors', '0');
                require '{$this->autoloader()}';
                Larder\\Cache::open('file:{$scratch->path}/cache')->remember('key', function () { {$end} });
                PHP;
            exec(escapeshellarg(\PHP_BINARY) . ' -r ' . escapeshellarg($code));
            $store = Cache::open("file:{$scratch->path}/cache")->store;
            self::assertTrue(
                (new AddedLeases($store))->acquire(Key::internal('computing', 'key'), 'another', 1.0),
                $end,
            );
        }
    }

    private function autoloader(): string
    {
        return \dirname(__DIR__, 2) . '/vendor/autoload.php';
    }
}
