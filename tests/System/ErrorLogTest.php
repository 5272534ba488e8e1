<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Bench\Server\FastCgi;
use Larder\Bench\Server\PhpFpmServer;
use Larder\Cache\Outage;
use Larder\Store\CircuitBreaker;
use Larder\System\ErrorLog;
use Larder\System\OncePerMinute;
use Larder\System\SiteLog;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversClass(ErrorLog::class)]
#[CoversClass(OncePerMinute::class)]
#[CoversClass(CircuitBreaker::class)]
#[CoversClass(Outage::class)]
#[CoversClass(SiteLog::class)]
final class ErrorLogTest extends TestCase
{
    /** Magento 2.4.6 has the first version of psr/log, and packages that allow no other. */
    public function testTheLogGoesWithTheFirstVersionOfPsrLog(): void
    {
        $source = \dirname(__DIR__, 2) . '/src';
        $script = <<<PHP
            namespace Psr\Log {
                interface LoggerInterface { public function warning(\$message, array \$context = array()); public function log(\$level, \$message, array \$context = array()); }
                class LogLevel { const EMERGENCY = 'emergency'; const ALERT = 'alert'; const CRITICAL = 'critical'; const ERROR = 'error'; const WARNING = 'warning'; }
                abstract class AbstractLogger implements LoggerInterface {
                    public function warning(\$message, array \$context = array()) { \$this->log(LogLevel::WARNING, \$message, \$context); }
                }
            }
            namespace {
                spl_autoload_register(static fn(string \$class) => require '{$source}/' . strtr(substr(\$class, 7), '\\\\', '/') . '.php');
                (new Larder\System\ErrorLog(sys_get_temp_dir() . '/larder-psr-' . getmypid(), static fn(string \$line) => print(\$line)))->warning('It rains.');
            }
            PHP;
        $scratch = new Scratch();
        self::assertSame('Larder: It rains.', (new Process([\PHP_BINARY, '-r', $script], env: ['TMPDIR' => $scratch->path]))->mustRun()->getOutput());
    }

    /** A command has a log of its own, and tells it each time; the requests of a site would fill theirs. */
    public function testWithALoggerTheRequestsOfASiteTellTogetherOnceAndCommandsEach(): void
    {
        $scratch = new Scratch();
        $autoload = \dirname(__DIR__, 2) . '/vendor/autoload.php';
        file_put_contents("{$scratch->path}/page.php", <<<PHP
            <?php
            require '{$autoload}';
            \$logger = new class extends Psr\\Log\\AbstractLogger {
                public function log(\$level, string|\Stringable \$message, array \$context = []): void
                {
                    file_put_contents('{$scratch->path}/log', "{\$level}: {\$message}\\n", FILE_APPEND | LOCK_EX);
                }
            };
            \$cache = Larder\\Cache::open('redis+unix:{$scratch->path}/no-redis?client=predis', logger: \$logger);
            for (\$i = 0; \$i < 3; \$i++) {
                echo json_encode(\$cache->get("key \$i", 'missed'));
                \$cache->delete("key \$i");
            }
            \$full = Larder\\Cache::open('array:?size=1M', logger: \$logger);
            \$full->set('large', str_repeat('x', 2 << 20));
            PHP);
        $site = PhpFpmServer::start([], 2);
        try {
            for ($request = 0; $request < 6; $request++) {
                self::assertSame('"missed""missed""missed"', (new FastCgi($site->socket))->get("{$scratch->path}/page.php"));
            }
        } finally {
            $site->stop();
        }
        $lines = file("{$scratch->path}/log") ?: [];
        self::assertSame($lines, array_values(array_unique($lines)));
        self::assertCount(4, $lines, 'Unavailable, missed, missed more, and refused.');
        for ($command = 0; $command < 2; $command++) {
            (new Process([\PHP_BINARY, "{$scratch->path}/page.php"]))->mustRun();
        }
        self::assertCount(12, file("{$scratch->path}/log") ?: []);
    }

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
