<?php

declare(strict_types=1);

namespace Larder\Store\File;

/** What a file says of its item besides the value. */
final class Head
{
    /**
     * @param ?int         $expiry in Unix seconds; null: never
     * @param list<string> $tags
     * @param string       $epoch  of the tags' clock, 8 bytes, and
     * @param int          $stamp  its tick when the computation of the value began; of no meaning without tags
     */
    public function __construct(
        public readonly string $key,
        public readonly ?int $expiry,
        public readonly array $tags = [],
        public readonly string $epoch = "\0\0\0\0\0\0\0\0",
        public readonly int $stamp = 0,
    ) {}

    public function expiringAt(?int $expiry): self
    {
        return new self($this->key, $expiry, $this->tags, $this->epoch, $this->stamp);
    }
}
