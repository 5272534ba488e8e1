<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Serializer;

/** PHP's own serialize(), which is always there. */
final class PhpSerializer implements Serializer
{
    public function mark(): string
    {
        return 'P';
    }

    public function serialize(mixed $value): string
    {
        return serialize($value);
    }

    public function unserialize(string $bytes): mixed
    {
        $value = @unserialize($bytes);
        if ($value === false && $bytes !== 'b:0;') {
            throw new \UnexpectedValueException('The bytes are not a serialised value.');
        }

        return $value;
    }
}
