<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use Larder\Bench\Server\Program;
use PHPUnit\Framework\Assert;
use Symfony\Component\Process\Process;

/** Headless Chromium, driven by a script that says as JSON what it saw. */
final class Browser
{
    private function __construct() {}

    /**
     * @param list<string> $arguments of the script, after the browser's path
     *
     * @return array<array-key, mixed>
     */
    public static function run(string $script, array $arguments): array
    {
        $process = new Process([self::program('node'), $script, self::program('chromium'), ...$arguments], self::modules(), timeout: null);
        Assert::assertSame(0, $process->run(), $process->getErrorOutput() . $process->getOutput());
        $seen = json_decode($process->getOutput(), true);
        Assert::assertIsArray($seen);

        return $seen;
    }

    /** @return string the directory in which npm has installed what drives the browser, as its lock file pins it */
    private static function modules(): string
    {
        $root = \dirname(__DIR__, 3);
        $directory = "{$root}/build/browser";
        if (!is_dir("{$directory}/node_modules/puppeteer-core")) {
            is_dir($directory) || mkdir($directory, 0o777, true);
            foreach (['package.json', 'package-lock.json'] as $file) {
                copy("{$root}/tests/Bench/browser/{$file}", "{$directory}/{$file}");
            }
            (new Process([self::program('npm'), 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], $directory, timeout: null))->mustRun();
        }

        return $directory;
    }

    private static function program(string $name): string
    {
        return Program::find($name) ?? Assert::fail("There is no {$name} on the PATH: install its package.");
    }
}
