<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Tier\SqliteLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(SqliteLog::class)]
final class ApcuInFrontOfSqliteTest extends TieredStoreContract
{
    protected function setUp(): void
    {
        $this->near("test")->clear();
    }

    protected function isBlockedByTheDead(): bool
    {
        return true;
    }

    protected function near(string $name): Store&DirectReads
    {
        return new ApcuStore("near-{$name}");
    }
}
