<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** What an experiment found. */
final class Outcome
{
    /** @var array<string, Measurement> by what it measures */
    private array $byKey = [];
    /** @var array<string, string> */
    private array $failures = [];
    /** @var array<string, string> */
    private array $lacks = [];

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
        public array $parameters = [],
        public array $measurements = [],
        public array $leftOut = [],
        public array $notes = [],
        public array $titles = [],
        public float $seconds = 0.0,
        public bool $isComplete = true,
    ) {}

    /**
     * The measurement of a subject in a case; made when it is first asked for.
     *
     * @param array<string, string> $case
     * @param bool $isTwin whether it is the second of two of the same, which measures noise
     * @param list<string> $columns what samples have beside their value
     */
    public function measurement(
        array $case,
        string $metric,
        string $unit,
        Direction $direction,
        string $subject,
        bool $isTwin = false,
        array $columns = [],
    ): Measurement {
        $key = implode("\n", [...$case, $metric, $subject, (string) $isTwin]);
        if (isset($this->failures[$subject])) {
            // Later measurements of it are not kept.
            return new Measurement($case, $metric, $unit, $direction, $subject, $isTwin, $columns);
        }
        if (!isset($this->byKey[$key])) {
            $this->measurements[] = $this->byKey[$key] = new Measurement($case, $metric, $unit, $direction, $subject, $isTwin, $columns);
        }

        return $this->byKey[$key];
    }

    /**
     * Whether a subject can be measured; notes why not.
     *
     * @param string $name what the experiment calls it
     * @param string $needs the subject that must have been asked for
     */
    public function includes(Laboratory $laboratory, string $name, string $needs): bool
    {
        $subject = $laboratory->subjects[$needs] ?? null;
        $missing = $subject === null ? 'it was not among the subjects asked for' : $subject->missing();
        if ($missing !== null && $subject !== null) {
            $this->lack($name, $missing);
        } elseif ($missing !== null) {
            $this->leftOut[$name] = $missing;
        }

        return $missing === null;
    }

    /** Leaves a subject out because something that it needs is not installed here. */
    public function lack(string $subject, string $why): void
    {
        $this->leftOut[$subject] = $this->lacks[$subject] = $why;
    }

    /**
     * Leaves a subject out because something went wrong with it, and drops what was measured of it before: a subject that
     * crashes or returns another value than the stored one may have been fast for that.
     */
    public function fail(string $subject, WorkerFailed|ServerFailed $failure): void
    {
        if ($failure instanceof ServerFailed && !$failure->isInstalled) {
            $this->lack($subject, $failure->getMessage());

            return;
        }
        $this->leftOut[$subject] = $failure->getMessage();
        $this->failures[$subject] = $failure->getMessage();
        $this->isComplete = false;
        $isOther = static fn(Measurement $measurement): bool => $measurement->subject !== $subject;
        $this->measurements = array_values(array_filter($this->measurements, $isOther));
        $this->byKey = array_filter($this->byKey, $isOther);
    }

    /** @return array<string, string> subject => what went wrong with it, while it was measured */
    public function failures(): array
    {
        return $this->failures;
    }

    /** @return array<string, string> subject => what is not installed for it */
    public function lacks(): array
    {
        return $this->lacks;
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
