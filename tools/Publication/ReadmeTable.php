<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Promise;
use Larder\Bench\Finding\Promises;
use Larder\Bench\Finding\PromiseState;
use Larder\Bench\Finding\Run;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Statistics\Verdict;
use Larder\Bench\Subject\Operation;

/** The table of results in the README, drawn from what `larder bench --json` wrote. */
final readonly class ReadmeTable
{
    /** The figures that the table shows: heading => value and operation */
    private const FIGURES = [
        '`get`: string, 20 bytes' => ['string-20', Operation::Get],
        '`get`: object, 20 properties' => ['entity', Operation::Get],
        '`get`: page, 30 KB' => ['page', Operation::Get],
        '`get`: array, 600 options, 100 KB' => ['alloptions', Operation::Get],
        '`set`: the same array' => ['alloptions', Operation::Set],
    ];

    /** The subjects that the table shows: one of each kind, and of APCu those that are fastest at something. The report has them all. */
    private const SUBJECTS = [
        'array', self::OURS, self::LIBRARY, 'apcu-default', 'apcu-php', 'apcu-igbinary', 'php-file', 'sqlite', 'file-disk',
        'memcached-unix', 'redis-unix', 'valkey-unix',
    ];

    /** What the others are compared with. */
    private const OURS = 'shared-memory';
    private const LIBRARY = 'cache-shared-memory';

    public function __construct(private Run $run) {}

    public function markdown(): string
    {
        $findings = new Findings($this->run);

        return implode("\n", [...$this->times($findings), '', $this->promises($findings), '', ...$this->circumstances()]) . "\n";
    }

    /** @return list<string> */
    private function times(Findings $findings): array
    {
        $rows = [];
        /** @var array<string, int> $verdicts */
        $verdicts = [Verdict::Wins->value => 0, Verdict::Ties->value => 0, Verdict::Loses->value => 0];
        foreach (array_intersect(self::SUBJECTS, array_keys($this->run->subjects)) as $subject) {
            $cells = [];
            foreach (self::FIGURES as [$value, $operation]) {
                $case = ['value' => $value, 'operation' => $operation->value, 'keys' => 'one hot key'];
                $verdict = $subject === self::OURS ? null : $findings->verdict('gets', 'time', $case, self::OURS, $subject);
                // Our library over our store is no rival to win against.
                if ($verdict !== null && $subject !== self::LIBRARY) {
                    $verdicts[$verdict->value]++;
                }
                $cells[] = $this->cell($findings, $subject, $case, $verdict);
            }
            if (array_diff($cells, ['–']) !== []) {
                $rows[] = "| {$this->run->title($subject)} | " . implode(' | ', $cells) . ' |';
            }
        }

        return [
            'Each cell has the median time of one call for one key, and its ratio to the time of Larder shared memory. A ratio in bold means that the',
            'other cache is faster. A "tie" is a difference within the noise of this run:',
            '',
            '| | ' . implode(' | ', array_keys(self::FIGURES)) . ' |',
            '|---|' . str_repeat('---:|', count(self::FIGURES)),
            ...$rows,
            '',
            sprintf(
                'Of these %d comparisons with others, shared memory wins %d, ties in %d and loses %d. A PHP array is only a yardstick: its contents end with the request.',
                array_sum($verdicts),
                ...array_values($verdicts),
            ),
        ];
    }

    /** @param array<string, string> $case */
    private function cell(Findings $findings, string $subject, array $case, ?Verdict $verdict): string
    {
        $measurement = $findings->measurement('gets', 'time', $case, $subject);
        if ($measurement === null) {
            return '–';
        }
        $time = Quantity::of($findings->median('gets', $measurement)->estimate, $measurement->unit);
        $ratio = $verdict === null ? null : $findings->ratio('gets', 'time', $case, $subject, self::OURS);
        if ($ratio === null) {
            return $time;
        }
        $times = Quantity::number($ratio->estimate) . ' ×';

        return "{$time}, " . match ($verdict) {
            Verdict::Wins => $times,
            Verdict::Ties => 'tie',
            Verdict::Loses => "**{$times}**",
        };
    }

    /** How many are kept; the results say which are not. */
    private function promises(Findings $findings): string
    {
        $promises = Promises::of($findings);
        $count = static fn(PromiseState $state): int => count(array_filter($promises, static fn(Promise $promise): bool => $promise->state === $state));

        return sprintf(
            'Larder also promises figures of itself, such as how an item with tags is read or how much memory one takes. Of %d such promises this run met %d, missed %d, could not show %d and did not measure %d. [The results](docs/results/README.md#what-larder-promises) list those that it did not meet.',
            count($promises),
            $count(PromiseState::Met),
            $count(PromiseState::Missed),
            $count(PromiseState::NotShown),
            $count(PromiseState::NotMeasured),
        );
    }

    /**
     * @return list<string> what the figures depend on
     */
    private function circumstances(): array
    {
        $machine = $this->run->environment;
        $versions = ["PHP {$this->run->versions['PHP']}", "APCu {$this->run->versions['ext-apcu']}"];
        foreach (['redis' => 'Redis', 'valkey' => 'Valkey', 'memcached-port' => 'Memcached'] as $server => $title) {
            if (isset($this->run->servers[$server]['version'])) {
                $versions[] = "{$title} {$this->run->servers[$server]['version']}";
            }
        }

        return [
            sprintf('Measured on %s by `%s`, a %s run.', substr($this->run->started, 0, 10), $this->run->command, $this->run->profile),
            sprintf('%s, %s cores, %s; %s, %s; %s.', $machine['processor'], $machine['cores'], $machine['memory'], $machine['system'], $machine['kernel'], implode(', ', $versions)),
            'All samples are in [docs/results/run.json](docs/results/run.json); `bin/larder bench report docs/results/run.json` draws the report from them.',
        ];
    }
}
