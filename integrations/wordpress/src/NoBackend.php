<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Token;

/** Nothing outlives the request: the store cannot be opened, and the site goes on without. */
final class NoBackend implements Backend
{
    private bool $hasSaid = false;

    /** @param bool $warns whether others have a store that does not hear what this process changes; then it says so, once */
    public function __construct(
        private readonly string $trouble,
        private readonly bool $warns = false,
    ) {}

    public function get(string $key, mixed $absent, bool $anew = false): mixed
    {
        return $absent;
    }

    public function getForChange(string $key, mixed $absent): array
    {
        return [$absent, null, 0];
    }

    public function getMany(array $keys, bool $anew = false): array
    {
        return [];
    }

    public function ends(array $keys): array
    {
        return [];
    }

    public function token(string $key): ?Token
    {
        return null;
    }

    public function requestToken(string $key): ?Token
    {
        return null;
    }

    public function fill(array $fills): bool
    {
        return $fills === [];
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool
    {
        $this->warn();

        return false;
    }

    public function setMany(array $values, ?int $ttl, array $tags): void {}

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        return null;
    }

    public function has(string $key): ?bool
    {
        return null;
    }

    public function delete(array $keys): array
    {
        $this->warn();

        return [];
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        return null;
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        $this->warn();

        return false;
    }

    public function clear(): bool
    {
        $this->warn();

        return false;
    }

    public function trouble(): string
    {
        return $this->trouble;
    }

    public function keys(string $prefix): iterable
    {
        return [];
    }

    public function statistics(): array
    {
        return [];
    }

    private function warn(): void
    {
        if ($this->warns && !$this->hasSaid) {
            $this->hasSaid = true;
            \defined('STDERR') ? fwrite(\STDERR, "Larder: {$this->trouble}\n") : error_log("Larder: {$this->trouble}");
        }
    }
}
