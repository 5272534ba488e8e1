<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Reads;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\Sqlite\SqliteLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(SqliteLog::class)]
final class ArrayInFrontOfSqliteTest extends TieredStoreCase
{
    protected function near(string $name): Store&Reads
    {
        return new ArrayStore();
    }
}
