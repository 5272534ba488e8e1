<?php

declare(strict_types=1);

namespace Larder\Bench\Experiment;

use Larder\Bench\Experiment\Trace\Outline;
use Larder\Bench\Experiment\Trace\Reference;
use Larder\Bench\Experiment\Trace\Replay;
use Larder\Bench\Experiment\Trace\Simulation;
use Larder\Bench\Statistics\Direction;
use Larder\Bench\Subject\WorkerFailed;

/** How often real accesses miss when a cache is too small for them, beside what reference policies would miss. */
final class Traces implements Experiment
{
    private const OURS = 'shared-memory';

    public function name(): string
    {
        return 'traces';
    }

    public function title(): string
    {
        return 'Misses on access traces of a shop';
    }

    public function recreates(): string
    {
        return 'Recorded accesses are replayed in their order; every miss is followed by a set. Reference policies are '
            . 'simulated with exactly as many items as the store held at most during its run, all of one size. The traces '
            . 'are those of headissue GmbH, Jens Wilke, CC BY 4.0.';
    }

    public function needs(Profile $profile): Needs
    {
        return new Needs(32, 1_024, $profile === Profile::Quick ? 49 : 80);
    }

    public function run(Laboratory $laboratory, Progress $progress, Outcome $outcome): void
    {
        $plan = $this->plan($laboratory);
        $outcome->parameters = ['store' => 'Larder shared memory', 'values' => 'of one size, chosen so that about the capacity fits into the pool'];
        if (!$outcome->includes($laboratory, self::OURS, self::OURS)) {
            return;
        }
        $progress->begin($this->title(), array_sum(array_map(static fn(array $entry): int => count($entry['shares']) * (1 + count($entry['references'])), $plan)));
        try {
            foreach ($plan as $entry) {
                $outline = $laboratory->task('the trace', Outline::class, ['file' => $entry['file']]);
                foreach ($entry['shares'] as $share) {
                    $this->compare($outcome, $laboratory, $progress, $entry, $share, (int) round($outline->int('distinct') * $share));
                }
            }
        } catch (WorkerFailed $failure) {
            $outcome->fail(self::OURS, $failure);
        }
        $progress->end();
    }

    /** @return list<array{name: string, file: string, shares: list<float>, references: list<Reference>}> */
    private function plan(Laboratory $laboratory): array
    {
        $directory = dirname(__DIR__) . '/traces';
        $isQuick = $laboratory->profile === Profile::Quick;
        // The other policies take long on the long trace, and are the same in every run.
        $few = [Reference::Lru, Reference::S3Fifo];
        $plan = [
            ['name' => 'web07', 'file' => "{$directory}/web07.trace.xz", 'shares' => [0.01, 0.05, 0.1, 0.25], 'references' => Reference::cases()],
            ['name' => 'orm-busy', 'file' => "{$directory}/orm-busy.trace.xz", 'shares' => [0.01, 0.05, 0.1, 0.25], 'references' => $isQuick ? $few : Reference::cases()],
        ];
        foreach ($laboratory->traces as $file) {
            $plan[] = ['name' => basename(basename($file, '.xz'), '.trace'), 'file' => $file, 'shares' => [0.01, 0.1], 'references' => Reference::cases()];
        }

        return $plan;
    }

    /** @param array{name: string, file: string, shares: list<float>, references: list<Reference>} $entry */
    private function compare(Outcome $outcome, Laboratory $laboratory, Progress $progress, array $entry, float $share, int $items): void
    {
        $progress->advance(sprintf('%s at %d %%: the pool', $entry['name'], 100 * $share));
        // The smallest pool has the fewest segments; values large enough to fill it keep the number of items to what was asked for.
        // From 2 % of the keys on they stay below the size from which strings are read in place: one process that replays
        // everything is one request that never ends, and would go on pinning a quarter of the pool.
        $bytes = ($items < 4_000 ? 4 : 16) << 20;
        $found = $laboratory->task('Larder shared memory', Replay::class, ['file' => $entry['file'], 'bytes' => $bytes, 'items' => $items]);
        $case = ['trace' => $entry['name'], 'store' => self::OURS, 'capacity' => sprintf('%d %%', 100 * $share)];
        $this->add($outcome, $case, self::OURS, $found->int('misses') / $found->int('accesses'));
        $outcome->notes[] = sprintf(
            '%s at %s of its keys (%s): the pool of %d MiB held at most %s items of %s bytes. %d %% of its bytes were values. The references held as many items.',
            $entry['name'],
            $case['capacity'],
            number_format($items),
            $bytes >> 20,
            number_format($found->int('most')),
            number_format($found->int('length')),
            100 * $found->int('held') / $bytes,
        );
        $simulations = [];
        foreach ($entry['references'] as $policy) {
            $simulations[$policy->value] = ['file' => $entry['file'], 'policy' => $policy->value, 'items' => $found->int('most')];
        }
        $ratios = $laboratory->tasks(Simulation::class, $simulations, static fn(string $policy) => $progress->advance(sprintf('%s at %d %%: %s', $entry['name'], 100 * $share, $policy)));
        foreach ($ratios as $policy => $ratio) {
            $this->add($outcome, $case, $policy, $ratio->float('miss ratio'));
        }
    }

    /** @param array<string, string> $case */
    private function add(Outcome $outcome, array $case, string $subject, float $ratio): void
    {
        $outcome->measurement($case, 'miss ratio', 'share of accesses', Direction::LowerIsBetter, $subject)->add(0, 0, $ratio);
    }
}
