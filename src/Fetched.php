<?php

declare(strict_types=1);

namespace Larder;

/**
 * What Store::fetch() brought: an item for each key that lives, a token for each that is missing.
 *
 * Both arrays are indexed by key. PHP turns a decimal key such as "7" into the int 7 there; Item::$key
 * always is the string.
 */
final class Fetched
{
    /**
     * @param array<array-key, Item>  $items
     * @param array<array-key, Token> $tokens
     */
    public function __construct(
        public readonly array $items,
        public readonly array $tokens,
    ) {}
}
