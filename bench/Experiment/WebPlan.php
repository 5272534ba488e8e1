<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

/** How often and how long `web` measures. */
final readonly class WebPlan
{
    /**
     * @param float $seconds of a slice
     * @param int $starts of nginx and php-fpm
     * @param int $turns of all scripts after each start
     * @param int $pairs turns of the two scripts that a promise compares, beside those
     * @param int $latencyTurns runs of each script at a fixed rate
     */
    private function __construct(public float $seconds, public int $starts, public int $turns, public int $pairs, public int $latencyTurns) {}

    public static function of(Profile $profile): self
    {
        return match ($profile) {
            Profile::Quick => new self(0.025, 4, 4, 30, 2),
            Profile::Thorough => new self(0.05, 7, 7, 70, 4),
        };
    }

    /**
     * Turns after each start, those of the two alone included.
     *
     * @param array<string, string> $case
     */
    public function turnsOf(array $case): int
    {
        return $this->turns + ($case['value'] === 'alloptions' ? $this->pairs : 0);
    }
}
