<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Exception\StoreUnavailable;
use Larder\Tests\Scratch;
use Larder\Tier\HeadLink;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(HeadLink::class)]
final class HeadLinkTest extends TestCase
{
    private Scratch $scratch;

    private int $now = 0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->now = time();
    }

    public function testItTellsNothingWhileSomethingIsWrittenAndSomethingNewAfterwards(): void
    {
        $head = $this->head();
        self::assertNull($head->read());
        $seen = [];
        for ($i = 0; $i < 300; $i++) {
            $begun = $head->begin();
            self::assertNull($head->read());
            $head->end($begun);
            $seen[] = $head->read();
        }
        self::assertNotContains(null, $seen);
        self::assertCount(300, array_unique($seen));
        self::assertSame(end($seen), $this->head()->read());
    }

    public function testOnlyTheLastOfSeveralWritersEndsIt(): void
    {
        $head = $this->head();
        $first = $head->begin();
        $second = $head->begin();
        $head->end($first);
        self::assertNull($head->read());
        $head->end($second);
        $then = $head->read();
        self::assertNotNull($then);
        $head->end($first);
        $head->end($second);
        self::assertSame($then, $head->read());
    }

    public function testWhatADeadWriterLeftIsEndedByTheNext(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $before = $head->read();
        $head->begin();
        $head->end($head->begin());
        self::assertNotNull($head->read());
        self::assertNotSame($before, $head->read());
    }

    public function testWhatADeadWriterLeftCanBeRepaired(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $before = $head->read();
        self::assertFalse($head->isAbandoned());
        $dead = $head->begin();
        self::assertFalse($head->isAbandoned());
        $this->now += 60;
        self::assertTrue($head->isAbandoned());
        $head->repair();
        $repaired = $head->read();
        self::assertNotNull($repaired);
        self::assertNotSame($before, $repaired);
        $head->end($dead);
        $head->repair();
        self::assertSame($repaired, $head->read());
    }

    public function testALinkThatIsLostOrNoNumberTellsNothingAndNoNumberComesBack(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $whole = (string) $head->read();
        $begun = $head->begin();
        $head->end($begun);
        $next = (string) $head->read();
        foreach (['x', '-4', '1.5', '007', '4 ', "{$whole}0000000000", '0', null, 'a file'] as $target) {
            unlink($this->path());
            $target === null || $target === 'a file' || symlink($target, $this->path());
            $target === 'a file' && file_put_contents($this->path(), $whole);
            self::assertNull($head->read());
            $head->end($begun);
            self::assertNull($head->read(), 'Who has begun with another link does not end this one.');
            $head->end($head->begin());
            self::assertNotNull($head->read());
            self::assertNotContains($head->read(), [$whole, $next]);
        }
    }

    public function testALinkThatCannotBeReplacedStopsTheWrite(): void
    {
        mkdir($this->path());
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessage('PHP\'s user may write to its directory');
        $this->head()->begin();
    }

    public function testALockThatSomebodyHoldsStopsTheWrite(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $even = $head->read();
        $file = fopen("{$this->path()}.lock", 'c');
        self::assertIsResource($file);
        flock($file, \LOCK_EX);
        try {
            $head->begin();
            self::fail('A locked link was replaced.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('another process holds its lock', $failure->getMessage());
        }
        self::assertSame($even, $head->read());
    }

    private function head(): HeadLink
    {
        return new HeadLink($this->path(), 0.05, fn(): int => $this->now);
    }

    private function path(): string
    {
        return "{$this->scratch->path}/head";
    }
}
