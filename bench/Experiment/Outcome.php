<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Report\Fields;

/** What an experiment found. */
final class Outcome
{
    /**
     * @param array<string, string|int> $parameters
     * @param list<Measurement> $measurements
     * @param array<string, string> $leftOut subject => why
     * @param array<string, string> $titles of subjects that only this experiment has
     * @param list<string> $notes what a reader should know of this run
     */
    public function __construct(
        public readonly string $name,
        public readonly string $title,
        public readonly string $recreates,
        public readonly array $parameters,
        public array $measurements = [],
        public array $leftOut = [],
        public array $notes = [],
        public array $titles = [],
        public float $seconds = 0.0,
        public bool $isComplete = true,
    ) {}

    /** @param array<string, string|int> $parameters */
    public static function of(Experiment $experiment, array $parameters): self
    {
        return new self($experiment->name(), $experiment->title(), $experiment->recreates(), $parameters);
    }

    /** @return array<string, mixed> */
    public function toArray(): array
    {
        return [
            'name' => $this->name,
            'title' => $this->title,
            'recreates' => $this->recreates,
            'parameters' => (object) $this->parameters,
            'seconds' => round($this->seconds, 1),
            'complete' => $this->isComplete,
            'left_out' => (object) $this->leftOut,
            'notes' => $this->notes,
            'titles' => (object) $this->titles,
            'measurements' => array_map(static fn(Measurement $measurement): array => $measurement->toArray(), $this->measurements),
        ];
    }

    public static function from(Fields $fields): self
    {
        return new self(
            $fields->string('name'),
            $fields->string('title'),
            $fields->string('recreates'),
            $fields->scalars('parameters'),
            array_map(Measurement::from(...), $fields->objects('measurements')),
            $fields->texts('left_out'),
            $fields->strings('notes'),
            $fields->texts('titles'),
            $fields->float('seconds'),
            $fields->bool('complete'),
        );
    }
}
