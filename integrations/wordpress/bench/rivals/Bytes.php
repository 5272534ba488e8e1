<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** Values as bytes, by igbinary where it is loaded, as the published object caches do it. */
final readonly class Bytes
{
    private bool $isIgbinary;

    public function __construct()
    {
        $this->isIgbinary = \function_exists('igbinary_serialize');
    }

    public function of(mixed $value): string
    {
        return $this->isIgbinary ? (string) igbinary_serialize($value) : serialize($value);
    }

    public function value(string $bytes): mixed
    {
        return $this->isIgbinary ? igbinary_unserialize($bytes) : unserialize($bytes);
    }
}
