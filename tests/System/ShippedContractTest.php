<?php

declare(strict_types=1);

namespace Larder\Tests\System;

use Larder\Tests\Contract\StoreCase;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

/** The contract on a PHP as authors of other stores have it. */
#[CoversClass(StoreCase::class)]
final class ShippedContractTest extends TestCase
{
    public function testItNeedsNeitherTheExtensionNorApcuOnTheCommandLine(): void
    {
        $root = \dirname(__DIR__, 2);
        $process = new Process([\PHP_BINARY, '-d', 'apc.enable_cli=0', '-d', 'zend.assertions=1', 'vendor/bin/phpunit', '--do-not-cache-result', '--filter', 'KindContract|ValueContract', 'tests/Stores/ArrayStoreTest.php'], $root);
        $process->run();
        self::assertSame(0, $process->getExitCode(), $process->getOutput());
        self::assertStringContainsString('OK (', $process->getOutput());
    }
}
