<?php

declare(strict_types=1);

namespace Larder\Tests;

use Larder\DirectReads;
use Larder\Exception\StoreUnavailable;
use Larder\Fetched;
use Larder\SaveMode;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\StoreStatistics;
use Larder\Token;

/** A store that fails on demand, and notes what it was asked. */
final class FailingStore implements Store, DirectReads
{
    public bool $isDown = false;

    /** @var list<string> keys that it will not save */
    public array $refused = [];

    /** @var list<string> the methods that were called */
    public array $calls = [];

    public function __construct(
        public readonly ArrayStore $store = new ArrayStore(),
    ) {}

    public function read(string $key, mixed $default = null): mixed
    {
        return $this->up('read')->read($key, $default);
    }

    public function fetch(array $keys): Fetched
    {
        return $this->up('fetch')->fetch($keys);
    }

    public function save(array $items, SaveMode $mode = SaveMode::Set): array
    {
        $store = $this->up('save');
        $unsaved = $accepted = [];
        foreach ($items as $item) {
            if (\in_array($item->key, $this->refused, true)) {
                $unsaved[] = $item->key;
                $store->delete([$item->key]);
            } else {
                $accepted[] = $item;
            }
        }

        return [...$unsaved, ...$store->save($accepted, $mode)];
    }

    public function delete(array $keys, ?Token $token = null): array
    {
        return $this->up('delete')->delete($keys, $token);
    }

    public function increment(string $key, int $by = 1, int $initial = 0, ?int $ttl = null): int
    {
        return $this->up('increment')->increment($key, $by, $initial, $ttl);
    }

    public function touch(array $keys, ?int $ttl): array
    {
        return $this->up('touch')->touch($keys, $ttl);
    }

    public function invalidateTags(array $tags): void
    {
        $this->up('invalidateTags')->invalidateTags($tags);
    }

    public function clear(): void
    {
        $this->up('clear')->clear();
    }

    public function prune(): int
    {
        return $this->up('prune')->prune();
    }

    public function keys(string $prefix = ''): iterable
    {
        return $this->up('keys')->keys($prefix);
    }

    public function statistics(): StoreStatistics
    {
        return $this->up('statistics')->statistics();
    }

    public function capabilities(): array
    {
        return $this->store->capabilities();
    }

    private function up(string $call): ArrayStore
    {
        $this->calls[] = $call;

        return $this->isDown ? throw StoreUnavailable::because('The store', 'the test said so', 'end the test') : $this->store;
    }
}
