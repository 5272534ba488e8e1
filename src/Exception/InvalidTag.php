<?php

declare(strict_types=1);

namespace Larder\Exception;

use Larder\Exception;

/** A tag that no item can carry. */
final class InvalidTag extends \InvalidArgumentException implements Exception
{
    public static function empty(): self
    {
        return new self('The tag is empty; give a tag of at least one byte.');
    }

    /** @param int $longest bytes */
    public static function tooLong(string $tag, int $longest): self
    {
        return new self(\sprintf(
            'The tag that begins with "%s" has %d bytes; a tag has at most %d, so shorten or hash it.',
            addcslashes(substr($tag, 0, 32), "\0..\37\"\\\177..\377"),
            \strlen($tag),
            $longest,
        ));
    }

    public static function ofType(mixed $tag): self
    {
        return new self(\sprintf('A tag of type %s was given; tags are strings, so convert it first.', get_debug_type($tag)));
    }
}
