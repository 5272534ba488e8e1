<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\System;

use Larder\System\FileLock;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(FileLock::class)]
final class FileLockTest extends TestCase
{
    private Scratch $scratch;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    public function testAFreeLockIsTaken(): void
    {
        self::assertTrue(FileLock::take($this->file(), \LOCK_EX, hrtime(true)));
    }

    public function testALockThatStaysHeldIsGivenUpWhenTheTimeIsOver(): void
    {
        $held = $this->file();
        flock($held, \LOCK_EX);
        $deadline = hrtime(true) + 20_000_000;
        self::assertFalse(FileLock::take($this->file(), \LOCK_EX, $deadline));
        self::assertGreaterThan($deadline, hrtime(true));
        self::assertTrue(FileLock::take($held, \LOCK_SH, hrtime(true)));
    }

    /** A slow machine looks less often, never more often. */
    public function testAWaitingProcessSleepsMostOfTheTime(): void
    {
        $held = $this->file();
        flock($held, \LOCK_EX);
        $before = self::sleeps();
        self::assertFalse(FileLock::take($this->file(), \LOCK_EX, hrtime(true) + 500_000_000));
        self::assertLessThan(250, self::sleeps() - $before);
    }

    public function testALockIsTakenWhenItsHolderLetsGoOfIt(): void
    {
        $child = pcntl_fork();
        if ($child === 0) {
            $held = $this->file();
            flock($held, \LOCK_EX);
            touch("{$this->scratch->path}/held");
            usleep(50_000);
            posix_kill((int) getmypid(), \SIGKILL);
        }
        while (!file_exists("{$this->scratch->path}/held")) {
            clearstatcache();
            usleep(1_000);
        }
        self::assertTrue(FileLock::take($this->file(), \LOCK_EX, hrtime(true) + 100_000_000_000));
        pcntl_waitpid($child, $status);
    }

    /** @return resource */
    private function file(): mixed
    {
        return fopen("{$this->scratch->path}/lock", 'c') ?: throw new \RuntimeException('It cannot be opened.');
    }

    private static function sleeps(): int
    {
        $usage = getrusage();

        return \is_array($usage) && \is_int($usage['ru_nvcsw'] ?? null) ? $usage['ru_nvcsw'] : 0;
    }
}
