<?php

declare(strict_types=1);

namespace Larder\Cache;

use Larder\Capability;
use Larder\Counts;
use Larder\Exception\NotACounter;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\Numbers;
use Larder\Store;
use Larder\Token;

/**
 * How Cache::increment() counts under conditions: with a least sum, without making a counter, or what is no int yet. A store
 * that can do that in one moment does (see Counts). On others it is compare and set.
 */
final class Counting
{
    private const TRIES = 1_000;

    /** Microseconds to sleep at most between two tries. */
    private const LONGEST_SLEEP = 4_000;

    /**
     * @param \Closure(Item): ?Envelope $live  what an item holds; null: its time is over
     * @param \Closure(): float         $clock the time in Unix seconds
     */
    public function __construct(
        private readonly Gate $gate,
        private readonly \Closure $live,
        private readonly \Closure $clock,
    ) {}

    /**
     * @param ?int $ttl seconds, of a counter that is made
     *
     * @return int|false false: there is none and none was to be made, or the store is unavailable, or others change it all the time
     *
     * @throws NotACounter
     * @throws StoreUnavailable if the cache is strict
     */
    public function count(string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, Numbers $numbers): int|false
    {
        for ($tries = 0; $tries < self::TRIES; $tries++) {
            if ($tries > 1) {
                usleep(random_int(0, min(self::LONGEST_SLEEP, 10 << min($tries, 20))));
            }
            $counted = $this->gate->attempt(fn(Store $store): array => $this->inOneMoment($store, $key, $by, $initial, $ttl, $min, $create, $numbers)
                ?? $this->underAToken($store, $key, $by, $initial, $ttl, $min, $create, $numbers)
                ?? []);
            if ($counted === null) {
                return false;
            }
            if ($counted !== []) {
                return $counted[0] ?? false;
            }
        }

        return false;
    }

    /**
     * @return array{0?: ?int}|null what was counted, null in it: there is none; empty: others have changed it meanwhile; null: the store
     *                              cannot, or there is nothing that could be counted up
     *
     * @throws NotACounter
     */
    private function inOneMoment(Store $store, string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, Numbers $numbers): ?array
    {
        if (!$store instanceof Counts || !\in_array(Capability::Counts, $store->capabilities(), true)) {
            return null;
        }
        try {
            return [$store->count($key, $by, $initial, $ttl, $min, $create)];
        } catch (NotACounter) {
            $found = $store->fetch([$key])->items[$key] ?? null;
            if (\is_int($found?->value)) {
                // The sum leaves the range of int, or others have made it an int meanwhile.
                Counter::floored($key, $found->value, $by, $min);

                return [];
            }
        }
        $live = $found === null ? null : ($this->live)($found);
        if ($found === null || $live === null) {
            // There is nothing to count up, and the item there has no tags to keep.
            return null;
        }
        $number = $numbers->of($live->value) ?? throw Counter::isNoInteger($key, get_debug_type($live->value));
        Counter::floored($key, $number, $by, $min);
        try {
            return [$store->count($key, $by, $initial, $ttl, $min, $create, $found->version, $number)];
        } catch (NotACounter) {
            // Others have changed it meanwhile.
            return [];
        }
    }

    /** @return ?array{?int} what was counted, null in it: there is none; null: others have changed it meanwhile */
    private function underAToken(Store $store, string $key, int $by, int $initial, ?int $ttl, ?int $min, bool $create, Numbers $numbers): ?array
    {
        $read = Updates::read($store, $key);
        if ($read === null) {
            return [null];
        }
        [$token, $found] = $read;
        $live = $found === null ? null : ($this->live)($found);
        if ($found === null || $live === null) {
            if (!$create) {
                return [null];
            }
            $item = new Item($key, Counter::floored($key, $initial, $by, $min), $ttl, [], $token, version: $found->version ?? Item::FROM_NOTHING, keeps: true);
        } else {
            $number = $numbers->of($live->value) ?? throw Counter::isNoInteger($key, get_debug_type($live->value));
            $left = $found->expiry === null ? null : max(1, $found->expiry - (int) ($this->clock)());
            $item = $this->item($found, Counter::floored($key, $number, $by, $min), $left, $token);
        }

        return $store->save([$item], Updates::mode($item, $found)) === [] ? [\is_int($item->value) ? $item->value : null] : null;
    }

    private function item(Item $found, int $sum, ?int $ttl, Token $token): Item
    {
        return new Item($found->key, $sum, $ttl, $found->tags, $token, version: $found->version, keeps: true);
    }
}
