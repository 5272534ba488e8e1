<?php

declare(strict_types=1);

namespace Larder\Laravel;

use Illuminate\Cache\Lock;
use Illuminate\Support\Carbon;
use Larder\Cache;
use Larder\Cache\Far;
use Larder\Exception\StoreUnavailable;
use Larder\Key;
use Larder\PendingItem;
use Larder\Ttl;

/**
 * A lock of Laravel: an item that one process can add. It is prolonged or released only while it is its owner's. A store that evicts may
 * lose it, as those of Laravel may.
 */
final class LarderLock extends Lock
{
    private readonly string $key;

    /**
     * @param string                             $name
     * @param int|float|string|null              $seconds 0: it does not end by itself; configuration has strings, too
     * @param int|float|string|\Stringable|null $owner   null: a new one
     * @param string                             $tag     of all locks of the store
     */
    public function __construct(
        private readonly Cache $cache,
        $name,
        $seconds,
        $owner,
        private readonly string $tag,
    ) {
        parent::__construct($name, self::whole($seconds), $owner === null ? null : (string) $owner);
        $this->key = Key::fitting("\0lock:{$name}", "\0lock\0");
    }

    public function acquire(): bool
    {
        // The add is refused, too, if this request has found the lock free and another process has had it since.
        return $this->cache->add($this->key, $this->held($this->seconds), self::ttl($this->seconds), [$this->tag])
            || $this->holdFor($this->seconds, null);
    }

    public function release(): bool
    {
        return $this->change($this->owner, null, 0);
    }

    /**
     * Makes it last for so long from now on.
     *
     * @param int|float|string|null $seconds null: as long as it was made for; 0: it does not end by itself
     */
    public function refresh($seconds = null): bool
    {
        return $this->holdFor(self::whole($seconds ?? $this->seconds), $this->owner);
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

    /** @param ?string $owner as of change() */
    private function holdFor(int $seconds, ?string $owner): bool
    {
        return $this->change($owner, $this->held($seconds), self::ttl($seconds));
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
     */
    private static function ttl(int $seconds): int|Ttl
    {
        return $seconds > 0 ? $seconds + 1 : Ttl::Forever;
    }

    /** Unix seconds, with microseconds, and as a test of an application has set them. */
    private static function now(): float
    {
        return (float) Carbon::now()->format('U.u');
    }

    /**
     * Stores what is to be there instead, unless another process changes the lock meanwhile so that it has another owner.
     *
     * @param ?string                $owner that it must have; null: none
     * @param ?array{string, ?float} $held  as of held()
     * @param int|Ttl                $ttl   0: nothing is to be there
     */
    private function change(?string $owner, ?array $held, int|Ttl $ttl): bool
    {
        try {
            return $this->cache->update($this->key, static function (mixed $found, PendingItem $pending) use ($owner, $held): ?array {
                if (self::ownerIn($found) !== $owner) {
                    $pending->doNotStore();
                }

                return $held;
            }, $ttl, [$this->tag]);
        } catch (StoreUnavailable) {
            return false;
        }
    }
}
