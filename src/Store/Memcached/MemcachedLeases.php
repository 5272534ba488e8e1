<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Lease\AddedLeases;
use Larder\Leases;

/**
 * Leases as items of their own, taken by add and changed by compare and swap:
 *
 *     prefix!lease:<sha256>    the end, in Unix seconds with fractions 8 | the last fence 8 | owner
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
            [$end, $fence, $has] = self::parts($bytes ?? '');
            if ($end > microtime(true) && $has !== $owner) {
                return false;
            }
            $end = microtime(true) + $seconds;
            $outcome = $bytes === null
                ? $server->add($item, self::bytes($end, $fence, $owner), self::serverExpiry($end))
                : $server->swap($cas, $item, self::bytes($end, $fence, $owner), self::serverExpiry($end));
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
        return $this->change($name, $owner, static fn(float $end, int $fence): array => [microtime(true) + $seconds, $fence, $owner]) !== null;
    }

    public function fence(string $name, string $owner): ?int
    {
        $fence = $this->change($name, $owner, static fn(float $end, int $fence): array => [$end, max($fence + 1, AddedLeases::beginning()), $owner]);

        return $fence === null ? null : max(1, $fence);
    }

    public function release(string $name, string $owner): bool
    {
        return $this->change($name, $owner, static fn(float $end, int $fence): array => [0.0, $fence, '']) !== null;
    }

    /**
     * @param \Closure(float, int): array{float, int, string} $next what follows upon an end and a fence: end, fence and owner
     *
     * @return ?int the fence that follows; null: it was not this owner's
     */
    private function change(string $name, string $owner, \Closure $next): ?int
    {
        $server = $this->server($name);
        $item = $this->item($name);
        while (true) {
            [$bytes, $cas] = $server->swappable([$item])[$item] ?? [null, 0];
            [$end, $fence, $has] = self::parts($bytes ?? '');
            if ($has !== $owner || $end <= microtime(true)) {
                return null;
            }
            [$end, $fence, $has] = $next($end, $fence);
            $outcome = $server->swap($cas, $item, self::bytes($end, $fence, $has), self::serverExpiry($end));
            if ($outcome !== Outcome::Overtaken) {
                return $outcome === Outcome::Stored ? $fence : null;
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

    private static function bytes(float $end, int $fence, string $owner): string
    {
        return pack('EJ', $end, $fence) . $owner;
    }

    /** @return array{float, int, string} end, fence and owner; '': it is free */
    private static function parts(string $bytes): array
    {
        $parts = \strlen($bytes) < 16 ? false : unpack('Eend/Jfence', $bytes);

        return \is_float($parts['end'] ?? null) && \is_int($parts['fence'] ?? null) ? [$parts['end'], $parts['fence'], substr($bytes, 16)] : [0.0, 0, ''];
    }

    /** Later than the lease ends, by any clock. */
    private static function serverExpiry(float $end): int
    {
        return max(time(), (int) ceil($end)) + 2;
    }
}
