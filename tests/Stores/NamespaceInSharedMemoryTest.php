<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Key;
use Larder\Store;
use Larder\Store\NamespacePath;
use Larder\Store\SharedMemoryStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** The namespace of a cache over a pool is a part of the pool, which does all that the pool does. */
#[CoversClass(SharedMemoryStore::class)]
#[CoversClass(NamespacePath::class)]
final class NamespaceInSharedMemoryTest extends PoolCase
{
    protected function of(SharedMemoryStore $pool): Store
    {
        return (new Cache($pool))->namespace('outer')->namespace('part')->store;
    }

    public function longestKey(): int
    {
        return Key::LONGEST - \strlen(Key::internal('in', 'outer:') . Key::internal('in', 'part:'));
    }
}
