<?php

declare(strict_types=1);

namespace Larder\Tests\Unit;

use Larder\Ttl;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Ttl::class)]
final class TtlTest extends TestCase
{
    public function testSeconds(): void
    {
        self::assertNull(Ttl::seconds(Ttl::Forever));
        self::assertSame(5, Ttl::seconds(5));
        self::assertSame(-5, Ttl::seconds(-5));
        self::assertSame(93_784, Ttl::seconds(new \DateInterval('P1DT2H3M4S')));
        self::assertContains(Ttl::seconds(new \DateInterval('P1M')), [28 * 86_400, 29 * 86_400, 30 * 86_400, 31 * 86_400]);
    }

    /** A calendar that wraps around would make them short, or over. */
    public function testAnIntervalBeyondAllCalendarsIsAsLongAsCanBe(): void
    {
        foreach (['y', 'm', 'd', 'h', 'i', 's'] as $part) {
            $interval = new \DateInterval('PT0S');
            foreach ([1 << 40, 1 << 60, \PHP_INT_MAX] as $number) {
                $interval->{$part} = $number;
                $interval->invert = 0;
                self::assertSame(\PHP_INT_MAX, Ttl::seconds($interval), "{$number} {$part}");
                $interval->invert = 1;
                self::assertSame(\PHP_INT_MIN, Ttl::seconds($interval), "-{$number} {$part}");
            }
        }
        self::assertSame(86_400 * 50_000, Ttl::seconds(new \DateInterval('P50000D')));
    }

    public function testAnExpiryNeverOverflows(): void
    {
        self::assertNull(Ttl::expiry(null, 1_000));
        self::assertSame(1_010, Ttl::expiry(10, 1_000));
        self::assertSame(1_000, Ttl::expiry(\PHP_INT_MIN, 1_000));
        self::assertNull(Ttl::expiry(\PHP_INT_MAX, 1_000));
        self::assertSame(1_000 + Ttl::LONGEST, Ttl::expiry(Ttl::LONGEST, 1_000));
        self::assertNull(Ttl::expiry(Ttl::LONGEST + 1, 1_000));
    }
}
