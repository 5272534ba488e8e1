<?php

declare(strict_types=1);

namespace Larder\Tests\Stores;

use Larder\Item;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** An array in front of shared memory in front of SQLite. */
#[CoversClass(TieredStore::class)]
final class ThreeTiersWithAPoolTest extends PoolInFrontOfSqliteCase
{
    /** The pool does not tell the array the tags of what it keeps. */
    public function testATagInvalidatesWhatTheArrayHasFromThePool(): void
    {
        [$here, $there] = [$this->tier('test'), $this->tier('test')];
        foreach (['own' => $here, 'of another process' => $there] as $whose => $writer) {
            $there->save([new Item('key', 'old', 100, ['x'])]);
            self::assertSame('old', $there->read('key'), 'from SQLite into the pool');
            foreach (['from the pool', 'from the array'] as $where) {
                $here->beginRequest();
                self::assertSame('old', $here->read('key'), $where);
            }
            $writer->invalidateTags(['x']);
            $here->beginRequest();
            self::assertNull($here->read('key'), $whose);
            $there->beginRequest();
        }
    }

    protected function hasThreeTiers(): bool
    {
        return true;
    }
}
