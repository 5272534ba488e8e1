<?php

declare(strict_types=1);

namespace Larder\Remember;

use Larder\Exception\InvalidOption;
use Larder\PendingItem;
use Larder\Ttl;

/** What one call of Cache::remember() asks for. */
final class Recipe
{
    /**
     * @param \Closure(PendingItem): mixed $compute
     * @param list<string>           $tags
     * @param int                    $grace     seconds
     * @param float                  $beta XFetch's beta
     */
    public function __construct(
        public readonly string $key,
        public readonly \Closure $compute,
        public readonly int|\DateInterval|Ttl|null $ttl,
        public readonly array $tags,
        public readonly int $grace = 0,
        public readonly float $beta = 1.0,
        public readonly StampedeOptions $stampede = new StampedeOptions(),
    ) {}

    /** @throws InvalidOption */
    public static function check(int $grace, float $beta): void
    {
        if ($grace < 0) {
            throw InvalidOption::range('grace', $grace, '0 seconds or more');
        }
        if (!($beta >= 0.0 && $beta <= 1_000.0)) {
            throw InvalidOption::range('beta', $beta, '0.0 to 1,000.0');
        }
    }
}
