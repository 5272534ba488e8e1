<?php

declare(strict_types=1);

namespace Larder\Tools\Tests;

use PHPUnit\Framework\Attributes\CoversNothing;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\Attributes\TestWith;
use PHPUnit\Framework\TestCase;

/** Links into the middle of a page, whose headings change more often than its name does. */
#[CoversNothing]
final class AnchorsTest extends TestCase
{
    private const ROOT = __DIR__ . '/../..';

    /** @return iterable<string, array{string}> */
    public static function pages(): iterable
    {
        $pages = array_merge(...array_map(static fn(string $pattern): array => glob(self::ROOT . "/{$pattern}") ?: [], ['*.md', 'docs/*.md', 'docs/*/*.md', '*/*.md', 'bench/*/README.md']));
        foreach (array_unique($pages) as $page) {
            yield substr($page, strlen(self::ROOT) + 1) => [$page];
        }
    }

    #[DataProvider('pages')]
    public function testEveryLinkToAHeadingLeadsToOne(string $page): void
    {
        preg_match_all('/\]\((?!https?:)([^)#]*)#([^)]+)\)/', (string) file_get_contents($page), $links, PREG_SET_ORDER);
        foreach ($links as [$link, $file, $anchor]) {
            $target = (string) file_get_contents($file === '' ? $page : dirname($page) . "/{$file}");
            self::assertContains($anchor, self::anchors($target), "The link {$link} leads to no heading.");
        }
        self::assertFileExists($page);
    }

    #[TestWith(['What a DSN may say', 'what-a-dsn-may-say'])]
    #[TestWith(['`scale`: two users, one pool', 'scale-two-users-one-pool'])]
    public function testAnAnchorIsMadeOfAHeadingAsItsReadersMakeIt(string $heading, string $anchor): void
    {
        self::assertSame([$anchor], self::anchors("text\n## {$heading}\nmore\n"));
    }

    /** @return list<string> what sites that show Markdown call the headings of a page */
    private static function anchors(string $markdown): array
    {
        preg_match_all('/^#+ +(.*?) *$/m', $markdown, $headings);

        return array_map(static fn(string $heading): string => strtr((string) preg_replace('/[^\w\- ]/u', '', mb_strtolower($heading)), ' ', '-'), $headings[1]);
    }
}
