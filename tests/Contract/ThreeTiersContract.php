<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Store\SqliteStore;
use Larder\Tier\TieredStore;

/** An array in front of what is near() in front of SQLite. */
abstract class ThreeTiersContract extends TieredStoreContract
{
    final protected function named(string $name): ChaosStore
    {
        return RequestEachTime::of($this->tier($name));
    }

    final protected function tier(string $name): TieredStore
    {
        $far = new SqliteStore("{$this->path()}/cache.db", $name, timeout: 30.0);
        $log = $far->log();

        return new TieredStore(new ArrayStore(), new TieredStore($this->near($name), $far, $log), $log);
    }
}
