<?php

declare(strict_types=1);

namespace Larder;

use Larder\Exception\StoreUnavailable;

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
     *                                        are computed anew. Only stores that know how have any
     * @param ?StoreUnavailable       $failure of a store that is several servers: why some of them could not be asked. Their keys
     *                                        are missing
     * @param array<array-key, mixed> $values of live items, those that Reads::readMany() brings without an Item among them
     */
    public function __construct(
        public readonly array $items,
        public readonly array $tokens,
        public readonly array $stale = [],
        public readonly ?StoreUnavailable $failure = null,
        public readonly array $values = [],
    ) {}
}
