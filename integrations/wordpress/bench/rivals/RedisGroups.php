<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** A hash of Redis for each group, so that a group can be flushed at once; what expires has to be a key of its own. */
final readonly class RedisGroups implements Store
{
    private \Redis $redis;

    private Bytes $bytes;

    private RedisKeys $expiring;

    public function __construct(string $socket)
    {
        $this->redis = new \Redis();
        $this->redis->pconnect($socket);
        $this->bytes = new Bytes();
        $this->expiring = new RedisKeys($socket);
    }

    public function read(string $group, array $keys): array
    {
        if (self::expires($group)) {
            return $this->expiring->read($group, $keys);
        }
        $fields = array_map(strval(...), $keys);
        $found = \count($fields) === 1 ? [$fields[0] => $this->redis->hGet($group, $fields[0])] : $this->redis->hMget($group, $fields);
        $values = [];
        foreach ($keys as $key) {
            if (\is_array($found) && \is_string($found[$key] ?? null)) {
                $values[$key] = $this->bytes->value($found[$key]);
            }
        }

        return $values;
    }

    public function write(string $group, array $values, int $seconds): void
    {
        if (self::expires($group)) {
            $this->expiring->write($group, $values, $seconds);

            return;
        }
        $this->redis->hMSet($group, array_map($this->bytes->of(...), $values));
    }

    public function add(string $group, int|string $key, mixed $value, int $seconds): bool
    {
        return self::expires($group)
            ? $this->expiring->add($group, $key, $value, $seconds)
            : $this->redis->hSetNx($group, (string) $key, $this->bytes->of($value)) === true;
    }

    public function delete(string $group, array $keys): void
    {
        self::expires($group) ? $this->expiring->delete($group, $keys) : $this->redis->hDel($group, ...array_map(strval(...), $keys));
    }

    public function clear(): void
    {
        $this->redis->flushDB();
    }

    private static function expires(string $group): bool
    {
        return $group === 'transient' || $group === 'site-transient';
    }
}
