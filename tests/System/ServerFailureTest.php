<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Remember\StampedeOptions;
use Larder\Store\MemcachedStore;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\RedisStore;
use Larder\Tests\Contract\Crowd;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tests\Wait;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What becomes of a cache whose server is gone, killed, stopped, full, locked, or something else altogether. */
#[CoversClass(Cache::class)]
#[CoversClass(RedisStore::class)]
#[CoversClass(PhpRedisConnection::class)]
#[CoversClass(PredisConnection::class)]
#[CoversClass(MemcachedStore::class)]
final class ServerFailureTest extends TestCase
{
    private ?CacheServer $server = null;

    protected function tearDown(): void
    {
        $this->server?->stop();
        $this->server = null;
    }

    /** @return iterable<string, array{string}> a DSN with SOCKET in it */
    public static function clients(): iterable
    {
        yield 'phpredis' => ['redis+unix:SOCKET?client=phpredis&retry_after=0&read_timeout=0.3&serializer=php'];
        yield 'Predis' => ['redis+unix:SOCKET?client=predis&retry_after=0&read_timeout=0.3'];
        yield 'memcached' => ['memcached+unix:SOCKET?retry_after=0&timeout=0.3'];
        yield 'memcached, persistent' => ['memcached+unix:SOCKET?retry_after=0&timeout=0.3&persistent=1'];
    }

    /** @return iterable<string, array{string}> */
    public static function unreachable(): iterable
    {
        yield 'phpredis over TCP' => ['redis://127.0.0.1:1?client=phpredis'];
        yield 'phpredis by a name that no host has' => ['redis://nobody.invalid?client=phpredis'];
        yield 'phpredis over a socket' => ['redis+unix:/nowhere/redis.sock?client=phpredis'];
        yield 'Predis over TCP' => ['redis://127.0.0.1:1?client=predis'];
        yield 'Predis over a socket' => ['redis+unix:/nowhere/redis.sock?client=predis'];
        yield 'TLS where there is none' => ['rediss://127.0.0.1:1?client=phpredis'];
        yield 'memcached over TCP' => ['memcached://127.0.0.1:1'];
        yield 'memcached over a socket' => ['memcached+unix:/nowhere/memcached.sock'];
    }

    #[DataProvider('unreachable')]
    public function testAnUnreachableServerIsAMissAndFalseLoggedOnce(string $dsn): void
    {
        $logger = new MemoryLogger();
        $cache = Cache::open($dsn, logger: $logger);
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertSame([], $cache->getMany(['key', 'other']));
        self::assertFalse($cache->has('key'));
        self::assertFalse($cache->add('key', 1));
        self::assertFalse($cache->increment('key'));
        self::assertSame('computed', $cache->remember('key', static fn(): string => 'computed'));
        self::assertCount(1, $logger->lines);
        self::assertFalse($cache->set('key', 1));
        self::assertFalse($cache->delete('key'));
        self::assertFalse($cache->clear());
        self::assertTrue($cache->health()->isFlagged());
        self::assertCount(2, $logger->lines);
    }

    #[DataProvider('unreachable')]
    public function testAStrictCacheThrowsWhatIsWrong(string $dsn): void
    {
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessageMatches('/^The (Redis|Memcached) server (127\.0\.0\.1:1|nobody\.invalid:6379|\/nowhere\/\w+\.sock) is unavailable: .+; .+\.$/');
        Cache::open($dsn, strict: true)->get('key');
    }

    #[DataProvider('clients')]
    public function testAServerThatIsKilledUnderUseIsUsedAgainWhenItIsBack(string $dsn): void
    {
        $logger = new MemoryLogger();
        $now = microtime(true);
        // One that is killed says so at once, and one that is back may be slow on a busy machine.
        $cache = new Cache($this->cache(str_replace('=0.3', '=10', $dsn))->store, logger: $logger, clock: static function () use (&$now): float {
            return $now;
        });
        for ($round = 1; $round <= 3; $round++) {
            $now += 60.0;
            self::assertTrue($cache->set('key', ['round' => $round]));
            self::assertSame(['round' => $round], $cache->get('key'));
            $this->server?->kill();
            self::assertNull($cache->get('key'));
            self::assertFalse($cache->delete('key'));
            self::assertFalse($cache->set('other', 1));
            self::assertTrue($cache->health()->isFlagged());
            $this->server?->start();
            self::assertNull($cache->get('key'));
            self::assertFalse($cache->health()->isFlagged());
            self::assertTrue($cache->health()->available);
        }
        // For each round: the first loss, the failure, the delivery of all losses, the recovery.
        self::assertCount(12, $logger->lines);
    }

    #[DataProvider('clients')]
    public function testALateAnswerOfAStoppedServerIsNeverTakenForAnotherOne(string $dsn): void
    {
        $cache = $this->cache($dsn);
        $until = static function (\Closure $isSo): void {
            for ($deadline = hrtime(true) + 60_000_000_000; !$isSo(); usleep(10_000)) {
                self::assertLessThan($deadline, hrtime(true), 'The cache did not recover.');
            }
        };
        for ($i = 0; $i < 10; $i++) {
            // On a busy machine it may not answer in time.
            $until(static fn(): bool => $cache->set("key {$i}", "value {$i}"));
        }
        $this->server?->signal(\SIGSTOP);
        self::assertNull($cache->get('key 0'));
        self::assertNull($cache->get('key 1'));
        $this->server?->signal(\SIGCONT);
        for ($i = 2; $i < 12; $i++) {
            $value = null;
            $until(static function () use ($cache, $i, &$value): bool {
                $value = $cache->get('key ' . $i % 10);

                return $value !== null;
            });
            self::assertSame('value ' . $i % 10, $value);
        }
    }

    #[DataProvider('clients')]
    public function testAChildThatEndsDoesNotTakeTheParentsConnectionAlong(string $dsn): void
    {
        $cache = $this->cache(str_replace('=0.3', '=10', $dsn));
        $cache->set('key', 'parent');
        for ($i = 0; $i < 3; $i++) {
            $child = pcntl_fork();
            if ($child === 0) {
                $cache->get('key');
                $cache->set("child {$i}", 'child');
                // The end of a process that lets go of all it has, except for what belongs to PHPUnit.
                unset($cache);
                posix_kill((int) getmypid(), \SIGKILL);
                exit;
            }
            pcntl_waitpid($child, $status);
            self::assertSame('child', $cache->get("child {$i}"));
            self::assertSame('parent', $cache->get('key'));
        }
        self::assertSame(0, $cache->health()->failures);
    }

    /** @return iterable<string, array{string}> */
    public static function silentServers(): iterable
    {
        yield 'phpredis' => ['redis+unix:SOCKET?client=phpredis&read_timeout=0.2&retry_after=1000'];
        yield 'Predis' => ['redis+unix:SOCKET?client=predis&read_timeout=0.2&retry_after=1000'];
        yield 'memcached' => ['memcached+unix:SOCKET?timeout=0.2&retry_after=1000'];
    }

    #[DataProvider('silentServers')]
    public function testOneProcessFindsOutForAllThatAServerDoesNotAnswer(string $dsn): void
    {
        $scratch = new Scratch();
        $listener = stream_socket_server("unix://{$scratch->path}/socket");
        self::assertIsResource($listener);
        stream_set_blocking($listener, false);
        $dsn = str_replace('SOCKET', "{$scratch->path}/socket", $dsn);
        $cache = Cache::open($dsn);
        for ($i = 0; $i < 20; $i++) {
            self::assertNull($cache->get('key'));
        }
        $failures = Crowd::of(3, static function () use ($dsn): array {
            $cache = Cache::open($dsn);
            for ($i = 0; $i < 20; $i++) {
                $cache->get('key');
                $cache->set('key', 'value');
            }

            return [$cache->health()->failures];
        });
        self::assertSame([[40], [40], [40]], $failures);
        $visitors = [];
        while (\is_resource($visitor = @stream_socket_accept($listener, 0.0))) {
            $visitors[] = $visitor;
        }
        self::assertCount(1, $visitors, 'It was asked again although it had not answered a moment ago.');
    }

    /** @return iterable<string, array{string}> */
    public static function hesitant(): iterable
    {
        yield 'phpredis' => ['redis+unix:SOCKET?client=phpredis&retry_after=1000&timeout=60&read_timeout=60'];
        yield 'Predis' => ['redis+unix:SOCKET?client=predis&retry_after=1000&timeout=60&read_timeout=60'];
        yield 'memcached' => ['memcached+unix:SOCKET?retry_after=1000&timeout=60'];
    }

    /** To try that costs nothing: nothing listens, so no process waits. */
    #[DataProvider('hesitant')]
    public function testAServerThatIsStartedIsFoundAMomentLater(string $dsn): void
    {
        $this->server = str_starts_with($dsn, 'memcached') ? CacheServer::memcached() : CacheServer::redis();
        $dsn = str_replace('SOCKET', $this->server->socket, $dsn);
        $cache = Cache::open($dsn);
        self::assertFalse($cache->set('key', 'value'));
        self::assertFalse(Cache::open($dsn)->set('key', 'value'));
        $this->server->start();
        Wait::until('it is found', static fn(): bool => $cache->set('key', 'value'));
        self::assertTrue(Cache::open($dsn)->set('key', 'value'));
    }

    /** The others wait half a second more for each try that fails. */
    #[DataProvider('redisClients')]
    public function testTheProcessThatTriesHasTheWholeTimeoutForTheFirstAnswer(string $client): void
    {
        $this->server = $server = CacheServer::redis();
        $dsn = "redis+unix:{$server->socket}?client={$client}&retry_after=0.05&timeout=9&read_timeout=9";
        self::assertFalse(Cache::open($dsn)->set('key', 'value'));
        $server->start();
        $server->signal(\SIGSTOP);
        usleep(100_000);
        $child = pcntl_fork();
        if ($child === 0) {
            // After more than the half of it.
            usleep(5_500_000);
            $server->signal(\SIGCONT);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        self::assertSame('default', Cache::open($dsn, strict: true)->get('key', 'default'));
        pcntl_waitpid((int) $child, $status);
    }

    /** @return iterable<string, array{string, bool, \Closure(Cache): mixed}> */
    public static function operations(): iterable
    {
        yield 'the first get by phpredis' => ['phpredis', false, static fn(Cache $cache): mixed => $cache->get('key')];
        yield 'a large batch by phpredis' => ['phpredis', true, static fn(Cache $cache): mixed => $cache->setMany(array_fill_keys(range(1, 100), 'x'))];
        yield 'the first get by Predis' => ['predis', false, static fn(Cache $cache): mixed => $cache->get('key')];
        yield 'a large batch by Predis' => ['predis', true, static fn(Cache $cache): mixed => $cache->setMany(array_fill_keys(range(1, 100), 'x'))];
    }

    /**
     * Each try takes at least the time that is waited. A busy machine only adds to it. So one try that takes no more than one timeout
     * and a half proves it, and tries that wait twice never come to that.
     *
     * @param \Closure(Cache): mixed $operation
     */
    #[DataProvider('operations')]
    public function testAServerThatIsStoppedCostsAnOperationOneTimeout(string $client, bool $isWarm, \Closure $operation): void
    {
        $took = [];
        for ($try = 0; $try < 10 && ($took === [] || min($took) >= 1.5); $try++) {
            $this->server = $server = CacheServer::redis()->start();
            $cache = Cache::open("redis+unix:{$server->socket}?client={$client}&read_timeout=1&timeout=1&retry_after=0");
            $isWarm && $operation($cache);
            $server->signal(\SIGSTOP);
            $began = hrtime(true);
            $operation($cache);
            $took[] = (hrtime(true) - $began) / 1e9;
            $server->stop();
        }
        self::assertGreaterThan(0.9, min($took));
        self::assertLessThan(1.5, min($took), 'Each of ' . \count($took) . ' tries waited more than once.');
    }

    /** @return iterable<string, array{string}> */
    public static function redisClients(): iterable
    {
        yield 'phpredis' => ['phpredis'];
        yield 'Predis' => ['predis'];
    }

    #[DataProvider('redisClients')]
    public function testAWrongPasswordIsSaidWithoutThePassword(string $client): void
    {
        $arguments = ini_set('zend.exception_ignore_args', '0');
        $server = CacheServer::redis(['--requirepass', 'correct']);
        $this->server = $server->start();
        foreach (['', 'hunter2'] as $password) {
            $logger = new MemoryLogger();
            $connection = new \Larder\Store\Redis\Server(socket: $server->socket, password: $password === '' ? null : $password, retryAfter: 0.0);
            $store = new RedisStore($client === 'predis' ? new PredisConnection($connection) : new PhpRedisConnection($connection));
            try {
                (new Cache($store, logger: $logger, strict: true))->set('key', 1);
                self::fail('The server let us in.');
            } catch (\Exception $failure) {
                self::assertInstanceOf(StoreUnavailable::class, $failure);
                self::assertMatchesRegularExpression('/NOAUTH|WRONGPASS|unauthenticated/', $failure->getMessage());
                self::assertStringNotContainsString('hunter2', (string) $failure);
            }
        }
        ini_set('zend.exception_ignore_args', (string) $arguments);
        $connection = new \Larder\Store\Redis\Server(socket: $server->socket, password: 'correct');
        $store = new RedisStore($client === 'predis' ? new PredisConnection($connection) : new PhpRedisConnection($connection));
        self::assertTrue((new Cache($store, strict: true))->set('key', 1));
    }

    #[DataProvider('redisClients')]
    public function testAFullServerRefusesAndKeepsNothingOlder(string $client): void
    {
        $server = CacheServer::redis(['--maxmemory', '4mb', '--maxmemory-policy', 'noeviction']);
        $this->server = $server->start();
        $logger = new MemoryLogger();
        $cache = Cache::open("redis+unix:{$server->socket}?client={$client}", logger: $logger);
        self::assertTrue($cache->set('key', 'old'));
        self::assertTrue($cache->set('tagged', 'old', tags: ['killed']));
        for ($i = 0; $cache->set("filler {$i}", random_bytes(100_000)); $i++) {
            self::assertLessThan(100, $i, 'The server does not fill up.');
        }
        $token = $cache->store->fetch(['deleted'])->tokens['deleted'];
        self::assertFalse($cache->set('key', random_bytes(100_000)));
        self::assertFalse($cache->has('key'));
        self::assertTrue($cache->delete('deleted'));
        self::assertTrue($cache->invalidateTags(['filler', 'killed']));
        self::assertFalse($cache->has('tagged'));
        self::assertTrue($cache->has('filler 1'), 'An invalidation on a full server reaches no others.');
        self::assertTrue($cache->health()->available);
        self::assertTrue($cache->delete('filler 1'));
        self::assertSame(['deleted'], $cache->store->save([new Item('deleted', 'late', token: $token, fill: true)]));
        self::assertTrue($cache->delete('filler 0'));
        self::assertTrue($cache->set('key', 'new'));
        self::assertCount(1, $logger->lines);
    }

    #[DataProvider('redisClients')]
    public function testOnAFullServerNoProcessWaitsForALeaseThatNoneHas(string $client): void
    {
        $this->server = $server = CacheServer::redis()->start();
        $redis = new \Redis();
        $redis->connect($server->socket);
        $open = static fn(): Cache => Cache::open("redis+unix:{$server->socket}?client={$client}");
        [$cache, $other] = [$open(), $open()];
        self::assertNull($other->get('missed before'));
        $waited = 0.0;
        $cache->remember('held', static function () use ($redis, $other, &$waited): int {
            $redis->config('SET', 'maxmemory', '1');
            $begun = hrtime(true);
            $other->remember('held', static fn(): int => 1, stampede: new StampedeOptions(lease: 100.0, missWait: 0.3));
            $waited = (hrtime(true) - $begun) / 1e9;

            return 1;
        });
        self::assertGreaterThanOrEqual(0.3, $waited, 'The holder of the lease is not waited for.');
        $begun = hrtime(true);
        self::assertSame('computed', $other->remember('free', static fn(): string => 'computed', stampede: new StampedeOptions(lease: 100.0)));
        self::assertLessThan(100e9, hrtime(true) - $begun);
    }

    /** A master that has lost its replicas may be told to take nothing (min-replicas-to-write), and users may only read. */
    #[DataProvider('redisClients')]
    public function testWhereARedisMayOnlyBeReadNoProcessWaitsForALeaseThatNoneHas(string $client): void
    {
        $this->server = $server = CacheServer::redis()->start();
        $redis = new \Redis();
        $redis->connect($server->socket);
        $forbid = [
            static fn(): mixed => $redis->config('SET', 'min-replicas-to-write', '1'),
            static fn(): mixed => $redis->rawCommand('ACL', 'SETUSER', 'default', '-set'),
        ];
        foreach ($forbid as $i => $each) {
            $redis->config('SET', 'min-replicas-to-write', '0');
            $cache = Cache::open("redis+unix:{$server->socket}?client={$client}&prefix=round-{$i}&retry_after=0");
            self::assertTrue($cache->set('there', 1));
            self::assertNull($cache->get('missed before'));
            $each();
            $begun = hrtime(true);
            self::assertSame('computed', $cache->remember('missed before', static fn(): string => 'computed', stampede: new StampedeOptions(lease: 100.0, missWait: 30.0)), "case {$i}");
            self::assertLessThan(30e9, hrtime(true) - $begun, "case {$i}");
            self::assertSame(1, $cache->get('there'), "case {$i}");
        }
    }

    public function testOnAFullMemcachedNoProcessWaitsForALeaseThatNoneHas(): void
    {
        $this->server = $server = CacheServer::memcached(['-M', '-m', '2'])->start();
        $cache = Cache::open("memcached+unix:{$server->socket}?timeout=10");
        foreach ([100_000, 1_000, 1] as $bytes) {
            for ($i = 0; $cache->add("{$bytes} {$i}", random_bytes($bytes)); $i++) {
                self::assertLessThan(100_000, $i, 'The server does not fill up.');
            }
        }
        $begun = hrtime(true);
        self::assertSame('computed', $cache->remember('free', static fn(): string => 'computed', stampede: new StampedeOptions(lease: 100.0)));
        self::assertLessThan(100e9, hrtime(true) - $begun);
    }

    #[DataProvider('redisClients')]
    public function testWhatAnotherProgramLeftUnderAKeyIsAMiss(string $client): void
    {
        $this->server = $server = CacheServer::redis()->start();
        $redis = new \Redis();
        $redis->connect($server->socket);
        $redis->rPush('larder:list', 'x');
        $redis->set('larder:text', 'not ours');
        $redis->set('larder:number', '007');
        $redis->set('another', 'program\'s');
        $cache = Cache::open("redis+unix:{$server->socket}?client={$client}", strict: true);
        self::assertSame([], $cache->getMany(['list', 'text', 'number']));
        self::assertTrue($cache->setMany(['list' => 1, 'text' => 2, 'number' => 3]));
        self::assertSame(['list' => 1, 'text' => 2, 'number' => 3], $cache->getMany(['list', 'text', 'number']));
        self::assertTrue($cache->clear());
        self::assertSame([], $redis->keys('larder:*'));
        self::assertSame('program\'s', $redis->get('another'));
    }

    public function testAMissingOrForgedPieceIsAMiss(): void
    {
        $cache = $this->cache('memcached+unix:SOCKET?prefix=x');
        $client = new \Memcached();
        $client->addServer($this->server->socket ?? '', 0);
        $value = random_bytes(2_500_000);
        foreach (['delete', 'forge'] as $harm) {
            self::assertTrue($cache->set('key', $value));
            self::assertSame($value, $cache->get('key'));
            $clock = $client->get('x!clock');
            self::assertIsString($clock);
            $epoch = substr($clock, 0, 16);
            $manifest = $client->get("x:{$epoch}:k:key");
            self::assertIsString($manifest);
            self::assertMatchesRegularExpression('/[0-9a-f]{16};3;[0-9a-f]{32}$/D', $manifest);
            $piece = "x:{$epoch}:p:" . substr($manifest, -51, 16) . ':1';
            self::assertTrue($harm === 'delete' ? $client->delete($piece) : $client->set($piece, str_repeat('x', 1_000_000)));
            self::assertNull($cache->get('key'));
        }
    }

    public function testWhatAnotherProgramLeftInMemcachedIsAMissAndReplaced(): void
    {
        $cache = $this->cache('memcached+unix:SOCKET?prefix=x');
        self::assertTrue($cache->set('key', 1, tags: ['tag']));
        $client = new \Memcached();
        $client->addServer($this->server->socket ?? '', 0);
        $clock = $client->get('x!clock');
        self::assertIsString($clock);
        $epoch = substr($clock, 0, 16);
        foreach (['', 'not ours', str_repeat("\4", 40), str_repeat("\xff", 200)] as $foreign) {
            $client->set("x:{$epoch}:k:key", $foreign);
            self::assertNull($cache->get('key'));
            self::assertSame('computed', $cache->remember('key', static fn(): string => 'computed'));
            self::assertSame('computed', $cache->get('key'));
            $client->set("x:{$epoch}:k:key", $foreign);
            self::assertTrue($cache->add('key', 'added', tags: ['tag']));
            self::assertSame('added', $cache->get('key'));
            for ($slot = 0; $slot < 256; $slot++) {
                $client->set("x!{$epoch}:t{$slot}", $foreign);
            }
            self::assertTrue($cache->invalidateTags(['another']));
            self::assertTrue($cache->set('other', 1, tags: ['tag']));
            self::assertTrue($cache->invalidateTags(['tag']));
            self::assertSame([], $cache->getMany(['key', 'other']));
        }
        $client->set('x!clock', 'not ours');
        self::assertFalse($cache->has('key'));
        // What this process has missed before carries the tokens of the clock that is gone.
        $another = Cache::open('memcached+unix:' . ($this->server->socket ?? '') . '?prefix=x');
        self::assertTrue($another->set('key', 2));
        self::assertSame(2, $cache->get('key'));
    }

    private function cache(string $dsn, ?MemoryLogger $logger = null): Cache
    {
        $this->server = (str_starts_with($dsn, 'memcached') ? CacheServer::memcached() : CacheServer::redis())->start();

        return Cache::open(str_replace('SOCKET', $this->server->socket, $dsn), logger: $logger);
    }
}
