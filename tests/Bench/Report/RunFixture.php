<?php

declare(strict_types=1);

namespace Larder\Tests\Bench\Report;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Report\Run;
use Larder\Bench\Statistics\Direction;

/** Builds runs of which every figure is known. */
final class RunFixture
{
    /** @var array<string, Outcome> */
    private array $outcomes = [];

    /** @param array<string, float> $times ns of the empty loop included, by subject */
    public function gets(string $value, string $operation, array $times): self
    {
        foreach ($times as $subject => $time) {
            $this->add('gets', ['value' => $value, 'operation' => $operation, 'keys' => 'one hot key'], 'time', Direction::LowerIsBetter, $subject, $time);
        }

        return $this;
    }

    /** @param array<string, string> $case */
    public function add(string $experiment, array $case, string $metric, Direction $direction, string $subject, float $value, float $spread = 0.01): self
    {
        $this->outcomes[$experiment] ??= new Outcome($experiment, ucfirst($experiment), 'Re-creates nothing.', ['blocks' => 3]);
        $unit = $metric === 'time' ? 'ns per operation' : $metric;
        $measurement = new Measurement($case, $metric, $unit, $direction, $subject, false, ['operations', 'client cpu', 'server cpu']);
        for ($process = 0; $process < 2; $process++) {
            foreach ([1 - $spread, 1.0, 1 + $spread] as $block => $factor) {
                // Subjects with the same spread are disturbed alike, so that their ratios are exact.
                $measurement->add($process, $block, $value * $factor, 1000, $value, 0.0);
            }
        }
        $this->outcomes[$experiment]->measurements[] = $measurement;

        return $this;
    }

    public function run(): Run
    {
        $subjects = [];
        foreach (['none' => 'other', 'array-object' => 'other', 'shared-memory' => 'memory', 'apcu-php' => 'memory', 'apcu-igbinary' => 'memory', 'redis-tcp' => 'server', 'memcached-tcp' => 'server', 'memcached-unix' => 'server', 'file-disk' => 'files', 'file-tmpfs' => 'files'] as $name => $family) {
            $subjects[$name] = ['title' => strtoupper($name), 'family' => $family, 'settings' => ['apc.serializer' => 'php']];
        }

        return new Run(
            'bin/larder bench',
            'quick',
            '2024-05-01T10:00:00Z',
            ['processor' => 'A <fine> one'],
            'clients on processor 0',
            ['opcache.enable' => '1'],
            $subjects,
            ['PHP' => '8.2'],
            ['redis' => ['version' => '7', 'command' => 'redis-server']],
            array_values($this->outcomes),
            12.5,
            true,
        );
    }
}
