<?php

declare(strict_types=1);

namespace Larder\Tools\Tests\Prose;

use Larder\Tools\Prose\CSource;
use Larder\Tools\Prose\Passage;
use Larder\Tools\Prose\Rules;
use PHPUnit\Framework\Attributes\CoversClass;
use PHPUnit\Framework\TestCase;

#[CoversClass(CSource::class)]
final class CSourceTest extends TestCase
{
    private const SOURCE = <<<'C'
        /* A pool. It lives
         * as long as nobody removes it.
         *
         *     nobody | a picture
         */
        static const char *text = "/* nobody */", quote = '"';
        int a; /* what he has */
        TEST(name,
             "a promise "
             "of a test")
        C;

    public function testCommentsAndPromisesAreReadWithTheirLines(): void
    {
        self::assertEquals([
            new Passage('A pool. It lives as long as nobody removes it.', 1),
            new Passage('what he has', 7),
            new Passage('a promise of a test', 9, false),
        ], array_values(array_filter((new CSource())->passages(self::SOURCE), static fn(Passage $passage): bool => $passage->text !== '')));
    }

    public function testOnlyItsSubjectsAreHeldToTheRules(): void
    {
        $rules = new Rules(false);
        $broken = array_merge(...array_map($rules->broken(...), (new CSource())->passages(self::SOURCE)));
        self::assertCount(2, $broken);
        self::assertStringStartsWith('"nobody"', $broken[0]);
        self::assertStringStartsWith('"he"', $broken[1]);
    }
}
