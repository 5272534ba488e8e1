<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Leases;

/**
 * Leases as items of their own, taken by add and changed by compare and swap:
 *
 *     prefix!lease:<sha256>    the end, in Unix seconds with fractions 8 | owner
 *
 * The server counts whole seconds, and may be up to one ahead; so the end that counts is the one inside.
 */
final class MemcachedLeases implements Leases
{
    /** @param non-empty-list<Server> $servers */
    public function __construct(
        private readonly array $servers,
        private readonly Ring $ring,
        private readonly string $internal,
    ) {}

    public function acquire(string $name, string $owner, float $seconds): bool
    {
        $server = $this->server($name);
        $item = $this->item($name);
        while (true) {
            [$bytes, $cas] = $server->swappable([$item])[$item] ?? [null, 0];
            if ($bytes !== null && self::end($bytes) > microtime(true) && substr($bytes, 8) !== $owner) {
                return false;
            }
            $outcome = $bytes === null
                ? $server->add($item, self::bytes($owner, $seconds), self::serverExpiry($seconds))
                : $server->swap($cas, $item, self::bytes($owner, $seconds), self::serverExpiry($seconds));
            if ($outcome === Outcome::NoRoom) {
                throw $server->hasNoRoom();
            }
            if ($outcome === Outcome::Stored) {
                return true;
            }
        }
    }

    public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->change($name, $owner, self::bytes($owner, $seconds), $seconds);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->change($name, $owner, self::bytes('', 0.0), 0.0);
    }

    private function change(string $name, string $owner, string $next, float $seconds): bool
    {
        $server = $this->server($name);
        $item = $this->item($name);
        while (true) {
            [$bytes, $cas] = $server->swappable([$item])[$item] ?? [null, 0];
            if ($bytes === null || substr($bytes, 8) !== $owner || self::end($bytes) <= microtime(true)) {
                return false;
            }
            $outcome = $server->swap($cas, $item, $next, self::serverExpiry($seconds));
            if ($outcome !== Outcome::Overtaken) {
                return $outcome === Outcome::Stored;
            }
        }
    }

    private function server(string $name): Server
    {
        return $this->servers[$this->ring->server($name)];
    }

    private function item(string $name): string
    {
        return "{$this->internal}lease:" . hash('sha256', $name);
    }

    private static function bytes(string $owner, float $seconds): string
    {
        return pack('E', $seconds > 0 ? microtime(true) + $seconds : 0.0) . $owner;
    }

    private static function end(string $bytes): float
    {
        $end = \strlen($bytes) < 8 ? false : unpack('E', $bytes);

        return \is_float($end[1] ?? null) ? $end[1] : 0.0;
    }

    /** Later than the lease ends, by any clock. */
    private static function serverExpiry(float $seconds): int
    {
        return time() + (int) ceil($seconds) + 2;
    }
}
