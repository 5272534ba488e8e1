<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Cache;

use Larder\Cache\Envelope;
use Larder\Reads;
use Larder\Tests\Unit\Remember\RememberingCase;
use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\DataProvider;

/** What remember() stores besides a value is seen by it alone. */
#[CoversClass(Envelope::class)]
final class EnvelopeTest extends RememberingCase
{
    #[DataProvider('ways')]
    public function testWhatIsPastItsTimeIsForRememberOnly(bool $isDirect): void
    {
        $cache = $this->cache($isDirect);
        $cache->remember('key', self::gives('old'), 10, grace: 60);
        self::assertSame('old', $cache->get('key'));
        self::assertSame(['key' => 'old'], $cache->getMany(['key']));
        $this->now += 10;
        self::assertSame('default', $cache->get('key', 'default'));
        self::assertFalse($cache->has('key'));
        self::assertSame([], $cache->getMany(['key']));
        self::assertSame('default', $cache->pull('key', 'default'));
    }

    #[DataProvider('ways')]
    public function testATouchGivesWhatIsSealedAnotherTime(bool $isDirect): void
    {
        $cache = $this->cache($isDirect);
        $cache->remember('key', self::gives('value'), 10, grace: 5);
        self::assertTrue($cache->touch('key', 100));
        $this->now += 99;
        self::assertSame('value', $cache->get('key'));
        self::assertSame('value', $cache->remember('key', self::gives('new'), 10, beta: 0.0));
        self::assertTrue($cache->touch('key', Ttl::Forever));
        $this->now += 1_000_000;
        self::assertSame('value', $cache->get('key'));
        self::assertTrue($cache->touch('key', 5));
        $this->now += 5;
        self::assertNull($cache->get('key'));
        self::assertFalse($cache->touch('key', 5));
    }

    public function testACounterIsNeverSealed(): void
    {
        $cache = $this->cache();
        $cache->remember('n', static function (): int {
            usleep(2_000);

            return 5;
        }, 100, grace: 100);
        self::assertSame(6, $cache->increment('n'));
    }

    public function testAValueThatLooksLikeAnEnvelopeIsAValue(): void
    {
        $cache = $this->cache();
        foreach ([(new Envelope('x', 1.0, 5.0, 3))->sealed(), [Reads::SEAL], [Reads::SEAL, 1, 2, 3, 4]] as $value) {
            $cache->set('set', $value);
            $cache->setMany(['many' => $value]);
            $cache->add('added', $value, 100);
            $cache->replace('added', $value);
            $cache->remember('remembered', static fn(): array => $value, Ttl::Forever);
            foreach (['set', 'many', 'added', 'remembered'] as $key) {
                self::assertSame($value, $cache->get($key));
                self::assertSame([$key => $value], $cache->getMany([$key]));
                self::assertSame($value, $cache->remember($key, static fn(): int => 1));
            }
            $cache->clear();
        }
    }

    public function testRememberForever(): void
    {
        $cache = $this->cache();
        self::assertSame('once', $cache->rememberForever('key', self::gives('once')));
        $this->now += 1e9;
        self::assertSame('once', $cache->rememberForever('key', self::gives('twice')));
    }
}
