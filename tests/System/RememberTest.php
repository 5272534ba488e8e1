<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Key;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\Remember\Remembering;
use Larder\Remember\StampedeOptions;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\Server;
use Larder\Store\RedisStore;
use Larder\Store\SharedMemory\PoolRemembering;
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

    private const KEYS = 4;

    private const EXPIRIES = 2;

    /** Seconds, in which no machine is too slow for what is waited for. */
    private const TIMEOUT = 120.0;

    /** Seconds that a lease may last longer than asked for: it ends with a second, and by the clock of a server that may be late. */
    private const ROUNDING = 10.0;

    public static function tearDownAfterClass(): void
    {
        Place::stop();
    }

    /**
     * What is computed would live for a long time; another process has its time come. So there are as many expiries as that one
     * brought about, on machines of any speed, and all ask all the time.
     */
    #[DataProviderExternal(Place::class, 'shared')]
    public function testOfFiftyProcessesOneComputesAtTheFirstMissAndAtEachExpiry(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        $keys = array_map(static fn(int $i): string => "key-{$i}", range(1, self::KEYS));
        $of = static fn(string $key): int => \count(file("{$scratch->path}/{$key}") ?: []);
        // A process that waits in vain computes, too: that must be far off.
        $stampede = new StampedeOptions(lease: self::TIMEOUT, missWait: 2 * self::TIMEOUT);
        $isOver = "{$scratch->path}/over";
        $reports = Crowd::of(self::PROCESSES + 1, static function (int $process) use ($place, $scratch, $keys, $of, $stampede, $isOver): array {
            $cache = Cache::open($place->dsn, strict: true);
            if ($process === self::PROCESSES) {
                try {
                    self::expire($cache, $keys);
                } finally {
                    touch($isOver);
                }

                return [];
            }
            $seen = [];
            do {
                clearstatcache();
                $isLast = file_exists($isOver);
                $cache->refresh();
                foreach ($keys as $key) {
                    $seen[$key][] = $cache->remember($key, static function () use ($scratch, $key, $of): string {
                        usleep(50_000);
                        file_put_contents("{$scratch->path}/{$key}", "computed\n", \FILE_APPEND | \LOCK_EX);

                        return "version {$of($key)}";
                    }, 1_000, beta: 0.0, stampede: $stampede);
                }
                usleep(5_000);
            } while (!$isLast);

            return array_map(array_unique(...), $seen);
        });
        foreach ($keys as $key) {
            self::assertSame(self::EXPIRIES + 1, $of($key), 'As many as have computed.');
            foreach (array_filter($reports) as $seen) {
                $versions = $inOrder = array_values($seen[$key]);
                sort($inOrder);
                self::assertSame($inOrder, $versions, 'What was older came back.');
                self::assertSame('version ' . (self::EXPIRIES + 1), end($versions));
            }
        }
    }

    /**
     * Ends the time of what others compute, when all of it is there.
     *
     * @param list<string> $keys
     */
    private static function expire(Cache $cache, array $keys): void
    {
        $last = array_fill_keys($keys, '');
        for ($deadline = hrtime(true) + (int) (self::TIMEOUT * 1e9), $expiries = 0; ; usleep(10_000)) {
            self::assertLessThan($deadline, hrtime(true), 'No process computes.');
            $cache->refresh();
            $new = [];
            foreach ($keys as $key) {
                $version = $cache->get($key);
                if (\is_string($version) && $version > $last[$key]) {
                    $new[$key] = $version;
                }
            }
            if (\count($new) < \count($keys)) {
                continue;
            }
            if ($expiries++ === self::EXPIRIES) {
                return;
            }
            foreach ($new as $key => $version) {
                self::assertTrue($cache->touch($key, 1));
                $last[$key] = $version;
            }
        }
    }

    #[DataProviderExternal(Place::class, 'shared')]
    public function testAProcessThatIsKilledWhileItComputesDelaysOthersByItsLeaseOnly(string $kind): void
    {
        $place = new Place($kind);
        $scratch = new Scratch();
        $stampede = new StampedeOptions(lease: 1.0, missWait: 2 * self::TIMEOUT);
        $child = pcntl_fork();
        if ($child === 0) {
            $cache = Cache::open($place->dsn);
            $cache->remember('key', static fn(): mixed => $cache->remember('another', static function () use ($scratch): int {
                file_put_contents("{$scratch->path}/written", (string) microtime(true));
                rename("{$scratch->path}/written", "{$scratch->path}/computing");
                sleep(1_000);

                return 0;
            }, stampede: $stampede), stampede: $stampede);
        }
        for ($deadline = hrtime(true) + (int) (self::TIMEOUT * 1e9); !file_exists("{$scratch->path}/computing"); usleep(1_000)) {
            self::assertLessThan($deadline, hrtime(true), 'The other process does not get to its computation.');
        }
        posix_kill($child, \SIGKILL);
        pcntl_waitpid($child, $status);
        $since = (float) file_get_contents("{$scratch->path}/computing");
        $cache = Cache::open($place->dsn, strict: true);
        $computed = 0;
        $began = hrtime(true);
        $value = $cache->remember('key', static function () use (&$computed): string {
            $computed++;

            return 'computed by another';
        }, stampede: $stampede);
        self::assertSame(['computed by another', 1], [$value, $computed]);
        self::assertLessThan(self::TIMEOUT / 2, (hrtime(true) - $began) / 1e9, 'It is not the lease that ends the wait.');
        self::assertSame('computed by another', $cache->get('key'));
        // However late we ask: a process that asks when the time of a lease is over, and the seconds by which stores round it, has it at once.
        $leases = $cache->store instanceof Leases ? $cache->store : new AddedLeases($cache->store);
        do {
            $asked = microtime(true);
            $isOurs = $leases->acquire(Key::internal('computing', 'another'), 'another', self::TIMEOUT);
            self::assertTrue($isOurs || $asked < $since + $stampede->lease + self::ROUNDING, 'The lease outlives its time.');
            usleep(1_000);
        } while (!$isOurs);
    }

    /** @return iterable<string, array{string}> */
    public static function someKinds(): iterable
    {
        yield 'shared memory' => ['shared memory'];
        yield 'SQLite' => ['SQLite'];
    }

    #[DataProvider('someKinds')]
    public function testWhatIsDeferredIsComputedWhenTheResponseIsOut(string $kind): void
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

    /** Without its answer the value is computed without the lease; the others must not wait for its end. */
    public function testALeaseWhoseAnswerWasLostDelaysNoProcess(): void
    {
        $server = CacheServer::redis()->start();
        $connection = new LossyConnection(new PhpRedisConnection(new Server(socket: $server->socket, readTimeout: 10.0, retryAfter: 0.0)));
        $store = new RedisStore($connection, timeout: 10.0);
        $cache = new Cache($store);
        $cache->get('warm');
        $connection->loses = 'computing';
        self::assertSame('value', $cache->remember('key', static fn(): string => 'value', stampede: new StampedeOptions(lease: 1_000.0)));
        self::assertSame(1, $connection->lost);
        self::assertTrue($store->acquire(Key::internal('computing', 'key'), 'another', 1_000.0));
        $server->stop();
    }

    private function autoloader(): string
    {
        return \dirname(__DIR__, 2) . '/vendor/autoload.php';
    }
}
