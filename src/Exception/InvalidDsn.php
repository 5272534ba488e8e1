<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A DSN that names no store, or an option that its store does not have. */
final class InvalidDsn extends \InvalidArgumentException implements Exception
{
    public static function withoutScheme(string $dsn): self
    {
        return new self(sprintf('The DSN "%s" has no scheme; begin it with one, such as "shm:" or "redis://".', $dsn));
    }

    /** @param non-empty-list<string> $known */
    public static function unknownScheme(string $scheme, array $known): self
    {
        $nearest = self::nearest($scheme, $known);
        // The nearest of the known ones is no help to a reader who meant something else.
        $isMisspelt = levenshtein(substr($scheme, 0, 64), $nearest) <= max(1, intdiv(\strlen($scheme), 3));

        return new self(sprintf(
            $isMisspelt ? 'The DSN scheme "%1$s" is unknown; did you mean "%3$s"? Known: %2$s.' : 'The DSN scheme "%s" is unknown; use one of: %s.',
            $scheme,
            implode(', ', $known),
            $nearest,
        ));
    }

    /** @param list<string> $known */
    public static function unknownOption(string $option, string $scheme, array $known): self
    {
        if ($known === []) {
            return new self(sprintf('The option "%s" is unknown: a "%s" DSN has no options; remove it.', $option, $scheme));
        }

        return new self(sprintf(
            'The option "%s" of the "%s" DSN is unknown; did you mean "%s"? Known: %s.',
            $option,
            $scheme,
            self::nearest($option, $known),
            implode(', ', $known),
        ));
    }

    public static function option(string $option, string $value, string $expected): self
    {
        return new self(sprintf('The DSN option "%s" is "%s"; give %s.', $option, $value, $expected));
    }

    public static function part(string $dsn, string $problem, string $remedy): self
    {
        return new self(sprintf('The DSN "%s" %s; %s.', $dsn, $problem, $remedy));
    }

    public static function withoutLog(string $scheme): self
    {
        return new self(sprintf('A "%s" store cannot stand behind another, as it has no log that a near store could follow; put "sqlite:/path" behind the last ">".', $scheme));
    }

    public static function nearStore(string $scheme): self
    {
        return new self(sprintf('A "%s" store cannot stand in front of another; put one of array, apcu and shm there.', $scheme));
    }

    /** @param non-empty-list<string> $known */
    private static function nearest(string $word, array $known): string
    {
        $distances = [];
        foreach ($known as $candidate) {
            $distances[$candidate] = levenshtein(substr(strtolower($word), 0, 64), $candidate);
        }
        asort($distances);

        return (string) array_key_first($distances);
    }
}
