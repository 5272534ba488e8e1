<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Draft;
use Larder\Ttl;

/** What one call of Cache::remember() asks for. */
final class Recipe
{
    /**
     * @param \Closure(Draft): mixed $compute
     * @param list<string>           $tags
     * @param int                    $grace     seconds
     * @param float                  $earliness XFetch's beta
     */
    public function __construct(
        public readonly string $key,
        public readonly \Closure $compute,
        public readonly int|\DateInterval|Ttl|null $ttl,
        public readonly array $tags,
        public readonly int $grace = 0,
        public readonly float $earliness = 1.0,
        public readonly Patience $patience = new Patience(),
    ) {}
}
