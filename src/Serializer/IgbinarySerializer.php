<?php

declare(strict_types=1);

namespace Larder\Serializer;

use Larder\Exception\ExtensionMissing;
use Larder\Serializer;

/** The extension igbinary: smaller payloads, read back faster. */
final class IgbinarySerializer implements Serializer
{
    private readonly string $null;

    /** @throws ExtensionMissing */
    public function __construct()
    {
        if (!\function_exists('igbinary_serialize')) {
            throw ExtensionMissing::of('IgbinarySerializer', 'igbinary');
        }
        $this->null = (string) igbinary_serialize(null);
    }

    public function mark(): string
    {
        return 'I';
    }

    public function serialize(mixed $value): string
    {
        return igbinary_serialize($value) ?? throw new \UnexpectedValueException('igbinary cannot serialise the value');
    }

    public function unserialize(string $bytes): mixed
    {
        $value = @igbinary_unserialize($bytes);
        // It answers null or false for what it cannot read.
        if (($value === null && $bytes !== $this->null) || ($value === false && $bytes !== igbinary_serialize(false))) {
            throw new \UnexpectedValueException('The bytes are not a value serialised by igbinary.');
        }

        return $value;
    }
}
