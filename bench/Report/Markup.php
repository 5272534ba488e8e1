<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Finding\Promise;

/** Pieces of HTML. */
final class Markup
{
    public static function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }

    /**
     * @param list<string> $headings
     * @param string $rows HTML
     */
    public static function table(array $headings, string $rows, bool $isNumeric = false): string
    {
        $head = array_filter($headings) === []
            ? ''
            : '<thead><tr>' . implode('', array_map(static fn(string $heading): string => '<th scope="col">' . self::escape($heading) . '</th>', $headings)) . '</tr></thead>';

        return sprintf('<div class="scroll" tabindex="0"><table%s>%s<tbody>%s</tbody></table></div>', $isNumeric ? ' class="figures"' : '', $head, $rows);
    }

    /**
     * A report has tens of thousands of cells, and HTML does not need their end tags.
     *
     * @param list<string> $cells HTML
     */
    public static function row(array $cells): string
    {
        return '<tr>' . implode('', array_map(static fn(string $cell): string => "<td>{$cell}", $cells));
    }

    /** A word that is a state, such as `met`, in its colour. */
    public static function state(string $state): string
    {
        return sprintf('<strong class="%s">%s</strong>', strtr($state, ' ', '-'), self::escape($state));
    }

    /** How many samples would tell whether a promise holds, in words. */
    public static function samples(Promise $promise): string
    {
        return match (true) {
            $promise->samples === null => '–',
            $promise->samples > 1_000 => 'more than 1,000 times as many',
            default => ceil($promise->samples) . ' times as many',
        };
    }

    public static function duration(float $seconds): string
    {
        return $seconds < 90 ? round($seconds) . ' s' : round($seconds / 60, 1) . ' min';
    }
}
