<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Store\CircuitBreaker;
use Larder\System\Process;

/** Over the extension redis. */
final class PhpRedisConnection implements Living
{
    /**
     * Commands that are sent together in any case, except by the process that tries for the others. Of more, the first goes alone if the server
     * has not answered for a while: it notices a server that has stopped, with the whole timeout to itself. More may also be sent twice (see send()).
     */
    private const AT_ONCE = 4;

    /**
     * Bytes of a value with which a few commands go one by one. A pipeline copies them once more, into memory that PHP has to get from the
     * system each time: that takes longer than another round trip.
     */
    private const HUGE = 524_288;

    /** In how many parts a batch goes that has stalled. */
    private const PARTS = 4;

    /** Seconds that a part has in any case. */
    private const LEAST = 0.001;

    /** Of the timeout, what counts as all of it. */
    private const NEARLY = 0.9;

    /** Replies that the client throws, although the connection is as good as before. */
    private const ERRORS = '/^(OOM|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|READONLY|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|BUSY|NOPERM) /';

    /**
     * It is not in use, and all that it was asked is answered. Its user takes it out of here, and puts it back when all
     * replies are read: so what an exception interrupts (a signal's handler may throw one between any two calls) is never
     * continued by another user, nor by what such a handler asks itself.
     *
     * @var ?array{\Redis, Watch}
     */
    private ?array $idle = null;

    private int $process = 0;

    /** When the server last answered, in nanoseconds (hrtime()). */
    private int $answered = 0;

    private readonly CircuitBreaker $breaker;

    /** @throws Exception */
    public function __construct(
        private readonly Server $server,
    ) {
        $this->breaker = $server->breaker();
        if (!\extension_loaded('redis')) {
            throw ExtensionMissing::of('The client "phpredis" of RedisStore', 'redis');
        }
        if ($server->persistent && !((bool) ini_get('redis.pconnect.pooling_enabled') && (bool) ini_get('redis.pconnect.echo_check_liveness'))) {
            // Without the one a connection has several users at a time, without the other the next one reads what the last has left.
            throw InvalidOption::iniSetting('The option "persistent"', 'redis.pconnect.pooling_enabled or redis.pconnect.echo_check_liveness is off', 'switch both on, or remove the option');
        }
    }

    public function life(string $name): string
    {
        return $this->idle !== null && $this->process === Process::id() ? $this->idle[1]->life : '';
    }

    public function doubt(): void
    {
        if ($this->idle !== null) {
            $this->idle[1]->doubt();
        }
    }

    public function leave(): void
    {
        if ($this->idle !== null) {
            $this->idle[1]->leave();
        }
    }

    /**
     * One timeout bounds it. The client gives each reply of a pipeline a time of its own, so each of n has an n-th of the timeout. If a
     * large batch stalls for longer than that, but not for the whole timeout, it goes once more in the time that is left. It goes in parts,
     * whose replies have more time each: a server that stalls now and then would stall a whole one again. What the first try wrote may then
     * be refused, and is a miss.
     */
    public function send(array $commands): array
    {
        $timeout = $this->server->readTimeout;
        $began = hrtime(true);
        $end = $began + $timeout * 1e9;
        $all = [];
        $size = \count($commands);
        $part = $commands;
        for ($left = $timeout; $part !== []; $part = \array_slice($commands, \count($all), $size), $left = max(self::LEAST, ($end - $began) / 1e9)) {
            [$redis, $watch] = $taken = $this->taken();
            $asks = $watch->asksWith($part, $began);
            try {
                $replies = $this->ask($redis, $asks ? [Watch::QUESTION, ...$part] : $part, $left);
                $this->breaker->answered();
                if ($asks) {
                    $answer = array_shift($replies);
                    $watch->learn($answer, $replies, $this->server);
                }
            } catch (\RedisException $failure) {
                ErrorReply::isOne($failure->getMessage()) && $this->breaker->answered();
                if (preg_match(self::ERRORS, $failure->getMessage()) === 1) {
                    array_push($all, ...$this->errors($taken, $part, $failure->getMessage()));
                    $began = hrtime(true);

                    continue;
                }
                self::close($redis);
                $share = self::NEARLY * $left * 1e9 / \count($part);
                [$before, $began] = [$began, hrtime(true)];
                if (\count($commands) > self::AT_ONCE && $began - $before >= $share && !$this->isTooLate($began, $end)) {
                    $size = max(1, intdiv(\count($part), self::PARTS));

                    continue;
                }

                throw $this->failed($failure, $began, $end);
            } catch (\Throwable $failure) {
                self::close($redis);

                throw $failure;
            }
            $this->putBack($taken, $replies);
            if ($part === $commands) {
                // So nearly always.
                return $replies !== [] ? $replies : [null];
            }
            array_push($all, ...$replies);
            $began = hrtime(true);
        }

        return $all !== [] ? $all : [null];
    }

    /**
     * As send() of one command, in fewer steps over the connection that is idle: so nearly all reads are.
     *
     * @param non-empty-list<string> $command
     *
     * @throws StoreUnavailable
     */
    public function sendOne(array $command): mixed
    {
        $began = hrtime(true);
        $taken = $this->idle;
        if ($taken === null || $this->process !== Process::id()) {
            return $this->send([$command])[0];
        }
        [$redis, $watch] = $taken;
        $asks = !$watch->hasNothingToAsk($began);
        $this->idle = null;
        if ($asks && ($this->breaker->tries() || $watch->isOver() || !$watch->asksWith([$command], $began))) {
            $this->idle = $taken;

            return $this->send([$command])[0];
        }
        try {
            [$answer, $reply] = $asks ? $this->pipelined($redis, [Watch::QUESTION, $command], $this->server->readTimeout) : ['', @$redis->rawCommand(...$command)];
            $this->answered = hrtime(true);
            $error = $reply === false || $answer === false ? $redis->getLastError() : null;
            if ($asks) {
                // Of several commands the client does not tell which one failed.
                $watch->learn($answer === false && $error !== null ? new ErrorReply($error) : $answer, [$reply === false && $error !== null ? new ErrorReply($error) : $reply], $this->server);
            }
        } catch (\RedisException $failure) {
            if (preg_match(self::ERRORS, $failure->getMessage()) === 1) {
                return $this->errors($taken, [$command], $failure->getMessage())[0];
            }
            self::close($redis);

            throw $this->failed($failure, hrtime(true), $began + $this->server->readTimeout * 1e9);
        } catch (\Throwable $failure) {
            self::close($redis);

            throw $failure;
        }
        if ($error !== null) {
            $redis->clearLastError();
            $reply = $reply === false ? new ErrorReply($error) : $reply;
            $this->putBack($taken, [$reply]);

            return $reply === true ? 'OK' : $reply;
        }
        if ($asks) {
            $this->putBack($taken, []);
        } else {
            $this->idle = $taken;
        }

        return $reply === true ? 'OK' : $reply;
    }

    private function failed(\RedisException $failure, int $now, float $end): StoreUnavailable
    {
        // If it is late, it did not break, it is slow: another question would wait again.
        $isTooLate = $this->isTooLate($now, $end);
        $this->breaker->broke($failure->getMessage(), $isTooLate);
        if ((new ErrorReply($failure->getMessage()))->is('NOAUTH')) {
            return $this->server->refused($failure->getMessage());
        }

        return $this->server->unavailable($failure->getMessage(), $failure);
    }

    private function isTooLate(int $now, float $end): bool
    {
        return $this->server->readTimeout > 0.0 && $now >= $end - (1.0 - self::NEARLY) * $this->server->readTimeout * 1e9;
    }

    /**
     * Of several commands the client does not tell which one failed. Where that matters, as they are to be sent elsewhere, they
     * are sent once more, one by one: an item that is written twice may be refused the second time, and is a miss then.
     *
     * @param array{\Redis, Watch}                   $taken
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return non-empty-list<mixed>
     *
     * @throws StoreUnavailable
     */
    private function errors(array $taken, array $commands, string $message): array
    {
        $taken[0]->clearLastError();
        $taken[1]->doubt();
        $replies = array_fill(0, \count($commands), new ErrorReply($message));
        $this->putBack($taken, $replies);
        if (\count($commands) === 1 || preg_match('/^(MOVED|ASK) /', $message) !== 1) {
            return $replies;
        }

        return array_map(fn(array $command): mixed => $this->send([$command])[0], $commands);
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     * @param float                                  $seconds  in which all is to be answered; less than the server's: it has stalled
     *
     * @return non-empty-list<mixed>
     */
    private function ask(\Redis $redis, array $commands, float $seconds): array
    {
        $timeout = $this->server->readTimeout;
        $isInTime = $seconds >= $timeout;
        $isInTime || $redis->setOption(\Redis::OPT_READ_TIMEOUT, $seconds);
        $replies = match (true) {
            !isset($commands[1]) => [@$redis->rawCommand(...$commands[0])],
            $isInTime && !$this->breaker->tries() && (\count($commands) <= self::AT_ONCE || $timeout <= 0.0 || hrtime(true) - $this->answered < $timeout * 1e9) => $this->pipelined($redis, $commands, $seconds),
            default => [@$redis->rawCommand(...$commands[0]), ...$this->pipelined($redis, \array_slice($commands, 1), $seconds)],
        };
        $isInTime || $redis->setOption(\Redis::OPT_READ_TIMEOUT, $timeout);
        $this->answered = hrtime(true);
        foreach ($replies as $i => $reply) {
            if ($reply === true) {
                $replies[$i] = 'OK';
            } elseif ($reply === false) {
                // The client answers so for "nothing" and for errors alike; only the latter leave a message.
                $error ??= $redis->getLastError();
                if ($error !== null) {
                    $replies[$i] = new ErrorReply($error);
                }
            }
        }
        if (isset($error)) {
            $redis->clearLastError();
        }

        return $replies;
    }

    /**
     * The client waits for each reply of a pipeline anew, also after one has not come. So each is given its part of the time.
     *
     * @param non-empty-list<non-empty-list<string>> $commands
     * @param float                                  $seconds  0 or less: without end
     *
     * @return non-empty-list<mixed>
     *
     * @throws \RedisException
     */
    private function pipelined(\Redis $redis, array $commands, float $seconds): array
    {
        $seconds > 0.0 && $redis->setOption(\Redis::OPT_READ_TIMEOUT, $seconds / \count($commands));
        if (\count($commands) <= self::AT_ONCE && self::areHuge($commands)) {
            $replies = array_map(static fn(array $command): mixed => @$redis->rawCommand(...$command), $commands);
        } else {
            $redis->pipeline();
            foreach ($commands as $command) {
                $redis->rawCommand(...$command);
            }
            $replies = @$redis->exec();
        }
        $seconds > 0.0 && $redis->setOption(\Redis::OPT_READ_TIMEOUT, $this->server->readTimeout);
        if (!\is_array($replies) || $replies === [] || \count($replies) !== \count($commands)) {
            throw new \RedisException('its replies are incomplete');
        }

        return array_values($replies);
    }

    /** @param non-empty-list<non-empty-list<string>> $commands */
    private static function areHuge(array $commands): bool
    {
        foreach ($commands as $command) {
            if (isset($command[2][self::HUGE])) {
                return true;
            }
        }

        return false;
    }

    /**
     * @return array{\Redis, Watch}
     *
     * @throws StoreUnavailable
     */
    private function taken(): array
    {
        $taken = $this->process === Process::id() ? $this->idle : null;
        $this->idle = null;
        if ($taken !== null && $taken[1]->isOver()) {
            self::close($taken[0]);
            $taken = null;
        }

        return $taken ?? $this->connected();
    }

    /**
     * @param array{\Redis, Watch} $taken
     * @param array<int, mixed>    $replies the last ones
     */
    private function putBack(array $taken, array $replies): void
    {
        foreach ($replies as $reply) {
            // A replica's address may lead to another one by now.
            if ($reply instanceof ErrorReply && ErrorReply::isByReplica([$reply])) {
                self::close($taken[0]);

                return;
            }
        }
        if ($taken[0]->getMode() !== \Redis::ATOMIC) {
            // What still keeps commands for later was interrupted.
            self::close($taken[0]);
        } else {
            $this->idle = $taken;
        }
    }

    /**
     * @return array{\Redis, Watch}
     *
     * @throws StoreUnavailable
     */
    private function connected(): array
    {
        $server = $this->server;
        if (!$this->breaker->allowsToConnect()) {
            throw $server->unavailable($this->breaker->why('it could not be reached, or refused the login, a moment ago'));
        }
        $redis = new \Redis();
        $refusal = null;
        $handshake = '';
        $greeting = $server->greeting();
        $began = hrtime(true);
        try {
            $watch = Watch::of($server, fn() => $this->connect($redis), $handshake);
            foreach ($greeting as $command) {
                [$reply] = $this->ask($redis, [$command], $server->readTimeout);
                $refusal ??= $reply instanceof ErrorReply ? $reply->message : null;
            }
        } catch (\RedisException $failure) {
            if (!$redis->isConnected() || !ErrorReply::isOne($failure->getMessage())) {
                self::close($redis);
                $why = $handshake === '' ? $failure->getMessage() : $handshake;
                $this->breaker->failed($why, $server->hasWaited((hrtime(true) - $began) / 1e9));

                // Without the exception: the password is among the arguments in its trace.
                throw $server->unreachable($why, $handshake !== '');
            }
            $refusal ??= $failure->getMessage();
        }
        if ($refusal !== null) {
            self::close($redis);
            $this->breaker->refused($refusal);

            throw $server->refused($refusal);
        }
        $greeting === [] || $this->breaker->answered();
        $this->process = Process::id();

        return [$redis, $watch];
    }

    private function connect(\Redis $redis): void
    {
        $server = $this->server;
        $host = $server->socket ?? ($server->tls !== null ? "tls://{$server->host}" : $server->host);
        $port = $server->socket === null ? $server->port : 0;
        $context = $server->tls === null ? [] : [['stream' => $server->tls->context()]];
        $connected = $server->isKept()
            ? @$redis->pconnect($host, $port, $server->timeout, "larder:{$server->user}:{$server->database}", 0, $server->readTimeout, ...$context)
            : @$redis->connect($host, $port, $server->timeout, null, 0, $server->readTimeout, ...$context);
        if (!$connected) {
            throw new \RedisException('no connection');
        }
        // A command whose reply was lost may have been carried out: it is not for the client to repeat it.
        $redis->setOption(\Redis::OPT_MAX_RETRIES, 0);
        if ($server->readTimeout <= 0.0 || $server->isKept()) {
            // The last user of a kept one may have had another timeout.
            $redis->setOption(\Redis::OPT_READ_TIMEOUT, $server->readTimeout > 0.0 ? $server->readTimeout : -1);
        }
    }

    /** One that is kept is closed as well: after an error it is unknown which reply comes next. */
    private static function close(\Redis $redis): void
    {
        try {
            $redis->close();
        } catch (\RedisException) {
            // It is gone already.
        }
    }
}
