<?php

declare(strict_types=1);

namespace Larder\Store\File;

use Larder\Capability;
use Larder\Dsn;
use Larder\Fetched;
use Larder\Lease\AddedLeases;
use Larder\Leases;
use Larder\SaveMode;
use Larder\Store;
use Larder\StoreStatistics;
use Larder\Tidying;
use Larder\Token;

/** A store that is a directory, in any format of files. */
abstract class DirectoryStore implements Store, Leases, Tidying
{
    /** The options of a DSN that bounds() reads. */
    protected const BOUNDS = ['timeout', 'size', 'files', 'evict'];

    protected function __construct(
        private readonly Directory $directory,
    ) {}

    final public function fetch(array $keys): Fetched
    {
        return $this->directory->fetch($keys);
    }

    final public function token(string $key): Token
    {
        return $this->directory->token($key);
    }

    final public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        return $this->directory->save($items, $mode);
    }

    final public function delete(array $keys, ?Token $token = null): array
    {
        return $this->directory->delete($keys, $token);
    }

    final public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->directory->increment($key, $by, $initial, $ttl);
    }

    final public function touch(array $keys, ?int $ttl): array
    {
        return $ttl !== null && $ttl <= 0 ? $this->delete($keys) : $this->directory->touch($keys, $ttl);
    }

    final public function invalidateTags(array $tags, int $serveStale = 0): void
    {
        $this->directory->invalidateTags($tags, $serveStale);
    }

    final public function clear(): void
    {
        $this->directory->clear();
    }

    final public function prune(): int
    {
        return $this->directory->prune();
    }

    final public function tidy(): int
    {
        return $this->directory->tidy();
    }

    /** Looks at every file. */
    final public function keys(string $prefix = ''): iterable
    {
        return $this->directory->keys($prefix);
    }

    final public function statistics(): StoreStatistics
    {
        return $this->directory->statistics();
    }

    final public function acquire(string $name, string $owner, float $seconds): bool
    {
        return $this->leases()->acquire($name, $owner, $seconds);
    }

    final public function refresh(string $name, string $owner, float $seconds): bool
    {
        return $this->leases()->refresh($name, $owner, $seconds);
    }

    final public function fence(string $name, string $owner): ?int
    {
        return $this->leases()->fence($name, $owner);
    }

    final public function release(string $name, string $owner): bool
    {
        return $this->leases()->release($name, $owner);
    }

    final public function capabilities(): array
    {
        $retention = $this->directory->retains() ? [Capability::Retention] : [];

        return [Capability::WholeClear, Capability::Tags, Capability::Tokens, Capability::Keys, Capability::Sharing, Capability::Durability, ...$retention];
    }

    /**
     * Options: timeout (seconds to wait for another writer); size (bytes at most); files (items at most); evict (switch:
     * whether a full directory drops items or refuses).
     *
     * @return array{timeout: float, size: ?int, files: ?int, evict: bool} arguments of the constructors
     */
    final protected static function bounds(Dsn $dsn): array
    {
        $files = $dsn->integer('files', 0);

        return [
            'timeout' => $dsn->seconds('timeout', 1.0),
            'size' => $dsn->bytes('size'),
            'files' => $files === 0 ? null : $files,
            'evict' => $dsn->switch('evict', true),
        ];
    }

    /** Made anew each time, as it holds this store, which would otherwise hold itself. */
    private function leases(): AddedLeases
    {
        return new AddedLeases($this, $this->directory->atomically(...));
    }
}
