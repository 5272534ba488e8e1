<?php

declare(strict_types=1);

namespace Larder\Store;

use Larder\Capability;
use Larder\DirectReads;
use Larder\Dsn;
use Larder\Exception;
use Larder\Exception\ExtensionMissing;
use Larder\Exception\InvalidDsn;
use Larder\Exception\UnsupportedOperation;
use Larder\Fetched;
use Larder\Item;
use Larder\SaveMode;
use Larder\Serializer\Contents;
use Larder\SharedMemory;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Token;
use Larder\Ttl;

/**
 * Items in a pool of shared memory that all processes of a user on this machine see: Larder\SharedMemory,
 * the extension's class, does all of it.
 */
final class SharedMemoryStore implements Store, DirectReads
{
    public function __construct(
        private readonly SharedMemory $pool,
    ) {}

    /**
     * @param ?int $size  bytes; null: what larder.size says
     * @param bool $evict whether a full pool makes room by dropping what is worth least, or refuses
     *
     * @throws Exception
     */
    public static function open(string $name = 'default', ?int $size = null, bool $evict = true): self
    {
        if (!\extension_loaded('larder')) {
            throw ExtensionMissing::of('SharedMemoryStore', 'larder');
        }

        return new self(SharedMemory::open($name, $size, $evict));
    }

    /** The path is the pool's name. Options: size (bytes), evict (switch). */
    public static function fromDsn(Dsn $dsn): self
    {
        $dsn->allow('size', 'evict');
        $name = $dsn->path === '' ? 'default' : $dsn->path;
        if (str_contains($name, '/')) {
            throw InvalidDsn::part("shm:{$name}", 'has a path where a pool\'s name should be', 'write it as "shm:name"');
        }

        try {
            return self::open($name, $dsn->bytes('size'), $dsn->switch('evict', true));
        } catch (\ValueError $error) {
            throw InvalidDsn::part("shm:{$name}", 'asks for a pool that cannot be made', lcfirst($error->getMessage()));
        }
    }

    public function read(string $key, mixed $default = null): mixed
    {
        return $this->pool->get($key, $default);
    }

    public function fetch(array $keys): Fetched
    {
        $items = $tokens = [];
        // Before the look: a token may be too old, but must never be younger than the miss it stands for.
        $token = $keys === [] ? null : $this->pool->token($keys[array_key_first($keys)]);
        $found = $this->pool->fetch($keys);
        foreach ($keys as $key) {
            if (isset($found[$key])) {
                [$value, $expiry, $stamp] = $found[$key];
                $items[$key] = Item::found($key, $value, $expiry, $stamp);
            } elseif ($token !== null) {
                $tokens[$key] = $token;
            }
        }

        return new Fetched($items, $tokens);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        foreach ($items as $item) {
            if ($item->tags !== []) {
                throw UnsupportedOperation::by('SharedMemoryStore', Capability::Tags);
            }
            if (\count($items) > 1) {
                Contents::refuse($item->key, $item->value);
            }
        }
        $unsaved = [];
        foreach ($items as $item) {
            $ttl = self::ttl($item->ttl);
            $saved = match (true) {
                $ttl !== null && $ttl <= 0 => $this->saveDead($item->key, $mode),
                $mode === SaveMode::Set => $this->pool->set($item->key, $item->value, $ttl),
                $mode === SaveMode::Add => $this->pool->add($item->key, $item->value, $ttl),
                default => $this->pool->replace($item->key, $item->value, $ttl),
            };
            if (!$saved) {
                $unsaved[] = $item->key;
            }
        }

        return $unsaved;
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        $existed = [];
        foreach ($keys as $key) {
            if ($this->pool->delete($key)) {
                $existed[] = $key;
            }
        }

        return $existed;
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->pool->increment($key, $by, $initial, self::ttl($ttl));
    }

    public function touch(array $keys, ?int $ttl): array
    {
        $touched = [];
        foreach ($keys as $key) {
            if ($this->pool->touch($key, self::ttl($ttl))) {
                $touched[] = $key;
            }
        }

        return $touched;
    }

    public function invalidateTags(array $tags): void
    {
        throw UnsupportedOperation::by('SharedMemoryStore', Capability::Tags);
    }

    public function clear(): void
    {
        $this->pool->clear();
    }

    /** The pool recycles its dead segments by itself. */
    public function prune(): int
    {
        return 0;
    }

    public function keys(string $prefix = ''): iterable
    {
        foreach ($this->pool->keys($prefix) as $key) {
            yield (string) $key;
        }
    }

    public function statistics(): StoreStatistics
    {
        $details = $this->pool->statistics();

        return new StoreStatistics(
            items: self::count($details, 'items'),
            bytes: self::count($details, 'bytes'),
            capacity: self::count($details, 'capacity'),
            hits: self::count($details, 'hits'),
            misses: self::count($details, 'misses'),
            evictions: self::count($details, 'evictions'),
            expired: self::count($details, 'expired'),
            details: $details,
        );
    }

    public function capabilities(): array
    {
        return [Capability::Keys, Capability::Sharing, Capability::Durability];
    }

    private function saveDead(string $key, SaveMode $mode): bool
    {
        if ($mode === SaveMode::Add) {
            return !$this->pool->has($key);
        }

        return $this->pool->delete($key) || $mode === SaveMode::Set;
    }

    private static function ttl(?int $ttl): ?int
    {
        return $ttl === null || $ttl > Ttl::LONGEST ? null : $ttl;
    }

    /** @param array<string, mixed> $details */
    private static function count(array $details, string $name): ?int
    {
        return isset($details[$name]) && \is_int($details[$name]) ? $details[$name] : null;
    }
}
