<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\System;

use Larder\System\Process;
use Larder\Tests\Scratch;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

#[CoversClass(Process::class)]
final class ProcessTest extends TestCase
{
    public function testEveryProcessHasItsNumber(): void
    {
        self::assertSame(getmypid(), Process::id());
    }

    public function testItsUserIsKnownWithoutTheExtensionPosix(): void
    {
        $code = 'require $argv[1]; echo Larder\System\Process::user();';
        $autoload = \dirname(__DIR__, 3) . '/vendor/autoload.php';
        foreach ([['-n'], ['-d', 'disable_functions=posix_geteuid']] as $options) {
            $process = new \Symfony\Component\Process\Process([\PHP_BINARY, ...$options, '-r', $code, '--', $autoload], timeout: null);
            self::assertSame((string) posix_geteuid(), $process->mustRun()->getOutput());
        }
    }

    /** As shared hosts do. */
    #[TestWith(['getmypid'])]
    #[TestWith(['posix_getegid'])]
    public function testACacheWorksWhereAFunctionThatTellsWhoItIsIsDisabled(string $function): void
    {
        $scratch = new Scratch();
        $code = <<<'PHP'
            require $argv[1];
            foreach (["sqlite:{$argv[2]}/cache.db", 'apcu:', "file:{$argv[2]}/files", "array: > sqlite:{$argv[2]}/cache.db"] as $dsn) {
                $cache = Larder\Cache::open($dsn, strict: true);
                $cache->set('key', 'value', tags: ['tag']);
                $cache->remember('computed', static fn(): string => 'once');
                $cache->increment('n');
                $said[] = [$cache->get('key'), $cache->get('computed'), $cache->get('n'), count([...$cache->store->keys()])];
                $cache->clear();
            }
            echo json_encode($said);
            PHP;
        $process = new \Symfony\Component\Process\Process([\PHP_BINARY, '-d', 'apc.enable_cli=1', '-d', "disable_functions={$function}", '-r', $code, '--', \dirname(__DIR__, 3) . '/vendor/autoload.php', $scratch->path], timeout: null);
        self::assertSame(json_encode(array_fill(0, 4, ['value', 'once', 1, 3])), $process->mustRun()->getOutput());
    }
}
