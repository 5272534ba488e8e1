<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Tier;

use Larder\Exception\StoreUnavailable;
use Larder\Tests\Scratch;
use Larder\Tier\HeadFile;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(HeadFile::class)]
final class HeadFileTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
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
        touch($this->path(), time() - 60);
        self::assertTrue($head->isAbandoned());
        $head->repair();
        $repaired = $head->read();
        self::assertNotNull($repaired);
        self::assertNotSame($before, $repaired);
        $head->end($dead);
        $head->repair();
        self::assertSame($repaired, $head->read());
    }

    public function testAFileThatIsLostOrNotWholeTellsNothingAndNoNumberComesBack(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $whole = (string) $head->read();
        $begun = $head->begin();
        $head->end($begun);
        $next = (string) $head->read();
        $torn = substr($whole, 0, 8) . substr($next, 8);
        foreach (['', 'x', str_repeat("\0", 16), str_repeat('x', 16), substr($whole, 0, 15), "{$whole}x", $torn, null] as $bytes) {
            $bytes === null ? unlink($this->path()) : file_put_contents($this->path(), $bytes);
            self::assertNull($head->read());
            $head->end($begun);
            self::assertNull($head->read(), 'Who has begun with another file does not end this one.');
            $head->end($head->begin());
            self::assertNotNull($head->read());
            self::assertNotContains($head->read(), [$whole, $next]);
        }
    }

    public function testAFileThatCannotBeWrittenStopsTheWrite(): void
    {
        mkdir($this->path());
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessage('see that its disk has room and PHP\'s user may write to it');
        $this->head()->begin();
    }

    public function testAFileThatSomebodyHasLockedStopsTheWrite(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $even = $head->read();
        $file = fopen($this->path(), 'r+');
        self::assertIsResource($file);
        flock($file, \LOCK_EX);
        try {
            $head->begin();
            self::fail('A locked file was written.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('locked by another process', $failure->getMessage());
        }
        self::assertSame($even, $head->read());
    }

    private function head(): HeadFile
    {
        return new HeadFile($this->path(), 0.05);
    }

    private function path(): string
    {
        return "{$this->scratch->path}/head";
    }
}
