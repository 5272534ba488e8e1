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
}
