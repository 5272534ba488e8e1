<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Cache;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;
use Larder\Store\Redis\Connection;
use Larder\Store\Redis\ErrorReply;
use Larder\Store\Redis\Parallel;
use Larder\Store\Redis\PhpRedisConnection;
use Larder\Store\Redis\PredisConnection;
use Larder\Store\Redis\Refused;
use Larder\Store\Redis\SentinelConnection;
use Larder\Store\Redis\Server;
use Larder\Store\Redis\Tls;
use Larder\Store\RedisStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** A connection that is interrupted, let in by some users only, or led to another server than before. */
#[CoversClass(PhpRedisConnection::class)]
#[CoversClass(PredisConnection::class)]
#[CoversClass(SentinelConnection::class)]
#[CoversClass(Server::class)]
#[CoversClass(CircuitBreaker::class)]
final class RedisConnectionTest extends OwnServers
{
    /** @return iterable<string, array{\Closure(Server): Connection}> */
    public static function clients(): iterable
    {
        yield 'phpredis' => [static fn(Server $server): Connection => new PhpRedisConnection($server)];
        yield 'Predis' => [static fn(Server $server): Connection => new PredisConnection($server)];
    }

    /**
     * No part of the timeout is the part of one reply.
     *
     * @param \Closure(Server): Connection $connect
     */
    #[DataProvider('clients')]
    public function testABatchSurvivesAServerThatStallsForLessThanTheTimeout(\Closure $connect): void
    {
        $server = $this->started(CacheServer::redis());
        // A hundredth of it is less than the stall, and all of it is more than any busy machine adds.
        $connection = $connect(new Server(socket: $server->socket, timeout: 60.0, readTimeout: 60.0));
        $connection->send(self::echoes());
        $server->signal(\SIGSTOP);
        $child = pcntl_fork();
        if ($child === 0) {
            usleep(1_500_000);
            $server->signal(\SIGCONT);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        try {
            self::assertSame(array_map(strval(...), range(1, 100)), $connection->send(self::echoes()));
        } finally {
            pcntl_waitpid($child, $status);
        }
    }

    /**
     * Each reply takes longer than its part of the timeout, as the server answers a batch when it has done all of it.
     *
     * @param \Closure(Server): Connection $connect
     */
    #[DataProvider('clients')]
    public function testABatchOfSlowCommandsHasTheWholeTimeout(\Closure $connect): void
    {
        $server = $this->started(CacheServer::redis());
        $connection = $connect(new Server(socket: $server->socket, timeout: 60.0, readTimeout: 30.0));
        // Several milliseconds. There is no clock that every server lets a script see moving.
        $script = 'for i = 1, 1500000 do end return ARGV[1]';
        $connection->send(self::echoes());

        self::assertSame(
            array_map(strval(...), range(1, 100)),
            $connection->send(array_map(static fn(int $number): array => ['EVAL', $script, '0', (string) $number], range(1, 100))),
        );
    }

    /**
     * A busy machine only adds to what a try takes. So one try that takes less than two timeouts proves it, and tries that wait for
     * each reply never come to that.
     *
     * @param \Closure(Server): Connection $connect
     */
    #[DataProvider('clients')]
    public function testABatchWaitsForAStoppedServerOnce(\Closure $connect): void
    {
        $server = $this->started(CacheServer::redis());
        $fastest = \INF;
        for ($try = 0; $try < 10 && $fastest >= 2.0; $try++) {
            $connection = $connect(new Server(socket: $server->socket, timeout: 1.0, readTimeout: 1.0, retryAfter: 0.0));
            $connection->send(self::echoes());
            $server->signal(\SIGSTOP);
            $began = hrtime(true);
            try {
                $connection->send(self::echoes());
                self::fail('It answered.');
            } catch (StoreUnavailable) {
                $fastest = min($fastest, (hrtime(true) - $began) / 1e9);
            } finally {
                $server->signal(\SIGCONT);
            }
        }
        self::assertGreaterThan(0.9, $fastest);
        self::assertLessThan(2.0, $fastest);
    }

    /** @return non-empty-list<array{string, string}> */
    private static function echoes(): array
    {
        return array_map(static fn(int $number): array => ['ECHO', (string) $number], range(1, 100));
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testAUserThatIsNotLetInKeepsNoOtherFromTheServer(\Closure $connect): void
    {
        $socket = $this->serverWithAUser()->socket;
        $with = static fn(?string $password, int $database = 0): Connection => $connect(
            new Server(socket: $socket, user: $password === null ? null : 'shop', password: $password, database: $database, timeout: 10.0, readTimeout: 10.0, retryAfter: 1_000.0),
        );
        foreach ([['guessed', 0], ['right', 99]] as [$password, $database]) {
            $wrong = $with($password, $database);
            foreach (['/WRONGPASS|DB index/', '/(WRONGPASS|DB index).* \(a moment ago\)/'] as $why) {
                try {
                    $wrong->send([['GET', 'key']]);
                    self::fail('It was let in.');
                } catch (StoreUnavailable $failure) {
                    self::assertMatchesRegularExpression($why, $failure->getMessage(), 'It asks once.');
                }
            }
            self::assertSame(['let in'], $with('right')->send([['ECHO', 'let in']]));
            self::assertSame(['let in'], $with(null)->send([['ECHO', 'let in']]));
            try {
                $with($password, $database)->send([['ECHO', 'let in']]);
                self::fail('It was let in.');
            } catch (Refused $failure) {
                self::assertStringNotContainsString('guessed', $failure->getMessage());
            }
        }
    }

    /**
     * The system accepts connections for a server that stands still.
     *
     * @param \Closure(Server): Connection $connect
     */
    #[DataProvider('clients')]
    public function testOthersGoOnWhenAServerHasAnsweredAndNotWhenItWasConnectedTo(\Closure $connect): void
    {
        $scratch = new Scratch();
        $server = new Server(socket: "{$scratch->path}/socket", timeout: 60.0, readTimeout: 60.0, retryAfter: 0.01);
        $isLetAsk = static function () use ($connect, $server): bool {
            try {
                $connect($server)->send([['PING']]);

                return true;
            } catch (StoreUnavailable) {
                return false;
            }
        };
        self::assertFalse($isLetAsk(), 'Nothing listens there.');
        $listener = stream_socket_server("unix://{$server->socket}");
        self::assertIsResource($listener);
        usleep(20_000);
        $child = pcntl_fork();
        if ($child === 0) {
            $isLetAsk();
            posix_kill((int) getmypid(), \SIGKILL);
        }
        try {
            $visitor = stream_socket_accept($listener, 60.0);
            self::assertIsResource($visitor);
            self::assertFalse($isLetAsk());
            $none = [$listener];
            $nothing = null;
            self::assertSame(0, stream_select($none, $nothing, $nothing, 0), 'It was asked although it had not answered.');
            $answering = stream_socket_client("unix://{$this->started(CacheServer::redis())->socket}");
            self::assertIsResource($answering);
            while (pcntl_waitpid($child, $status, \WNOHANG) === 0) {
                $read = [$visitor, $answering];
                stream_select($read, $nothing, $nothing, 0, 10_000);
                foreach ($read as $from) {
                    fwrite($from === $visitor ? $answering : $visitor, (string) fread($from, 8_192));
                }
            }
        } finally {
            if (pcntl_waitpid($child, $status, \WNOHANG) === 0) {
                posix_kill($child, \SIGKILL);
                pcntl_waitpid($child, $status);
            }
        }
        self::assertTrue($server->breaker()->allows());
    }

    /**
     * Also where the first word to it is no login.
     *
     * @param \Closure(Server): Connection $connect
     */
    #[DataProvider('clients')]
    public function testAnErrorIsAnAnswer(\Closure $connect): void
    {
        $server = CacheServer::redis(['--user', 'default', 'on', 'nopass', '~*', '-@all']);
        $known = new Server(socket: $server->socket, timeout: 60.0, readTimeout: 60.0, retryAfter: 0.01);
        foreach ([false, true] as $isThere) {
            try {
                [$reply] = $connect($known)->send([['PING']]);
                $said = $reply instanceof ErrorReply ? $reply->message : 'It was let in.';
            } catch (StoreUnavailable $failure) {
                $said = $failure->getMessage();
            }
            self::assertSame($isThere, str_contains($said, 'NOPERM'), $said);
            $isThere || $this->started($server);
            usleep(20_000);
        }
        self::assertTrue($known->breaker()->allows());
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testAServerThatHangsUpInsteadOfAnsweringIsTriedAgainAMomentLater(\Closure $connect): void
    {
        $scratch = new Scratch();
        $listener = stream_socket_server("unix://{$scratch->path}/socket");
        self::assertIsResource($listener);
        $server = new Server(socket: "{$scratch->path}/socket", timeout: 60.0, readTimeout: 60.0, retryAfter: 1_000.0);
        $child = pcntl_fork();
        if ($child === 0) {
            fclose(stream_socket_accept($listener, 60.0) ?: $listener);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        try {
            $connect($server)->send([['PING']]);
            self::fail('It answered.');
        } catch (StoreUnavailable) {
            pcntl_waitpid($child, $status);
        }
        usleep(60_000);
        self::assertTrue($server->breaker()->allows());
        self::assertFalse($server->breaker()->allows(), 'One tries.');
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testAConnectionThatBreaksIsNoServerThatIsSlowAlsoWhereNoneIsTooSlow(\Closure $connect): void
    {
        $server = $this->started(CacheServer::redis());
        $connection = $connect(new Server(socket: $server->socket, timeout: 60.0, readTimeout: 0.0, retryAfter: 1_000.0));
        self::assertSame(['first'], $connection->send([['ECHO', 'first']]));
        $server->kill();
        $server->start();
        try {
            $connection->send([['ECHO', 'lost']]);
            self::fail('The connection did not break.');
        } catch (StoreUnavailable) {
            self::assertSame(['again'], $connection->send([['ECHO', 'again']]));
        }
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testAUserThatTheMasterDoesNotLetInKeepsNoOtherFromItsSentinels(\Closure $connect): void
    {
        $master = $this->serverWithAUser();
        $sentinel = $this->started(CacheServer::sentinel($master->port, 1));
        $with = static fn(string $password): Connection => new SentinelConnection(
            [new Server(port: 1, retryAfter: 0.0), new Server(port: $sentinel->port, timeout: 10.0, readTimeout: 10.0, retryAfter: 0.0)],
            'shop',
            new Server(user: 'shop', password: $password, timeout: 10.0, readTimeout: 10.0, retryAfter: 1_000.0),
            $connect,
        );
        $wrong = $with('guessed');
        foreach (['/WRONGPASS/', '/WRONGPASS.* \(a moment ago\)/'] as $why) {
            try {
                $wrong->send([['GET', 'key']]);
                self::fail('It was let in.');
            } catch (StoreUnavailable $failure) {
                self::assertMatchesRegularExpression($why, $failure->getMessage());
            }
        }
        self::assertSame(['let in'], $with('right')->send([['ECHO', 'let in']]));
    }

    /** Whether a server answers depends on who asks, too. */
    public function testAClientThatDoesNotTrustAServerOrWaitForItKeepsNoOtherFromIt(): void
    {
        $circuit = static fn(Server $server): string => $server->circuit();
        $usual = $circuit(new Server());
        self::assertSame($usual, $circuit(new Server(user: 'shop', password: 'hunter2', database: 3, retryAfter: 5.0)));
        self::assertStringNotContainsString('hunter2', $circuit(new Server(password: 'hunter2')));
        foreach ([new Server(port: 1), new Server(tls: new Tls()), new Server(timeout: 0.1), new Server(readTimeout: 0.1)] as $other) {
            self::assertNotSame($usual, $circuit($other));
        }
    }

    /** @return iterable<string, array{\Closure(Server): Connection, string}> */
    public static function demotions(): iterable
    {
        foreach (self::clients() as $client => [$connect]) {
            yield "{$client}: it may be read" => [$connect, 'yes'];
            yield "{$client}: it may not even be read" => [$connect, 'no'];
        }
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('demotions')]
    public function testAMasterThatHasBecomeAReplicaIsLeftForTheServerThatHasItsAddressNow(\Closure $connect, string $servesStale): void
    {
        [$old, $new] = [$this->started(CacheServer::redis()), $this->started(CacheServer::redis())];
        $scratch = new Scratch();
        symlink($old->socket, "{$scratch->path}/master");
        $cache = new Cache(new RedisStore($connect(new Server(socket: "{$scratch->path}/master", timeout: 10.0, readTimeout: 10.0, retryAfter: 0.0)), timeout: 10.0));
        self::assertTrue($cache->set('key', 'old'));
        self::assertSame('old', $cache->get('key'));
        $redis = self::redis($old);
        $redis->config('SET', 'replica-serve-stale-data', $servesStale);
        // Of a master that cannot be reached, so that it has nothing to load meanwhile.
        $redis->rawCommand('REPLICAOF', '127.0.0.1', '1');
        unlink("{$scratch->path}/master");
        symlink($new->socket, "{$scratch->path}/master");
        self::assertFalse($cache->set('key', 'lost'));
        self::assertTrue($cache->set('key', 'new'));
        self::assertFalse($cache->health()->isFlagged());
        self::assertSame('new', $cache->get('key'));
        self::assertSame(1, self::redis($new)->exists('larder:key'));
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testWhatIsThrownInTheMiddleOfARoundTripShiftsNoReplies(\Closure $connect): void
    {
        $connection = $this->withValues($connect);
        for ($round = 0; $round < 3; $round++) {
            foreach ([[['GET', 'a']], [['GET', 'a'], ['GET', 'b'], ['GET', 'c']]] as $commands) {
                self::assertSame(['d'], $connection->send([['GET', 'd']]));
                self::assertTrue(Interruptions::thrownInto($this->servers[0], static fn(): mixed => $connection->send($commands)));
                self::assertSame(['c'], $connection->send([['GET', 'c']]));
                self::assertSame(['d', 'c'], $connection->send([['GET', 'd'], ['GET', 'c']]));
            }
        }
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testWhatASignalsHandlerAsksInTheMiddleOfARoundTripIsAnsweredAndSoIsTheOther(\Closure $connect): void
    {
        $connection = $this->withValues($connect);
        $wrong = $served = [];
        Interruptions::served(static function () use ($connection, &$wrong, &$served): void {
            $reply = $connection->send([['GET', 'c'], ['GET', 'd']]);
            $reply === ['c', 'd'] ? $served[] = true : $wrong[] = $reply;
        }, static function () use ($connection, &$wrong): void {
            $replies = $connection->send([['GET', 'a'], ['GET', 'b'], ['GET', 'c']]);
            if ($replies !== [str_repeat('a', 20_000), str_repeat('b', 20_000), 'c']) {
                $wrong[] = $replies;
            }
        });
        self::assertSame([], $wrong);
        self::assertNotSame([], $served);
    }

    /** As in a cluster: what was begun at one master when another one's answer was interrupted. */
    public function testWhatWasBegunAndIsNeverReadIsReadByNoOther(): void
    {
        $connection = $this->withValues(static fn(Server $server): Connection => new PredisConnection($server));
        self::assertInstanceOf(Parallel::class, $connection);
        $first = $connection->begin([['GET', 'c']]);
        $second = $connection->begin([['GET', 'd']]);
        self::assertSame(['c'], $first());
        unset($second);
        self::assertSame([str_repeat('a', 20_000)], $connection->send([['GET', 'a']]));
    }

    /** @param \Closure(Server): Connection $connect */
    #[DataProvider('clients')]
    public function testAnErrorAmongSeveralRepliesShiftsNone(\Closure $connect): void
    {
        $connection = $this->withValues($connect);
        $redis = self::redis($this->servers[0]);
        foreach (['NOSCRIPT' => ['EVALSHA', str_repeat('0', 40), '0'], 'NOPERM' => ['FLUSHALL'], 'ERR' => ['NONSENSE']] as $code => $mistake) {
            $redis->rawCommand('ACL', 'SETUSER', 'default', '-flushall');
            $replies = $connection->send([['GET', 'c'], $mistake, ['GET', 'd']]);
            self::assertInstanceOf(ErrorReply::class, $replies[1]);
            self::assertStringStartsWith($code, $replies[1]->message);
            self::assertSame(['d'], $connection->send([['GET', 'd']]));
            self::assertSame(['c', 'd'], $connection->send([['GET', 'c'], ['GET', 'd']]));
        }
    }

    public function testPredisRefusesToKeepAConnection(): void
    {
        $this->expectException(InvalidOption::class);
        $this->expectExceptionMessage('The option "persistent" is not supported by the client "predis"');
        new PredisConnection(new Server(persistent: true));
    }

    public function testPhpRedisRefusesToKeepAConnectionThatHasSeveralUsersAtATimeOrIsNotChecked(): void
    {
        foreach (['redis.pconnect.pooling_enabled', 'redis.pconnect.echo_check_liveness'] as $setting) {
            $before = (string) ini_get($setting);
            ini_set($setting, '0');
            try {
                new PhpRedisConnection(new Server(persistent: true));
                self::fail("It does not mind {$setting}.");
            } catch (InvalidOption $mistake) {
                self::assertStringContainsString($setting, $mistake->getMessage());
            } finally {
                ini_set($setting, $before);
            }
        }
        self::assertInstanceOf(PhpRedisConnection::class, new PhpRedisConnection(new Server(persistent: true)));
    }

    /** @param \Closure(Server): Connection $connect */
    private function withValues(\Closure $connect): Connection
    {
        $server = $this->started(CacheServer::redis());
        self::redis($server)->mSet(['a' => str_repeat('a', 20_000), 'b' => str_repeat('b', 20_000), 'c' => 'c', 'd' => 'd']);

        return $connect(new Server(socket: $server->socket, timeout: 10.0, readTimeout: 10.0, retryAfter: 0.0));
    }

    private function serverWithAUser(): CacheServer
    {
        $server = $this->started(CacheServer::redisOnPort());
        self::redis($server)->rawCommand('ACL', 'SETUSER', 'shop', 'on', '>right', '~*', '+@all');

        return $server;
    }

    private static function redis(CacheServer $server): \Redis
    {
        $redis = new \Redis();
        $redis->connect($server->socket);

        return $redis;
    }
}
