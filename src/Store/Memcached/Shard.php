<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

use Larder\Cache\Counter;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Payload;
use Larder\Store\Verdict;
use Larder\Token;
use Larder\Ttl;

/** The items on one server, with a clock of their own. What the names and tokens mean is told by MemcachedStore. */
final class Shard
{
    private readonly TagVersions $clock;

    private readonly Values $values;

    private readonly Names $names;

    private readonly Reading $reading;

    private readonly Entries $entries;

    private readonly Tokens $tokens;

    public function __construct(
        public readonly Server $server,
        string $prefix,
        Payload $payload,
    ) {
        $this->clock = new TagVersions($server, substr($prefix, 0, -1) . '!');
        $this->values = new Values($server, $payload, $prefix);
        $this->names = new Names($prefix);
        $this->reading = new Reading($server, $this->clock, $this->names);
        $this->entries = new Entries($server, $this->clock, $this->names, $this->values);
        $this->tokens = new Tokens($server, $this->clock, $this->names, $this->reading, $this->entries);
    }

    /**
     * Sends what fetch() asks for first.
     *
     * @param non-empty-list<string> $keys
     */
    public function announce(array $keys): void
    {
        $this->reading->announce($keys);
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return array<array-key, array{?Item, ?Token, bool}> by key: the item, the token if it is missing, whether it is stale
     *
     * @throws StoreUnavailable
     */
    public function fetch(array $keys): array
    {
        [$epoch, $found] = $this->reading->values($keys);
        $now = time();
        $entries = $needed = [];
        foreach ($keys as $key) {
            $bytes = $found[$this->names->item($key, $epoch)] ?? null;
            $entry = $bytes === null ? null : $this->names->entry($key, $bytes);
            $entries[$key] = $entry;
            if ($entry !== null && $entry->tags !== []) {
                $slots = $this->clock->needed($entry->tags, $entry->version);
                $this->reading->remember($key, $slots);
                $needed += array_flip($slots);
            }
        }
        $this->clock->load(array_keys($needed), $found);
        $fetched = [];
        foreach ($keys as $key) {
            $entry = $entries[$key];
            $verdict = $this->entries->verdict($entry, $now);
            $value = $verdict === Verdict::Dead || $entry === null ? $this->values->nothing : $this->values->of($key, $entry, $epoch);
            $item = $value === $this->values->nothing || $entry === null ? null : Item::found($key, $value, $entry->expiry, $entry->version, $entry->tags);
            $isStale = $item !== null && $verdict === Verdict::Stale;
            $fetched[$key] = [$item, $item !== null && !$isStale ? null : $this->tokens->of($key, $epoch, $entry, $isStale), $isStale];
        }

        return $fetched;
    }

    /** @throws StoreUnavailable */
    public function token(string $key): Token
    {
        [$epoch, $found] = $this->reading->swappable([$key]);
        $bytes = $found[$key][0] ?? null;

        return $this->tokens->of($key, $epoch, $bytes === null ? null : $this->names->entry($key, $bytes), true);
    }

    /**
     * @param non-empty-array<int, Item> $items
     * @param array<int, string>         $payloads by the items' numbers
     *
     * @return list<int> the numbers of those that were not saved
     *
     * @throws StoreUnavailable
     */
    public function save(array $items, array $payloads, SaveMode $mode): array
    {
        $keys = array_values(array_unique(array_map(static fn(Item $item): string => $item->key, $items)));
        [$epoch, $found] = $this->reading->swappable($keys);
        if ($this->makeHoles($items, $mode, $epoch, $found)) {
            [$epoch, $found] = $this->reading->swappable($keys);
        }
        $unsaved = $seen = [];
        foreach ($items as $i => $item) {
            $there = isset($seen[$item->key]) ? $this->reading->again($item->key, $epoch) : $found[$item->key] ?? null;
            $seen[$item->key] = true;
            if (!$this->saveOne($item, $payloads[$i], $mode, $epoch, $there)) {
                $unsaved[] = $i;
            }
        }

        return $unsaved;
    }

    /**
     * Everything is stored by compare and swap, for which something has to be there. An unconditional write would be
     * carried out even if the server comes to it only long after we gave up waiting, and told it to forget what it had.
     *
     * @param array<int, Item>                              $items
     * @param array<array-key, array{string, int|float}> $found what is there, by key
     */
    private function makeHoles(array $items, SaveMode $mode, string $epoch, array $found): bool
    {
        $made = false;
        foreach ($items as $item) {
            if (!isset($found[$item->key]) && $item->token === null && $mode !== SaveMode::Replace && ($item->ttl === null || $item->ttl > 0)) {
                $this->entries->put(null, $this->names->item($item->key, $epoch), Entry::hole(), $item->key);
                $made = true;
            }
        }

        return $made;
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return list<string> those that held something live
     *
     * @throws StoreUnavailable
     */
    public function delete(array $keys, ?Token $token): array
    {
        [$epoch, $found] = $this->reading->swappable($keys);
        $existed = [];
        foreach ($keys as $key) {
            $there = $found[$key] ?? null;
            $name = $this->names->item($key, $epoch);
            while ($there !== null && ($token === null || $this->tokens->descends($key, $epoch, $there, $token))) {
                $lives = $this->entries->lives($key, $epoch, $there);
                // The very entry that was looked at: what others store or take meanwhile is theirs to tell of.
                $outcome = $token === null
                    ? $this->server->remove($there[1], $name)
                    : $this->entries->swap($there[1], $name, Entry::hole(), $key);
                if ($outcome === Outcome::NoRoom) {
                    $this->server->delete($name);
                    $outcome = Outcome::Stored;
                }
                if ($outcome === Outcome::Stored) {
                    if ($lives) {
                        $existed[] = $key;
                    }
                    break;
                }
                $there = $this->reading->again($key, $epoch);
            }
        }

        return $existed;
    }

    /** @throws StoreUnavailable */
    public function increment(string $key, int $by, int $initial, ?int $ttl): int
    {
        [$epoch, $found] = $this->reading->swappable([$key]);
        for ($there = $found[$key] ?? null; ; $there = $this->reading->again($key, $epoch)) {
            $entry = $there === null ? null : $this->entries->living($key, $there[0]);
            $value = $entry === null ? $this->values->nothing : $this->values->of($key, $entry, $epoch);
            if ($value === $this->values->nothing) {
                $entry = null;
            }
            $sum = Counter::sum($key, $entry === null ? $initial : $value, $by);
            $name = $this->names->item($key, $epoch);
            if ($entry === null && $ttl !== null && $ttl <= 0) {
                // A write all the same: of the very entry that was looked at, as others may have begun a counter meanwhile.
                $outcome = $there === null ? Outcome::Stored : $this->server->remove($there[1], $name);
                if ($outcome === Outcome::NoRoom) {
                    $this->server->delete($name);
                }
                if ($outcome !== Outcome::Overtaken) {
                    return $sum;
                }
                continue;
            }
            $next = $entry === null
                ? new Entry(Entry::VALUE, random_bytes(8), $this->clock->tick(), Ttl::expiry($ttl, time()), [], (string) $sum)
                : $entry->with($entry->expiry, (string) $sum, random_bytes(8));
            $outcome = $this->entries->put($there, $name, $next, $key);
            if ($outcome === Outcome::Stored) {
                return $sum;
            }
            if ($outcome === Outcome::NoRoom) {
                throw $this->server->hasNoRoom();
            }
        }
    }

    /**
     * @param non-empty-list<string> $keys
     *
     * @return list<string> those that held something live
     *
     * @throws StoreUnavailable
     */
    public function touch(array $keys, ?int $ttl): array
    {
        [$epoch, $found] = $this->reading->swappable($keys);
        $expiry = Ttl::expiry($ttl, time());
        $touched = [];
        foreach ($keys as $key) {
            for ($there = $found[$key] ?? null; $there !== null; $there = $this->reading->again($key, $epoch)) {
                $entry = $this->entries->living($key, $there[0]);
                if ($entry === null) {
                    break;
                }
                foreach ($this->values->pieces($entry, $epoch) as $piece) {
                    if (!$this->server->touch($piece, $expiry)) {
                        continue 3;
                    }
                }
                $touchedEntry = $entry->with($expiry, $entry->payload, $entry->lineage);
                if ($this->entries->swap($there[1], $this->names->item($key, $epoch), $touchedEntry, $key) === Outcome::Stored) {
                    $touched[] = $key;
                    break;
                }
            }
        }

        return $touched;
    }

    /**
     * @param non-empty-list<string> $tags
     *
     * @throws StoreUnavailable
     */
    public function invalidateTags(array $tags, int $serveStale): void
    {
        $this->clock->invalidate($tags, $serveStale);
    }

    /** @throws StoreUnavailable */
    public function clear(): void
    {
        $this->clock->clear();
        $this->reading->forget();
    }

    /** @param ?array{string, int|float} $there what lies there, and what a swap has to name */
    private function saveOne(Item $item, string $payload, SaveMode $mode, string $epoch, ?array $there): bool
    {
        $name = $this->names->item($item->key, $epoch);
        $entry = null;
        $isDead = $item->ttl !== null && $item->ttl <= 0;
        for (; ; $there = $this->reading->again($item->key, $epoch)) {
            if ($mode !== SaveMode::Set && $this->entries->lives($item->key, $epoch, $there) !== ($mode === SaveMode::Replace)) {
                return false;
            }
            if ($item->token !== null && !($there !== null && $this->tokens->descends($item->key, $epoch, $there, $item->token)
                && $this->clock->verdict($item->tags, $item->token->version, time()) === Verdict::Live)) {
                return false;
            }
            if ($isDead && $mode === SaveMode::Set && $item->token === null) {
                $this->server->delete($name);

                return true;
            }
            if ($isDead && ($mode === SaveMode::Add || $there === null)) {
                return true;
            }
            if ($there === null) {
                // It went meanwhile.
                if ($this->entries->put(null, $name, Entry::hole(), $item->key) === Outcome::NoRoom) {
                    return false;
                }
                continue;
            }
            $lineage = $item->fill ? $this->names->entry($item->key, $there[0])?->lineage : null;
            if ($isDead) {
                $outcome = $this->entries->swap($there[1], $name, Entry::hole($lineage), $item->key);
            } else {
                $entry ??= $this->values->fitting($this->entry($item, $payload), $epoch);
                $outcome = $entry === null
                    ? Outcome::NoRoom
                    : $this->entries->swap($there[1], $name, $entry->with($entry->expiry, $entry->payload, $lineage ?? $entry->lineage), $item->key);
            }
            if ($outcome === Outcome::Stored) {
                return true;
            }
            if ($outcome === Outcome::NoRoom) {
                $this->server->delete($name);

                return false;
            }
        }
    }

    private function entry(Item $item, string $payload): Entry
    {
        return new Entry(
            Entry::VALUE,
            random_bytes(8),
            $item->token->version ?? $this->clock->tick(),
            Ttl::expiry($item->ttl, time()),
            $item->tags,
            $payload,
        );
    }
}
