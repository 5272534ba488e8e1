<?php

declare(strict_types=1);

namespace Larder\WordPress;

use Larder\Token;

/** A value that was made because of a miss, on its way into the store. */
final class Fill
{
    /**
     * @param ?int         $ttl   seconds from now on; null: no end
     * @param list<string> $tags
     * @param ?Token       $token of before the value was made
     */
    public function __construct(
        public readonly string $key,
        public readonly mixed $value,
        public readonly ?int $ttl,
        public readonly array $tags,
        public readonly ?Token $token,
    ) {}
}
