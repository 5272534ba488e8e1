<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\StoreUnavailable;
use Larder\Process;
use Larder\Store\Breaker;

/** Over the extension redis. */
final class PhpRedisConnection implements Connection
{
    /** Replies that the client throws, although the connection is as good as before. */
    private const ERRORS = '/^(OOM|MOVED|ASK|TRYAGAIN|CLUSTERDOWN|READONLY|LOADING|MASTERDOWN|MISCONF|NOREPLICAS|BUSY|NOPERM) /';

    private ?\Redis $redis = null;

    private int $process = 0;

    private readonly Breaker $breaker;

    /** @throws ExtensionMissing */
    public function __construct(
        private readonly Server $server,
    ) {
        $this->breaker = new Breaker("redis {$server->name()}", $server->retryAfter);
        if (!\extension_loaded('redis')) {
            throw ExtensionMissing::of('The client "phpredis" of RedisStore', 'redis');
        }
    }

    public function send(array $commands): array
    {
        $redis = $this->redis();
        $began = hrtime(true);
        try {
            return $this->ask($redis, $commands);
        } catch (\RedisException $failure) {
            if (preg_match(self::ERRORS, $failure->getMessage()) === 1) {
                return $this->errors($redis, $commands, $failure->getMessage());
            }
            $this->drop();
            if (hrtime(true) - $began >= 0.9e9 * $this->server->readTimeout) {
                // It did not break, it is slow: who asks again waits again.
                $this->breaker->failed();
            }

            throw $this->server->unavailable($failure->getMessage(), $failure);
        }
    }

    /**
     * Of several commands the client does not tell which one failed. Where that matters, as they are to be sent elsewhere, they
     * are sent once more, one by one: what is written twice may be refused the second time, and is a miss then.
     *
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return non-empty-list<mixed>
     *
     * @throws StoreUnavailable
     */
    private function errors(\Redis $redis, array $commands, string $message): array
    {
        $redis->clearLastError();
        if (\count($commands) === 1 || preg_match('/^(MOVED|ASK) /', $message) !== 1) {
            return array_fill(0, \count($commands), new ErrorReply($message));
        }
        $replies = [];
        foreach ($commands as $command) {
            $replies[] = $this->send([$command])[0];
        }

        return $replies;
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return non-empty-list<mixed>
     */
    private function ask(\Redis $redis, array $commands): array
    {
        if (\count($commands) === 1) {
            $replies = [@$redis->rawCommand(...$commands[0])];
        } else {
            $redis->pipeline();
            foreach ($commands as $command) {
                $redis->rawCommand(...$command);
            }
            $replies = @$redis->exec();
            if (!\is_array($replies) || \count($replies) !== \count($commands)) {
                throw new \RedisException('its replies are incomplete');
            }
            $replies = array_values($replies);
        }
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

    /** @throws StoreUnavailable */
    private function redis(): \Redis
    {
        if ($this->redis !== null && $this->process === Process::id()) {
            return $this->redis;
        }
        if (!$this->breaker->allows()) {
            throw $this->server->unavailable('it could not be reached a moment ago');
        }
        $redis = new \Redis();
        $server = $this->server;
        $host = $server->socket ?? ($server->tls !== null ? "tls://{$server->host}" : $server->host);
        $port = $server->socket === null ? $server->port : 0;
        try {
            $context = $server->tls === null ? [] : [['stream' => $server->tls->context()]];
            $connected = $server->persistent
                ? @$redis->pconnect($host, $port, $server->timeout, "larder:{$server->user}:{$server->database}", 0, $server->readTimeout, ...$context)
                : @$redis->connect($host, $port, $server->timeout, null, 0, $server->readTimeout, ...$context);
            if (!$connected) {
                throw new \RedisException('no connection');
            }
            // A command whose reply was lost may have been carried out: it is not for the client to repeat it.
            $redis->setOption(\Redis::OPT_MAX_RETRIES, 0);
            $redis->setOption(\Redis::OPT_SERIALIZER, \Redis::SERIALIZER_NONE);
            foreach ($server->greeting() as $command) {
                [$reply] = $this->ask($redis, [$command]);
                if ($reply instanceof ErrorReply) {
                    throw new \RedisException($reply->message);
                }
            }
        } catch (\RedisException $failure) {
            $this->breaker->failed();

            throw $server->unavailable($failure->getMessage(), $failure);
        }
        $this->breaker->worked();
        $this->process = Process::id();

        return $this->redis = $redis;
    }

    /** After an error nobody knows which reply comes next. */
    private function drop(): void
    {
        try {
            $this->redis?->close();
        } catch (\RedisException) {
            // It is gone already.
        }
        $this->redis = null;
    }
}
