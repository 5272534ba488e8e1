<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Store\MemcachedStore;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\RedisStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What becomes of a cache whose address leads to something that is no server of its kind, or to one that says half of what it should. */
#[CoversClass(Cache::class)]
#[CoversClass(RedisStore::class)]
#[CoversClass(PhpRedisConnection::class)]
#[CoversClass(PredisConnection::class)]
#[CoversClass(MemcachedStore::class)]
final class StrangerTest extends TestCase
{
    /** @return iterable<string, array{string, string}> */
    public static function strangers(): iterable
    {
        foreach ([
            "HTTP/1.1 400 Bad Request\r\n\r\n", '', "\0\0\0\0", "VALUE x 0 5\r\nab", "*2\r\n$-1\r\n:5\r\n", "$5\r\nab", "-ERR no\r\n", "END\r\n",
            // What has the right form, and makes no sense.
            "+OK\r\n", ":1\r\n", "*0\r\n", "*-1\r\n", "$-1\r\n", "STORED\r\n", "SERVER_ERROR no\r\n",
        ] as $i => $answer) {
            foreach ([
                'redis+unix:SOCKET?client=phpredis', 'redis+unix:SOCKET?client=predis', 'memcached+unix:SOCKET?serializer=php',
                'redis+cluster://ADDRESS?client=phpredis', 'redis+cluster://ADDRESS?client=predis', 'redis+sentinel://ADDRESS?service=shop',
            ] as $dsn) {
                yield "{$dsn}, answer {$i}" => [$dsn, $answer];
            }
        }
    }

    #[DataProvider('strangers')]
    public function testSomethingElseBehindTheAddressIsAMiss(string $dsn, string $answer): void
    {
        $scratch = new Scratch();
        $listener = stream_socket_server(str_contains($dsn, 'ADDRESS') ? 'tcp://127.0.0.1:0' : "unix://{$scratch->path}/socket");
        self::assertIsResource($listener);
        $dsn = str_replace(['SOCKET', 'ADDRESS'], ["{$scratch->path}/socket", (string) stream_socket_get_name($listener, false)], $dsn);
        $stranger = pcntl_fork();
        if ($stranger === 0) {
            while (\is_resource($visitor = @stream_socket_accept($listener, 60))) {
                fread($visitor, 1_000);
                @fwrite($visitor, $answer);
                fclose($visitor);
            }
            posix_kill((int) getmypid(), \SIGKILL);
        }
        try {
            $timeouts = str_contains($dsn, 'memcached') ? '&timeout=0.3' : '&read_timeout=0.3';
            $cache = Cache::open("{$dsn}{$timeouts}&retry_after=0");
            self::assertSame('default', $cache->get('key', 'default'));
            self::assertSame([], $cache->getMany(['a', 'b']));
            self::assertFalse($cache->set('key', 'value'));
            self::assertFalse($cache->increment('key'));
            self::assertGreaterThan(0, $cache->health()->failures);
        } finally {
            posix_kill($stranger, \SIGKILL);
            pcntl_waitpid($stranger, $status);
        }
    }

    /** @return iterable<string, array{string, string}> not of phpredis 5, which waits for the rest as long as the connection lasts */
    public static function beginnings(): iterable
    {
        foreach (["$5\r\nab", "*2\r\n", "*2\r\n$5\r\nab", "$999999999999\r\nab"] as $i => $beginning) {
            yield "Predis, beginning {$i}" => ['redis+unix:SOCKET?client=predis&read_timeout=0.1&retry_after=0', $beginning];
        }
        foreach (["VALUE x 0 5\r\nab", "VALUE x 0 999999999999\r\nab", 'VALUE'] as $i => $beginning) {
            yield "Memcached, beginning {$i}" => ['memcached+unix:SOCKET?timeout=0.1&retry_after=0', $beginning];
        }
    }

    #[DataProvider('beginnings')]
    public function testAnAnswerThatStopsInTheMiddleIsAMiss(string $dsn, string $beginning): void
    {
        $scratch = new Scratch();
        $listener = stream_socket_server("unix://{$scratch->path}/socket");
        self::assertIsResource($listener);
        $server = pcntl_fork();
        if ($server === 0) {
            $visitors = [];
            while (\is_resource($visitor = @stream_socket_accept($listener, 60))) {
                fread($visitor, 1_000);
                @fwrite($visitor, $beginning);
                // It does not hang up.
                $visitors[] = $visitor;
            }
            posix_kill((int) getmypid(), \SIGKILL);
        }
        try {
            $cache = Cache::open(str_replace('SOCKET', "{$scratch->path}/socket", $dsn));
            self::assertSame('default', $cache->get('key', 'default'));
            self::assertFalse($cache->set('key', 'value'));
            self::assertSame('computed', $cache->remember('key', static fn(): string => 'computed'));
            self::assertFalse($cache->health()->available);
        } finally {
            posix_kill($server, \SIGKILL);
            pcntl_waitpid($server, $status);
        }
    }

    /** @return iterable<string, array{string, string}> how an answer begins, and how it goes on when no process should wait for it any more */
    public static function halves(): iterable
    {
        foreach (["$5\r\nab" => '', "$" => '', "*2\r\n$5\r\nab" => '', "$7\r\nab" => "cdefg\r\n"] as $beginning => $rest) {
            yield addcslashes("{$beginning} and {$rest}", "\r\n") => [$beginning, $rest];
        }
    }

    /** Phpredis 5 is held as long as that, whatever its options are (see docs/operate.md). */
    #[DataProvider('halves')]
    public function testAServerThatStopsInTheMiddleOfAnAnswerHoldsPhpredisNoLongerThanItsConnectionLasts(string $beginning, string $rest): void
    {
        $scratch = new Scratch();
        $listener = stream_socket_server("unix://{$scratch->path}/socket");
        self::assertIsResource($listener);
        $server = pcntl_fork();
        if ($server === 0) {
            while (\is_resource($visitor = @stream_socket_accept($listener, 60))) {
                fread($visitor, 1_000);
                @fwrite($visitor, $beginning);
                // Longer than it is waited for.
                usleep(120_000);
                @fwrite($visitor, $rest);
                usleep(50_000);
                fclose($visitor);
            }
            posix_kill((int) getmypid(), \SIGKILL);
        }
        try {
            $cache = Cache::open("redis+unix:{$scratch->path}/socket?client=phpredis&read_timeout=0.05&retry_after=0");
            self::assertSame('default', $cache->get('key', 'default'));
            self::assertFalse($cache->set('key', 'value'));
            self::assertFalse($cache->health()->available);
        } finally {
            posix_kill($server, \SIGKILL);
            pcntl_waitpid($server, $status);
        }
    }
}
