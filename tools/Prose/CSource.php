<?php

declare(strict_types=1);

namespace Larder\Tools\Prose;

/** The prose of a file of C: its comments, and what its tests promise. */
final class CSource
{
    /** @return list<Passage> */
    public function passages(string $source): array
    {
        $passages = [];
        foreach (self::comments($source) as [$text, $line]) {
            // An indented part is a table or a picture.
            $text = (string) preg_replace(['~^/\*+|\*+/$~', '~^[ \t]*\* ?~m', '~-{3,}~', '~^(?: {4,}|.*[|+\\\\<>^]).*$~m'], '', $text);
            foreach ((new Markdown())->passages(trim($text, ' ')) as $each) {
                $passages[] = new Passage($each->text, $line + $each->line - 1, $each->isSentence);
            }
        }

        preg_match_all('~^TEST\(\w+,\s*((?:"(?:\\\\.|[^"\\\\\n])*"\s*)+)~m', $source, $promises, \PREG_OFFSET_CAPTURE);
        foreach ($promises[1] as [$text, $offset]) {
            $passages[] = new Passage((string) preg_replace('~"\s*"|^"|"\s*$~', '', $text), 1 + substr_count($source, "\n", 0, $offset), false);
        }

        return $passages;
    }

    /**
     * Those on lines of their own that follow each other are one.
     *
     * @return list<array{string, int}> each with the line on which it begins
     */
    private static function comments(string $source): array
    {
        // Strings and characters first: what is in them begins no comment.
        preg_match_all('~"(?:\\\\.|[^"\\\\\n])*"|\'(?:\\\\.|[^\'\\\\\n])+\'|/\*.*?\*/~s', $source, $found, \PREG_OFFSET_CAPTURE);
        $comments = [];
        foreach ($found[0] as [$text, $offset]) {
            if (str_starts_with($text, '/*')) {
                $comments[] = [$text, 1 + substr_count($source, "\n", 0, $offset)];
            }
        }

        return $comments;
    }
}
