<?php

declare(strict_types=1);

namespace Larder\Store\File;

/** What a file says of its item besides the value. */
final class Head
{
    /**
     * @param ?int         $expiry   in Unix seconds; null: never
     * @param list<string> $tags
     * @param string       $epoch    of the tags' clock, 8 bytes, and
     * @param int          $version    its tick when the computation of the value began; of no meaning without tags
     * @param bool         $isFilled whether it was stored by a fill, besides which others may be in flight
     */
    public function __construct(
        public readonly string $key,
        public readonly ?int $expiry,
        public readonly array $tags = [],
        public readonly string $epoch = "\0\0\0\0\0\0\0\0",
        public readonly int $version = 0,
        public readonly bool $isFilled = false,
    ) {}

    /**
     * @param list<string> $tags
     * @param int          $written as of written()
     */
    public static function read(string $key, ?int $expiry, array $tags, string $epoch, int $written): self
    {
        return new self($key, $expiry, $tags, $epoch, $written < 0 ? ~$written : $written, $written < 0);
    }

    /** The version, and whether it was filled, in one number: less than 0 if it was. */
    public function written(): int
    {
        return $this->isFilled ? ~$this->version : $this->version;
    }

    public function expiringAt(?int $expiry): self
    {
        return new self($this->key, $expiry, $this->tags, $this->epoch, $this->version, $this->isFilled);
    }

    /** Of a value that new truth has taken the place of, with the same tags and expiry. */
    public function counted(): self
    {
        return new self($this->key, $this->expiry, $this->tags, $this->epoch, $this->version);
    }
}
