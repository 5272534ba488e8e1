<?php

declare(strict_types=1);

namespace Larder\Store\Memcached;

/** The names of items: the server takes at most 250 printable bytes. */
final class Names
{
    private const LONGEST = 250;

    /** @param string $prefix with its colon */
    public function __construct(
        private readonly string $prefix,
    ) {}

    public function entry(string $key, string $bytes): ?Entry
    {
        return Entry::parse($bytes, $this->kept($key));
    }

    public function item(string $key, string $epoch): string
    {
        return $this->isHashed($key)
            ? "{$this->prefix}{$epoch}:h:" . hash('sha256', $key)
            : "{$this->prefix}{$epoch}:k:{$key}";
    }

    /** @return string what has to be inside an entry, as its name does not tell it; '': nothing */
    public function kept(string $key): string
    {
        return $this->isHashed($key) ? $key : '';
    }

    private function isHashed(string $key): bool
    {
        return \strlen($this->prefix) + 20 + \strlen($key) > self::LONGEST || preg_match('/[^\x21-\x7e]/', $key) === 1;
    }
}
