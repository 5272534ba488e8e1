<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Publication;

use function dirname;

use Larder\Tools\Publication\Api;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Process\Process;

#[CoversClass(Api::class)]
final class ApiTest extends TestCase
{
    /** In a process without the extension, whose classes have no docblocks. */
    public function testTheReferenceIsWhatTheDocblocksSay(): void
    {
        $process = new Process([PHP_BINARY, dirname(__DIR__, 2) . '/api', '--check']);
        self::assertSame(0, $process->run(), $process->getErrorOutput());
    }

    public function testAMethodHasItsSignatureItsParametersAndItsErrors(): void
    {
        $page = Api::markdown();
        self::assertStringContainsString("#### get\n\n    get(string \$key, mixed \$default = null): mixed\n\nThe value, or \$default if there is none.", $page);
        self::assertStringContainsString("\n- throws `StoreUnavailable`: if the cache is strict\n", $page);
        self::assertMatchesRegularExpression("/^- `OnConflict::\\w+`/m", $page);
        self::assertStringNotContainsString('/**', $page);
        // It is internal.
        self::assertStringNotContainsString('#### firstMiss', $page);
    }
}
