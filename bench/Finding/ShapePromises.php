<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

/** What values of every shape may cost, over APCu with PHP's serialiser. */
final readonly class ShapePromises
{
    private const READS = 0.040;
    private const STORES = 0.75;
    private const FETCHES = 0.12;

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $ratios = new ShapeRatios($findings);
        $figure = 'geometric mean of times, ours over theirs';

        return ['shapes' => [
            Promise::atMost('reads of values of every shape against APCu with PHP\'s serialiser', $figure, $ratios->reads(), self::READS),
            Promise::atMost('stores of values of every shape against APCu with PHP\'s serialiser', $figure, $ratios->stores(), self::STORES),
            Promise::atMost('the one fetch of a request against APCu with PHP\'s serialiser', $figure, $ratios->fetches(), self::FETCHES),
        ]];
    }
}
