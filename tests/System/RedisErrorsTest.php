<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Pools;
use Larder\Bench\Server\ClusterFormation;
use Larder\Bench\Server\ServerProcess;
use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Store\Redis\ErrorReply;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\RedisStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Wait;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;

/** A server that answers with an error to what is right: no request fails, nothing stale is read, and all is well when it is over. */
#[CoversClass(ErrorReply::class)]
#[CoversClass(PhpRedisConnection::class)]
#[CoversClass(PredisConnection::class)]
#[CoversClass(RedisStore::class)]
#[CoversClass(TieredStore::class)]
final class RedisErrorsTest extends OwnServers
{
    private const OPTIONS = 'retry_after=0&timeout=60&read_timeout=60';

    private const LACKS = '; see that it is Redis 6.2 or later, or Valkey, and that its configuration takes no command away.';

    /** Of items with the prefix "plain". */
    private const NAMES = ['plain:kept', 'plain:overwritten', 'plain:deleted', 'plain:tagged', 'plain!clock', 'plain!tags', 'plain!key_versions', 'plain!log', 'plain!invalidations'];

    private ?string $pool = null;

    protected function tearDown(): void
    {
        parent::tearDown();
        if ($this->pool !== null) {
            Pools::remove($this->pool);
        }
    }

    /**
     * What a server says, by a command that gets that answer; whether it lets read all the same; what it is started with; how that comes about, and how it ends.
     *
     * @return array<string, array{0: string, 1: bool, 2: list<string>, 3: \Closure(\Redis, CacheServer, self): mixed, 4: \Closure(\Redis, CacheServer, self): mixed}>
     */
    private static function kinds(): array
    {
        $set = static fn(string $name, string $value): \Closure => static fn(\Redis $redis): mixed => $redis->rawCommand('CONFIG', 'SET', $name, $value);
        $acl = static fn(string ...$rules): \Closure => static fn(\Redis $redis): mixed => $redis->rawCommand('ACL', 'SETUSER', 'default', ...$rules);
        $all = $acl('+@all', 'allkeys');
        $end = static fn(string ...$command): \Closure => static fn(\Redis $redis): mixed => $redis->rawCommand(...$command);
        // A client that has come in stays in.
        $newOnly = static fn(\Closure $begin): \Closure => static function (\Redis $redis) use ($begin): void {
            $begin($redis);
            $redis->rawCommand('CLIENT', 'KILL', 'TYPE', 'normal');
        };
        $slots = ['0', (string) (ClusterFormation::SLOTS - 1)];

        return [
            'OOM: it is full' => ['SET probe x', true, [], $set('maxmemory', '1'), $set('maxmemory', '0')],
            'NOREPLICAS: its replicas are gone' => ['SET probe x', true, [], $set('min-replicas-to-write', '1'), $set('min-replicas-to-write', '0')],
            'MISCONF: its disk takes no snapshot' => ['SET probe x', true, ['--dir', 'DIRECTORY'], self::failToSave(...), self::saveAgain(...)],
            'READONLY: it has become a replica' => ['SET probe x', false, [], static function (\Redis $redis, CacheServer $server, self $test): void {
                $master = $test->started(CacheServer::redisOnPort(['--repl-diskless-sync-delay', '0']));
                $redis->rawCommand('REPLICAOF', '127.0.0.1', (string) $master->port);
                Wait::until('it has a master', static fn(): bool => $server->says('master_link_status:up'));
            }, $end('REPLICAOF', 'NO', 'ONE')],
            'MASTERDOWN: it has lost its master' => ['GET probe', false, ['--replica-serve-stale-data', 'no'], $end('REPLICAOF', '127.0.0.1', '1'), $end('REPLICAOF', 'NO', 'ONE')],
            'LOADING: it has to read its data first' => ['GET probe', false, ['--dir', 'DIRECTORY', '--enable-debug-command', 'yes', '--rdbcompression', 'no', '--loading-process-events-interval-bytes', '1024'], self::load(...), $set('key-load-delay', '0')],
            'BUSY: a script does not end' => ['GET probe', false, ['--lua-time-limit', '1'], static fn(\Redis $redis, CacheServer $server): mixed => self::told($server, 'EVAL "while true do end" 0'), $end('SCRIPT', 'KILL')],
            'NOSCRIPT: it has forgotten all scripts' => ['EVALSHA ' . str_repeat('0', 40) . ' 0', true, [], $end('SCRIPT', 'FLUSH'), $end('SCRIPT', 'FLUSH')],
            'NOPERM: a user may not read' => ['GET probe', false, [], $acl('-get', '-mget'), $all],
            'NOPERM: a user may not write' => ['SET probe x', true, [], $acl('-@write'), $all],
            'NOPERM: a user may run no script' => ['EVAL "return 1" 0', true, [], $acl('-@scripting'), $all],
            'NOPERM: a user may not use the log' => ['XREVRANGE probe + -', true, [], $acl('-@stream'), $all],
            'NOPERM: a user may use no key' => ['GET probe', false, [], $acl('resetkeys'), $all],
            'NOPERM: a user may ask nothing of the server' => ['TIME', false, [], $acl('-time', '-info'), $all],
            'NOPERM: a user may do nothing' => ['GET probe', false, [], $acl('-@all', '+config', '+acl'), $all],
            'NOAUTH: it wants a password' => ['GET probe', false, [], $newOnly($set('requirepass', 'secret')), $set('requirepass', '')],
            'ERR: it has too many clients' => ['GET probe', false, [], $newOnly($set('maxclients', '1')), $set('maxclients', '1000')],
            'WRONGTYPE: all names are of another type' => ['GET plain:kept', false, [], static function (\Redis $redis): void {
                foreach (self::NAMES as $name) {
                    $redis->del($name);
                    $redis->rPush($name, 'x');
                }
            }, static fn(\Redis $redis): mixed => $redis->del(self::NAMES)],
            'CLUSTERDOWN: none has the slots' => ['GET probe', false, ['--cluster-enabled', 'yes'], $end('CLUSTER', 'DELSLOTSRANGE', ...$slots), $end('CLUSTER', 'ADDSLOTSRANGE', ...$slots)],
        ];
    }

    /** @return iterable<string, array{string, string}> */
    public static function errors(): iterable
    {
        foreach (array_keys(self::kinds()) as $kind) {
            foreach (['phpredis', 'predis'] as $client) {
                yield "{$kind}, {$client}" => [$kind, $client];
            }
        }
    }

    #[DataProvider('errors')]
    public function testAnErrorOfTheServerFailsNoRequest(string $kind, string $client): void
    {
        [$probe, $letsRead, $options, $begin, $end] = self::kinds()[$kind];
        $isCluster = \in_array('--cluster-enabled', $options, true);
        if ($isCluster) {
            [$port, $bus] = ServerProcess::freePorts(2);
            $server = $this->started(CacheServer::redisOnPort(['--dir', 'DIRECTORY', ...ClusterFormation::options('nodes.conf', $bus)], $port));
            ClusterFormation::form([['socket' => $server->socket, 'port' => $port, 'bus' => $bus]]);
            $far = "redis+cluster://127.0.0.1:{$port}?shards=2&";
        } else {
            $server = $this->started(CacheServer::redis($options));
            $far = "redis+unix:{$server->socket}?";
        }
        $far .= 'client=' . $client . '&' . self::OPTIONS;
        $this->pool = 'test-' . bin2hex(random_bytes(4));
        $ways = ['plain' => $far, 'near-tags' => "{$far}&tags=near", 'array' => "array: > {$far}", 'shm' => "shm:{$this->pool}?size=8M > {$far}"];
        $redis = new \Redis();
        $redis->connect($server->socket);
        $caches = [];
        foreach ($ways as $way => $dsn) {
            $caches[$way] = $cache = Cache::open("{$dsn}&prefix={$way}", logger: new MemoryLogger());
            self::assertTrue($cache->setMany(['kept' => 'old', 'overwritten' => 'old', 'deleted' => 'old'], 1_000), $way);
            self::assertTrue($cache->set('tagged', 'old', 1_000, ['tag']), $way);
            // So that a tier has them near.
            self::assertCount(4, $cache->getMany(['kept', 'overwritten', 'deleted', 'tagged']), $way);
        }

        // A connection, perhaps, with which a command would end.
        $lasts = $begin($redis, $server, $this);
        $code = (string) strstr($kind, ':', true);
        Wait::until("it says {$code}", static fn(): bool => str_starts_with(self::ask($server, $probe), "-{$code} "));
        foreach ($caches as $way => $cache) {
            self::assertARequestGoesOn($cache, $way, $letsRead);
        }
        self::assertStringStartsWith("-{$code} ", self::ask($server, $probe), 'It has lasted.');
        $end($redis, $server, $this);
        unset($lasts);

        Wait::until('it works as before', static fn(): bool => !str_starts_with(self::ask($server, 'GET probe'), '-'));
        foreach ($caches as $way => $cache) {
            Wait::until("{$way} works again", static function () use ($cache): bool {
                $cache->refresh();

                return $cache->set('after', 'value', 1_000) && $cache->get('after') === 'value' && !$cache->health()->isFlagged();
            }, static fn(): string => print_r($cache->health(), true));
            foreach ([$cache, Cache::open("{$far}&prefix={$way}", strict: true)] as $reader) {
                self::assertNothingIsStale($reader, $way);
                self::assertSame('value', $reader->get('after'), $way);
            }
        }
    }

    /** @return iterable<string, array{list<string>, string}> */
    public static function strangers(): iterable
    {
        foreach (['phpredis', 'predis'] as $client) {
            yield "a node of a cluster, {$client}" => [['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf', '--dir', 'DIRECTORY'], $client];
            yield "a server without scripts, {$client}" => [['--rename-command', 'EVALSHA', '', '--rename-command', 'EVAL', ''], $client];
            yield "a server without another command, {$client}" => [['--rename-command', 'SET', ''], $client];
        }
    }

    /** @param list<string> $options */
    #[DataProvider('strangers')]
    public function testAServerThatNeverLetsACacheWorkFailsNoRequest(array $options, string $client): void
    {
        $server = $this->started(CacheServer::redis($options));
        foreach (['', 'array: > '] as $near) {
            $dsn = "{$near}redis+unix:{$server->socket}?client={$client}&" . self::OPTIONS;
            $cache = Cache::open($dsn, logger: new MemoryLogger());
            self::assertARequestGoesOn($cache, $near, false);
            self::assertTrue($cache->health()->isFlagged());
            try {
                Cache::open($dsn, strict: true)->set('key', 'value');
                self::fail('It was set.');
            } catch (StoreUnavailable $failure) {
                self::assertMatchesRegularExpression('/CLUSTERDOWN|unknown (redis )?command/i', $failure->getMessage());
                self::assertSame(!str_contains($failure->getMessage(), 'CLUSTERDOWN'), str_ends_with($failure->getMessage(), self::LACKS), $failure->getMessage());
            }
        }
    }

    /** As Redis before version 5, which has no streams. */
    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAServerWithoutTheCommandsOfALogIsToldToBeOne(string $client): void
    {
        $server = $this->started(CacheServer::redis(['--rename-command', 'XADD', '', '--rename-command', 'XRANGE', '', '--rename-command', 'XREVRANGE', '']));
        $logger = new MemoryLogger();
        $cache = Cache::open("array: > redis+unix:{$server->socket}?client={$client}&" . self::OPTIONS, logger: $logger);
        self::assertTrue($cache->set('key', 'value'));
        self::assertSame('value', $cache->get('key'), 'All reads go to the far store.');
        self::assertStringContainsString(self::LACKS, print_r($logger->contexts, true));
    }

    #[TestWith(['phpredis'])]
    #[TestWith(['predis'])]
    public function testAServerThatForgetsItsScriptsEachTimeDoesAllTheSame(string $client): void
    {
        $server = $this->started(CacheServer::redis());
        $redis = new \Redis();
        $redis->connect($server->socket);
        $far = "redis+unix:{$server->socket}?client={$client}&" . self::OPTIONS;
        foreach (['plain' => $far, 'array' => "array: > {$far}"] as $way => $dsn) {
            $cache = Cache::open("{$dsn}&prefix={$way}", strict: true);
            $forget = static fn(): mixed => $redis->rawCommand('SCRIPT', 'FLUSH');
            foreach ([
                static fn(): mixed => $cache->set('key', 'value', 1_000, ['tag']),
                static fn(): mixed => $cache->get('key') === 'value',
                static fn(): mixed => $cache->setMany(array_fill_keys(range(1, 20), str_repeat('x', 5_000)), 1_000, ['tag']),
                static fn(): mixed => \count($cache->getMany(range(1, 20))) === 20,
                static fn(): mixed => $cache->increment('n') === 1,
                static fn(): mixed => $cache->invalidateTags(['tag']),
                static fn(): mixed => $cache->remember('key', static fn(): bool => true),
                static fn(): mixed => $cache->get('key'),
                static fn(): mixed => $cache->delete('key'),
                static fn(): mixed => $cache->clear(),
            ] as $i => $does) {
                $forget();
                $cache->refresh();
                self::assertTrue($does(), "{$way}, step {$i}");
            }
        }
    }

    private static function assertARequestGoesOn(Cache $cache, string $way, bool $letsRead): void
    {
        $cache->refresh();
        self::assertContains($cache->get('kept'), $letsRead ? ['old'] : ['old', null], $way);
        $answers = [
            $cache->set('overwritten', 'new', 1_000),
            $cache->delete('deleted'),
            $cache->invalidateTags(['tag']),
            $cache->setMany(['several' => 'new', 'large' => str_repeat('x', 10_000)], 1_000),
            $cache->add('added', 'new'),
            $cache->replace('kept', 'old'),
            $cache->touch('kept', 2_000),
            $cache->increment('n'),
            $cache->deleteMany(['another', 'more']),
            $cache->lock('lock', 1.0)->acquire(),
            $cache->lock('lock', 1.0)->release(),
        ];
        self::assertContainsOnly('scalar', $answers);
        self::assertSame('computed', $cache->remember('computed', static fn(): string => 'computed'), $way);
        self::assertContains($cache->pull('pulled', 'default'), ['default'], $way);
        self::assertNothingIsStale($cache, $way);
        self::assertContains($cache->namespace('part')->get('key', 'default'), ['default'], $way);
        $cache->statistics();
        $cache->refresh();
        self::assertNothingIsStale($cache, $way);
    }

    /** Of what was changed while the server said errors. */
    private static function assertNothingIsStale(Cache $cache, string $way): void
    {
        self::assertContains($cache->get('kept'), ['old', null], $way);
        self::assertContains($cache->get('overwritten'), ['new', null], $way);
        self::assertNull($cache->get('deleted'), $way);
        self::assertNull($cache->get('tagged'), $way);
        self::assertSame([], $cache->getMany(['deleted', 'tagged', 'another']), $way);
        self::assertFalse($cache->has('deleted'), $way);
        self::assertSame([], array_keys($cache->fetch(['deleted', 'tagged'])->items), $way);
    }

    /** A directory is where it would put its snapshot. */
    private static function failToSave(\Redis $redis, CacheServer $server): void
    {
        mkdir(\dirname($server->socket) . '/dump.rdb');
        $redis->config('SET', 'save', '3600 1');
        $redis->rawCommand('BGSAVE');
    }

    private static function saveAgain(\Redis $redis, CacheServer $server): void
    {
        rmdir(\dirname($server->socket) . '/dump.rdb');
        $redis->rawCommand('BGSAVE');
        Wait::until('it takes writes', static fn(): bool => !str_starts_with(self::ask($server, 'SET probe x'), '-'));
    }

    /** Loads all that it has anew, with 2 ms and a look at its clients for each of many keys. */
    private static function load(\Redis $redis, CacheServer $server): mixed
    {
        $redis->rawCommand('EVAL', 'for i = 1, 20000 do redis.call("SET", "filler" .. i, string.rep("x", 1000)) end', '0');
        $redis->config('SET', 'key-load-delay', '2000');

        return self::told($server, 'DEBUG RELOAD');
    }

    /** @return string the first line of the answer, on a connection of its own */
    private static function ask(CacheServer $server, string $command): string
    {
        return (string) fgets(self::told($server, $command));
    }

    /** @return resource a connection on which the server was told a command, whose answer is waited for by none */
    private static function told(CacheServer $server, string $command): mixed
    {
        $connection = stream_socket_client("unix://{$server->socket}", timeout: 60.0);
        self::assertIsResource($connection);
        stream_set_timeout($connection, 60);
        // A server with too many clients may have closed it already; its answer is there all the same.
        @fwrite($connection, "{$command}\r\n");

        return $connection;
    }
}
