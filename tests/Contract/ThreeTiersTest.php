<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\SqliteStore;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** An array in front of APCu in front of SQLite. */
#[CoversClass(TieredStore::class)]
final class ThreeTiersTest extends TieredStoreContract
{
    protected function setUp(): void
    {
        $this->near('test')->clear();
    }

    protected function near(string $name): Store&DirectReads
    {
        return new ApcuStore("near-{$name}");
    }

    protected function named(string $name): ChaosStore
    {
        $far = new SqliteStore("{$this->path()}/cache.db", $name, timeout: 30.0);
        $log = $far->log();

        return RequestEachTime::of(new TieredStore(new ArrayStore(), new TieredStore($this->near($name), $far, $log), $log));
    }

    protected function isBlockedByTheDead(): bool
    {
        return true;
    }
}
