<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Server\FastCgi;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Cache;
use Larder\Store\Memcached\Server as MemcachedServer;
use Larder\Store\Redis\PhpRedisConnection;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** A connection that a request leaves to the next one, in a worker of php-fpm; there is only one. */
#[CoversClass(PhpRedisConnection::class)]
#[CoversClass(MemcachedServer::class)]
final class PersistentConnectionTest extends TestCase
{
    private ?CacheServer $server = null;

    private ?PhpFpmServer $worker = null;

    protected function tearDown(): void
    {
        $this->worker?->stop();
        $this->server?->stop();
        $this->worker = $this->server = null;
    }

    public function testTheDatabaseThatARequestHasUsedIsNotTheNextOnes(): void
    {
        $this->server = $server = CacheServer::redis()->start();
        $dsn = static fn(int $database): string => "redis+unix:{$server->socket}?client=phpredis&database={$database}&persistent=yes&timeout=10&read_timeout=10";
        self::assertTrue(Cache::open($dsn(3))->set('key', 'of three'));
        self::assertTrue(Cache::open($dsn(0))->set('key', 'of zero'));
        $redis = new \Redis();
        $redis->connect($server->socket);
        $connections = static fn(): mixed => $redis->info('stats')['total_connections_received'];
        self::assertSame('of zero', $this->page($dsn(0)));
        $before = $connections();
        foreach ([3 => 'of three', 0 => 'of zero', 5 => 'nothing'] as $database => $value) {
            self::assertSame($value, $this->page($dsn($database)));
            self::assertSame('of zero', $this->page($dsn(0)));
        }
        self::assertSame($before, $connections(), 'They all had the same one.');
    }

    /** @return iterable<string, array{string}> */
    public static function dsns(): iterable
    {
        yield 'phpredis' => ['redis+unix:SOCKET?client=phpredis&persistent=yes&timeout=10&read_timeout=10'];
        yield 'Memcached' => ['memcached+unix:SOCKET?persistent=yes&timeout=10'];
    }

    #[DataProvider('dsns')]
    public function testARequestThatDiesInTheMiddleOfAnAnswerLeavesNothingToTheNextOne(string $dsn): void
    {
        $this->server = (str_starts_with($dsn, 'memcached') ? CacheServer::memcached(['-I', '4m']) : CacheServer::redis())->start();
        $dsn = str_replace('SOCKET', $this->server->socket, $dsn);
        $cache = Cache::open($dsn, strict: true);
        self::assertTrue($cache->set('large', random_bytes(12_000_000)));
        for ($i = 0; $i < 3; $i++) {
            self::assertTrue($cache->set("key {$i}", "value {$i}"));
        }
        for ($i = 0; $i < 3; $i++) {
            // A PHP that is hardened may end the worker, and so says nothing.
            self::assertMatchesRegularExpression('/^$|Allowed memory size/', $this->page($dsn, 'large', '10M'));
            self::assertSame("value {$i}", $this->page($dsn, "key {$i}"));
        }
    }

    #[DataProvider('dsns')]
    public function testAServerThatWasStartedAgainBetweenTwoRequestsFailsNone(string $dsn): void
    {
        $this->server = (str_starts_with($dsn, 'memcached') ? CacheServer::memcached() : CacheServer::redis())->start();
        $dsn = str_replace('SOCKET', $this->server->socket, $dsn) . '&retry_after=1000';
        self::assertTrue(Cache::open($dsn, strict: true)->set('key', 'value'));
        self::assertSame('value', $this->page($dsn));
        $this->server->kill();
        $this->server->start();
        self::assertSame('nothing', $this->page($dsn));
        self::assertTrue(Cache::open($dsn, strict: true)->set('key', 'value'), 'No process was kept from it.');
        self::assertSame('value', $this->page($dsn));
    }

    private function page(string $dsn, string $key = 'key', string $limit = '256M'): string
    {
        $this->worker ??= PhpFpmServer::start(['display_errors' => 1, 'opcache.file_update_protection' => 0], 1);

        return (string) (new FastCgi($this->worker->socket))->get(__DIR__ . '/Persistent/page.php', ['dsn' => $dsn, 'key' => $key, 'limit' => $limit]);
    }
}
