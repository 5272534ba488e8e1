<?php

declare(strict_types=1);

namespace Larder;

/**
 * What ValueReads::readMany() brought: a value for each key that lives, a token for each that is missing.
 *
 * All arrays are indexed by key, and in the order in which the keys were given, as those of Fetched are.
 */
final class Values
{
    /**
     * @param array<array-key, mixed> $values
     * @param array<array-key, Item>  $sealed of those values that are arrays with the seal
     * @param array<array-key, Token> $tokens
     */
    public function __construct(
        public readonly array $values,
        public readonly array $sealed,
        public readonly array $tokens,
    ) {}
}
