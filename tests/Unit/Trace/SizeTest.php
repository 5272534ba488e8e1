<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Trace;

use Larder\Tests\Contract\Value\Product;
use Larder\Tests\Contract\Value\Sleepless;
use Larder\Tests\Contract\Value\Suit;
use Larder\Trace\Size;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Size::class)]
final class SizeTest extends TestCase
{
    public function testAStringIsAsLargeAsItIs(): void
    {
        self::assertSame([0, 5, 1_000_000], [Size::of(''), Size::of("a\0b\xff "), Size::of(str_repeat('x', 1_000_000))]);
    }

    public function testPlainDataIsAsLargeAsPhpWritesIt(): void
    {
        foreach ([7, -1.5, null, true, [], [1, 'two', 3.0, null, ['' => false]], range(0, 999), array_fill(0, 100, str_repeat('x', 100))] as $i => $value) {
            self::assertSame(\strlen(serialize($value)), Size::of($value), "value {$i}");
        }
    }

    public function testAnythingElseIsAboutAsLarge(): void
    {
        $shared = [1, 2];
        $twice = [&$shared, &$shared, 'text'];
        foreach ([new Product('shirt', new Product('tie')), new \ArrayObject(['a' => [1, 2]]), [Suit::Hearts], $twice] as $i => $value) {
            $written = \strlen(serialize($value));
            self::assertEqualsWithDelta($written, Size::of($value), $written / 2, "value {$i}");
        }
    }

    public function testWhatHoldsItselfHasASize(): void
    {
        $array = ['x'];
        $array['self'] = &$array;
        $product = new Product('snake');
        $product->note = [$product, &$array];
        self::assertLessThan(1_000, Size::of($product));
    }

    public function testNoObjectIsAsked(): void
    {
        self::assertGreaterThan(0, Size::of([new Sleepless()]));
    }
}
