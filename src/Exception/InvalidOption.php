<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A wrong configuration, found when a store or cache is made. */
final class InvalidOption extends \InvalidArgumentException implements Exception
{
    public static function prefix(string $prefix): self
    {
        return new self(sprintf(
            'The prefix "%s" cannot be used; take 1 to 64 letters, digits, dots, dashes or underscores.',
            addcslashes($prefix, "\0..\37\"\\\177..\377"),
        ));
    }

    public static function namespace(string $name): self
    {
        return new self(sprintf(
            'The namespace "%s" cannot be used; take 1 to 64 letters, digits, dots, dashes or underscores.',
            addcslashes(substr($name, 0, 70), "\0..\37\"\\\177..\377"),
        ));
    }

    public static function range(string $option, int|float $value, string $range): self
    {
        return new self(sprintf('The option "%s" is %s; it must be %s.', $option, $value, $range));
    }

    /** For a value that must not be printed. */
    public static function tooShort(string $option, int $shortest): self
    {
        return new self(sprintf('The option "%s" is too short; give at least %d bytes that are hard to guess.', $option, $shortest));
    }

    public static function choice(string $option, string $value, string ...$choices): self
    {
        return new self(sprintf('The option "%s" is "%s"; choose one of: %s.', $option, $value, implode(', ', $choices)));
    }

    /** @param string $near the first of them: its class, or its scheme */
    public static function nearOfThree(string $near): self
    {
        return new self(sprintf('Of three stores the first must be an ArrayStore, as in "array: > shm: > redis://…". This one is %s; put "array:" first, or leave out one store.', $near));
    }

    public static function unsupported(string $option, string $where, string $remedy): self
    {
        return new self(sprintf('The option "%s" is not supported %s; %s.', $option, $where, $remedy));
    }

    public static function directory(string $path, string $why, string $remedy): self
    {
        return new self(sprintf('The directory "%s" %s; %s.', $path, $why, $remedy));
    }

    public static function iniSetting(string $store, string $setting, string $remedy): self
    {
        return new self(sprintf('%s cannot work while %s; %s.', $store, $setting, $remedy));
    }
}
