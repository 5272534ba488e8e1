<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Server\Program;
use Larder\Bench\Server\RedisFlavour;
use Larder\Store\Redis\RedisLog;
use Larder\Tests\Pools;
use Larder\Tests\Scratch;
use Larder\Tests\Stores\RedisFlavours;
use Larder\Tests\System\Extension\Workers;
use Larder\Tests\System\Hosts\Places;
use Larder\Tests\System\Hosts\Sentinels;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use Symfony\Component\Process\Process;

/**
 * Two hosts with a near store each, or with what they know of tags, in front of one Redis, to which all kinds of things happen: no request of either reads anything older
 * than what was finished before it began. In `make hosts` for a million operations, otherwise for some thousand.
 */
#[CoversClass(TieredStore::class)]
#[CoversClass(RedisLog::class)]
final class HostsTest extends OwnServers
{
    private const WORKERS = 3;

    private Scratch $scratch;

    private ?Places $places = null;

    /** @var list<string> */
    private array $pools = [];

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->places?->remove();
        foreach ($this->pools as $pool) {
            Pools::remove($pool);
        }
        [$this->places, $this->pools] = [null, []];
    }

    /** @return iterable<string, array{string, string, \Closure(CacheServer, Places): mixed, 3?: bool}> near store, options of the far one, what happens again and again */
    public static function troubles(): iterable
    {
        $log = static fn(CacheServer $server, string ...$command): mixed => self::redis($server)->rawCommand(...$command);
        $kill = static function (CacheServer $server): void {
            $server->kill();
            usleep(50_000);
            $server->start();
        };
        yield 'nothing' => ['shm:', 'client=phpredis', static function (): void {}];
        yield 'nothing, with Predis and an array in front' => ['array: > shm:', 'client=predis', static function (): void {}];
        yield 'the workers are killed' => ['shm:', 'client=phpredis', static function (): void {}, true];
        yield 'the server is killed and loses everything' => ['shm:', 'client=phpredis', $kill];
        yield 'the server is killed and comes back with what it had a while ago' => ['shm:', 'client=predis', static function (CacheServer $server) use ($kill, $log): void {
            $log($server, 'SAVE');
            usleep(mt_rand(0, 50_000));
            $kill($server);
        }];
        yield 'the server stands still' => ['shm:', 'client=phpredis', static function (CacheServer $server): void {
            $server->signal(\SIGSTOP);
            // Longer than any of them waits.
            usleep(self::isWhole() ? 5_000_000 : 400_000);
            $server->signal(\SIGCONT);
        }];
        yield 'the log is trimmed' => ['shm:', 'client=phpredis', static fn(CacheServer $server): mixed => $log($server, 'XTRIM', 'larder!log', 'MAXLEN', '0')];
        yield 'the log is lost' => ['shm:', 'client=phpredis', static fn(CacheServer $server): mixed => $log($server, 'DEL', 'larder!log')];
        yield 'everything is flushed' => ['shm:', 'client=predis', static fn(CacheServer $server): mixed => $log($server, 'FLUSHALL')];
        yield 'all connections break' => ['shm:', 'client=phpredis', static fn(CacheServer $server): mixed => $log($server, 'CLIENT', 'KILL', 'TYPE', 'normal')];
        // No near store, but what each host knows of tags, in a pool or in APCu.
        $near = 'client=phpredis&tags=near';
        yield 'tags near' => ['', $near, static function (): void {}];
        yield 'tags near, and the workers are killed' => ['', 'client=predis&tags=near', static function (): void {}, true];
        yield 'tags near, and the server is killed and loses everything' => ['', $near, $kill];
        yield 'tags near, and the list of invalidations is lost' => ['', $near, static fn(CacheServer $server): mixed => $log($server, 'DEL', 'larder!invalidations')];
        yield 'tags near, and everything is flushed' => ['', $near, static fn(CacheServer $server): mixed => $log($server, 'FLUSHALL')];
        yield 'tags near behind a near store' => ['shm:', $near, static fn(CacheServer $server): mixed => $log($server, 'XTRIM', 'larder!log', 'MAXLEN', '0')];
        yield 'a host is cut off' => ['shm:', 'client=phpredis', static function (CacheServer $server, Places $places): void {
            $host = mt_rand(0, 1);
            $places->cut($host, true);
            usleep(400_000);
            $places->cut($host, false);
        }];
    }

    /** Whether this is `make hosts`. */
    private static function isWhole(): bool
    {
        return getenv('LARDER_HOSTS_STEPS') !== false;
    }

    /** @param \Closure(CacheServer, Places): mixed $trouble */
    #[DataProvider('troubles')]
    public function testNoRequestReadsAnythingOlderThanWhatAnyHostHasFinished(string $near, string $options, \Closure $trouble, bool $kills = false): void
    {
        $this->places = $places = new Places(2);
        if (!$places->areApart && $this->dataName() === 'a host is cut off') {
            self::markTestSkipped('Only root can cut a host off, with the program ip; run this as root.');
        }
        // The other tests have the first.
        $flavour = RedisFlavours::last();
        $server = $this->started(CacheServer::redisOnPort(['--bind', '0.0.0.0', '--protected-mode', 'no', '--dir', $this->scratch->path], flavour: $flavour));
        $this->see(
            $near,
            "redis://{$places->address()}:{$server->port}/0?{$options}",
            static fn(): mixed => $trouble($server, $places),
            self::isWhole() ? 200 : 4,
            $flavour,
            $kills,
        );
    }

    /** @return iterable<string, array{string, string}> near store, options of the far one */
    public static function behindSentinels(): iterable
    {
        yield 'a near store' => ['shm:', 'client=phpredis'];
        yield 'an array before it, and Predis' => ['array: > shm:', 'client=predis'];
        yield 'tags near' => ['', 'client=phpredis&tags=near'];
    }

    /** What replication had not passed on when a master failed is lost, which RedisPlacesTest has. Here it has passed on everything. */
    #[DataProvider('behindSentinels')]
    public function testNoRequestReadsAnythingOlderAfterAFailoverBySentinels(string $near, string $options): void
    {
        $this->places = $places = new Places(2);
        $sentinels = new Sentinels($places->address());
        try {
            $this->see($near, $sentinels->dsn($options), $sentinels->failOver(...), self::isWhole() ? 12 : 1, RedisFlavours::first(), afterwards: $sentinels->restore(...));
        } finally {
            $sentinels->stop();
        }
    }

    /**
     * Has two hosts work while something happens again and again, and looks at what they have found.
     *
     * @param string                $far        DSN of the far store
     * @param \Closure(): mixed     $trouble
     * @param ?\Closure(): mixed    $afterwards what is put right once both hosts are well again
     */
    private function see(string $near, string $far, \Closure $trouble, int $rounds, RedisFlavour $flavour, bool $kills = false, ?\Closure $afterwards = null): void
    {
        $places = $this->places ?? throw new \LogicException('The hosts are made first.');
        $folder = $this->scratch->path;
        foreach (['ledger', 'ledger-a', 'ledger-b', 'problems', 'counts', 'recovered'] as $file) {
            touch("{$folder}/{$file}");
        }
        $seed = random_int(0, 1 << 30);
        $requests = max(100, (int) (getenv('LARDER_HOSTS_STEPS') ?: 0) / (10 * 2 * self::WORKERS));
        $hosts = [];
        foreach (['a', 'b'] as $i => $name) {
            $this->pools[] = $pool = "test-{$name}-" . bin2hex(random_bytes(4));
            mkdir("{$folder}/tmp-{$name}", 0o700);
            // `make hosts` tells how soon hosts are well again that have the defaults.
            $dsn = ($near === '' ? '' : str_replace('shm:', "shm:{$pool}?size=16M", $near) . ' > ') . $far . (self::isWhole() ? '' : '&timeout=0.3&read_timeout=0.3&retry_after=0.1');
            // One host keeps what it knows of tags in APCu. A killed process would keep APCu's lock.
            $words = [\PHP_BINARY, ...self::settings(), '-d', 'apc.enable_cli=' . ($kills ? 0 : $i), __DIR__ . '/Hosts/host.php', $dsn, $folder, $name, (string) self::WORKERS, (string) (int) $requests, (string) ($seed + 1_000 * $i), $kills ? 'kills' : ''];
            $hosts[] = $host = new Process($places->command($i, $words), env: ['TMPDIR' => "{$folder}/tmp-{$name}"], timeout: null);
            $host->start();
        }
        mt_srand($seed);
        // Not for longer than a minute and a half, whatever the trouble takes.
        $end = hrtime(true) + 90_000_000_000;
        for ($round = 0; $round < $rounds && hrtime(true) < $end; $round++) {
            // So that there is something that could be lost.
            $this->untilCounted($folder, 'delivered', 20);
            usleep(mt_rand(50_000, 200_000));
            $trouble();
            if (self::isWhole()) {
                $this->recovered($folder, $round);
            }
            if ($afterwards !== null) {
                $afterwards();
            }
        }
        // However busy this machine is, something is read after all that.
        $this->untilCounted($folder, 'hits', 1_000);
        touch("{$folder}/done");
        foreach ($hosts as $host) {
            $host->wait();
            self::assertSame('', $host->getOutput() . $host->getErrorOutput(), "seed {$seed}");
        }
        self::assertSame('', file_get_contents("{$folder}/problems"), "seed {$seed}");
        foreach (['hits', 'misses', 'delivered'] as $outcome) {
            self::assertGreaterThan(0, self::counts($folder)[$outcome] ?? 0, "There were no {$outcome}: this tells nothing (seed {$seed}).");
        }
        if (self::isWhole()) {
            $milliseconds = array_map(static fn(string $line): float => (float) $line, file("{$folder}/recovered", \FILE_IGNORE_NEW_LINES) ?: []);
            sort($milliseconds);
            fwrite(\STDERR, sprintf(
                "%s: %s; %d times a host was well again after %.0f ms (median), %.0f ms at most\n",
                Program::version([$flavour->program(), '--version']),
                json_encode(self::counts($folder)),
                \count($milliseconds),
                $milliseconds[intdiv(\count($milliseconds), 2)] ?? \NAN,
                end($milliseconds),
            ));
        }
    }

    private function untilCounted(string $folder, string $what, int $more): void
    {
        $before = self::counts($folder)[$what] ?? 0;
        for ($tries = 0; $tries < 6_000 && (self::counts($folder)[$what] ?? 0) < $before + $more; $tries++) {
            usleep(10_000);
        }
    }

    /** Tells the hosts that the trouble is over, and waits until both are well, which they write down. */
    private function recovered(string $folder, int $round): void
    {
        file_put_contents("{$folder}/over.new", "{$round} " . hrtime(true));
        rename("{$folder}/over.new", "{$folder}/over");
        for ($tries = 0; $tries < 6_000 && substr_count((string) file_get_contents("{$folder}/recovered"), "\n") < 2 * ($round + 1); $tries++) {
            usleep(10_000);
        }
        self::assertLessThan(6_000, $tries, 'A host is not well again.');
    }

    /** @return list<string> what a PHP needs to have the extensions of this one */
    private static function settings(): array
    {
        return ['-d', 'extension=' . Workers::extension()];
    }

    /** @return array<string, int> */
    private static function counts(string $folder): array
    {
        $counts = [];
        foreach (file("{$folder}/counts", \FILE_IGNORE_NEW_LINES) ?: [] as $line) {
            [$what, $count] = explode(' ', $line) + [1 => '0'];
            $counts[$what] = ($counts[$what] ?? 0) + (int) $count;
        }

        return $counts;
    }

    private static function redis(CacheServer $server): \Redis
    {
        $redis = new \Redis();
        $redis->connect($server->socket);

        return $redis;
    }
}
