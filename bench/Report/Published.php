<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

/** A figure that somebody else published, and the measurement of ours that re-creates it. */
final readonly class Published
{
    /**
     * @param array<string, string> $case of our measurement
     * @param float $factor turns our value into the published unit
     * @param string|null $statistic a field of Statistics\Summary; null: the median with its interval
     */
    public function __construct(
        public string $experiment,
        public string $title,
        public float $value,
        public string $unit,
        public string $metric,
        public array $case,
        public string $subject,
        public float $factor,
        public ?string $statistic = null,
    ) {}
}
