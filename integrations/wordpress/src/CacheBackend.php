<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Cache;
use Larder\Exception as Failure;
use Larder\Exception\NotACounter;
use Larder\Item;
use Larder\OnConflict;
use Larder\SaveMode;
use Larder\Token;

/** A cache of the library: any store, with its journal. */
final class CacheBackend implements Backend
{
    /** Seconds: more than any store counts (see Ttl::LONGEST), which is no end. */
    private const FOREVER = \PHP_INT_MAX;

    /** How often a number that others change is looked at again. */
    private const TRIES = 100;

    /** @var array<array-key, Token> of keys that were missing */
    private array $tokens = [];

    /** Of the first miss of the request. */
    private ?Token $first = null;

    /** @param bool $fills whether there is anything to fill; what cannot be stored would only be noted as lost */
    public function __construct(
        private readonly Cache $cache,
        private readonly bool $fills = true,
    ) {}

    public function get(string $key, mixed $absent): mixed
    {
        return $this->getStamped($key, $absent)[0];
    }

    public function getStamped(string $key, mixed $absent): array
    {
        $fetched = $this->cache->fetch([$key]);
        $item = $fetched->items[$key] ?? null;
        $this->noteTokens($fetched->tokens);

        return $item === null ? [$absent, null] : [$item->value, $item->stamp];
    }

    public function tokenAt(int $stamp): ?Token
    {
        return $this->first === null ? null : new Token($this->first->epoch, $stamp);
    }

    public function getMany(array $keys): array
    {
        $fetched = $this->cache->fetch($keys);
        $this->noteTokens($fetched->tokens);

        return array_map(static fn(Item $item): mixed => $item->value, $fetched->items);
    }

    public function token(string $key): ?Token
    {
        $token = $this->tokens[$key] ?? null;
        unset($this->tokens[$key]);
        try {
            return $token ?? $this->cache->store->token($key);
        } catch (Failure) {
            return null;
        }
    }

    public function requestToken(): ?Token
    {
        return $this->first;
    }

    public function fill(array $fills): void
    {
        $items = [];
        foreach ($fills as $fill) {
            if ($fill->token !== null) {
                $items[] = new Item($fill->key, $fill->value, $fill->ttl ?? self::FOREVER, $fill->tags, $fill->token, true);
            }
        }
        if ($items !== [] && $this->fills) {
            $this->cache->saveMany($items);
        }
    }

    public function set(string $key, mixed $value, ?int $ttl, array $tags, ?Token $token = null): bool
    {
        return $this->cache->saveMany([new Item($key, $value, $ttl ?? self::FOREVER, $tags, $token)], onConflict: OnConflict::Remove) === [];
    }

    public function setMany(array $values, ?int $ttl, array $tags): void
    {
        $items = [];
        foreach ($values as $key => $value) {
            $items[] = new Item((string) $key, $value, $ttl ?? self::FOREVER, $tags);
        }
        $this->cache->saveMany($items);
    }

    public function add(string $key, mixed $value, ?int $ttl, array $tags): ?bool
    {
        if ($this->cache->saveMany([new Item($key, $value, $ttl ?? self::FOREVER, $tags)], SaveMode::Add) === []) {
            return true;
        }

        return $this->has($key) === true ? false : null;
    }

    public function has(string $key): ?bool
    {
        $has = isset($this->cache->fetch([$key])->items[$key]);

        return $has || $this->cache->health()->available ? $has : null;
    }

    public function delete(array $keys): array
    {
        $existed = array_keys($this->cache->fetch($keys)->items);

        return $this->cache->deleteMany($keys) ? array_map(strval(...), $existed) : [];
    }

    public function count(string $key, int $by, array $tags): int|float|false|null
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            unset($this->tokens[$key]);
            $token = $this->token($key);
            $item = $this->cache->fetch([$key])->items[$key] ?? null;
            if ($item === null || $token === null) {
                return $this->cache->health()->available ? false : null;
            }
            try {
                if (\is_int($item->value)) {
                    $sum = $this->cache->increment($key, $by);

                    // Others may count in between; what they added stays added.
                    return $sum === false ? null : ($sum >= 0 ? $sum : max(0, (int) $this->cache->increment($key, -$sum)));
                }
            } catch (NotACounter) {
                return null;
            }
            $sum = max(0, (is_numeric($item->value) ? $item->value + 0 : 0) + $by);
            $ttl = $item->expiry === null ? self::FOREVER : max(1, $item->expiry - time());
            if ($this->cache->saveMany([new Item($key, $sum, $ttl, $tags, $token)]) === []) {
                return $sum;
            }
        }

        return null;
    }

    public function invalidate(array $tags): bool
    {
        return $this->cache->invalidateTags($tags);
    }

    public function clear(): bool
    {
        return $this->cache->clear();
    }

    public function trouble(): ?string
    {
        $health = $this->cache->health();

        return $health->available && !$health->isFlagged() ? null : 'The store does not answer.';
    }

    public function keys(string $prefix): iterable
    {
        try {
            yield from $this->cache->store->keys($prefix);
        } catch (Failure) {
            // Not every store can tell them.
        }
    }

    public function statistics(): array
    {
        $all = $this->cache->statistics();

        $figures = [];
        foreach ($all === null ? [] : get_object_vars($all) as $name => $figure) {
            if (\is_int($figure)) {
                $figures[(string) $name] = $figure;
            }
        }

        return $figures;
    }

    /** @param array<array-key, Token> $tokens */
    private function noteTokens(array $tokens): void
    {
        foreach ($tokens as $key => $token) {
            $this->first ??= $token;
            $this->tokens[$key] = $token;
        }
    }
}
