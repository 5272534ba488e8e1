<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Prose;

use Larder\Tools\Prose\Passage;
use Larder\Tools\Prose\PhpSource;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(PhpSource::class)]
final class PhpSourceTest extends TestCase
{
    public function testItHasWhatClassesSayOfThemselvesAndMessages(): void
    {
        $source = <<<'PHP'
            <?php
            /** Of the file. */

            /**
             * It keeps `some` items. See {@see Other}
             * for the rest.
             *
             *     code that nobody reads
             *
             * - One item.
             *
             * @template T of a long annotation
             */
            final readonly class Example
            {
                /** Of a member. */
                public function fail(string $name): never
                {
                    $short = 'a.short-name';
                    $sql = 'SELECT value FROM items WHERE stamp > ? AND guard < ?';
                    throw new \Exception(sprintf('The option "%s" isn\'t one of %d; take another.', $name, 3));
                    throw new \Exception("The file \"{$this->path['a']}\" of {$name} cannot be read.");
                }
            }

            /** Another. */
            enum Second {}

            $object = new class {};
            PHP;
        self::assertSame(
            [
                ['It keeps § items. See § for the rest.', 5],
                ['One item.', 10],
                ['The option "§" isn\'t one of §; take another.', 21],
                ['The file "§" of § cannot be read.', 22],
                ['Another.', 26],
            ],
            array_map(static fn(Passage $each): array => [$each->text, $each->line], (new PhpSource())->passages($source)),
        );
    }

    public function testItsRemarksAreCommentsNamesOfTestsAndSentencesInStrings(): void
    {
        $source = <<<'PHP'
            --TEST--
            A promise of the extension
            --FILE--
            <?php
            /**
             * Of a class.
             *
             * @param int $seconds that it takes
             */
            final class Example
            {
                public function testAPromiseIsKept(): void
                {
                    // A comment on
                    // two lines.

                    $code = 'isNoRemark'; # Beside code.
                    self::assertTrue($code, 'It is kept to the end.');
                    self::assertTrue($code, 'chown nobody: FILE');
                }
            }
            /* The end. */
            PHP;
        self::assertSame(
            [
                ['A promise of the extension', 2],
                ['Of a class.', 6],
                ['param int $seconds that it takes', 8],
                ['A promise is kept', 12],
                ['A comment on two lines.', 14],
                ['Beside code.', 17],
                ['It is kept to the end.', 18],
                ['The end.', 22],
            ],
            array_map(static fn(Passage $each): array => [$each->text, $each->line], (new PhpSource())->remarks($source)),
        );
    }
}
