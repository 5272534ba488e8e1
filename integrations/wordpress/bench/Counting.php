<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

use Larder\Token;
use Larder\WordPress\Backend;

/** Counts the calls of a backend in $GLOBALS['larder_calls']: a batch is one. */
final readonly class Counting implements Backend
{
    public function __construct(private Backend $backend)
    {
        $GLOBALS['larder_calls'] = 0;
    }

    public function get(string $key, mixed $absent, bool $anew = false): mixed
    {
        return $this->counted()->get($key, $absent, $anew);
    }

    public function getForChange(string $key, mixed $absent): array
    {
        return $this->counted()->getForChange($key, $absent);
    }

    public function getMany(array $keys, bool $anew = false): array
    {
        return $this->counted()->getMany($keys, $anew);
    }

    public function ends(array $keys): array
    {
        return $this->counted()->ends($keys);
    }

    public function token(string $key): ?Token
    {
        return $this->backend->token($key);
    }

    public function requestToken(string $key): ?Token
    {
        return $this->backend->requestToken($key);
    }

    public function fill(array $fills): bool
    {
        return $this->counted()->fill($fills);
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool
    {
        return $this->counted()->set($key, $value, $ttl, $tags, $token, $version);
    }

    public function setMany(array $values, ?int $ttl, array $tags): void
    {
        $this->counted()->setMany($values, $ttl, $tags);
    }

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        return $this->counted()->add($key, $value, $ttl, $tags);
    }

    public function has(string $key): ?bool
    {
        return $this->counted()->has($key);
    }

    public function delete(array $keys): array
    {
        return $this->counted()->delete($keys);
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        return $this->counted()->count($key, $by, $tags);
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        return $this->counted()->invalidate($tags, $stale);
    }

    public function clear(): bool
    {
        return $this->counted()->clear();
    }

    public function trouble(): ?string
    {
        return $this->backend->trouble();
    }

    public function keys(string $prefix): iterable
    {
        return $this->backend->keys($prefix);
    }

    public function statistics(): array
    {
        return $this->backend->statistics();
    }

    private function counted(): Backend
    {
        $calls = $GLOBALS['larder_calls'];
        $GLOBALS['larder_calls'] = (\is_int($calls) ? $calls : 0) + 1;

        return $this->backend;
    }
}
