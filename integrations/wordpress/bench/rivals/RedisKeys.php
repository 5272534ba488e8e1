<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** A string of Redis for each key, over a connection that lasts. */
final readonly class RedisKeys implements Store
{
    private \Redis $redis;

    private Bytes $bytes;

    public function __construct(string $socket)
    {
        $this->redis = new \Redis();
        $this->redis->pconnect($socket);
        $this->bytes = new Bytes();
    }

    public function read(string $group, array $keys): array
    {
        $names = array_map(static fn(int|string $key): string => "{$group}:{$key}", $keys);
        $found = \count($names) === 1 ? [$this->redis->get($names[0])] : $this->redis->mget($names);
        $values = [];
        foreach ($keys as $number => $key) {
            if (\is_array($found) && \is_string($found[$number] ?? null)) {
                $values[$key] = $this->bytes->value($found[$number]);
            }
        }

        return $values;
    }

    public function write(string $group, array $values, int $seconds): void
    {
        $isMany = \count($values) > 1;
        $pipe = $isMany ? $this->redis->pipeline() : $this->redis;
        foreach ($values as $key => $value) {
            $seconds > 0 ? $pipe->setex("{$group}:{$key}", $seconds, $this->bytes->of($value)) : $pipe->set("{$group}:{$key}", $this->bytes->of($value));
        }
        if ($isMany) {
            $pipe->exec();
        }
    }

    public function add(string $group, int|string $key, mixed $value, int $seconds): bool
    {
        return $this->redis->set("{$group}:{$key}", $this->bytes->of($value), $seconds > 0 ? ['nx', 'ex' => $seconds] : ['nx']) === true;
    }

    public function delete(string $group, array $keys): void
    {
        $this->redis->del(array_map(static fn(int|string $key): string => "{$group}:{$key}", $keys));
    }

    public function clear(): void
    {
        $this->redis->flushDB();
    }
}
