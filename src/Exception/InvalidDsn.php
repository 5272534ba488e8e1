<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A DSN that names no store, or an option that its store does not have. */
final class InvalidDsn extends \InvalidArgumentException implements Exception
{
    /** @param non-empty-list<string> $known schemes */
    public static function withoutScheme(string $dsn, array $known): self
    {
        $near = Suggestion::near($dsn, $known);

        return new self(sprintf('The DSN "%s" has no scheme; begin it with one, such as %s.', $dsn, $near === null ? '"shm:" or "redis://"' : "\"{$near}:\""));
    }

    /** @param non-empty-list<string> $known */
    public static function unknownScheme(string $scheme, array $known): self
    {
        return new self(sprintf('The DSN scheme "%s" is unknown; %s.', $scheme, Suggestion::among($scheme, $known)));
    }

    /** @param list<string> $known */
    public static function unknownOption(string $option, string $scheme, array $known): self
    {
        if ($known === []) {
            return new self(sprintf('The option "%s" is unknown: a DSN of the scheme "%s" has no options; remove it.', $option, $scheme));
        }

        return new self(sprintf(
            'The option "%s" of the "%s" DSN is unknown; %s.',
            $option,
            $scheme,
            Suggestion::among($option, $known),
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

    public static function withoutLog(string $near, string $far): self
    {
        return new self(sprintf(
            'The store "%s:" has no log that a near store could follow; put "redis://host" behind the ">", or let reads be 5 seconds old by "%s:?staleness=5".',
            $far,
            $near,
        ));
    }

    public static function nearStore(string $scheme): self
    {
        return new self(sprintf('The store "%s:" cannot stand in front of another; put one of array, apcu and shm there.', $scheme));
    }
}
