<?php

declare(strict_types=1);

namespace Larder;

/**
 * What a store knows about itself. null means that it cannot tell (or not without looking at every item).
 */
final class StoreStatistics
{
    /**
     * @param ?int                 $items     live items, and dead ones not yet removed
     * @param ?int                 $bytes     bytes in use
     * @param ?int                 $capacity  bytes at most
     * @param ?int                 $hits      since the store was made or its server started
     * @param ?int                 $misses    likewise
     * @param ?int                 $evictions items removed to make room
     * @param ?int                 $expired   items removed because their time was over
     * @param array<string, mixed> $details   what only this kind of store knows, in its own words
     */
    public function __construct(
        public readonly ?int $items = null,
        public readonly ?int $bytes = null,
        public readonly ?int $capacity = null,
        public readonly ?int $hits = null,
        public readonly ?int $misses = null,
        public readonly ?int $evictions = null,
        public readonly ?int $expired = null,
        public readonly array $details = [],
    ) {}
}
