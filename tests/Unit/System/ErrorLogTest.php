<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\System;

use Larder\System\ErrorLog;
use Larder\System\OncePerMinute;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(ErrorLog::class)]
#[CoversClass(OncePerMinute::class)]
final class ErrorLogTest extends TestCase
{
    private Scratch $scratch;

    /** @var list<string> */
    private array $lines = [];

    private float $now = 1_000_000.0;

    protected function setUp(): void
    {
        $this->scratch = new Scratch();
    }

    public function testManyProcessesTellOfACauseOnceAMinute(): void
    {
        for ($process = 0; $process < 20; $process++) {
            $this->log()->error('The store is unavailable.', ['store' => 'RedisStore', 'exception' => new \RuntimeException('Connection refused' . ($process > 0 ? ' (a moment ago)' : '') . '; see.')]);
        }
        self::assertSame(['Larder: The store is unavailable. Connection refused; see.'], $this->lines);
        $this->log()->error('The store is unavailable.', ['store' => 'RedisStore', 'exception' => new \RuntimeException('Out of memory.')]);
        self::assertCount(2, $this->lines, 'Another cause.');
        $this->now += 61.0;
        $this->log()->error('The store is unavailable.', ['store' => 'RedisStore', 'exception' => new \RuntimeException('Connection refused; see.')]);
        self::assertCount(3, $this->lines, 'Another minute.');
        $this->now -= 1_000.0;
        $this->log()->error('The store is unavailable.', ['store' => 'RedisStore', 'exception' => new \RuntimeException('Connection refused; see.')]);
        self::assertCount(4, $this->lines, 'A clock that was set back silences nothing.');
    }

    public function testGoodNewsIsNotForAnErrorLog(): void
    {
        $this->log()->notice('It is back.');
        $this->log()->info('It is back.');
        self::assertSame([], $this->lines);
    }

    public function testALineNamesWhatWasLostAndBreaksNoLine(): void
    {
        $this->log()->error('It has missed.', ['keys' => ["a\nb", 'c', 'd', 'e'], 'tags' => ['t'], 'others since the last line' => 7]);
        self::assertSame(['Larder: It has missed. (keys: a\nb, c, d and 1 more; tags: t; others since the last line: 7)'], $this->lines);
    }

    public function testWhereThereIsNoDirectoryEachProcessTellsForItself(): void
    {
        $log = $this->log('/proc/nowhere');
        $log->warning('It is full.');
        $log->warning('It is full.');
        self::assertCount(1, $this->lines);
    }

    private function log(?string $directory = null): ErrorLog
    {
        return new ErrorLog($directory ?? $this->scratch->path, function (string $line): void {
            $this->lines[] = $line;
        }, fn(): float => $this->now);
    }
}
