<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Cache;
use Larder\Key;
use Larder\Store;
use Larder\Store\NamespacedStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** A part of a store that several processes share is such a store. */
#[CoversClass(NamespacedStore::class)]
final class NamespaceInSqliteTest extends SqliteCase
{
    protected function named(string $name): Store
    {
        return (new Cache($this->inDatabase($name)))->namespace('part')->store;
    }

    public function longestKey(): int
    {
        return Key::LONGEST - \strlen($this->outer(''));
    }

    public function forge(string $key, \Closure $forge): bool
    {
        return $this->forgeInDatabase($this->outer($key), $forge);
    }

    private function outer(string $key): string
    {
        return Key::internal('in', "part:{$key}");
    }
}
