<?php

declare(strict_types=1);

namespace Larder\Psr6;

use Larder\Exception;
use Psr\Cache\InvalidArgumentException;

/** A key or tag that PSR-6 does not allow. */
final class InvalidArgument extends \InvalidArgumentException implements InvalidArgumentException, Exception
{
    public static function key(string $key): self
    {
        return new self(\sprintf(
            'The key "%s" is not legal in PSR-6; use 1 to 65,535 bytes without {}()/\@: in them.',
            addcslashes(substr($key, 0, 64), "\0..\37\"\177..\377"),
        ));
    }

    public static function keyOfType(mixed $key): self
    {
        return new self(\sprintf('A key of type %s was given; PSR-6 has strings, so convert it first.', get_debug_type($key)));
    }

    public static function because(\Throwable $mistake): self
    {
        return new self($mistake->getMessage(), 0, $mistake);
    }
}
