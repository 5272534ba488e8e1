<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** How often and how long `web` measures. */
final readonly class WebPlan
{
    private const PAIRS_A_RUN = 10;

    /**
     * @param float $seconds of a slice
     * @param int $starts of nginx and php-fpm
     * @param int $turns of all scripts after each start
     * @param int $pairs turns of the two scripts that a promise compares, beside those
     * @param int $latencyTurns runs of each script at a fixed rate
     * @param float $latencySeconds of each of them
     * @param int $checks runs of our generator and of wrk, a second each
     * @param int $tiers samples of what a tier costs a request, after each start
     */
    private function __construct(public float $seconds, public int $starts, public int $turns, public int $pairs, public int $latencyTurns, public float $latencySeconds, public int $checks, public int $tiers) {}

    public static function of(Profile $profile): self
    {
        return match ($profile) {
            Profile::Quick => new self(0.025, 4, 3, 26, 2, 0.3, 2, 5),
            Profile::Thorough => new self(0.05, 7, 6, 60, 3, 1.0, 4, 8),
        };
    }

    /**
     * Runs of the generator after each start: how many turns each of them is of. Starting it takes as long as a slice.
     *
     * @param array<string, string> $case
     * @return list<int> of all scripts first, then, if there are any, of the two alone
     */
    public function runs(array $case): array
    {
        $runs = array_fill(0, $this->turns, 1);
        for ($left = $case['value'] === 'alloptions' ? $this->pairs : 0; $left > 0; $left -= self::PAIRS_A_RUN) {
            $runs[] = min($left, self::PAIRS_A_RUN);
        }

        return $runs;
    }
}
