<?php

declare(strict_types=1);

namespace Larder\Tools;

/** The part of a page that a tool writes, between two marks. */
final class Block
{
    private const BEGIN = "<!-- result -->\n";
    private const END = '<!-- /result -->';

    /**
     * The page with its part replaced.
     *
     * @throws \UnexpectedValueException when the page has no place for it
     */
    public static function in(string $page, string $text): string
    {
        $begin = strpos($page, self::BEGIN);
        $end = strpos($page, self::END);
        if ($begin === false || $end === false || $end < $begin) {
            throw new \UnexpectedValueException('The page has no place for the table: put ' . trim(self::BEGIN) . ' and ' . self::END . ' on lines of their own.');
        }

        return substr($page, 0, $begin + strlen(self::BEGIN)) . $text . substr($page, $end);
    }
}
