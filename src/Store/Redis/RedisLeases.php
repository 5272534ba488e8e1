<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Leases;

/**
 * Leases as names of their own on the server, which lets go of them itself. Each call is one round trip and one moment.
 *
 * A command that the server runs after its client stopped waiting takes no lease. The lease would have no owner, and all processes
 * would wait for its end.
 */
final class RedisLeases implements Leases
{
    private const ACQUIRE = "local now = redis.call('TIME') if now[1] * 1000 + math.floor(now[2] / 1000) > tonumber(ARGV[3]) then return -1 end "
        . "local owner = redis.call('GET', KEYS[1]) if owner and owner ~= ARGV[1] then return 0 end "
        . "if owner then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1";

    private const REFRESH = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

    /** At least the server's time in microseconds, so that a count that was lost goes on above what it was. */
    private const FENCE = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return false end local now = redis.call('TIME') "
        . "local number = math.max((tonumber(redis.call('GET', KEYS[2]) or 0) or 0) + 1, now[1] * 1000000 + now[2]) "
        . "redis.call('SET', KEYS[2], string.format('%.0f', number)) return number";

    private const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
        private readonly ServerTime $time,
    ) {}

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        [$taken] = $this->ask($name, $owner, $seconds);
        if ($taken === -1) {
            // But here the answer is: it is the clock that was set.
            $this->time->forget();
            [$taken] = $this->ask($name, $owner, $seconds);
        }

        return $taken === 1;
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->scripts->send([['EVAL', self::REFRESH, '1', $this->layout->lease($name), $owner, self::milliseconds($seconds)]]) === [1];
    }

    public function fence(string $name, string $owner): ?int
    {
        [$number] = $this->scripts->send([['EVAL', self::FENCE, '2', $this->layout->lease($name), $this->layout->fence($name), $owner]]);

        return \is_int($number) && $number > 0 ? $number : null;
    }

    public function release(string $name, string $owner): bool
    {
        return $this->scripts->send([['EVAL', self::RELEASE, '1', $this->layout->lease($name), $owner]]) === [1];
    }

    /** @return list<mixed> */
    private function ask(string $name, string $owner, float $seconds): array
    {
        return $this->scripts->send([['EVAL', self::ACQUIRE, '1', $this->layout->lease($name), $owner, self::milliseconds($seconds), $this->time->deadline()]]);
    }

    private static function milliseconds(float $seconds): string
    {
        return (string) max(1, (int) ceil($seconds * 1_000));
    }
}
