<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Draft;
use Larder\Exception\InvalidOption;
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

    /** @throws InvalidOption */
    public static function check(int $grace, float $earliness): void
    {
        if ($grace < 0) {
            throw InvalidOption::range('grace', $grace, '0 seconds or more');
        }
        if (!($earliness >= 0.0 && $earliness <= 1_000.0)) {
            throw InvalidOption::range('earliness', $earliness, '0.0 to 1,000.0');
        }
    }
}
