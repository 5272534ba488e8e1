<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A time to live of a type that means nothing. */
final class InvalidTtl extends \InvalidArgumentException implements Exception
{
    public static function ofType(mixed $ttl): self
    {
        return new self(sprintf(
            'A TTL of type %s was given; give seconds as an int, a DateInterval, or null for the default.',
            get_debug_type($ttl),
        ));
    }
}
