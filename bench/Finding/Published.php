<?php

declare(strict_types=1);

namespace Larder\Bench\Finding;

use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Statistics\Summary;

/** A figure from another publication, and the measurement of ours that re-creates it. */
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

    /** What the run has beside it, in the published unit: a median with its interval, or the statistic that was published. */
    public function measuredIn(Findings $findings): string
    {
        $spoken = $findings->spoken($this->experiment, $this->subject);
        $measurement = $findings->measurement($this->experiment, $this->metric, $this->case, $spoken);
        $values = $measurement === null ? [] : $measurement->values();
        if ($measurement === null || $values === []) {
            return 'not measured';
        }
        if ($this->statistic !== null) {
            return Quantity::number((Summary::of($values)->toArray()[$this->statistic] ?? NAN) * $this->factor);
        }
        $ours = $findings->median($this->experiment, $measurement);

        return Quantity::interval(new Interval($ours->estimate * $this->factor, $ours->low * $this->factor, $ours->high * $this->factor)) . ($spoken === $this->subject ? '' : ' (Valkey)');
    }
}
