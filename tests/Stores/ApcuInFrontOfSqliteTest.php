<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Store\Sqlite\SqliteLog;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

#[CoversClass(TieredStore::class)]
#[CoversClass(SqliteLog::class)]
final class ApcuInFrontOfSqliteTest extends ApcuInFrontOfSqliteCase {}
