<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Advice;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Promise;
use Larder\Bench\Finding\Promises;
use Larder\Bench\Finding\PromiseState;
use Larder\Bench\Finding\Recommendation;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Subject\Operation;
use Symfony\Component\Console\Helper\Table;
use Symfony\Component\Console\Output\OutputInterface;

/** The tables at the end of a run. */
final readonly class TerminalReport
{
    /** So many cases fit beside each other; of more, there is a row for each. */
    private const BESIDE = 9;
    /** The values that fit beside each other; the report has all of them. */
    private const COLUMNS = ['hello', 'string-20', 'page', 'alloptions', 'post', 'entity', 'product'];

    public function __construct(private OutputInterface $output) {}

    public function write(Findings $findings): void
    {
        foreach ($findings->run->outcomes as $outcome) {
            foreach ($findings->metrics($outcome) as $metric) {
                if ($outcome->name === 'gets' && $metric === 'time') {
                    $this->gets($findings, $outcome);
                    continue;
                }
                foreach (self::alike($findings->cases($outcome, $metric)) as $cases) {
                    $this->pivot($findings, $outcome, $metric, $cases, $metric);
                }
            }
            foreach ($outcome->notes as $note) {
                $this->output->writeln("  {$note}");
            }
            foreach ($findings->leftOut($outcome) as $why => $titles) {
                $this->output->writeln(sprintf('  <comment>Left out of %s: %s – %s</comment>', $outcome->name, implode('; ', $titles), $why));
            }
        }
        $this->promises($findings);
        $this->advice($findings);
    }

    /**
     * @param list<array<string, string>> $cases
     * @return array<string, non-empty-list<array<string, string>>> those that differ by the same factors
     */
    private static function alike(array $cases): array
    {
        $groups = [];
        foreach ($cases as $case) {
            $groups[implode("\n", array_keys($case))][] = $case;
        }

        return $groups;
    }

    private function gets(Findings $findings, Outcome $outcome): void
    {
        foreach ([Operation::Get, Operation::LookUp, Operation::Set] as $operation) {
            $cases = array_values(array_filter(
                $findings->cases($outcome, 'time'),
                static fn(array $case): bool => $case['operation'] === $operation->value
                    && $case['keys'] === 'one hot key' && in_array($case['value'], self::COLUMNS, true),
            ));
            $this->pivot($findings, $outcome, 'time', $cases, $operation->value, static fn(array $case): string => $case['value'] ?? '');
        }
    }

    /**
     * Subjects below each other and cases beside each other, or the other way round where the cases would not fit.
     *
     * @param list<array<string, string>> $cases that differ by the same factors
     * @param (\Closure(array<string, string>): string)|null $heading of a case
     */
    private function pivot(Findings $findings, Outcome $outcome, string $metric, array $cases, string $what, ?\Closure $heading = null): void
    {
        if ($cases === []) {
            return;
        }
        $cells = [];
        $unit = '';
        $direction = '';
        foreach ($cases as $number => $case) {
            foreach ($findings->inCase($outcome, $metric, $case) as $measurement) {
                $cells[$measurement->subject][$number] = Quantity::of($findings->median($outcome->name, $measurement)->estimate, $measurement->unit);
                $unit = $measurement->unit;
                $direction = $measurement->direction->inWords();
            }
        }
        $this->output->writeln(sprintf("\n<info>%s: %s</info> (median, %s, %s)", $outcome->title, $what, $unit, $direction));
        $title = static fn(string $subject): string => $findings->run->title($subject, $outcome);
        $factors = array_keys($cases[0]);
        $table = new Table($this->output);
        if (count($cases) > max(self::BESIDE, count($cells))) {
            $table->setHeaders([...$factors, ...array_map(static fn(string $subject): string => wordwrap($title($subject), 20), array_keys($cells))]);
            foreach ($cases as $number => $case) {
                $table->addRow([...array_values($case), ...array_map(static fn(array $row): string => $row[$number] ?? '–', array_values($cells))]);
            }
        } else {
            $table->setHeaders([$heading === null ? implode("\n", $factors) : '', ...array_map($heading ?? self::heading(...), $cases)]);
            foreach ($cells as $subject => $row) {
                $table->addRow([$title($subject), ...array_map(static fn(int $number): string => $row[$number] ?? '–', array_keys($cases))]);
            }
        }
        $table->render();
    }

    /** @param array<string, string> $case */
    private static function heading(array $case): string
    {
        return implode("\n", $case);
    }

    /** Those that are not met; the report has all of them. */
    private function promises(Findings $findings): void
    {
        $promises = Promises::of($findings);
        if ($promises === []) {
            return; // the experiments of this run show none
        }
        $table = new Table($this->output);
        $table->setHeaders(['promise', 'found', 'bound', '']);
        $count = array_fill_keys(array_column(PromiseState::cases(), 'value'), 0);
        foreach ($promises as $promise) {
            $count[$promise->state->value]++;
            if ($promise->state === PromiseState::Missed) {
                $table->addRow([
                    wordwrap($promise->title, 60),
                    $promise->found === null ? '–' : Quantity::interval($promise->found),
                    $promise->bound,
                    "<error>{$promise->state->value}</error>",
                ]);
            }
        }
        $this->output->writeln(sprintf(
            "\n<info>Larder's promises</info> in these experiments: %s (with 95 %% intervals)",
            implode(', ', array_map(static fn(int $number, string $state): string => "{$number} {$state}", $count, array_keys($count))),
        ));
        if ($count[PromiseState::Missed->value] > 0) {
            $table->render();
        }
        $this->untold(array_filter($promises, static fn(Promise $promise): bool => $promise->state === PromiseState::NotShown), $count, $findings->run->profile);
    }

    /**
     * Those of which this run cannot tell whether they hold, so that they are not taken for missed.
     *
     * @param array<Promise> $promises
     * @param array<string, int> $count by the state
     */
    private function untold(array $promises, array $count, string $profile): void
    {
        if ($promises === []) {
            return;
        }
        $this->output->writeln(sprintf(
            "\nThis %s run can tell of %d of the %d promises that it measures. Of these it cannot, as their intervals reach to both sides of the bound.%s",
            $profile,
            $count[PromiseState::Met->value] + $count[PromiseState::Missed->value],
            array_sum($count) - $count[PromiseState::NotMeasured->value],
            $profile === 'quick' ? ' A run with --thorough takes more samples.' : '',
        ));
        $table = new Table($this->output);
        $table->setHeaders(['promise', 'found', 'bound', 'samples that would tell']);
        foreach ($promises as $promise) {
            $table->addRow([wordwrap($promise->title, 60), $promise->found === null ? '–' : Quantity::interval($promise->found), $promise->bound, Markup::samples($promise)]);
        }
        $table->render();
    }

    /** Which cache for which site, where this run measured enough to say so. */
    private function advice(Findings $findings): void
    {
        $advised = array_filter(Recommendation::of($findings), static fn(Advice $advice): bool => $advice->best !== null);
        if ($advised === []) {
            return;
        }
        $this->output->writeln("\n<info>Which cache for which site</info> (what is assumed of each is in the report)");
        $table = new Table($this->output);
        $table->setHeaders(['site', 'host', 'use', 'a tie with it']);
        foreach ($advised as $advice) {
            $outcome = $findings->run->outcome($advice->experiment);
            $title = static fn(string $subject): string => $findings->run->title($subject, $outcome);
            $table->addRow([$advice->site, $advice->host, $title((string) $advice->best), wordwrap(implode('; ', array_map($title, $advice->ties)), 60)]);
        }
        $table->render();
    }
}
