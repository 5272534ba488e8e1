<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Server\ServerFailed;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\ServerKind;
use Larder\Bench\Subject\WorkerFailed;

/** What serialising and compressing costs, in time and in bytes. */
final class Serializers implements Experiment
{
    public const SINGLE = 'time of a single call';

    public function name(): string
    {
        return 'serializers';
    }

    public function title(): string
    {
        return 'Serialising and compressing';
    }

    public function recreates(): string
    {
        return 'Source B times gzdeflate(igbinary_serialize()) and its inverse on what a WordPress site caches, 129 and 190 times. '
            . 'Ours does so with the values of this benchmark, one call at a time, and times every serialiser with every compression '
            . 'on each value. LZ4 and Zstandard come from extensions of their names, or from phpredis, which has both built in.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(16, 512, $profile === Profile::Quick ? 2 : 25);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $isQuick = $laboratory->profile === Profile::Quick;
        $processes = $isQuick ? 2 : 6;
        $milliseconds = $isQuick ? 1 : 4;
        $outcome->parameters = ['processes' => $processes, 'blocks in each process' => Codecs::BLOCKS, 'milliseconds a block' => $milliseconds];
        try {
            $socket = (string) ($laboratory->server(Raw\RawStores::flavour()->value === 'redis' ? ServerKind::Redis : ServerKind::Valkey)->endpoint()['socket'] ?? '');
        } catch (ServerFailed) {
            $socket = '';
        }
        $outcome->titles = Codecs::titles();
        $progress->begin($this->title(), $processes);
        for ($process = 0; $process < $processes; $process++) {
            $progress->advance('process ' . ($process + 1) . " of {$processes}");
            try {
                $found = $laboratory->task('serialising', Codecs::class, ['socket' => $socket, 'microseconds' => 1000 * $milliseconds]);
            } catch (WorkerFailed $failure) {
                foreach (array_keys($outcome->titles) as $codec) {
                    $outcome->fail($codec, $failure);
                }
                break;
            }
            foreach ($found->all() as $what => $figure) {
                // What a call took of the processor stands beside its time.
                $cpu = str_starts_with($what, 'time|') ? $found->float('cpu' . substr($what, 4)) : 0.0;
                $this->write($outcome, $process, explode('|', $what), $figure, $cpu);
            }
        }
        $progress->end();
    }

    /** @param list<string> $what kind, codec, value, direction and block */
    private function write(Outcome $outcome, int $process, array $what, string $figure, float $cpu): void
    {
        [$kind, $codec, $value, $direction, $block] = [...$what, '', '', '', '', ''];
        match ($kind) {
            'missing' => $outcome->leftOut[$codec] = $figure,
            'bytes' => $process === 0
                ? $outcome->measurement(['value' => $value], 'size', 'bytes', Direction::LowerIsBetter, $codec)->add(0, 0, (float) $figure)
                : null,
            'single' => $outcome->measurement(['direction' => $direction], self::SINGLE, 'ns per call', Direction::LowerIsBetter, $codec)->add($process, (int) $block, (float) $figure),
            'time' => $outcome->measurement(['value' => $value, 'direction' => $direction], 'time', 'ns per operation', Direction::LowerIsBetter, $codec, columns: CpuMeter::COLUMNS)
                ->add($process, (int) $block, (float) $figure, $cpu, 0.0),
            default => null,
        };
    }
}
