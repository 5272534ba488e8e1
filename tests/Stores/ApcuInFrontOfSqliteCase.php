<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Reads;
use Larder\Store;
use Larder\Store\ApcuStore;

/** APCu in front of SQLite, whatever may be in front of it. */
abstract class ApcuInFrontOfSqliteCase extends TieredStoreCase
{
    final protected function setUp(): void
    {
        $this->near('test')->clear();
    }

    final public function isBlockedByTheDead(): bool
    {
        return true;
    }

    final protected function near(string $name): Store&Reads
    {
        return new ApcuStore("near-{$name}");
    }
}
