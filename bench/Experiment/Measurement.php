<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Statistics\Quantity;

/**
 * All samples of one subject in one case of an experiment, as they were taken: nothing is subtracted or dropped.
 *
 * A sample is a row of numbers. The first three columns are always `process`, `block` and `value`. Where subjects take turns,
 * samples with the same process and block ran side by side.
 */
final class Measurement
{
    public const PROCESS = 0;
    public const BLOCK = 1;
    public const VALUE = 2;
    /** As many of a time or a rate are written down; counts keep all of theirs. */
    private const FIGURES = 7;

    /**
     * @param array<string, string> $case what was varied, such as `['value' => 'page', 'operation' => 'get']`
     * @param string $metric what was measured, such as `time`
     * @param bool $isTwin whether it is the second of two of the same, which measures noise
     * @param list<string> $columns names of the columns after the first three
     * @param list<list<int|float>> $samples
     */
    public function __construct(
        public readonly array $case,
        public readonly string $metric,
        public readonly string $unit,
        public readonly Direction $direction,
        public readonly string $subject,
        public readonly bool $isTwin = false,
        public readonly array $columns = [],
        private array $samples = [],
    ) {}

    public function add(int $process, int $block, float $value, int|float ...$more): void
    {
        $this->samples[] = [$process, $block, $value, ...array_values($more)];
    }

    /** @return array<int, array<int, float>> process => block => value */
    public function byBlock(): array
    {
        $blocks = [];
        foreach ($this->samples as $sample) {
            $blocks[(int) $sample[self::PROCESS]][(int) $sample[self::BLOCK]] = (float) $sample[self::VALUE];
        }

        return $blocks;
    }

    /** @return list<float> */
    public function values(): array
    {
        return array_map(floatval(...), array_column($this->samples, self::VALUE));
    }

    /** @return list<float> the column of that name; empty where there is none */
    public function column(string $name): array
    {
        $index = array_search($name, $this->columns, true);

        return $index === false ? [] : array_map(floatval(...), array_column($this->samples, $index + 3));
    }

    /** Whether it is a time or a rate, which differs each time it is taken; a count of bytes or items does not. */
    public function varies(): bool
    {
        return str_starts_with($this->unit, 'ns') || str_ends_with($this->unit, 'per second');
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return [
            'case' => (object) $this->case,
            'metric' => $this->metric,
            'unit' => $this->unit,
            'better' => $this->direction->value,
            'subject' => $this->subject,
            'twin' => $this->isTwin,
            'columns' => ['process', 'block', 'value', ...$this->columns],
            'samples' => array_map(
                static fn(array $sample): array => array_map(static fn(int|float $number): int|float => is_float($number) && $number !== floor($number) ? Quantity::rounded($number, self::FIGURES) : $number, $sample),
                $this->samples,
            ),
        ];
    }

    public static function from(Fields $fields): self
    {
        return new self(
            $fields->texts('case'),
            $fields->string('metric'),
            $fields->string('unit'),
            Direction::tryFrom($fields->string('better')) ?? throw new \UnexpectedValueException('A measurement says neither that lower nor that higher is better: the file was written by another version; make it anew.'),
            $fields->string('subject'),
            $fields->bool('twin'),
            array_slice($fields->strings('columns'), 3),
            $fields->rows('samples'),
        );
    }
}
