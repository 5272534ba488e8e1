<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Statistics;

use Random\Engine\Xoshiro256StarStar;
use Random\Randomizer;

/** Blocks of two subjects on a machine that is disturbed, whose true ratio is known. */
final readonly class Noise
{
    private Randomizer $random;

    public function __construct(int $seed)
    {
        $this->random = new Randomizer(new Xoshiro256StarStar($seed));
    }

    /**
     * @param float $ratio what the first subject truly takes in terms of the second
     * @param float $luck how much processes differ from each other
     * @return array{array<int, array<int, float>>, array<int, array<int, float>>} process => block => value, of both
     */
    public function blocks(float $ratio, int $processes, int $blocks, float $luck = 0.0): array
    {
        $one = $other = [];
        for ($process = 0; $process < $processes; $process++) {
            $own = exp($luck * $this->normal());
            for ($block = 0; $block < $blocks; $block++) {
                // What disturbs the machine lasts longer than a block and slows both down.
                $disturbance = exp(abs(0.5 * $this->normal()));
                $one[$process][$block] = 100 * $ratio * $own * $disturbance * exp(0.05 * $this->normal());
                $other[$process][$block] = 100 * $disturbance * exp(0.05 * $this->normal());
            }
        }

        return [$one, $other];
    }

    /** A number of the standard normal distribution (Box and Muller, 1958). */
    private function normal(): float
    {
        return sqrt(-2 * log($this->uniform())) * cos(2 * M_PI * $this->uniform());
    }

    /** A number above 0 and not above 1. */
    private function uniform(): float
    {
        return $this->random->getInt(1, 1 << 53) / (1 << 53);
    }
}
