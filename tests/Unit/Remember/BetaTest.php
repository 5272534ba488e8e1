<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Remember;

use Larder\Cache\Envelope;
use Larder\Item;
use Larder\Remember\Remembering;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** What is costly is computed anew before its time is over. */
#[CoversClass(Remembering::class)]
final class BetaTest extends RememberingCase
{
    #[DataProvider('ways')]
    public function testAValueIsComputedEarlyTheLikelierTheNearerItsEnd(bool $isDirect): void
    {
        $early = [50 => 0, 90 => 0, 98 => 0, 99 => 0];
        foreach ([50, 90, 98, 99] as $age) {
            for ($i = 0; $i < 200; $i++) {
                $this->now = 1_000_000.0;
                $cache = $this->cache($isDirect);
                $this->store->save([new Item('key', (new Envelope('old', 1.0, $this->now + 100.0))->sealed(), 100)]);
                $this->now += $age;
                $early[$age] += $cache->remember('key', self::gives('new'), 100) === 'new' ? 1 : 0;
            }
        }
        // The chance is exp(-left / cost): about 0, 0.00005, 0.14 and 0.37.
        self::assertSame(0, $early[50]);
        self::assertLessThan(5, $early[90]);
        self::assertGreaterThan(6, $early[98]);
        self::assertLessThan(60, $early[98]);
        self::assertGreaterThan(35, $early[99]);
        self::assertLessThan(125, $early[99]);
    }

    public function testABetaOfZeroIsNeverEarlyAndMoreIsEarlier(): void
    {
        $computed = [0 => 0, 1_000 => 0];
        foreach ([0, 1_000] as $beta) {
            for ($i = 0; $i < 50; $i++) {
                $this->store->save([new Item('key', (new Envelope('old', 0.5, $this->now + 100.0))->sealed(), 100)]);
                $computed[$beta] += $this->cache()->remember('key', self::gives('new'), 100, beta: $beta) === 'new' ? 1 : 0;
            }
        }
        self::assertSame(0, $computed[0]);
        self::assertGreaterThan(25, $computed[1_000]);
    }

    public function testWhatWasCostlyIsComputedEarlyAgain(): void
    {
        $cache = $this->cache();
        $computed = 0;
        $compute = static function () use (&$computed): string {
            usleep(2_000);

            return 'value ' . ++$computed;
        };
        for ($i = 0; $i < 20 && $computed < 2; $i++) {
            $this->now = 1_000_000.0;
            $computed = 0;
            $cache->delete('key');
            $cache->remember('key', $compute, 10);
            // A moment before the end, about a tenth of what it cost.
            $this->now += 9.9998;
            $cache->remember('key', $compute, 10);
        }
        self::assertSame(2, $computed);
        self::assertSame('value 2', $cache->get('key'));
    }

    public function testAComputationThatFailsWhileTheValueLivesIsCoveredWithoutGrace(): void
    {
        $this->store->save([new Item('key', (new Envelope('old', 1_000.0, $this->now + 1.0))->sealed(), 1)]);
        $value = $this->cache()->remember('key', self::down(...), 10, beta: 1_000.0);
        self::assertSame('old', $value);
        self::assertCount(1, $this->logger->lines);
    }
}
