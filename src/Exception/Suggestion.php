<?php

declare(strict_types=1);

namespace Larder\Exception;

/**
 * What a reader who has misspelt a word may have meant. All messages that suggest something ask here.
 *
 * @internal
 */
final class Suggestion
{
    /** Of longer words PHP would compute for too long. */
    private const LONGEST = 64;

    private function __construct() {}

    /**
     * The nearest of the known ones is no help to a reader who meant something else. So a third of the letters may differ at most,
     * where two neighbours that are exchanged count as one. Of long names people remember the first word: redis, not redis-unix.
     *
     * @param array<array-key, string> $known
     *
     * @return ?string null: none is near
     */
    public static function near(string $word, array $known): ?string
    {
        $word = substr(strtolower($word), 0, self::LONGEST);
        $most = min(intdiv(\strlen($word) + 2, 3), \strlen($word) - 1);
        $nearest = null;
        $least = \PHP_INT_MAX;
        foreach ($known as $candidate) {
            $name = substr(strtolower($candidate), 0, self::LONGEST);
            $distance = self::areExchanged($word, $name) ? 1 : min(levenshtein($word, $name), levenshtein($word, explode('-', $name)[0]));
            if ($distance < $least && ($distance <= $most || self::begins($word, $name))) {
                $nearest = $candidate;
                $least = $distance;
            }
        }

        return $nearest;
    }

    /**
     * The second half of a sentence: "did you mean "flush"? Known: flush, get".
     *
     * @param array<array-key, string> $known
     * @param string                   $others what to call them after a suggestion
     * @param string                   $choice what to say of them without one
     * @param int                      $most   so many of them are listed
     */
    public static function among(string $word, array $known, string $others = 'Known', string $choice = 'use one of', int $most = \PHP_INT_MAX): string
    {
        $near = self::near($word, $known);
        $more = max(0, \count($known) - $most);

        return ($near === null ? $choice : "did you mean \"{$near}\"? {$others}") . ': ' . implode(', ', \array_slice($known, 0, $most)) . ($more === 0 ? '' : " and {$more} more");
    }

    /** Whether the words are the same but for two neighbours, of which each has the place of the other. */
    private static function areExchanged(string $word, string $name): bool
    {
        $first = strspn($word ^ $name, "\0");

        return \strlen($word) === \strlen($name) && $first + 2 <= \strlen($word)
            && substr_replace($word, strrev(substr($word, $first, 2)), $first, 2) === $name;
    }

    /** Whether one is the beginning of the other, and long enough to mean something. */
    private static function begins(string $word, string $name): bool
    {
        return min(\strlen($word), \strlen($name)) > 2 && (str_starts_with($word, $name) || str_starts_with($name, $word));
    }
}
