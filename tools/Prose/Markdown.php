<?php

declare(strict_types=1);

namespace Larder\Tools\Prose;

/** The prose of a page in Markdown: without code, and without what tools/publish writes into it. */
final class Markdown
{
    /** @return list<Passage> */
    public function passages(string $page): array
    {
        $passages = [];
        /** @var list<string> $open the lines of the paragraph or item that has not ended */
        $open = [];
        foreach ([...explode("\n", self::blanked($page)), ''] as $i => $line) {
            $isTable = str_starts_with($line, '|');
            $isHeading = str_starts_with($line, '#');
            $isItem = preg_match('/^\s*(?:[-*]|\d+\.)\s+(.*)$/', $line, $item) === 1;
            if ($open !== [] && (trim($line) === '' || $isTable || $isHeading || $isItem)) {
                $passages[] = new Passage(self::plain(implode(' ', $open)), $i + 1 - \count($open));
                $open = [];
            }
            if ($isTable) {
                foreach (explode('|', self::plain(trim($line, '| '))) as $cell) {
                    $passages[] = new Passage(trim($cell), $i + 1, false);
                }
            } elseif ($isHeading) {
                $passages[] = new Passage(self::plain(ltrim($line, '# ')), $i + 1, false);
            } elseif (trim($line) !== '') {
                $open[] = trim($item[1] ?? $line);
            }
        }

        return $passages;
    }

    /** Leaves the lines where they are. */
    private static function blanked(string $page): string
    {
        $blank = static fn(array $found): string => str_repeat("\n", substr_count(\is_string($found[0]) ? $found[0] : '', "\n"));
        foreach (['/<!-- (\w+) -->.*?<!-- \/\1 -->/s', '/<!--.*?-->/s', '/^ *```.*?^ *```$/ms', '/^ *~~~.*?^ *~~~$/ms', '/(?<=\n\n)(?: {4}.*\n)+/'] as $pattern) {
            $page = (string) preg_replace_callback($pattern, $blank, $page);
        }

        return $page;
    }

    private static function plain(string $text): string
    {
        $text = Passage::withoutCode($text);
        $text = (string) preg_replace('/!?\[([^\]]*)\]\([^)]*\)/', '$1', $text);

        return trim((string) preg_replace(['/<[^>]+>/', '/\*\*|(?<!\w)[*_]|[*_](?!\w)/'], '', $text));
    }
}
