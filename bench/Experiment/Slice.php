<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Fields;

/** What the load generator saw in one slice of a run. */
final readonly class Slice
{
    /**
     * @param int $requests those that got the right answer
     * @param float $generatorSeconds processor time of the generator itself
     * @param int $watched processor time of the processes it was told to watch, in ns
     * @param array{p50: int, p99: int, p999: int, max: int} $latency in ns
     */
    private function __construct(
        public int $requests,
        public int $errors,
        public float $seconds,
        public float $generatorSeconds,
        public int $watched,
        public array $latency,
    ) {}

    public static function from(Fields $fields): self
    {
        $latency = $fields->object('latency_ns');

        return new self(
            $fields->int('requests'),
            $fields->int('errors'),
            $fields->float('seconds'),
            $fields->float('cpu_seconds'),
            $fields->int('watched_ns'),
            ['p50' => $latency->int('p50'), 'p99' => $latency->int('p99'), 'p999' => $latency->int('p999'), 'max' => $latency->int('max')],
        );
    }

    /** Requests a second. */
    public function rate(): float
    {
        return $this->requests / max(1e-9, $this->seconds);
    }

    /**
     * What a sample says besides the rate, in the experiments that use the generator: p50, p99, errors, the generator's
     * and the watched processes' time for a request, and the generator's share of a processor.
     *
     * @return list<float|int>
     */
    public function columns(): array
    {
        return [
            $this->latency['p50'],
            $this->latency['p99'],
            $this->errors,
            $this->generatorTime(),
            $this->watchedTime(),
            $this->generatorShare(),
        ];
    }

    /** The share of a processor that the generator used: near 1 it measures itself. */
    public function generatorShare(): float
    {
        return round($this->generatorSeconds / max(1e-9, $this->seconds), 3);
    }

    /** Processor time of the generator for a request, in ns. */
    public function generatorTime(): float
    {
        return round($this->generatorSeconds * 1e9 / max(1, $this->requests));
    }

    /** Processor time of the watched processes for a request, in ns. */
    public function watchedTime(): float
    {
        return round($this->watched / max(1, $this->requests));
    }
}
