<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache;
use Larder\Cache\Request;
use Larder\Cache\RequestToken;
use Larder\Exception\StoreUnavailable;
use Larder\Store\ArrayStore;
use Larder\Store\ChaosStore;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;
use Psr\Log\NullLogger;

#[CoversClass(Request::class)]
#[CoversClass(RequestToken::class)]
final class RequestTokenTest extends TestCase
{
    public function testARequestWhoseStoreIsDownBeginsWhenItIsBack(): void
    {
        $store = new ChaosStore();
        $cache = new Cache($store, judgesAdds: true);
        $store->isDown = true;
        self::assertNull($cache->get('options'));
        $store->isDown = false;
        self::assertNull($cache->get('options'));
        $store->store->delete(['row']);
        self::assertFalse($cache->add('row', 'old'));
        $store->isDown = true;
        $cache->refresh();
        $store->isDown = false;
        self::assertTrue($cache->add('row', 'of the next request'));
    }

    public function testTheFirstUseMayBeAnything(): void
    {
        foreach ([
            static fn(Cache $cache): mixed => $cache->has('options'),
            static fn(Cache $cache): mixed => $cache->remember('options', static fn(): array => []),
            static fn(Cache $cache): mixed => $cache->update('options', static fn(): array => []),
            static fn(Cache $cache): mixed => $cache->increment('options', min: 0),
            static fn(Cache $cache): mixed => $cache->saveMany([]),
            static fn(Cache $cache): mixed => $cache->namespace('part')->get('options'),
        ] as $use) {
            $store = new ArrayStore();
            $cache = new Cache($store, strict: true, judgesAdds: true);
            $use($cache);
            $cache->get('options');
            $store->delete(['row']);
            self::assertFalse($cache->add('row', 'old'));
        }
    }

    public function testManyOwnWritesAreRememberedOrTheTokenIsTakenAnew(): void
    {
        $cache = new Cache(new ArrayStore(), strict: true, judgesAdds: true);
        $cache->get('options');
        for ($i = 0; $i < 70; $i++) {
            $keys = array_map(static fn(int $number): string => "{$i}: {$number}", range(0, 999));
            $cache->deleteMany($keys);
            self::assertTrue($cache->add($keys[0], 'own word'));
        }
        self::assertTrue($cache->add('0: 1', 'own word'));
    }

    public function testManyChangesOfItsOwnLeaveTheBeginningOfTheRequestKnown(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store, strict: true, judgesAdds: true);
        $cache->get('options');
        $store->delete(['row']);
        for ($i = 0; $i < 500; $i++) {
            $cache->invalidateTags(["own {$i}"]);
            self::assertFalse($cache->add('row', 'old'));
            self::assertTrue($cache->add("own {$i}", 'own word', tags: ["own {$i}"]));
        }
        $store->delete(['later']);
        foreach ([0, 250, 499] as $i) {
            self::assertFalse($cache->add('later', 'old', tags: ["own {$i}"]));
        }
        self::assertTrue($cache->add('free', 'row', tags: ['own 0', 'own 499']));
    }

    public function testAPartThatForgetsItsOwnKeysLeavesTheOthersJudgedAsBefore(): void
    {
        $store = new ArrayStore();
        $cache = new Cache($store, strict: true, judgesAdds: true);
        $part = $cache->namespace('part');
        $cache->get('options');
        $store->delete(['row']);
        $part->deleteMany(array_map(static fn(int $number): string => "{$number}", range(0, 40_000)));
        self::assertTrue($part->add('0', 'own word'));
        self::assertFalse($cache->add('row', 'old'));
    }

    public function testNothingIsAddedThatIsOlderThanAnOutageAtTheBeginningOfTheRequest(): void
    {
        $store = new ArrayStore();
        $chaos = new ChaosStore($store);
        $cache = new Cache($chaos, logger: new NullLogger(), judgesAdds: true);
        $chaos->isDown = true;
        $cache->get('options');
        $chaos->isDown = false;
        $store->delete(['row']);
        self::assertFalse($cache->add('row', 'old'));
        $cache->get('options');
        self::assertFalse($cache->add('row', 'old'));
        $cache->set('own', 'word');
        $cache->delete('own');
        self::assertTrue($cache->add('own', 'own word'));
        self::assertTrue($cache->invalidateTags(['mine']));
        self::assertFalse($cache->add('row', 'old'));
        self::assertTrue($cache->add('tagged', 'own word', tags: ['mine']));
        $cache->refresh();
        self::assertTrue($cache->add('row', 'new'));
    }

    #[TestWith([false, 'tags'])]
    #[TestWith([true, 'tags'])]
    #[TestWith([false, 'a part'])]
    #[TestWith([true, 'a part'])]
    #[TestWith([false, 'all'])]
    #[TestWith([true, 'all'])]
    public function testWhatIsDeliveredLateIsTheRequestsOwnWordAllTheSame(bool $isStrict, string $change): void
    {
        $store = new ArrayStore();
        $chaos = new ChaosStore($store);
        $cache = new Cache($chaos, logger: new NullLogger(), strict: $isStrict, judgesAdds: true);
        $part = $cache->namespace('part');
        $cache->get('options');
        $store->delete(['row']);
        $chaos->isDown = true;
        for ($i = 0; $i < 2; $i++) {
            try {
                self::assertFalse(match ($change) {
                    'tags' => $cache->invalidateTags(["mine {$i}"]),
                    'a part' => $part->clear(),
                    default => $cache->clear(),
                });
            } catch (StoreUnavailable) {
                self::assertTrue($isStrict);
            }
        }
        $chaos->isDown = false;
        $store->delete(['between']);
        $cache->get('options');
        $part->get('options');
        self::assertFalse($cache->health()->isFlagged());
        $store->delete(['later']);
        self::assertSame($change === 'all', $cache->add('row', 'old'));
        self::assertTrue($cache->add('tagged', 'own word', tags: ['mine 0', 'mine 1']));
        self::assertTrue($part->add('tagged', 'own word', tags: ['mine 0']));
        self::assertFalse($cache->add('later', 'old', tags: ['mine 0']));
    }
}
