<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\TagSlot;
use Larder\Store\TagVersion;
use Larder\Store\Verdict;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(TagSlot::class)]
#[CoversClass(TagVersion::class)]
#[CoversClass(Verdict::class)]
final class TagSlotTest extends TestCase
{
    public function testASlotTellsTheVersionOfEachTagAndItsFloorOfAllOthers(): void
    {
        $slot = TagSlot::made(7);
        // Names that lie across the border between two others' numbers.
        $names = ["\0\0\0\0\0\0\0\1", "\0\0\0\1\0\0\0\0", 'abcdefgh', "\0\0\0\0\0\0\0\0", "efgh\0\0\0\0"];
        // Every second one lets be served what it kills, and each does once, as what the others say then lies elsewhere.
        foreach ([0, 1, 0] as $round) {
            $versions = array_map(
                static fn(int $i): TagVersion => ($i + $round) % 2 === 0 ? new TagVersion(10 + $i + $round) : new TagVersion(10 + $i, 1 + $i, 1_000),
                array_keys($names),
            );
            foreach ($names as $i => $name) {
                $slot = TagSlot::with($slot, $name, $versions[$i]);
                self::assertTrue(TagSlot::isOne($slot));
            }
            self::assertEquals($versions, array_map(static fn(string $name): TagVersion => TagSlot::version($slot, $name), $names));
        }
        self::assertEquals(new TagVersion(7), TagSlot::version($slot, 'unknown!'));
        self::assertFalse(TagSlot::isOne(substr($slot, 1)));
        self::assertFalse(TagSlot::isOne(substr($slot, 0, 9)));
        self::assertSame(10 + 3 * 16 + 2 * 32, \strlen($slot));
    }

    public function testOfAHundredThousandTagsNoneIsForgotten(): void
    {
        $slots = array_fill(0, TagSlot::SLOTS, TagSlot::made(0));
        for ($i = 1; $i <= 100_000; $i++) {
            [$slot, $name] = TagSlot::place("product:{$i}");
            $slots[$slot] = TagSlot::with($slots[$slot], $name, new TagVersion($i));
        }
        $lost = \count(array_filter($slots, static fn(string $slot): bool => TagSlot::version($slot, 'another ')->dead > 0));
        self::assertLessThan(TagSlot::SLOTS / 1_000, $lost);
        self::assertLessThan(100_000 * 17 + TagSlot::SLOTS * 10, \strlen(implode('', $slots)));
    }

    public function testWhatAFullSlotForgetsIsTheOldestAndRaisesTheFloor(): void
    {
        $slot = TagSlot::made(0);
        for ($i = 1; $i <= 500; $i++) {
            $slot = TagSlot::with($slot, sprintf('tag %04d', $i), $i % 2 === 0 ? new TagVersion($i) : new TagVersion(0, $i, 1_000));
            $slot = TagSlot::with($slot, 'kept    ', new TagVersion($i));
            self::assertLessThan(2_100, \strlen($slot));
        }
        self::assertEquals(new TagVersion(500), TagSlot::version($slot, 'kept    '));
        self::assertEquals(new TagVersion(500), TagSlot::version($slot, 'tag 0500'));
        $floor = TagSlot::version($slot, 'tag 0001')->dead;
        self::assertGreaterThan(300, $floor);
        for ($i = 1; $i <= 500; $i++) {
            self::assertNotSame(Verdict::Live, TagSlot::version($slot, sprintf('tag %04d', $i))->verdict($i - 1, 0), "tag {$i}");
        }
    }

    public function testTagsAreSpreadOverAllSlots(): void
    {
        $slots = [];
        for ($i = 0; $i < 50_000; $i++) {
            [$slot, $name] = TagSlot::place("tag {$i}");
            self::assertSame(8, \strlen($name));
            $slots[$slot] = true;
        }
        self::assertCount(TagSlot::SLOTS, $slots);
    }

    public function testWhatLetsBeServedEndsWhenTheFirstOfThemSaidSo(): void
    {
        $version = (new TagVersion(3))->invalidated(10, 60, 1_000);
        self::assertSame([Verdict::Live, Verdict::Stale, Verdict::Dead], [$version->verdict(10, 1_059), $version->verdict(9, 1_059), $version->verdict(2, 1_059)]);
        self::assertSame(Verdict::Dead, $version->verdict(9, 1_060));
        $overlapping = $version->invalidated(20, 60, 1_030);
        self::assertSame([Verdict::Stale, Verdict::Stale], [$overlapping->verdict(15, 1_059), $overlapping->verdict(9, 1_059)]);
        self::assertSame([Verdict::Dead, Verdict::Dead], [$overlapping->verdict(15, 1_061), $overlapping->verdict(9, 1_061)]);
        $later = $version->invalidated(20, 60, 1_100);
        self::assertSame([Verdict::Live, Verdict::Stale, Verdict::Dead], [$later->verdict(20, 1_101), $later->verdict(15, 1_101), $later->verdict(9, 1_101)]);
        $hard = $version->invalidated(20, 0, 1_001);
        self::assertSame([Verdict::Live, Verdict::Dead], [$hard->verdict(20, 1_001), $hard->verdict(19, 1_001)]);
    }
}
