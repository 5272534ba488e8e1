<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Subject\Operation;
use Symfony\Component\Console\Helper\Table;
use Symfony\Component\Console\Output\OutputInterface;

/** The tables at the end of a run. */
final readonly class TerminalReport
{
    /** The values that fit beside each other; the report has all of them. */
    private const COLUMNS = ['hello', 'string-20', 'page', 'alloptions', 'post', 'entity', 'product'];

    public function __construct(private OutputInterface $output) {}

    public function write(Findings $findings): void
    {
        foreach ($findings->run->outcomes as $outcome) {
            foreach ($findings->metrics($outcome) as $metric) {
                $outcome->name === 'gets' && $metric === 'time'
                    ? $this->gets($findings, $outcome)
                    : $this->pivot($findings, $outcome, $metric, $findings->cases($outcome, $metric), $metric);
            }
            foreach ($outcome->notes as $note) {
                $this->output->writeln("  {$note}");
            }
            foreach ($findings->leftOut($outcome) as $why => $titles) {
                $this->output->writeln(sprintf('  <comment>Left out of %s: %s; %s</comment>', $outcome->name, implode(', ', $titles), $why));
            }
        }
        $this->promises($findings);
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
     * Subjects below each other, cases beside each other.
     *
     * @param list<array<string, string>> $cases
     * @param (\Closure(array<string, string>): string)|null $heading of a case
     */
    private function pivot(Findings $findings, Outcome $outcome, string $metric, array $cases, string $what, ?\Closure $heading = null): void
    {
        if ($cases === []) {
            return;
        }
        $rows = [];
        $unit = '';
        $direction = '';
        foreach ($cases as $column => $case) {
            foreach ($findings->inCase($outcome, $metric, $case) as $measurement) {
                $rows[$measurement->subject][$column] = Quantity::of($findings->median($outcome->name, $measurement)->estimate, $measurement->unit);
                $unit = $measurement->unit;
                $direction = $measurement->direction->inWords();
            }
        }
        $this->output->writeln(sprintf("\n<info>%s: %s</info> (median, %s, %s)", $outcome->title, $what, $unit, $direction));
        $table = new Table($this->output);
        $heading ??= self::heading(...);
        $table->setHeaders(['', ...array_map($heading, $cases)]);
        foreach ($rows as $subject => $cells) {
            $table->addRow([$findings->run->title($subject, $outcome), ...array_map(static fn(int $column): string => $cells[$column] ?? '–', array_keys($cases))]);
        }
        $table->render();
    }

    /** @param array<string, string> $case */
    private static function heading(array $case): string
    {
        return implode("\n", $case);
    }

    private function promises(Findings $findings): void
    {
        $promises = Promises::of($findings);
        if ($promises === []) {
            return; // the experiments of this run show none
        }
        $table = new Table($this->output);
        $table->setHeaders(['promise', 'found', 'bound', '']);
        $measured = $unmeasured = 0;
        foreach ($promises as $promise) {
            if ($promise->state === PromiseState::NotMeasured) {
                $unmeasured++;
                continue;
            }
            $measured++;
            $table->addRow([
                wordwrap($promise->title, 60),
                $promise->found === null ? '–' : Quantity::interval($promise->found),
                $promise->bound,
                sprintf($promise->state === PromiseState::Met ? '<info>%s</info>' : '<error>%s</error>', $promise->state->value),
            ]);
        }
        if ($measured > 0) {
            $this->output->writeln("\n<info>The promises of this run</info> (with their 95 % intervals)");
            $table->render();
        }
        if ($unmeasured > 0) {
            $this->output->writeln(sprintf('  %d promise%s of these experiments %s not measured by this run.', $unmeasured, ...($unmeasured === 1 ? ['', 'was'] : ['s', 'were'])));
        }
    }
}
