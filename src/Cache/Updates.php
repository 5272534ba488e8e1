<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Exception\StoreUnavailable;
use Larder\Exception\Unstorable;
use Larder\Item;
use Larder\PendingItem;
use Larder\Pooled;
use Larder\SaveMode;
use Larder\Store;
use Larder\Token;
use Larder\Ttl;

/**
 * Compare and set: how Cache::update() reads a value, has it changed, and stores it under the token of before it was read.
 *
 * A refused write leaves the newer value, so that the next round begins with it. A process that is refused again and again sleeps for a
 * random time. So processes that change the same key come one after the other.
 */
final class Updates
{
    private const TRIES = 1_000;

    /** How often in a row the key may be missing: where the store cannot take the value, it is after each try. */
    private const TRIES_IF_MISSING = 64;

    /** Microseconds to sleep at most between two tries. */
    private const LONGEST_SLEEP = 4_000;

    /** @param \Closure(Item): ?Envelope $live what an item holds; null: its time is over */
    public function __construct(
        private readonly Gate $gate,
        private readonly Lifetimes $lifetimes,
        private readonly Writes $writes,
        private readonly \Closure $live,
    ) {}

    /**
     * @param \Closure(mixed, PendingItem): mixed $change
     * @param list<string>                  $tags
     *
     * @return bool whether it was stored
     *
     * @throws StoreUnavailable if the cache is strict
     * @throws Unstorable
     */
    public function run(string $key, \Closure $change, int|\DateInterval|Ttl|null $ttl, array $tags, mixed $default): bool
    {
        $missing = 0;
        for ($tries = 0; $tries < self::TRIES && $missing < self::TRIES_IF_MISSING; $tries++) {
            if ($tries > 1) {
                usleep(random_int(0, min(self::LONGEST_SLEEP, 10 << min($tries, 20))));
            }
            $read = $this->gate->attempt(static fn(Store $store): ?array => self::read($store, $key));
            if ($read === null) {
                return false;
            }
            [$token, $found] = $read;
            $missing = $found === null ? $missing + 1 : 0;
            $pending = new PendingItem($key, $ttl, $tags);
            $live = $found === null ? null : ($this->live)($found);
            $value = $change($live === null ? $default : $live->value, $pending);
            if (!$pending->isStored()) {
                return false;
            }
            $item = new Item($key, $this->writes->storable($value), $this->lifetimes->seconds($pending->ttl()), $pending->tags(), $token, version: $found->version ?? Item::FROM_NOTHING, keeps: true);
            // What could not be stored makes nothing untrue: the value is made from what is there.
            $unsaved = $this->gate->attempt(static fn(Store $store): array => self::isCountedHere($store, $found) ? [$key] : $store->save([$item], self::mode($item, $found)));
            if ($unsaved === null || $unsaved === []) {
                return $this->writes->noteAdded($key, $unsaved);
            }
        }

        return false;
    }

    /**
     * Whether this process has counted meanwhile, as by an increment() in the callback. In a pool a counter keeps its version then, and no
     * token tells of one's own changes.
     *
     * @param ?Item $found what the change was made from
     */
    private static function isCountedHere(Store $store, ?Item $found): bool
    {
        return $store instanceof Pooled && \is_int($found?->value) && ($store->fetch([$found->key])->items[$found->key]->value ?? null) !== $found->value;
    }

    /**
     * The token first: an item that is read after it is not older. It is read where it is written, as a near store may not tell tags.
     *
     * @return ?array{Token, ?Item} null: the key's server cannot be asked
     */
    public static function read(Store $store, string $key): ?array
    {
        $token = $store->token($key);
        $fetched = Far::fetch($store, [$key]);
        $item = $fetched->items[$key] ?? null;

        return $item === null && $fetched->failure !== null ? null : [$token, $item];
    }

    /**
     * A value that was made from nothing is stored where there is nothing: an add of another process meanwhile is a fill, which refuses no write.
     * An item that is dead at once only has to refuse fills.
     *
     * @param ?Item $found null: nothing
     */
    public static function mode(Item $item, ?Item $found): SaveMode
    {
        return $found !== null || ($item->ttl !== null && $item->ttl <= 0) ? SaveMode::Set : SaveMode::Add;
    }
}
