<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Store\CircuitBreaker;
use Larder\System\ErrorLog;
use Larder\System\OncePerMinute;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversClass(ErrorLog::class)]
#[CoversClass(OncePerMinute::class)]
#[CoversClass(CircuitBreaker::class)]
final class ErrorLogTest extends TestCase
{
    public function testWithoutALoggerEveryProcessOfAMachineTellsPhpsErrorLogTogetherOnce(): void
    {
        $scratch = new Scratch();
        $socket = "{$scratch->path}/no-redis";
        $code = "require 'vendor/autoload.php'; \$cache = Larder\\Cache::open('redis+unix:{$socket}?client=predis'); for (\$i = 0; \$i < 3; \$i++) { \$cache->get(\"key \$i\"); }";
        $processes = [];
        for ($i = 0; $i < 8; $i++) {
            $process = new Process([\PHP_BINARY, '-d', 'log_errors=1', '-d', "error_log={$scratch->path}/log", '-r', $code], \dirname(__DIR__, 2), ['TMPDIR' => $scratch->path]);
            $process->start();
            $processes[] = $process;
        }
        foreach ($processes as $process) {
            self::assertSame(0, $process->wait(), $process->getErrorOutput());
        }
        $lines = file("{$scratch->path}/log") ?: [];
        self::assertCount(1, $lines, implode('', $lines));
        self::assertStringContainsString("Larder: The cache's store is unavailable: reads are misses, writes are refused. The Redis server {$socket} is unavailable:", $lines[0]);
        self::assertStringContainsString('No such file or directory', $lines[0], 'The cause is told, whichever process came first.');
        self::assertStringNotContainsString('a moment ago', $lines[0]);
    }
}
