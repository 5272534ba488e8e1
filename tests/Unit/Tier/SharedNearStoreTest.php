<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Cache;
use Larder\Item;
use Larder\Key;
use Larder\Store\ArrayStore;
use Larder\Store\SqliteStore;
use Larder\Tests\MemoryLogger;
use Larder\Tests\Scratch;
use Larder\Tier\Followed;
use Larder\Tier\Follower;
use Larder\Tier\TieredStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

/** One near store in front of two far stores: a mistake, which is told, and never mixes their values. */
#[CoversClass(Follower::class)]
#[CoversClass(Followed::class)]
final class SharedNearStoreTest extends TestCase
{
    private Scratch $scratch;

    private ArrayStore $near;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->near = new ArrayStore();
    }

    public function testANearStoreInFrontOfTwoFarOnesGivesNeitherTheValuesOfTheOther(): void
    {
        [$one, $other] = [$this->tier('one'), $this->tier('other')];
        $one->far->save([new Item('key', 'of one')]);
        $other->far->save([new Item('key', 'of other')]);
        for ($request = 0; $request < 3; $request++) {
            foreach ([['of one', $one], ['of other', $other]] as [$value, $tier]) {
                $tier->beginRequest();
                self::assertSame($value, $tier->read('key'));
                self::assertSame($value, $tier->fetch(['key'])->items['key']->value ?? null);
            }
        }
        $details = $one->statistics()->details;
        self::assertSame(['of one', 1], [$this->near->read('key'), $details['near beginnings']], 'It is still that of the first.');
        self::assertGreaterThanOrEqual(3, $details['near bypasses']);
        self::assertSame('It is in use in front of one, too.', $details['near bypassed because']);
        self::assertSame('one', $other->statistics()->details['near others']);
    }

    public function testThatTwoTiersShareANearStoreIsToldOnce(): void
    {
        $this->tier('one')->read('key');
        $cache = new Cache($this->tier('other'), logger: $logger = new MemoryLogger());
        for ($request = 0; $request < 3; $request++) {
            $cache->refresh();
            self::assertNull($cache->get('key'));
        }
        self::assertSame(['warning: A near store is left aside, as it is in use in front of another far store; give each tier its own.'], $logger->lines);
        self::assertSame([['why' => 'They are one and other.']], $logger->contexts);
    }

    /** A request may take long. While it lasts, it reads the near store without another look at whose it is. */
    public function testANearStoreIsThatOfARequestThatTakesHalfAnHour(): void
    {
        $one = $this->tier('one');
        $one->save([new Item('key', 'of one')]);
        self::assertSame('of one', $one->read('key'));
        // After a boot an hour ago at least; there is no earlier time.
        $this->lastUsed(min(1_800, intdiv((int) hrtime(true), 2_000_000_000)));
        $other = $this->tier('other');
        $other->save([new Item('key', 'of other')]);
        $other->beginRequest();
        self::assertSame('of other', $other->read('key'));
        self::assertSame('of one', $one->read('key'));
    }

    public function testANearStoreThatIsInUseNoLongerIsTakenOver(): void
    {
        $one = $this->tier('one');
        $one->save([new Item('key', 'old')]);
        self::assertSame('old', $one->read('key'));
        $this->lastUsed(3_601);
        $key = Key::internal('tier', 'followed');
        $other = $this->tier('other');
        $other->save([new Item('key', 'new')]);
        $other->beginRequest();
        self::assertSame('new', $other->read('key'));
        self::assertSame('new', $this->near->read('key'));
        self::assertSame('other', Followed::read($this->near->read($key), 'other')->place);
    }

    public function testTheSameFarStoreByAnotherNameHasTheSameNearStore(): void
    {
        $one = $this->tier('one');
        $one->save([new Item('key', 'value')]);
        self::assertSame('value', $one->read('key'));
        $same = $this->tier('one', 'by another name');
        self::assertSame('value', $same->read('key'));
        self::assertSame([1, 0, null], [$same->statistics()->details['near beginnings'], $same->statistics()->details['near bypasses'], $same->statistics()->details['near others']]);
        $same->save([new Item('key', 'newer')]);
        $one->beginRequest();
        self::assertSame('newer', $one->read('key'));
    }

    private function lastUsed(int $seconds): void
    {
        $key = Key::internal('tier', 'followed');
        $followed = Followed::read($this->near->read($key), 'one');
        $now = (int) hrtime(true);
        $this->near->save([new Item($key, (new Followed($followed->head, $followed->position, $now - $seconds * 1_000_000_000, microtime(true) - $now / 1e9, 'one'))->toStore())]);
    }

    private function tier(string $far, ?string $place = null): TieredStore
    {
        $store = new SqliteStore("{$this->scratch->path}/{$far}.db", timeout: 30.0);

        return new TieredStore($this->near, $store, $store->log(), place: $place ?? $far);
    }
}
