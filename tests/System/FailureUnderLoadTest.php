<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Cache\Gate;
use Larder\Cache\Journal;
use Larder\Cache\Outbox;
use Larder\Store\CircuitBreaker;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/**
 * Several processes read, fill, write and invalidate while their server is killed, started with what it had, stopped and
 * continued. What does not reach it is told to it by the next that asks it, so no request reads anything older than what was
 * known when it began.
 */
#[CoversClass(Gate::class)]
#[CoversClass(Outbox::class)]
#[CoversClass(Journal::class)]
#[CoversClass(CircuitBreaker::class)]
final class FailureUnderLoadTest extends OwnServers
{
    private const THINGS = 4;

    private const WORKERS = 3;

    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    /** @return iterable<string, array{string, int}> a DSN with SOCKETS in it, and how many servers it is */
    public static function kinds(): iterable
    {
        yield 'phpredis' => ['redis+unix:SOCKETS?client=phpredis&read_timeout=0.2&timeout=0.2&retry_after=0.1', 1];
        yield 'Predis' => ['redis+unix:SOCKETS?client=predis&read_timeout=0.2&timeout=0.2&retry_after=0.1', 1];
        yield 'Memcached' => ['memcached+unix:SOCKETS?timeout=0.2&retry_after=0.1', 2];
    }

    #[DataProvider('kinds')]
    public function testNothingStaleIsReadWhateverHappensToTheServers(string $dsn, int $count): void
    {
        for ($i = 0; $i < $count; $i++) {
            $this->started(str_starts_with($dsn, 'memcached')
                ? CacheServer::memcached()
                // It comes back with all that it had; "everysec" may write only after it has answered.
                : CacheServer::redis(['--appendonly', 'yes', '--appendfsync', 'no', '--dir', $this->scratch->path]));
        }
        $dsn = str_replace('SOCKETS', implode(',', array_map(static fn(CacheServer $server): string => $server->socket, $this->servers)), $dsn);
        file_put_contents("{$this->scratch->path}/ledger", '');
        $seed = random_int(0, 1 << 30);
        $reports = Crowd::of(self::WORKERS + 1, function (int $number) use ($dsn, $seed): array {
            mt_srand($seed + $number);
            if ($number > 0) {
                return $this->work($dsn);
            }
            $this->trouble();
            file_put_contents("{$this->scratch->path}/done", '');
            // The servers that were started here live as long as this process: the others still need them.
            while (\count(glob("{$this->scratch->path}/finished-*") ?: []) < self::WORKERS) {
                usleep(1_000);
            }
            $cache = $this->cache($dsn);
            // On a busy machine a server may once more be too late, and is asked again.
            for ($tries = 0; !$cache->set('alive', true) || $cache->health()->isFlagged() || filesize($this->journal()) !== 0; $tries++) {
                if ($tries > 3_000) {
                    return ['problems' => ['The servers are not used again, or what was not delivered has not been repaired.']];
                }
                usleep(10_000);
                clearstatcache();
            }

            return ['problems' => []];
        });
        self::assertSame([], array_merge(...array_column($reports, 'problems')), "seed {$seed}");
        foreach (['hits', 'delivered', 'undelivered'] as $outcome) {
            self::assertGreaterThan(0, array_sum(array_column($reports, $outcome)), "Nothing was {$outcome}: this tells nothing (seed {$seed}).");
        }
    }

    /** Goes through all that can happen to a server, with time for work in between. */
    private function trouble(): void
    {
        for ($round = 0; $round < 2; $round++) {
            foreach ($this->servers as $server) {
                usleep(100_000);
                $server->kill();
                usleep(50_000);
                $server->start();
                usleep(100_000);
                $server->signal(\SIGSTOP);
                // Longer than any of them waits.
                usleep(300_000);
                $server->signal(\SIGCONT);
            }
        }
        // However busy this machine is, something is read after all that.
        @unlink("{$this->scratch->path}/hit");
        for ($tries = 0; !file_exists("{$this->scratch->path}/hit") && $tries < 3_000; $tries++) {
            usleep(10_000);
            clearstatcache();
        }
    }

    /** @return array{problems: list<string>, hits: int, delivered: int, undelivered: int} */
    private function work(string $dsn): array
    {
        $ledger = new Ledger("{$this->scratch->path}/ledger");
        $report = ['problems' => [], 'hits' => 0, 'delivered' => 0, 'undelivered' => 0];
        do {
            $told = array_map($ledger->told(...), range(0, self::THINGS - 1));
            $cache = $this->cache($dsn);
            for ($step = 0; $step < 10; $step++) {
                $thing = mt_rand(0, self::THINGS - 1);
                if (mt_rand(0, 9) < 7) {
                    $this->read($cache, $ledger, $thing, $told[$thing], $report);
                } else {
                    $ledger->change([$thing], function (array $versions) use ($dsn, $thing, &$report): void {
                        $this->change($dsn, $thing, $versions[$thing] ?? 0, $report);
                    });
                }
            }
            clearstatcache();
        } while (!file_exists("{$this->scratch->path}/done"));
        touch("{$this->scratch->path}/finished-" . getmypid());

        return $report;
    }

    /** @param array{problems: list<string>, hits: int, delivered: int, undelivered: int} $report */
    private function read(Cache $cache, Ledger $ledger, int $thing, int $told, array &$report): void
    {
        $value = $cache->get("thing {$thing}");
        if ($value === null) {
            $version = $ledger->version($thing);
            usleep(mt_rand(0, 2_000));
            $cache->set("thing {$thing}", ['version' => $version], 1_000, ["tag {$thing}"]);

            return;
        }
        $report['hits']++;
        touch("{$this->scratch->path}/hit");
        $version = \is_array($value) ? $value['version'] ?? null : null;
        if (!\is_int($version) || $version < $told) {
            $report['problems'][] = "thing {$thing}: version " . var_export($version, true) . " was read by a request that began when {$told} was told";
        }
    }

    /** @param array{problems: list<string>, hits: int, delivered: int, undelivered: int} $report */
    private function change(string $dsn, int $thing, int $version, array &$report): void
    {
        // One that has missed nothing, so that what it sets is no fill.
        $cache = $this->cache($dsn);
        $isDelivered = match (mt_rand(0, 2)) {
            0 => $cache->delete("thing {$thing}"),
            1 => $cache->invalidateTags(["tag {$thing}"]),
            default => $cache->set("thing {$thing}", ['version' => $version], 1_000, ["tag {$thing}"]),
        };
        $report[$isDelivered ? 'delivered' : 'undelivered']++;
        if (!$isDelivered && !$cache->health()->isFlagged()) {
            $report['problems'][] = 'Something was not delivered, and the health flag is down.';
        }
    }

    private function cache(string $dsn): Cache
    {
        return Cache::open($dsn, journal: $this->journal());
    }

    private function journal(): string
    {
        return "{$this->scratch->path}/journal";
    }
}
