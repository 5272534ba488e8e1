<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\Lock;
use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Token;
use Larder\Ttl;

/**
 * A lock of Laravel: an item that one process can add. It is prolonged or released only if no other process has had it since it was found to be
 * its owner's. A store that evicts may lose it, as those of Laravel may.
 */
final class LarderLock extends Lock
{
    private readonly string $key;

    /**
     * @param string  $name
     * @param int     $seconds 0: it does not end by itself
     * @param ?string $owner   null: a new one
     * @param string  $version   of all locks of the store
     */
    public function __construct(
        private readonly Cache $cache,
        $name,
        $seconds,
        $owner,
        private readonly string $version,
    ) {
        parent::__construct($name, $seconds, $owner);
        $this->key = "\0lock:{$name}";
    }

    public function acquire(): bool
    {
        return $this->cache->add($this->key, $this->owner, self::ttl((int) $this->seconds) ?? Ttl::Forever, [$this->version]);
    }

    public function release(): bool
    {
        return $this->ifMine(fn(Token $token): bool => $this->cache->store->delete([$this->key], $token) !== []);
    }

    /**
     * Makes it last for so long from now on.
     *
     * @param ?int $seconds null: as long as it was made for; 0: it does not end by itself
     */
    public function refresh($seconds = null): bool
    {
        $ttl = self::ttl((int) ($seconds ?? $this->seconds));

        return $this->ifMine(fn(Token $token): bool => $this->cache->store->save([new Item($this->key, $this->owner, $ttl, [$this->version], $token)]) === []);
    }

    public function forceRelease(): void
    {
        $this->cache->delete($this->key);
    }

    protected function getCurrentOwner(): ?string
    {
        $owner = $this->cache->get($this->key);

        return \is_string($owner) ? $owner : null;
    }

    /**
     * An item's expiry is a whole second, counted from the second that has begun; a lock with that expiry would end up to a second early.
     *
     * @return ?int seconds that its item lives; null: for ever
     */
    private static function ttl(int $seconds): ?int
    {
        return $seconds > 0 ? $seconds + 1 : null;
    }

    /** @param \Closure(Token): bool $do if nothing has changed since the token */
    private function ifMine(\Closure $do): bool
    {
        try {
            $token = $this->cache->token($this->key);
            $found = $this->cache->store->fetch([$this->key])->items[$this->key] ?? null;

            return $found !== null && $found->value === $this->owner && $do($token);
        } catch (StoreUnavailable) {
            return false;
        }
    }
}
