<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Item;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Tests\EventList;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Cache::class)]
final class PullTest extends TestCase
{
    public function testThroughATierItTakesAwayWhatIsThereNowAndNotWhatTheRequestHasSeen(): void
    {
        $scratch = new Scratch();
        $dsn = "array: > sqlite:{$scratch->path}/cache.db";
        [$mine, $other] = [Cache::open($dsn), Cache::open($dsn)];
        $other->set('key', 'old');
        self::assertSame('old', $mine->get('key'));
        $other->set('key', 'new');
        self::assertSame('new', $mine->pull('key'));
        $mine->refresh();
        self::assertNull($mine->get('key'));
    }

    public function testWhatAnotherProcessWritesAllTheTimeIsLeftToIt(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 0);
        $writes = 0;
        $store->before = static function (string $call) use ($store, &$writes): void {
            if ($call === 'delete') {
                $store->store->save([new Item('key', ++$writes)]);
            }
        };
        self::assertSame('nothing', $cache->pull('key', 'nothing'));
        $store->before = null;
        self::assertSame($writes, $cache->pull('key'));
    }

    public function testAStoreThatFailsMeanwhileOwesTheDelete(): void
    {
        foreach (['token' => false, 'read' => false, 'delete' => true] as $failing => $owes) {
            $store = new ChaosStore();
            $cache = new Cache($store);
            $cache->set('key', 'value');
            $store->before = static function (string $call) use ($store, $failing): void {
                $store->isDown = $call === $failing;
            };
            self::assertSame('nothing', $cache->pull('key', 'nothing'), $failing);
            self::assertSame($owes, $cache->health()->isFlagged(), $failing);
            $store->before = null;
            $store->isDown = false;
            self::assertSame($owes ? null : 'value', $cache->get('key'), $failing);
        }
    }

    public function testOnlyThePullThatTookItAwayIsADelete(): void
    {
        $events = new EventList();
        $cache = new Cache(new ArrayStore(), events: $events);
        $cache->set('key', 'value');
        self::assertSame('value', $cache->pull('key'));
        self::assertNull($cache->pull('key'));
        self::assertSame(['Written', 'Hit', 'Deleted', 'Missed'], array_map(static fn(object $event): string => (new \ReflectionClass($event))->getShortName(), $events->events));
    }
}
