<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Updates;
use Larder\Event\Written;
use Larder\Exception\UnsupportedOperation;
use Larder\OnConflict;
use Larder\Store;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use Larder\Tests\EventList;
use Larder\Token;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Updates::class)]
final class UpdateTest extends TestCase
{
    public function testATokenOfAStoreThatIsDownRefusesEveryWrite(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $store->isDown = true;
        $token = $cache->token('key');
        $store->isDown = false;
        self::assertTrue($cache->set('key', 'old'));
        self::assertFalse($cache->set('key', 'late', token: $token));
        self::assertSame('old', $cache->get('key'));
        self::assertFalse($cache->set('key', 'late', token: $token, onConflict: OnConflict::Remove));
        self::assertNull($cache->get('key'));
    }

    public function testADeleteThatAStoreDoesNotLearnOfTellsNothingOfWhatExisted(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store);
        $cache->set('key', 'value');
        $store->isDown = true;
        [$existed, $among] = [true, ['key']];
        self::assertFalse($cache->delete('key', $existed));
        self::assertFalse($cache->deleteMany(['key'], $among));
        self::assertSame([null, null], [$existed, $among]);
    }

    public function testAnUpdateOfAStoreThatIsDownChangesNothingAndOwesNothing(): void
    {
        foreach (['token', 'fetch', 'save'] as $failing) {
            $store = new ChaosStore();
            $cache = new Cache($store);
            $cache->set('key', 'old');
            $store->before = static function (string $call) use ($store, $failing): void {
                $store->isDown = $call === $failing;
            };
            self::assertFalse($cache->update('key', static fn(): string => 'new'), $failing);
            $store->before = null;
            $store->isDown = false;
            self::assertSame('old', $cache->get('key'), $failing);
        }
    }

    public function testAnUpdateGivesUpWhereTheStoreCannotTakeTheValue(): void
    {
        $cache = new Cache(new ArrayStore(size: 1 << 20));
        $calls = 0;
        self::assertFalse($cache->update('key', static function () use (&$calls): string {
            $calls++;

            return str_repeat('x', 2 << 20);
        }));
        self::assertLessThan(100, $calls);
    }

    public function testAnUpdateGivesUpWhereOthersAreAlwaysFaster(): void
    {
        $store = new ChaosStore();
        $store->before = static function (string $call) use ($store): void {
            if ($call === 'save') {
                $store->store->increment('key');
            }
        };
        $calls = 0;
        self::assertFalse((new Cache($store))->update('key', static function (mixed $value) use (&$calls): mixed {
            self::assertSame($calls === 0 ? null : $calls, $value);
            $calls++;

            return 0;
        }));
        self::assertSame(1_000, $calls);
        self::assertSame(1_000, $store->store->fetch(['key'])->items['key']->value ?? null);
    }

    public function testAnUpdateIsToldToListeners(): void
    {
        $events = new EventList();
        $cache = new Cache(new ArrayStore(), events: $events);
        self::assertTrue($cache->update('key', static fn(): int => 1));
        self::assertEquals([new Written(['key'])], $events->events);
    }

    public function testAStoreThatJudgesNoTokensTakesNone(): void
    {
        $store = self::createStub(Store::class);
        $store->method('capabilities')->willReturn([]);
        $cache = new Cache($store);
        $token = new Token('', 0);
        foreach ([
            static fn(): mixed => $cache->token('key'),
            static fn(): mixed => $cache->update('key', static fn(): int => 1),
            static fn(): mixed => $cache->set('key', 1, token: $token),
            static fn(): mixed => $cache->setMany(['key' => 1], tokens: ['key' => $token]),
            static fn(): mixed => $cache->add('key', 1, token: $token),
            static fn(): mixed => $cache->replace('key', 1, token: $token),
        ] as $write) {
            try {
                $write();
                self::fail('A token was taken that nothing judges.');
            } catch (UnsupportedOperation $failure) {
                self::assertStringContainsString('cannot judge tokens', $failure->getMessage());
            }
        }
    }
}
