<?php

declare(strict_types=1);

namespace Larder\WordPress\Tests;

use PhpParser\ParserFactory;
use PhpParser\PhpVersion;
use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** What any PHP loads before it is known which it is. */
#[CoversNothing]
final class OldSyntaxTest extends TestCase
{
    /** @return iterable<string, array{string}> */
    public static function files(): iterable
    {
        foreach (['larder.php', 'uninstall.php', 'drop-in/object-cache.php', 'drop-in/advanced-cache.php'] as $file) {
            yield $file => [$file];
        }
    }

    #[DataProvider('files')]
    public function testAnOldPhpReadsTheFile(string $file): void
    {
        $code = (string) file_get_contents(\dirname(__DIR__) . "/{$file}");
        $statements = (new ParserFactory())->createForVersion(PhpVersion::fromComponents(7, 2))->parse($code);
        self::assertNotEmpty($statements);
        // The parser reads newer syntax in spite of the version in some places; a comma after the last argument is one.
        self::assertDoesNotMatchRegularExpression('/,\s*\)|\?->|\bmatch\s*\(|\bfn\s*\(|\breadonly\b|#\[/', $code);
    }
}
