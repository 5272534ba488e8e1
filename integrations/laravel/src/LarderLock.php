<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\Lock;
use Illuminate\Support\Carbon;
use Larder\Cache;
use Larder\Cache\Far;
use Larder\Cache\Updates;
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
     * @param string                             $name
     * @param int|float|string|null              $seconds 0: it does not end by itself; configuration has strings, too
     * @param int|float|string|\Stringable|null $owner   null: a new one
     * @param string                             $version of all locks of the store
     */
    public function __construct(
        private readonly Cache $cache,
        $name,
        $seconds,
        $owner,
        private readonly string $version,
    ) {
        parent::__construct($name, self::whole($seconds), $owner === null ? null : (string) $owner);
        $this->key = "\0lock:{$name}";
    }

    public function acquire(): bool
    {
        // The add is refused, too, if this request has found the lock free and another process has had it since.
        return $this->cache->add($this->key, $this->held($this->seconds), self::ttl($this->seconds) ?? Ttl::Forever, [$this->version])
            || $this->ifOwner(static fn(?string $owner): bool => $owner === null, fn(Token $token, ?Item $found): bool => $this->hold($this->seconds, $token, $found));
    }

    public function release(): bool
    {
        return $this->ifOwner($this->isMine(...), fn(Token $token, ?Item $found): bool => $this->cache->store->delete([$this->key], $token) !== []);
    }

    /**
     * Makes it last for so long from now on.
     *
     * @param int|float|string|null $seconds null: as long as it was made for; 0: it does not end by itself
     */
    public function refresh($seconds = null): bool
    {
        return $this->ifOwner($this->isMine(...), fn(Token $token, ?Item $found): bool => $this->hold(self::whole($seconds ?? $this->seconds), $token, $found));
    }

    public function forceRelease(): void
    {
        $this->cache->delete($this->key);
    }

    protected function getCurrentOwner(): ?string
    {
        try {
            // What lies near may be the lock as it was when this request began.
            $found = Far::fetch($this->cache->store, [$this->key])->items[$this->key] ?? null;
        } catch (StoreUnavailable) {
            return null;
        }

        return self::ownerIn($found?->value);
    }

    /** Seconds, none of which is lost: half a second is no lock without an end. */
    private static function whole(int|float|string|null $seconds): int
    {
        return \is_int($seconds) ? $seconds : (int) ceil((float) $seconds);
    }

    private function isMine(?string $owner): bool
    {
        return $owner === $this->owner;
    }

    /** @param ?Item $found null: nothing. Then it is added, as the add of another process refuses no write under an older token */
    private function hold(int $seconds, Token $token, ?Item $found): bool
    {
        $item = new Item($this->key, $this->held($seconds), self::ttl($seconds), [$this->version], $token, version: $found->version ?? Item::FROM_NOTHING);

        return $this->cache->store->save([$item], Updates::mode($item, $found)) === [];
    }

    /** @return array{string, ?float} the owner, and until when it has the lock, in Unix seconds; null: until it is released */
    private function held(int $seconds): array
    {
        return [$this->owner, $seconds > 0 ? self::now() + $seconds : null];
    }

    /** Null: it has none, or its time is over. */
    private static function ownerIn(mixed $held): ?string
    {
        return \is_array($held) && \is_string($held[0] ?? null) && (!isset($held[1]) || $held[1] > self::now()) ? $held[0] : null;
    }

    /**
     * An item's expiry is a whole second, counted from the second that has begun. So the item of a lock lives a second longer, and says itself when
     * the lock ends.
     *
     * @return ?int seconds; null: for ever
     */
    private static function ttl(int $seconds): ?int
    {
        return $seconds > 0 ? $seconds + 1 : null;
    }

    /** Unix seconds, with microseconds, and as a test of an application has set them. */
    private static function now(): float
    {
        return (float) Carbon::now()->format('U.u');
    }

    /**
     * @param \Closure(?string): bool $is whether that owner, or none, is the right one
     * @param \Closure(Token, ?Item): bool $do if nothing has changed since the token; the item that is there
     */
    private function ifOwner(\Closure $is, \Closure $do): bool
    {
        try {
            $token = $this->cache->token($this->key);
            $found = $this->cache->store->fetch([$this->key])->items[$this->key] ?? null;

            return $is(self::ownerIn($found?->value)) && $do($token, $found);
        } catch (StoreUnavailable) {
            return false;
        }
    }
}
