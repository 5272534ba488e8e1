<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Reads;
use Larder\Store;
use Larder\Store\ApcuStore;

/** APCu in front of SQLite, whatever may be in front of it. */
abstract class ApcuInFrontOfSqliteContract extends TieredStoreContract
{
    final protected function setUp(): void
    {
        $this->near('test')->clear();
    }

    final protected function isBlockedByTheDead(): bool
    {
        return true;
    }

    final protected function near(string $name): Store&Reads
    {
        return new ApcuStore("near-{$name}");
    }
}
