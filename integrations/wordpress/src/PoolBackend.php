<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Exception\NotACounter;
use Larder\Exception\PoolUnusable;
use Larder\Exception\Unstorable;
use Larder\SharedMemory;
use Larder\Token;

/** A pool of the extension, without the library: a read of 60 ns cannot carry more. */
final class PoolBackend implements Backend
{
    /** How often what others have written in the same moment is looked at again. */
    private const TRIES = 3;

    private readonly ?Token $began;

    private ?string $trouble = null;

    public function __construct(
        private readonly SharedMemory $pool,
    ) {
        $this->began = $this->token('');
    }

    public function get(string $key, mixed $absent, bool $anew = false): mixed
    {
        return $this->pool->get($key, $absent);
    }

    public function getForChange(string $key, mixed $absent): array
    {
        $token = $this->token($key);
        [$value, , $version] = $this->pool->fetch([$key])[$key] ?? [$absent, null, 0];

        return [$value, $token, $version];
    }

    public function getMany(array $keys, bool $anew = false): array
    {
        return $this->pool->getMany($keys);
    }

    public function ends(array $keys): array
    {
        return array_values(array_filter(array_column($this->pool->fetch($keys), 1), is_int(...)));
    }

    public function token(string $key): ?Token
    {
        try {
            return $this->pool->token($key === '' ? 'any' : $key);
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();

            return null;
        }
    }

    public function requestToken(string $key): ?Token
    {
        return $this->began;
    }

    public function fill(array $fills): bool
    {
        $stored = 0;
        foreach ($fills as $fill) {
            try {
                $stored += $fill->token !== null && $this->pool->fill($fill->key, $fill->value, $fill->token, $fill->ttl, $fill->tags) ? 1 : 0;
            } catch (Unstorable) {
                // Its own request has it.
            }
        }

        return $stored === \count($fills);
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null, int $version = 0): bool
    {
        try {
            if ($token !== null) {
                if ($this->pool->set($key, $value, $ttl, $tags, $token, false, $version === 0 ? null : $version)) {
                    return true;
                }
                $this->pool->delete($key);

                return false;
            }

            // After a miss the pool takes a set for a fill, but this is new truth.
            return $this->pool->set($key, $value, $ttl, $tags, null, false) || $this->pool->set($key, $value, $ttl, $tags, $this->pool->token($key), false);
        } catch (Unstorable) {
            $this->delete([$key]);
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();
        }

        return false;
    }

    public function setMany(array $values, ?int $ttl, array $tags): void
    {
        try {
            foreach ($this->pool->setMany($values, $ttl, $tags) as $key) {
                $this->set($key, $values[$key], $ttl, $tags);
            }
        } catch (Unstorable) {
            foreach ($values as $key => $value) {
                $this->set((string) $key, $value, $ttl, $tags);
            }
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();
        }
    }

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        try {
            for ($tries = 0; $tries < self::TRIES; $tries++) {
                if ($this->pool->add($key, $value, $ttl, $tags, $this->pool->token($key))) {
                    return true;
                }
                if ($this->pool->has($key)) {
                    return false;
                }
            }
        } catch (Unstorable) {
            return $this->pool->has($key) ? false : null;
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();
        }

        return null;
    }

    public function has(string $key): bool
    {
        return $this->pool->has($key);
    }

    public function delete(array $keys): array
    {
        $existed = [];
        try {
            foreach ($keys as $key) {
                if ($this->pool->delete($key)) {
                    $existed[] = $key;
                }
            }
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();
        }

        return $existed;
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        try {
            return $this->pool->increment($key, $by, min: 0, create: false) ?? false;
        } catch (NotACounter) {
            return $this->countOther($key, $by, $tags);
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();
        }

        return null;
    }

    public function invalidate(array $tags, int $stale = 0): bool
    {
        try {
            $this->pool->invalidateTags($tags, $stale);

            return true;
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();

            return false;
        }
    }

    public function clear(): bool
    {
        try {
            $this->pool->clear();

            return true;
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();

            return false;
        }
    }

    public function trouble(): ?string
    {
        return $this->trouble;
    }

    public function keys(string $prefix): iterable
    {
        return $this->pool->keys($prefix);
    }

    public function statistics(): array
    {
        try {
            $all = $this->pool->statistics();
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();

            return [];
        }
        $figures = ['pool' => $all['name'], 'size' => $all['size'], 'used' => $all['bytes'], 'items' => $all['items']];
        foreach (['hits', 'misses', 'sets', 'deletes', 'evictions', 'conflicts'] as $name) {
            $figures[$name] = $all[$name];
        }

        return [...$figures, 'refused' => array_sum($all['refused'])];
    }

    /**
     * Adds to what is no int, or to one that would not be one any more.
     *
     * @param list<string> $tags
     */
    private function countOther(string $key, int $by, array $tags): int|float|false|null
    {
        try {
            for ($tries = 0; $tries < self::TRIES; $tries++) {
                $token = $this->pool->token($key);
                $item = $this->pool->fetch([$key])[$key] ?? null;
                if ($item === null) {
                    return false;
                }
                [$value, $expiry, $version] = $item;
                $sum = max(0, (is_numeric($value) ? $value + 0 : 0) + $by);
                if ($this->pool->set($key, $sum, $expiry === null ? null : max(1, $expiry - time()), $tags, $token, true, $version)) {
                    return $sum;
                }
            }
        } catch (PoolUnusable $lost) {
            $this->trouble = $lost->getMessage();
        }

        return null;
    }
}
