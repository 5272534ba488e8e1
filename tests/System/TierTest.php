<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\PerRequest;
use Larder\Store\ArrayStore;
use Larder\Store\Redis\RedisLog;
use Larder\Store\Sqlite\SqliteLog;
use Larder\Stores;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\Contract\History;
use Larder\Tests\Contract\RequestEachTime;
use Larder\Tests\Contract\Value\Ledger;
use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use Larder\Tests\System\Extension\Workers;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** Tiers under workers of php-fpm and scripts on the command line that cannot see what the workers see. */
#[CoversClass(TieredStore::class)]
#[CoversClass(SqliteLog::class)]
#[CoversClass(RedisLog::class)]
final class TierTest extends TestCase
{
    private const PAGE = __DIR__ . '/Tier/page.php';

    private const WORKERS = 3;

    /** Requests to each worker, and what each does. */
    private const ROUNDS = 25;

    private const STEPS = 30;

    /** @return iterable<string, array{string, string, ?string}> the workers' near stores, those of the command line, and the client of Redis */
    public static function tiers(): iterable
    {
        yield 'APCu' => ['apcu:', 'array:', null];
        yield 'an array in front of APCu' => ['array: > apcu:', 'array:', null];
        yield 'shared memory' => ['shm:NAME?size=16M', 'shm:NAME?size=16M', null];
        yield 'APCu before Redis' => ['apcu:', 'array:', 'phpredis'];
        yield 'an array in front of APCu before Redis' => ['array: > apcu:', 'array:', 'predis'];
        yield 'shared memory before Redis, and the command line has none' => ['shm:NAME?size=16M', '', 'phpredis'];
    }

    /** The rule of staleness, and that every request sees what was finished before it, wherever. */
    #[DataProvider('tiers')]
    public function testNoRequestSeesAnythingOlderThanWhatTheCommandLineOrAWorkerHasFinished(string $inWorkers, string $onCommandLine, ?string $client): void
    {
        $scratch = new Scratch();
        $pool = 'test-' . bin2hex(random_bytes(4));
        $server = $client === null ? null : CacheServer::redis()->start();
        $far = $server === null ? "sqlite:{$scratch->path}/cache.db?timeout=60" : "redis+unix:{$server->socket}?client={$client}&read_timeout=60";
        $ledger = "{$scratch->path}/ledger";
        touch($ledger);
        $seed = random_int(0, 1 << 30);
        $workers = new Workers(['apc.enabled' => 1], self::WORKERS);
        try {
            $reports = Crowd::of(3, function (int $number) use ($workers, $inWorkers, $onCommandLine, $far, $ledger, $pool, $seed): array {
                if ($number === 0) {
                    return $this->pages($workers, str_replace('NAME', $pool, $inWorkers) . " > {$far}", $ledger, $seed);
                }
                mt_srand($seed - $number);
                $store = Stores::open($onCommandLine === '' ? $far : str_replace('NAME', $pool, $onCommandLine) . " > {$far}");
                self::assertInstanceOf(PerRequest::class, $store);

                return [(new History(RequestEachTime::of($store), new Ledger($ledger), true))->run(2 * self::ROUNDS * self::STEPS)];
            });
            self::assertSame([], $workers->crashes());
        } finally {
            $workers->stop();
            $server?->stop();
            Pools::remove($pool);
        }
        self::assertSame([], array_merge(...array_column(array_merge(...$reports), 'stale')), "seed {$seed}");
        self::assertGreaterThan(100, array_sum(array_column($reports[0], 'hits')), 'The workers found so little that this tells nothing.');
        self::assertNotSame([], array_merge(...array_column($reports[0], 'near')), 'Nothing was ever in the near store.');
    }

    public function testWhatTakesThePlaceOfApcuOnTheCommandLineLeavesAScriptItsMemory(): void
    {
        $scratch = new Scratch();
        $far = Cache::open("sqlite:{$scratch->path}/cache.db", strict: true);
        for ($i = 0; $i < 400; $i += 20) {
            $far->setMany(array_fill_keys(array_map(static fn(int $n): string => "key {$n}", range($i, $i + 19)), str_repeat('x', 100_000)));
        }
        $code = <<<'PHP'
            require $argv[1];
            $cache = Larder\Cache::open("apcu: > sqlite:{$argv[2]}/cache.db", strict: true);
            $found = 0;
            for ($i = 0; $i < 400; $i++) {
                $found += strlen($cache->get("key {$i}"));
            }
            echo "{$found} bytes, of which {$cache->statistics()->details['near bytes']} are near";
            PHP;
        $words = [\PHP_BINARY, '-d', 'memory_limit=32M', '-d', 'apc.enable_cli=0', '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', $scratch->path];
        exec(implode(' ', array_map(escapeshellarg(...), $words)) . ' 2>&1', $output);
        self::assertMatchesRegularExpression('/^40000000 bytes, of which [4-8]\d{6} are near$/', implode("\n", $output));
    }

    public function testWhatTheWorkersKeepInApcuTheCommandLineDeletesKeyByKey(): void
    {
        $scratch = new Scratch();
        $ledger = "{$scratch->path}/ledger";
        touch($ledger);
        $workers = new Workers(['apc.enabled' => 1], 1);
        try {
            $far = "sqlite:{$scratch->path}/cache.db?timeout=60";
            $commandLine = Stores::open("array: > {$far}");
            $look = fn(int $seed, int $steps): array => $this->page($workers, ['dsn' => "apcu: > {$far}", 'ledger' => $ledger, 'seed' => $seed, 'steps' => $steps])['near'];
            self::assertSame([], $look(0, 0));
            for ($seed = 1; $seed < 500 && \count($look($seed, 3)) < 3; $seed++);
            $kept = $look(1_000, 0);
            self::assertGreaterThanOrEqual(3, \count($kept), 'Next to nothing was kept in APCu.');
            while ($kept !== []) {
                $commandLine->delete([array_pop($kept)]);
                self::assertSame($kept, $look(1_001, 0));
            }
        } finally {
            $workers->stop();
        }
    }

    public function testWithoutAnApcuOfItsOwnTheCommandLineHasAnArray(): void
    {
        $scratch = new Scratch();
        $code = <<<'PHP'
            require $argv[1];
            $store = Larder\Stores::open("apcu: > sqlite:{$argv[2]}/cache.db");
            $store->save([new Larder\Item('key', 'value')]);
            echo get_class($store->near), ' ', $store->read('key');
            PHP;
        foreach ([['-n', '-d', 'extension=sqlite3'], ['-d', 'apc.enable_cli=0']] as $settings) {
            $process = new Process([\PHP_BINARY, ...$settings, '-r', $code, '--', \dirname(__DIR__, 2) . '/vendor/autoload.php', $scratch->path], timeout: null);
            self::assertSame(ArrayStore::class . ' value', $process->mustRun()->getOutput());
        }
    }

    /** @return iterable<string, array{bool}> */
    public static function journals(): iterable
    {
        yield 'with a journal' => [true];
        yield 'without a journal' => [false];
    }

    #[DataProvider('journals')]
    public function testAnInvalidationThatTheFarStoreHasNotLearntIsNotForgotten(bool $hasJournal): void
    {
        $scratch = new Scratch();
        $path = "{$scratch->path}/cache.db";
        $dsn = 'array: > sqlite:' . $path . '?timeout=0.05';
        $journal = $hasJournal ? "{$scratch->path}/journal" : null;
        $ends = stream_socket_pair(\STREAM_PF_UNIX, \STREAM_SOCK_STREAM, 0);
        self::assertIsArray($ends);
        $child = pcntl_fork();
        if ($child === 0) {
            fread($ends[1], 1);
            $database = new \SQLite3($path);
            $database->exec('BEGIN IMMEDIATE');
            fwrite($ends[1], 'locked');
            fread($ends[1], 1);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        $cache = Cache::open($dsn, journal: $journal);
        $cache->setMany(['key' => 'old', 'other' => 'kept', 'tagged' => 'old'], tags: ['x']);
        $cache->set('other', 'kept');
        self::assertSame(['old', 'kept', 'old'], [$cache->get('key'), $cache->get('other'), $cache->get('tagged')]);
        fwrite($ends[0], '!');
        self::assertSame('locked', fread($ends[0], 6));
        $cache->refresh();
        self::assertSame('old', $cache->get('key'), 'Nothing was written, so the near store answers.');
        self::assertFalse($cache->set('key', 'new'));
        self::assertFalse($cache->invalidateTags(['x']));
        self::assertTrue($cache->health()->isFlagged());
        self::assertNull($cache->get('key'));
        self::assertNull($cache->get('tagged'));
        $other = Cache::open($dsn, journal: $journal);
        self::assertSame($hasJournal ? null : 'old', $other->get('key'), 'Only a process that has the journal knows.');
        posix_kill($child, \SIGKILL);
        pcntl_waitpid($child, $status);
        foreach ($hasJournal ? [$other, $cache] : [$cache] as $each) {
            // What has failed to deliver the journal a moment ago does not try again within a second.
            $deadline = hrtime(true) + 60e9;
            do {
                usleep(1_000);
                $each->refresh();
                self::assertNull($each->get('key'), 'It is journaled as a delete.');
            } while ($each->health()->isFlagged() && hrtime(true) < $deadline);
            self::assertNull($each->get('tagged'));
            self::assertSame('kept', $each->get('other'));
            self::assertFalse($each->health()->isFlagged());
        }
        $other->refresh();
        self::assertNull($other->get('key'));
        self::assertTrue($other->set('key', 'new'));
        $cache->refresh();
        self::assertSame('new', $cache->get('key'));
    }

    /** @return list<array{stale: list<string>, hits: int, stored: int, refused: int, near: list<string>}> */
    private function pages(Workers $workers, string $dsn, string $ledger, int $seed): array
    {
        $reports = [];
        for ($round = 0; $round < self::ROUNDS; $round++) {
            $connections = [];
            for ($i = 0; $i < self::WORKERS; $i++) {
                $connections[] = $workers->client->begin(self::PAGE, ['dsn' => $dsn, 'ledger' => $ledger, 'seed' => $seed++, 'steps' => self::STEPS]);
            }
            foreach ($connections as $connection) {
                $reports[] = self::report($workers->client::answer($connection));
                fclose($connection);
            }
        }

        return $reports;
    }

    /**
     * @param array<string, string|int> $query
     *
     * @return array{stale: list<string>, hits: int, stored: int, refused: int, near: list<string>}
     */
    private function page(Workers $workers, array $query): array
    {
        return self::report($workers->client->get(self::PAGE, $query));
    }

    /** @return array{stale: list<string>, hits: int, stored: int, refused: int, near: list<string>} */
    private static function report(?string $answer): array
    {
        $report = json_decode((string) $answer, true);
        self::assertIsArray($report, (string) $answer);

        /** @var array{stale: list<string>, hits: int, stored: int, refused: int, near: list<string>} $report */
        return $report;
    }
}
