<?php

declare(strict_types=1);

namespace Larder\WordPress\Bench;

/** What a rival's design does with what outlives the request. Keys have their group beside them; values are any but resources. */
interface Store
{
    /**
     * @param list<int|string> $keys
     *
     * @return array<array-key, mixed> key => value, of those found
     */
    public function read(string $group, array $keys): array;

    /**
     * @param array<array-key, mixed> $values  key => value
     * @param int                     $seconds 0: no end
     */
    public function write(string $group, array $values, int $seconds): void;

    /**
     * Stores what is not there.
     *
     * @param int $seconds 0: no end
     */
    public function add(string $group, int|string $key, mixed $value, int $seconds): bool;

    /** @param list<int|string> $keys */
    public function delete(string $group, array $keys): void;

    public function clear(): void;
}
