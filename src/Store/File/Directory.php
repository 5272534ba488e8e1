<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Cache\Counter;
use Larder\Exception\InvalidOption;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\Item;
use Larder\Lease\AddedLeases;
use Larder\SaveMode;
use Larder\Store\Verdict;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * The work of a store of files, in any format of files:
 *
 *     directory/ab/.lock       held by a process that changes something in ab/; see Lock for what is in it
 *     directory/ab/cdef…       an item, named by a hash of its key; the key itself is inside and compared
 *     directory/ab/lcdef…      a lease (see AddedLeases), which a clear leaves
 *     directory/clock, tags/   the tags' clock
 *     directory/usage          how much of it is in use, if it is bounded
 *
 * A reader takes no lock. A miss notes the tags' clock, and its key version, which counts the writes and deletes of the keys that
 * share it. A fill is stored under the lock, if the key version is still the same. So fills that overlap do not refuse each other. The
 * key version moves before the change is made: a process that is killed in between has refused a fill without need.
 */
final class Directory
{
    private const PRUNED_AT_ONCE = 16;

    /** Files. */
    private const TIDIED_AT_ONCE = 500;

    private readonly TagVersions $tags;

    private readonly Bounds $bounds;

    private readonly \stdClass $foreign;

    private int $nextShard = 0;

    /**
     * @param ?int            $size  bytes at most; null: as many as there is room for
     * @param ?int            $files items at most
     * @param bool            $evict whether a full directory makes room by dropping items, or refuses
     * @param \Closure(): int $clock the time in Unix seconds
     *
     * @throws InvalidOption
     */
    public function __construct(
        private readonly Folder $folder,
        private readonly Format $format,
        ?int $size,
        ?int $files,
        bool $evict,
        private readonly \Closure $clock,
    ) {
        $this->tags = new TagVersions($folder);
        $this->bounds = new Bounds($folder, $format, $size, $files, $evict, $this->tags, $clock);
        $this->foreign = new \stdClass();
    }

    public function retains(): bool
    {
        return $this->bounds->retain();
    }

    /**
     * @param list<string> $keys
     *
     * @throws StoreUnavailable
     */
    public function fetch(array $keys): Fetched
    {
        $this->folder->check();
        $items = $tokens = $stale = [];
        foreach ($keys as $key) {
            [$item, $verdict] = $this->look($key);
            if ($item !== null) {
                $verdict === Verdict::Live ? $items[$key] = $item : $stale[$key] = $item;
            }
            if ($verdict !== Verdict::Live) {
                $tokens[$key] = $this->tokenOf($key, $item !== null, false);
            }
        }

        return new Fetched($items, $tokens, $stale);
    }

    /**
     * Where nothing can be made, there is no token either, and no fill could be stored.
     *
     * Under the lock: a writer moves the key version before the file is there, and a value that is read after the token must not be older.
     */
    public function token(string $key): Token
    {
        return $this->tokenOf($key, true, true);
    }

    /**
     * @param bool $mayBeThere whether there may be a counter, from which what is judged by this would be computed
     * @param bool $isSettled  whether to wait for the end of a write that is in the middle
     */
    private function tokenOf(string $key, bool $mayBeThere, bool $isSettled): Token
    {
        [$shard, , $keyVersion] = $this->place($key);
        try {
            $this->folder->check();
            [$found, $count] = $isSettled ? $this->keyVersionUnderLock($shard, $keyVersion) : $this->keyVersion($shard, $keyVersion);
            // After the key version was read, so that whatever comes in between is younger.
            $isCounter = $mayBeThere && \is_int($this->look($key)[0]?->value);
            [$epoch, $tick] = $this->tags->now();
        } catch (StoreUnavailable) {
            return new Token('', 0);
        }

        return new Token($epoch . $found . ($isCounter ? $count : ''), $tick);
    }

    /**
     * @param list<Item> $items
     *
     * @return list<string>
     *
     * @throws StoreUnavailable
     */
    public function save(array $items, SaveMode $mode): array
    {
        $bodies = $unsaved = [];
        foreach ($items as $item) {
            $bodies[] = $this->format->encode($item->key, $item->value);
        }
        foreach ($items as $i => $item) {
            if (!$this->saveOne($item, $bodies[$i], $mode)) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string>
     *
     * @throws StoreUnavailable
     */
    public function delete(array $keys, ?Token $token): array
    {
        $this->folder->check();
        $existed = [];
        foreach ($keys as $key) {
            [$shard, $path, $keyVersion] = $this->place($key);
            if (!file_exists("{$shard}/.lock") && !file_exists($path)) {
                $this->folder->see($shard);
                // No process has ever looked for it, so there is nothing to refuse either.
                continue;
            }
            if ($this->folder->locked($shard, function (mixed $file) use ($key, $path, $keyVersion, $token): bool {
                $lock = new Lock($file);
                if ($token !== null && !self::isUnchanged($token, $lock, $keyVersion)) {
                    return false;
                }
                $lived = $this->isLive($key);
                $lock->move($keyVersion);
                $this->remove($key, $path);

                return $lived;
            })) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    /** @throws StoreUnavailable */
    public function increment(string $key, int $by, int $initial, ?int $ttl): int
    {
        [$shard, $path, $keyVersion] = $this->place($key);

        return $this->folder->locked($shard, function (mixed $file) use ($key, $path, $keyVersion, $by, $initial, $ttl): int {
            $lock = new Lock($file);
            [$item, $verdict] = $this->look($key);
            $lives = $item !== null && $verdict === Verdict::Live;
            $sum = Counter::sum($key, $lives ? $item->value : $initial, $by);
            $old = $lives ? $this->format->head($path) : null;
            // Other fills may be in flight beside the one that has stored it.
            $old === null || $old->isFilled ? $lock->move($keyVersion) : $lock->moveCount($keyVersion);
            if (!$lives && $ttl !== null && $ttl <= 0) {
                $this->remove($key, $path);

                return $sum;
            }
            $head = $old?->counted() ?? new Head($key, Ttl::expiry($ttl, ($this->clock)()));
            if (!$this->bounds->write($path, $head, $this->format->encode($key, $sum))) {
                throw $this->folder->unavailable('a counter could not be written');
            }

            return $sum;
        });
    }

    /**
     * @param list<string> $keys
     *
     * @return list<string>
     *
     * @throws StoreUnavailable
     */
    public function touch(array $keys, ?int $ttl): array
    {
        $expiry = Ttl::expiry($ttl, ($this->clock)());
        $touched = [];
        foreach ($keys as $key) {
            [$shard, $path] = $this->place($key);
            if ($this->folder->locked($shard, function () use ($key, $path, $expiry): bool {
                $found = $this->isLive($key) ? $this->format->body($path) : null;

                return $found !== null && $this->bounds->write($path, $found[0]->expiringAt($expiry), $found[1]);
            })) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    /**
     * @param list<string> $tags
     *
     * @throws StoreUnavailable
     */
    public function invalidateTags(array $tags, int $serveStale): void
    {
        if ($tags !== []) {
            $this->tags->invalidate($tags, $serveStale, ($this->clock)());
        }
    }

    /** @throws StoreUnavailable */
    public function clear(): void
    {
        foreach ($this->folder->shards() as $shard) {
            $this->folder->locked($shard, function (mixed $file) use ($shard): void {
                // First, so that nothing that is in flight comes back if this process does not get further.
                (new Lock($file))->beginEpoch();
                $leases = 0;
                foreach ($this->folder->items($shard) as $path) {
                    if (Folder::isLease($path)) {
                        // Its holder keeps it.
                        $leases++;
                        continue;
                    }
                    $this->format->remove($path) ?? throw $this->folder->unavailable('a file cannot be removed');
                }
                $leases === 0 ? $this->bounds->noteEmpty($shard) : $this->bounds->removeDead($shard);
            });
        }
    }

    /**
     * Looks through a few shards a call, the next ones the next time.
     *
     * @return int how many items were removed; 0: all were looked at
     *
     * @throws StoreUnavailable
     */
    public function prune(): int
    {
        $shards = $this->folder->shards();
        $removed = 0;
        for ($looked = 0; $looked < \count($shards); $looked++) {
            if ($looked >= self::PRUNED_AT_ONCE && $removed > 0) {
                break;
            }
            $shard = $shards[$this->nextShard++ % \count($shards)];
            $removed += $this->folder->locked($shard, fn(): int => $this->bounds->removeDead($shard));
        }

        return $removed;
    }

    /**
     * Looks at some files of a shard that is drawn by lot: a process that serves one request does not know where the last one was.
     *
     * @return int how many items were removed
     *
     * @throws StoreUnavailable
     */
    public function tidy(): int
    {
        $shards = $this->folder->shards();
        if ($shards === []) {
            return 0;
        }
        $shard = $shards[random_int(0, \count($shards) - 1)];

        return $this->folder->locked($shard, fn(): int => $this->bounds->removeSomeDead($shard, self::TIDIED_AT_ONCE));
    }

    /** @return list<string> */
    public function keys(string $prefix): array
    {
        $keys = [];
        foreach ($this->folder->shards() as $shard) {
            foreach ($this->folder->items($shard) as $path) {
                $head = $this->format->head($path);
                if ($head !== null && str_starts_with($head->key, $prefix) && $this->tags->judge($head, ($this->clock)()) === Verdict::Live) {
                    $keys[] = $head->key;
                }
            }
        }

        return $keys;
    }

    /** Looks at every file, unless the directory is bounded. */
    public function statistics(): StoreStatistics
    {
        [$bytes, $items] = $this->bounds->inUse();

        return new StoreStatistics(items: $items, bytes: $bytes, capacity: $this->bounds->size);
    }

    /**
     * Does something to a key that no other process changes meanwhile.
     *
     * @template T
     *
     * @param \Closure(): T $work
     *
     * @return T
     *
     * @throws StoreUnavailable
     */
    public function atomically(\Closure $work, string $key): mixed
    {
        return $this->folder->locked($this->place($key)[0], static fn(): mixed => $work());
    }

    /** @return array{string, string, int} the shard's path, the item's, and the number of the key version */
    private function place(string $key): array
    {
        $hash = hash('xxh128', $key);
        $shard = "{$this->folder->path}/{$hash[0]}{$hash[1]}";

        $lease = str_starts_with($key, AddedLeases::prefix()) ? Folder::LEASE : '';

        return [$shard, "{$shard}/{$lease}" . substr($hash, 2), (int) hexdec(substr($hash, 2, 3)) % Lock::KEY_VERSIONS];
    }

    /** @return array{string, string} the key version and the count */
    private function keyVersion(string $shard, int $keyVersion): array
    {
        $bytes = $this->folder->directory->contents("{$shard}/.lock", Lock::SIZE + 1);

        return $bytes !== null && \strlen($bytes) === Lock::SIZE
            ? [Lock::keyVersionIn($bytes, $keyVersion), Lock::countIn($bytes, $keyVersion)]
            : $this->keyVersionUnderLock($shard, $keyVersion);
    }

    /** @return array{string, string} the key version and the count, while no process writes */
    private function keyVersionUnderLock(string $shard, int $keyVersion): array
    {
        return $this->folder->locked($shard, static function (mixed $file) use ($keyVersion): array {
            $lock = new Lock($file);

            return [$lock->keyVersion($keyVersion), $lock->count($keyVersion)];
        });
    }

    /** @return array{?Item, Verdict} null: there is nothing, or nothing that can be read */
    private function look(string $key): array
    {
        $found = $this->format->read($this->place($key)[1], $this->foreign);
        if ($found === null || $found[0]->key !== $key) {
            return [null, Verdict::Dead];
        }
        [$head, $value] = $found;
        $verdict = $this->tags->judge($head, ($this->clock)());

        return $verdict === Verdict::Dead ? [null, $verdict] : [Item::found($key, $value, $head->expiry, $head->version, $head->tags), $verdict];
    }

    private function isLive(string $key): bool
    {
        return $this->look($key)[1] === Verdict::Live;
    }

    private function saveOne(Item $item, string $body, SaveMode $mode): bool
    {
        [$shard, $path, $keyVersion] = $this->place($item->key);
        // Not under the shard's lock: it may take another, to begin the clock.
        [$epoch, $tick] = $item->tags === [] ? ["\0\0\0\0\0\0\0\0", 0] : $this->tags->now();
        $saved = $this->folder->locked($shard, function (mixed $file) use ($item, $body, $mode, $path, $keyVersion, $epoch, $tick): bool {
            $lock = new Lock($file);
            $mayBe = $mode === SaveMode::Set || $this->isLive($item->key) === ($mode === SaveMode::Replace);
            if (!$mayBe || !$this->isCurrent($item, $lock, $keyVersion)) {
                return false;
            }
            if (!$item->fill) {
                $lock->move($keyVersion);
            }
            $saved = $item->ttl !== null && $item->ttl <= 0;
            if (!$saved) {
                $head = new Head($item->key, Ttl::expiry($item->ttl, ($this->clock)()), $item->tags, $epoch, $item->token->version ?? $tick, $item->fill);
                $saved = !$this->bounds->isTooLarge($body) && (!$item->keeps || $this->bounds->have($path, $body)) && $this->bounds->write($path, $head, $body);
                if ($saved || $item->keeps) {
                    return $saved;
                }
            }
            if ($saved || $mode === SaveMode::Set) {
                $this->remove($item->key, $path);
            }

            return $saved;
        });
        // For what keeps the other was looked before, as it is gone by now.
        if ($saved && !$this->bounds->keep($shard, $path) && !$item->keeps) {
            $this->folder->locked($shard, fn() => $this->remove($item->key, $path));

            return false;
        }

        return $saved;
    }

    /** Whether nothing has happened since the item's computation began that it should have known of. */
    private function isCurrent(Item $item, Lock $lock, int $keyVersion): bool
    {
        $token = $item->token;

        return $token === null || (self::isUnchanged($token, $lock, $keyVersion)
            && $this->tags->verdict($item->tags, substr($token->epoch, 0, 8), $token->version, ($this->clock)()) === Verdict::Live);
    }

    /** Whether the key was neither written nor deleted since, nor counted, if it was a counter. */
    private static function isUnchanged(Token $token, Lock $lock, int $keyVersion): bool
    {
        $now = $lock->keyVersion($keyVersion);
        $since = substr($token->epoch, 8);

        return $since === $now || $since === $now . $lock->count($keyVersion);
    }

    private function remove(string $key, string $path): void
    {
        $head = $this->format->head($path);
        if ($head === null || $head->key === $key) {
            $this->bounds->remove($path);
        }
    }
}
