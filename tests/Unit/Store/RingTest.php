<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Store\Memcached\Ring;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(Ring::class)]
final class RingTest extends TestCase
{
    private const KEYS = 10_000;

    public function testEachServerHasItsShare(): void
    {
        $counts = array_count_values($this->servers(['a:1', 'b:1', 'c:1']));
        foreach ([0, 1, 2] as $server) {
            self::assertGreaterThan(self::KEYS / 3 * 0.7, $counts[$server]);
            self::assertLessThan(self::KEYS / 3 * 1.3, $counts[$server]);
        }
    }

    public function testAServerThatIsAddedTakesKeysOnlyForItself(): void
    {
        $before = $this->servers(['a:1', 'b:1', 'c:1']);
        $after = $this->servers(['a:1', 'b:1', 'c:1', 'd:1']);
        $moved = array_filter(array_keys($before), static fn(int $i): bool => $before[$i] !== $after[$i]);
        self::assertSame([3], array_values(array_unique(array_map(static fn(int $i): int => $after[$i], $moved))));
        self::assertLessThan(self::KEYS / 4 * 1.3, \count($moved));
    }

    public function testTheOrderOfTheServersDoesNotMatter(): void
    {
        $names = ['a:1', 'b:1', 'c:1'];
        $reversed = array_map(static fn(int $server): int => 2 - $server, $this->servers(array_reverse($names)));
        self::assertSame($this->servers($names), $reversed);
    }

    public function testOneServerHasEverything(): void
    {
        self::assertSame([0], array_values(array_unique($this->servers(['a:1']))));
    }

    /**
     * @param non-empty-list<string> $names
     *
     * @return list<int>
     */
    private function servers(array $names): array
    {
        $ring = new Ring($names);

        return array_map(static fn(int $i): int => $ring->server("key {$i}"), range(0, self::KEYS - 1));
    }
}
