<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store;

use Larder\Exception\StoreUnavailable;
use Larder\Store\Sqlite\HeadFile;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(HeadFile::class)]
final class HeadFileTest extends TestCase
{
    private Scratch $scratch;

    private int $now = 0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
        $this->now = time();
        touch($this->database());
    }

    public function testItTellsNothingWhileSomethingIsWrittenAndSomethingNewAfterwards(): void
    {
        $head = $this->head();
        self::assertNull($head->read());
        $seen = [];
        for ($i = 0; $i < 300; $i++) {
            $begun = $head->begin();
            self::assertNull($head->read());
            $told = $head->end($begun);
            self::assertSame($head->read(), $told);
            $seen[] = $told;
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
        self::assertNull($head->end($first), 'It does not tell of the first one alone.');
        self::assertNull($head->read());
        $told = $head->end($second);
        self::assertNotNull($told);
        $then = $head->read();
        self::assertSame($told, $then);
        self::assertNull($head->end($first));
        self::assertNull($head->end($second));
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

    public function testAWriteWhoseFileWasReplacedMeanwhileTellsNothingOfTheOther(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $begun = $head->begin();
        $path = glob("{$this->scratch->path}/*head*")[0] ?? '';
        self::assertTrue(unlink($path));
        $other = $this->head();
        $other->end($other->begin());
        self::assertNotNull($other->read());
        self::assertNull($head->end($begun));
        self::assertNotNull($other->read());
    }

    public function testAFileThatIsLostTellsNothingAndNoStateComesBack(): void
    {
        $head = $this->head();
        $seen = [];
        for ($i = 0; $i < 20; $i++) {
            $begun = $head->begin();
            $head->end($begun);
            self::assertNotNull($head->read());
            $seen[] = $head->read();
            unlink($this->path());
            $i % 2 === 0 || touch($this->path());
            self::assertNull($head->read());
            $head->end($begun);
            self::assertNull($head->read(), 'A writer that began with another file does not end this one.');
        }
        self::assertCount(20, array_unique($seen));
        $head->repair();
        self::assertNotNull($head->read());
    }

    public function testADatabaseThatIsAnotherOneIsNoticed(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $seen = [$head->read()];
        file_put_contents("{$this->scratch->path}/copy", 'another');
        rename("{$this->scratch->path}/copy", $this->database());
        $seen[] = $head->read();
        file_put_contents($this->database(), 'written over!');
        $seen[] = $head->read();
        // Times are told in whole seconds, by a clock that may be a little behind that of time().
        $probe = "{$this->scratch->path}/probe";
        while (touch($probe) && filectime($probe) <= filectime($this->database())) {
            usleep(1_000);
        }
        file_put_contents($this->database(), 'of equal size');
        touch($this->database(), (int) filemtime($this->database()));
        $seen[] = $head->read();
        self::assertNotContains(null, $seen);
        self::assertCount(4, array_unique($seen));
        unlink($this->database());
        self::assertNull($head->read());
    }

    /** A child has its parent's open file, and with it the lock that the parent holds. */
    public function testAChildTakesALockOfItsOwn(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $file = (new \ReflectionProperty($head, 'file'))->getValue($head);
        self::assertIsResource($file);
        flock($file, \LOCK_EX);
        $child = pcntl_fork();
        if ($child === 0) {
            try {
                $head->begin();
                $code = 1;
            } catch (StoreUnavailable) {
                $code = 0;
            }
            posix_kill((int) getmypid(), $code === 0 ? \SIGTERM : \SIGKILL);
        }
        pcntl_waitpid($child, $status);
        self::assertSame(\SIGTERM, \is_int($status) ? pcntl_wtermsig($status) : null);
    }

    public function testAFileThatHasGrownLargeIsReplaced(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        file_put_contents($this->path(), 'x', \FILE_APPEND);
        $file = fopen($this->path(), 'r+');
        self::assertIsResource($file);
        ftruncate($file, (1 << 24) + 2);
        $before = $head->read();
        self::assertNotNull($before);
        $begun = $head->begin();
        self::assertNull($head->read());
        $head->end($begun);
        self::assertNull($head->read());
        $head->end($head->begin());
        self::assertNotNull($head->read());
        self::assertLessThan(1 << 20, filesize($this->path()));
        self::assertNotSame($before, $head->read());
    }

    public function testTheFileIsForItsUserAloneOrForTheGroupOfASharedDirectory(): void
    {
        foreach ([0o700 => 0o600, 0o755 => 0o600, 0o2770 => 0o660] as $directory => $rights) {
            chmod($this->scratch->path, $directory);
            foreach ([0o077, 0o000] as $mask) {
                $usual = umask($mask);
                try {
                    $head = $this->head();
                    $head->end($head->begin());
                } finally {
                    umask($usual);
                }
                clearstatcache();
                self::assertSame($rights, (int) fileperms($this->path()) & 0o777);
                unlink($this->path());
            }
        }
    }

    /** An earlier version made it so that everyone could read it, and a process that can read a file can lock it. */
    public function testAFileThatEveryoneMayReadIsTightened(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $even = $head->read();
        chmod($this->path(), 0o644);
        $head = $this->head();
        self::assertSame($even, $head->read());
        $head->end($head->begin());
        clearstatcache();
        self::assertSame(0o600, (int) fileperms($this->path()) & 0o777);
    }

    public function testAFileThatCannotBeWrittenStopsTheWrite(): void
    {
        mkdir($this->path());
        $this->expectException(StoreUnavailable::class);
        $this->expectExceptionMessage('see that its disk has room and PHP\'s user may write to it');
        $this->head()->begin();
    }

    public function testAHeldLockStopsTheWrite(): void
    {
        $head = $this->head();
        $head->end($head->begin());
        $even = $head->read();
        $file = fopen($this->path(), 'c');
        self::assertIsResource($file);
        flock($file, \LOCK_EX);
        try {
            $head->begin();
            self::fail('A locked file was changed.');
        } catch (StoreUnavailable $failure) {
            self::assertStringContainsString('another process holds its lock', $failure->getMessage());
        }
        self::assertSame($even, $head->read());
    }

    private function head(): HeadFile
    {
        return new HeadFile($this->path(), $this->database(), 0.05, fn(): int => $this->now);
    }

    private function database(): string
    {
        return "{$this->scratch->path}/database";
    }

    private function path(): string
    {
        return "{$this->scratch->path}/head";
    }
}
