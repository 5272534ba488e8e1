<?php

declare(strict_types=1);

namespace Larder;

/**
 * What Store::fetch() brought: an item for each key that lives, a token for each that is missing.
 *
 * All arrays are indexed by key. PHP turns a decimal key such as "7" into the int 7 there; Item::$key
 * always is the string.
 */
final class Fetched
{
    /**
     * @param array<array-key, Item>  $items
     * @param array<array-key, Token> $tokens
     * @param array<array-key, Item>  $stale  of the missing ones those that are dead, but may be served while they
     *                                        are computed anew; only stores that know how have any
     */
    public function __construct(
        public readonly array $items,
        public readonly array $tokens,
        public readonly array $stale = [],
    ) {}
}
