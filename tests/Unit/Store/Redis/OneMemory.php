<?php

declare(strict_types=1);

namespace Larder\Tests\Unit\Store\Redis;

use Larder\Store\Redis\HostMemory;

/** An array that several objects share, as the processes of a host share memory. */
final class OneMemory implements HostMemory
{
    public bool $isFull = false;

    /** @var array<array-key, string> */
    private array $strings = [];

    public function read(array $names): array
    {
        return array_intersect_key($this->strings, array_flip($names));
    }

    public function write(string $name, string $bytes): bool
    {
        if (!$this->isFull) {
            $this->strings[$name] = $bytes;
        }

        return !$this->isFull;
    }

    public function forgetOne(): void
    {
        if ($this->strings !== []) {
            unset($this->strings[array_rand($this->strings)]);
        }
    }

    /** @param string $end of the names of what is lost */
    public function forget(string $end): void
    {
        $this->strings = array_filter($this->strings, static fn(int|string $name): bool => !str_ends_with((string) $name, $end), \ARRAY_FILTER_USE_KEY);
    }

    public function overwrite(string $bytes): void
    {
        $this->strings = array_map(static fn(): string => $bytes, $this->strings);
    }

    public function bytes(): int
    {
        return array_sum(array_map(strlen(...), $this->strings));
    }
}
