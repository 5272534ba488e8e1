<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Finding\Promise;

/** Pieces of HTML. */
final class Markup
{
    /** How many columns of figures a narrow screen has; report.css hides the others. */
    private const ON_A_TELEPHONE = 4;

    public static function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }

    /**
     * A table of words: on a narrow screen each row is a stack of its cells, each with its column's heading.
     *
     * @param list<string> $headings all of them empty: the table has none
     * @param list<list<string>> $rows HTML of the cells
     */
    public static function table(array $headings, array $rows): string
    {
        $labels = array_map(static fn(string $heading): string => $heading === '' ? '' : ' data-label="' . self::escape($heading) . '"', $headings);

        return '<div class="scroll" tabindex="0"><table class="words">' . self::head($headings) . '<tbody>' . self::rows($rows, $labels) . '</tbody></table></div>';
    }

    /**
     * A table of figures: a narrow screen has the first columns only, as many as fit it, until the reader asks for all.
     *
     * @param list<string> $headings the columns that matter most come first
     * @param list<list<string>> $rows HTML of the cells
     */
    public static function figures(array $headings, array $rows): string
    {
        $choice = count($headings) > self::ON_A_TELEPHONE ? '<label class="all"><input type="checkbox"> all ' . count($headings) . ' columns</label>' : '';

        return $choice . '<div class="scroll" tabindex="0"><table class="figures">' . self::head($headings) . '<tbody>' . self::rows($rows) . '</tbody></table></div>';
    }

    /** @param list<string> $headings */
    private static function head(array $headings): string
    {
        return array_filter($headings) === []
            ? ''
            : '<thead><tr>' . implode('', array_map(static fn(string $heading): string => '<th scope="col">' . self::escape($heading) . '</th>', $headings)) . '</tr></thead>';
    }

    /**
     * A report has tens of thousands of cells, and HTML does not need their end tags.
     *
     * @param list<list<string>> $rows HTML of the cells
     * @param list<string> $attributes of the cells of each column
     */
    private static function rows(array $rows, array $attributes = []): string
    {
        $html = '';
        foreach ($rows as $cells) {
            $html .= '<tr>';
            foreach ($cells as $column => $cell) {
                $html .= '<td' . ($attributes[$column] ?? '') . ">{$cell}";
            }
        }

        return $html;
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
