<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Store;
use Larder\Store\ApcuStore;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** An array in front of APCu in front of SQLite. */
#[CoversClass(TieredStore::class)]
final class ThreeTiersTest extends ThreeTiersContract
{
    protected function setUp(): void
    {
        $this->near('test')->clear();
    }

    protected function near(string $name): Store&DirectReads
    {
        return new ApcuStore("near-{$name}");
    }

    protected function isBlockedByTheDead(): bool
    {
        return true;
    }
}
