<?php

declare(strict_types=1);

namespace Larder\Store\Redis;

/** Memory that the processes of a host share. Anything in it may be lost at any time. */
interface HostMemory
{
    /**
     * @param non-empty-list<string> $names
     *
     * @return array<array-key, string> by name, those that are there
     */
    public function read(array $names): array;

    /** @return bool false: there is no room */
    public function write(string $name, string $bytes): bool;
}
