<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Key;
use Larder\Store\NamespacedStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** A part of a store that several processes share is such a store. */
#[CoversClass(NamespacedStore::class)]
final class NamespaceInSqliteTest extends SqliteContract
{
    protected function named(string $name): NamespacedStore
    {
        return new NamespacedStore($this->inDatabase($name), 'part');
    }

    protected function longestKey(): int
    {
        return Key::LONGEST - \strlen($this->outer(''));
    }

    protected function forge(string $key, \Closure $forge): bool
    {
        return $this->forgeInDatabase($this->outer($key), $forge);
    }

    private function outer(string $key): string
    {
        return Key::internal('in', "part:{$key}");
    }
}
