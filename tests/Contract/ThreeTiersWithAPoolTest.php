<?php

declare(strict_types=1);

namespace Larder\Tests\Contract;

use Larder\DirectReads;
use Larder\Item;
use Larder\Store;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;

/** An array in front of shared memory in front of SQLite. */
#[CoversClass(TieredStore::class)]
final class ThreeTiersWithAPoolTest extends ThreeTiersContract
{
    private readonly Pools $pools;

    protected function setUp(): void
    {
        $this->pools = new Pools(8 << 20);
    }

    protected function tearDown(): void
    {
        parent::tearDown();
        $this->pools->remove();
    }

    /** The pool keeps their hashes; so it does when the item comes from there. */
    public function testAnItemTellsItsTags(): void
    {
        $this->store()->save([new Item('key', 1, 100, ['x', 'y'])]);
        self::assertSame(['x', 'y'], $this->store()->fetch(['key'])->items['key']->tags);
        self::assertSame([], $this->reopened()->fetch(['key'])->items['key']->tags);
    }

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

    protected function near(string $name): Store&DirectReads
    {
        return $this->pools->open($name);
    }
}
