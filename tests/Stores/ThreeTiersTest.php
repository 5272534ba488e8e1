<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** An array in front of APCu in front of SQLite. */
#[CoversClass(TieredStore::class)]
final class ThreeTiersTest extends ApcuInFrontOfSqliteCase
{
    protected function hasThreeTiers(): bool
    {
        return true;
    }
}
