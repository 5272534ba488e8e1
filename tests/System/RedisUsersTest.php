<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Store\Redis\ClusterConnection;
use Larder\Store\Redis\Connections;
use Larder\Store\Redis\SentinelConnection;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Tls;
use Larder\Stores;
use Larder\Tests\CommandLine;
use Larder\Tests\MemoryLogger;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** Redis or Valkey with users that may do no more than docs/operate.md says, wherever it is: also in a cluster and behind sentinels, with TLS. */
#[CoversClass(ClusterConnection::class)]
#[CoversClass(SentinelConnection::class)]
#[CoversClass(Connections::class)]
#[CoversClass(Server::class)]
#[CoversClass(Tls::class)]
final class RedisUsersTest extends OwnServers
{
    private static ?Certificates $certificates = null;

    private static ?RedisCluster $cluster = null;

    public static function tearDownAfterClass(): void
    {
        self::$cluster?->stop();
        self::$cluster = self::$certificates = null;
    }

    /** @return iterable<string, array{string}> */
    public static function clients(): iterable
    {
        yield 'phpredis' => ['client=phpredis&timeout=10&read_timeout=10&retry_after=0'];
        yield 'Predis' => ['client=predis&timeout=10&read_timeout=10&retry_after=0'];
    }

    #[DataProvider('clients')]
    public function testSuchAUserCanDoEverythingOnOneServer(string $options): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        self::restrict($server, self::rules('shop'));
        $dsn = "redis://shop:hunter2@127.0.0.1:{$server->port}?{$options}";
        self::assertEverythingWorks($dsn);
        self::assertEverythingWorks(str_replace('redis://', 'valkey://', $dsn));
        self::assertEverythingWorks(str_replace(['redis://', '127.0.0.1'], ['valkey://', 'localhost'], $dsn));
        self::assertNobodyIsLetInBy(str_replace('hunter2', 'hunter3', $dsn), 'hunter3');
    }

    #[DataProvider('clients')]
    public function testSuchAUserCanDoEverythingOnASocket(string $options): void
    {
        $server = $this->started(CacheServer::redis());
        self::restrict($server, self::rules('shop'));
        $dsn = "redis+unix://shop:hunter2@{$server->socket}?{$options}";
        self::assertEverythingWorks($dsn);
        self::assertEverythingWorks(str_replace('redis+', 'valkey+', $dsn));
        self::assertNobodyIsLetInBy(str_replace('hunter2', 'hunter3', $dsn), 'hunter3');
        self::assertNobodyIsLetInBy(str_replace('shop:hunter2@', '', $dsn), 'hunter2');
    }

    /** The default user may be allowed everything. */
    #[DataProvider('clients')]
    public function testAUserWithoutAPasswordIsNotTakenForTheDefaultUser(string $options): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        $redis = new \Redis();
        $redis->connect($server->socket);
        self::assertTrue($redis->rawCommand('ACL', 'SETUSER', 'reader', 'on', 'nopass', '~*', '+@all', '-@write'));
        foreach (['reader', 'reader:', 'nobody', 'hunter2'] as $user) {
            self::assertNobodyIsLetInBy("redis://{$user}@127.0.0.1:{$server->port}?{$options}", 'hunter2');
        }
        self::assertTrue($redis->rawCommand('ACL', 'SETUSER', 'reader', '+@all'));
        self::assertTrue(Cache::open("redis://reader@127.0.0.1:{$server->port}?{$options}", strict: true)->set('key', 'value'));
    }

    #[DataProvider('clients')]
    public function testSuchAUserCanDoEverythingInAClusterWithTls(string $options): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $isNew = self::$cluster === null;
        $cluster = self::$cluster ??= new RedisCluster($certificates);
        foreach ($isNew ? $cluster->nodes : [] as $node) {
            self::restrict($node, [...self::rules('shop'), self::ruleInACluster()]);
        }
        $options .= "&tls_ca={$certificates->path}/ca.crt";
        $dsn = 'rediss+cluster://shop:hunter2@' . $cluster->hosts(1) . "?{$options}";
        self::assertEverythingWorks($dsn);
        self::assertNobodyIsLetInBy(str_replace('hunter2', 'hunter3', $dsn), 'hunter3');
        self::assertNobodyIsLetInBy(str_replace('shop:hunter2@', '', $dsn), 'hunter2');
        self::assertNobodyIsLetInBy(str_replace('rediss+', 'redis+', (string) strstr($dsn, '&tls_ca', true)), 'hunter2');
    }

    #[DataProvider('clients')]
    public function testSuchAUserCanDoEverythingBehindSentinelsWithTlsThatWantAUserThemselves(string $options): void
    {
        $certificates = self::$certificates ??= new Certificates();
        $master = $this->started(CacheServer::redisWithTls($certificates, ['--tls-auth-clients', 'no']));
        self::restrict($master, ['sentinel', 'on', '>watching', '~*', '&*', '+@all'], self::rules('shop'));
        $sentinel = $this->started(CacheServer::sentinel($master->port, 1, $certificates, [
            'user ' . implode(' ', self::rules('asking')), 'user default off', 'sentinel auth-user shop sentinel', 'sentinel auth-pass shop watching',
        ]));
        $options .= "&service=shop&tls_ca={$certificates->path}/ca.crt";
        $dsn = "rediss+sentinel://shop:hunter2@127.0.0.1:{$sentinel->port}/0?sentinel_user=asking&sentinel_password=hunter4&{$options}";
        self::assertEverythingWorks($dsn);
        foreach (['hunter2', 'hunter4'] as $password) {
            self::assertNobodyIsLetInBy(str_replace($password, 'hunter3', $dsn), 'hunter3');
        }
        self::assertNobodyIsLetInBy(str_replace(['sentinel_user=asking&', 'sentinel_password=hunter4&'], '', $dsn), 'hunter');
        self::assertNobodyIsLetInBy(str_replace('shop:hunter2@', '', $dsn), 'hunter4');
        self::assertNobodyIsLetInBy(str_replace('rediss+', 'redis+', (string) strstr($dsn, '&tls_ca', true)), 'hunter2');
    }

    #[DataProvider('clients')]
    public function testDoctorSaysWhichRightsToTheLogAUserLacks(string $options): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        $redis = new \Redis();
        $redis->connect($server->socket);
        $limited = "array: > redis://limited:secret@127.0.0.1:{$server->port}?prefix=test&{$options}";
        $all = Stores::open("array: > redis://127.0.0.1:{$server->port}?prefix=test&{$options}");
        foreach (['xadd', 'xrange', 'xrevrange'] as $command) {
            foreach ([false, true] as $isFollowed) {
                $redis->flushAll();
                $redis->rawCommand('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '~*', '+@all', "-{$command}");
                $all->save([new Item('key', 'value')]);
                $isFollowed && $all->fetch(['key']);
                $length = $redis->xLen('test!log');
                [$severity, $says, $change] = self::finding($limited);
                self::assertSame('problem', $severity, $command);
                self::assertSame('The log that near stores follow is unavailable: the user of Redis may not run XADD, XRANGE and XREVRANGE on it.', $says, $command);
                self::assertSame('ACL SETUSER USER +xadd +xrange +xrevrange +xtrim', $change);
                self::assertGreaterThanOrEqual($length, $redis->xLen('test!log'), 'A log that others follow is still there.');
                $redis->rawCommand(...explode(' ', str_replace(' USER ', ' limited ', $change)));
                [$severity] = self::finding($limited);
                self::assertNotSame('problem', $severity, $command);
            }
        }
    }

    #[DataProvider('clients')]
    public function testWhatElseAUserMayNotDoIsToldWithTheRightsThatACacheNeeds(string $options): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        $redis = new \Redis();
        $redis->connect($server->socket);
        $limited = "array: > redis://limited:secret@127.0.0.1:{$server->port}?prefix=test&{$options}";
        foreach (['-time', '-evalsha', 'resetkeys'] as $lack) {
            $redis->rawCommand('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '~*', '+@all', $lack);
            [$severity, $says, $change] = self::finding($limited);
            self::assertSame('problem', $severity, $lack);
            self::assertIsString($says);
            self::assertStringContainsString(': its user may not do all that a cache does, as it said "', $says, $lack);
            self::assertSame('ACL SETUSER USER +@read +@write +@scripting +@connection +time +info, with the keys ~PREFIX:* and ~PREFIX!*', $change, $lack);
            $redis->rawCommand('ACL', 'SETUSER', 'limited', 'resetkeys', '~test:*', '~test!*', '+@read', '+@write', '+@scripting', '+@connection', '+time', '+info');
            self::assertNotSame('problem', self::finding($limited)[0]);
        }
    }

    #[DataProvider('clients')]
    public function testALogThatAUserMayNotReadIsToldByTheCache(string $options): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        $redis = new \Redis();
        $redis->connect($server->socket);
        $redis->rawCommand('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '~*', '+@all', '-xrange');
        $all = Cache::open("redis://127.0.0.1:{$server->port}?prefix=test&{$options}");
        $cache = Cache::open("array: > redis://limited:secret@127.0.0.1:{$server->port}?prefix=test&{$options}", logger: $logger = new MemoryLogger());
        foreach (['first', 'second', 'third'] as $value) {
            $all->set('key', $value);
            $cache->refresh();
            self::assertSame($value, $cache->get('key'));
        }
        self::assertSame(['warning: The log of a near store cannot be read, so all reads go to the far store; run "larder doctor" with the tier\'s DSN.'], $logger->lines);
        $failure = $logger->contexts[0]['exception'] ?? null;
        self::assertInstanceOf(StoreUnavailable::class, $failure);
        self::assertStringContainsString('XRANGE', $failure->getMessage());
    }

    /** @return array{mixed, mixed, mixed} what doctor says of it first: how bad that is, what is the matter, what to change */
    private static function finding(string $dsn): array
    {
        [, $answer] = CommandLine::onAMachineInOrder()->json('doctor', ['dsn' => [$dsn]]);
        foreach (\is_array($answer['findings']) ? $answer['findings'] : [] as $finding) {
            if (\is_array($finding) && \is_string($finding['what']) && str_starts_with($finding['what'], 'array:')) {
                return [$finding['severity'], $finding['says'], $finding['change']];
            }
        }
        self::fail("Nothing is said of {$dsn}.");
    }

    #[DataProvider('clients')]
    public function testSentinelsMayWantAPasswordOnly(string $options): void
    {
        $master = $this->started(CacheServer::redisOnPort());
        $sentinel = $this->started(CacheServer::sentinel($master->port, 1, lines: ['requirepass hunter4']));
        $dsn = "redis+sentinel://127.0.0.1:{$sentinel->port}?service=shop&sentinel_password=hunter4&{$options}";
        $cache = Cache::open($dsn, strict: true);
        self::assertTrue($cache->set('key', 'value', tags: ['tag']));
        self::assertSame('value', Cache::open($dsn, strict: true)->get('key'));
        self::assertNobodyIsLetInBy(str_replace('hunter4', 'hunter3', $dsn), 'hunter3');
    }

    #[DataProvider('clients')]
    public function testASentinelThatLetsNoneInIsSaidWithTheOptionsThatAreItsOwn(string $options): void
    {
        $master = $this->started(CacheServer::redisOnPort());
        $sentinel = $this->started(CacheServer::sentinel($master->port, 1, lines: ['requirepass hunter4', 'user idle on >hunter5 +ping']));
        $dsn = "redis+sentinel://127.0.0.1:{$sentinel->port}?service=shop&{$options}";
        foreach (['' => 'NOAUTH', '&sentinel_password=hunter3' => 'WRONGPASS', '&sentinel_user=idle&sentinel_password=hunter5' => 'NOPERM'] as $login => $code) {
            self::assertMatchesRegularExpression(
                "/^The sentinel 127\\.0\\.0\\.1:{$sentinel->port} is unavailable: {$code} [^;]+; see that it runs and that the DSN's address and its options sentinel_user and sentinel_password are right\\.$/",
                self::refusal("{$dsn}{$login}"),
            );
        }
        self::assertItWantsAPassword($master, "{$dsn}&sentinel_password=hunter4");
    }

    #[DataProvider('clients')]
    public function testAServerThatWantsAPasswordSaysSo(string $options): void
    {
        $server = $this->started(CacheServer::redisOnPort());
        self::assertItWantsAPassword($server, "redis://127.0.0.1:{$server->port}?{$options}");
    }

    private static function assertItWantsAPassword(CacheServer $server, string $dsn): void
    {
        $redis = new \Redis();
        $redis->connect($server->socket);
        self::assertTrue($redis->rawCommand('CONFIG', 'SET', 'requirepass', 'hunter2'));
        self::assertMatchesRegularExpression(
            "/^The Redis server 127\\.0\\.0\\.1:{$server->port} is unavailable: NOAUTH [^;]+; see that it runs and that the DSN's address, user, password and database are right\\.$/",
            self::refusal($dsn),
        );
    }

    /** @return non-empty-list<string> the name of a user, and what it may do, as the guide has it */
    private static function rules(string $user): array
    {
        self::assertSame(1, preg_match("/^ACL SETUSER ({$user} .+)$/m", self::guide(), $match));

        return explode(' ', $match[1] ?? '');
    }

    private static function ruleInACluster(): string
    {
        self::assertSame(1, preg_match('/In a cluster it needs `([^`]+)`, too/', self::guide(), $match));

        return $match[1] ?? '';
    }

    private static function guide(): string
    {
        return (string) file_get_contents(\dirname(__DIR__, 2) . '/docs/operate.md');
    }

    /** @param non-empty-list<string> ...$users without which none is let in */
    private static function restrict(CacheServer $server, array ...$users): void
    {
        $redis = new \Redis();
        $redis->connect($server->socket);
        foreach ([...$users, ['default', 'off']] as $rules) {
            self::assertTrue($redis->rawCommand('ACL', 'SETUSER', ...$rules), (string) $redis->getLastError());
        }
    }

    private static function assertNobodyIsLetInBy(string $dsn, string $secret): void
    {
        self::assertStringNotContainsString($secret, self::refusal($dsn));
    }

    /** @return string why none is let in */
    private static function refusal(string $dsn): string
    {
        try {
            Cache::open($dsn, strict: true)->set('key', 'value');
        } catch (StoreUnavailable $failure) {
            return $failure->getMessage();
        }
        self::fail("It is let in: {$dsn}");
    }

    private static function assertEverythingWorks(string $dsn): void
    {
        $cache = Cache::open($dsn, strict: true);
        $store = $cache->store;
        self::assertTrue($cache->set('key', 'value', 100, ['tag']));
        self::assertSame('value', $cache->get('key'));
        self::assertSame('value', $cache->remember('computed', static fn(): string => 'value'));
        self::assertSame(1, $cache->increment('n'));
        self::assertTrue($cache->touch('key', 200));
        self::assertTrue($cache->invalidateTags(['tag']));
        self::assertFalse($cache->has('key'));
        $keys = array_map(static fn(int $i): string => "key {$i}", range(0, 99));
        self::assertTrue($cache->setMany(array_fill_keys($keys, str_repeat('x', 5_000)), 100, ['tag']));
        self::assertCount(100, $cache->getMany($keys));
        self::assertTrue($cache->invalidateTags(['tag']));
        self::assertSame([], $cache->getMany($keys));
        self::assertSame([], $store->save([new Item('filled', 1, 100, token: $store->fetch(['filled'])->tokens['filled'], fill: true)]));
        $lock = $cache->lock('lock');
        self::assertTrue($lock->acquire());
        self::assertTrue($lock->release());
        $found = [...$store->keys()];
        sort($found);
        self::assertSame(['computed', 'filled', 'n'], $found);
        $store->prune();
        self::assertGreaterThan(0, $store->statistics()->items);
        self::assertTrue($cache->delete('filled'));
        self::assertTrue($cache->clear());
        self::assertNull($cache->get('n'));
        // What others keep there is none of its business.
        self::assertNobodyIsLetInBy("{$dsn}&prefix=another", 'hunter2');
    }
}
