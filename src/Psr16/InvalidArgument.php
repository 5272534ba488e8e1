<?php

declare(strict_types=1);

namespace Larder\Psr16;

use Larder\Exception;
use Psr\SimpleCache\InvalidArgumentException;

/** A key or value that PSR-16 does not allow. */
final class InvalidArgument extends \InvalidArgumentException implements InvalidArgumentException, Exception
{
    public static function key(string $key): self
    {
        return new self(\sprintf(
            'The key "%s" is not legal in PSR-16; use 1 to 65,535 bytes without {}()/\@: in them.',
            addcslashes(substr($key, 0, 64), "\0..\37\"\177..\377"),
        ));
    }

    public static function keyOfType(mixed $key): self
    {
        return new self(\sprintf('A key of type %s was given; PSR-16 has strings, so convert it first.', get_debug_type($key)));
    }

    public static function notIterable(mixed $given): self
    {
        return new self(\sprintf('A value of type %s was given; PSR-16 takes an array or a Traversable here.', get_debug_type($given)));
    }

    public static function because(\Throwable $mistake): self
    {
        return new self($mistake->getMessage(), 0, $mistake);
    }
}
