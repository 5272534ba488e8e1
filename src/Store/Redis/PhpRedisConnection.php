<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\ExtensionMissing;
use Larder\Exception\StoreUnavailable;

/** Over the extension redis. */
final class PhpRedisConnection implements Connection
{
    private ?\Redis $redis = null;

    private int $process = 0;

    /** When to try to connect again; hrtime in ns. */
    private int $notBefore = 0;

    /** @throws ExtensionMissing */
    public function __construct(
        private readonly Server $server,
    ) {
        if (!\extension_loaded('redis')) {
            throw ExtensionMissing::of('The client "phpredis" of RedisStore', 'redis');
        }
    }

    public function send(array $commands): array
    {
        $redis = $this->redis();
        try {
            return $this->ask($redis, $commands);
        } catch (\RedisException $failure) {
            if (str_starts_with($failure->getMessage(), 'OOM ')) {
                return array_fill(0, \count($commands), new ErrorReply($failure->getMessage()));
            }
            $this->drop();

            throw $this->server->unavailable($failure->getMessage(), $failure);
        }
    }

    /**
     * @param non-empty-list<non-empty-list<string>> $commands
     *
     * @return non-empty-list<mixed>
     */
    private function ask(\Redis $redis, array $commands): array
    {
        if (\count($commands) === 1) {
            $replies = [$redis->rawCommand(...$commands[0])];
        } else {
            $redis->pipeline();
            foreach ($commands as $command) {
                $redis->rawCommand(...$command);
            }
            $replies = $redis->exec();
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
        if ($this->redis !== null && $this->process === getmypid()) {
            return $this->redis;
        }
        if (hrtime(true) < $this->notBefore) {
            throw $this->server->unavailable('it could not be reached a moment ago');
        }
        $redis = new \Redis();
        $server = $this->server;
        $host = $server->socket ?? ($server->tls ? "tls://{$server->host}" : $server->host);
        $port = $server->socket === null ? $server->port : 0;
        try {
            $connected = $server->persistent
                ? @$redis->pconnect($host, $port, $server->timeout, "larder:{$server->user}:{$server->database}", 0, $server->readTimeout)
                : @$redis->connect($host, $port, $server->timeout, null, 0, $server->readTimeout);
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
            $this->notBefore = (int) hrtime(true) + (int) ($server->retryAfter * 1e9);

            throw $server->unavailable($failure->getMessage(), $failure);
        }
        $this->process = (int) getmypid();

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
