<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

use Larder\Exception\PoolUnusable;
use Larder\SharedMemory;

/** A pool of shared memory, which all processes of a user share. */
final class PoolMemory implements HostMemory
{
    /** One pool for all stores of the user. */
    private const NAME = 'redis-tags';

    /** Bytes. */
    private const SIZE = 16 << 20;

    private function __construct(
        private readonly SharedMemory $pool,
    ) {}

    /** @return ?self null: there is no extension, or no memory */
    public static function open(): ?self
    {
        if (!\extension_loaded('larder')) {
            return null;
        }
        try {
            return new self(SharedMemory::open(self::NAME, self::SIZE));
        } catch (PoolUnusable) {
            return null;
        }
    }

    public function read(array $names): array
    {
        return array_filter($this->pool->getMany($names), is_string(...));
    }

    public function write(string $name, string $bytes): bool
    {
        return $this->pool->set($name, $bytes);
    }
}
