<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\Verdict;

/** What became of one measurement from one run to another. */
final readonly class Change
{
    /**
     * @param array<string, string> $case
     * @param Interval $before the median
     * @param bool $isRepeated whether both runs took more than one sample, without which there is no interval
     * @param Interval $ratio the later over the earlier
     * @param Verdict $verdict wins: better than before
     */
    public function __construct(
        public string $experiment,
        public string $metric,
        public array $case,
        public string $subject,
        public string $unit,
        public Interval $before,
        public Interval $after,
        public bool $isRepeated,
        public Interval $ratio,
        public Verdict $verdict,
    ) {}
}
