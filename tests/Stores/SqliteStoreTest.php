<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\SqliteStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(SqliteStore::class)]
final class SqliteStoreTest extends SqliteCase
{
    protected function named(string $name): SqliteStore
    {
        return $this->inDatabase($name);
    }

    public function forge(string $key, \Closure $forge): bool
    {
        return $this->forgeInDatabase($key, $forge);
    }
}
