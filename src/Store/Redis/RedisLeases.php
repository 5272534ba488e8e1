<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\StoreUnavailable;
use Larder\Leases;

/** Leases as names of their own on the server, which lets go of them itself. Each call is one round trip and one moment. */
final class RedisLeases implements Leases
{
    private const REFRESH = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";

    private const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    public function __construct(
        private readonly Scripts $scripts,
        private readonly Layout $layout,
    ) {}

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        try {
            return $this->scripts->send([['SET', $this->layout->lease($name), $owner, 'NX', 'PX', self::milliseconds($seconds)]]) === ['OK'];
        } catch (StoreUnavailable $failure) {
            // A full server refuses before it looks whether there is one.
            return $failure->takesNothing && $this->scripts->send([['EXISTS', $this->layout->lease($name)]]) === [1] ? false : throw $failure;
        }
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->scripts->send([['EVAL', self::REFRESH, '1', $this->layout->lease($name), $owner, self::milliseconds($seconds)]]) === [1];
    }

    public function release(string $name, string $owner): bool
    {
        return $this->scripts->send([['EVAL', self::RELEASE, '1', $this->layout->lease($name), $owner]]) === [1];
    }

    private static function milliseconds(float $seconds): string
    {
        return (string) max(1, (int) ceil($seconds * 1_000));
    }
}
