<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Cache;
use Larder\Exception\StoreUnavailable;
use Larder\Item;
use Larder\SaveMode;
use Larder\Store\ChaosStore;
use Larder\Store\FileStore;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ChaosStore::class)]
final class ChaosStoreTest extends TestCase
{
    private ?ChaosStore $store = null;

    public function testWhatIsDownFailsInEveryCall(): void
    {
        $store = $this->store();
        $store->isDown = true;
        $calls = [
            'read' => static fn(): mixed => $store->read('key'),
            'fetch' => static fn(): mixed => $store->fetch(['key']),
            'token' => static fn(): mixed => $store->token('key'),
            'save' => static fn(): mixed => $store->save([new Item('key', 1)]),
            'delete' => static fn(): mixed => $store->delete(['key']),
            'increment' => static fn(): mixed => $store->increment('key'),
            'touch' => static fn(): mixed => $store->touch(['key'], 1),
            'invalidateTags' => static function () use ($store): void {
                $store->invalidateTags(['tag']);
            },
            'clear' => $store->clear(...),
            'prune' => static fn(): mixed => $store->prune(),
            'keys' => static fn(): mixed => $store->keys(),
            'statistics' => static fn(): mixed => $store->statistics(),
        ];
        foreach ($calls as $name => $call) {
            try {
                $call();
                self::fail("{$name}() did not fail.");
            } catch (StoreUnavailable $failure) {
                self::assertStringContainsString("its {$name}() was to fail", $failure->getMessage());
            }
        }
        self::assertSame(array_keys($calls), $store->calls);
    }

    public function testAShareOfTheCallsFailsTheSameForTheSameSeed(): void
    {
        $outcomes = [];
        foreach ([7, 7, 8] as $i => $seed) {
            $store = new ChaosStore(seed: $seed);
            $store->failing = 0.3;
            $cache = new Cache($store);
            for ($call = 0; $call < 1_000; $call++) {
                $outcomes[$i][] = $cache->set('key', 1);
            }
        }
        self::assertSame($outcomes[0], $outcomes[1]);
        self::assertNotSame($outcomes[0], $outcomes[2]);
        $failed = \count(array_filter($outcomes[0], static fn(bool $outcome): bool => !$outcome));
        self::assertGreaterThan(230, $failed);
        self::assertLessThan(370, $failed);
    }

    public function testWhatIsRefusedLeavesNothingOlderBehind(): void
    {
        $store = $this->store();
        $store->save([new Item('key', 'old')]);
        $store->refused = ['key'];
        self::assertSame(['key'], $store->save([new Item('key', 'new')], SaveMode::Add));
        self::assertTrue($this->has('key'));
        self::assertSame(['key'], $store->save([new Item('key', 'new'), new Item('other', 1)]));
        self::assertFalse($this->has('key'));
        self::assertTrue($this->has('other'));
    }

    public function testADelayIsWhatEachCallTakes(): void
    {
        $store = $this->store();
        $store->delay = 0.01;
        $began = hrtime(true);
        $store->fetch(['key']);
        self::assertGreaterThan(9_900_000, hrtime(true) - $began);
    }

    public function testAStoreThatTellsNoValuesIsReadAllTheSame(): void
    {
        $scratch = new Scratch();
        $store = new ChaosStore(new FileStore($scratch->path));
        $store->save([new Item('key', 'value')]);
        self::assertSame(['value', 'default'], [$store->read('key'), $store->read('absent', 'default')]);
    }

    private function has(string $key): bool
    {
        return $this->store()->fetch([$key])->items !== [];
    }

    private function store(): ChaosStore
    {
        return $this->store ??= new ChaosStore();
    }
}
