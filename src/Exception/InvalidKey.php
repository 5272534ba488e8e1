<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A key that no store could hold, or that a PSR forbids. */
final class InvalidKey extends \InvalidArgumentException implements Exception
{
    public static function empty(): self
    {
        return new self('The key is empty; give a key of at least one byte.');
    }

    /** @param int $longest bytes */
    public static function tooLong(string $key, int $longest): self
    {
        return new self(sprintf(
            'The key that begins with "%s" has %d bytes; a key has at most %d, so shorten or hash it.',
            self::excerpt($key),
            \strlen($key),
            $longest,
        ));
    }

    public static function internal(string $key): self
    {
        return new self(sprintf('The key that begins with "%s" is one of the cache\'s own; take another beginning.', self::excerpt($key)));
    }

    public static function ofType(mixed $key): self
    {
        return new self(sprintf('A key of type %s was given; keys are strings, so convert it first.', get_debug_type($key)));
    }

    private static function excerpt(string $key): string
    {
        return addcslashes(substr($key, 0, 32), "\0..\37\"\\\177..\377");
    }
}
