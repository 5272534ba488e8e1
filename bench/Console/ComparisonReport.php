<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Finding\Change;
use Larder\Bench\Finding\Comparison;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Statistics\Verdict;
use Symfony\Component\Console\Helper\Table;
use Symfony\Component\Console\Output\OutputInterface;

/** What changed between two runs, for a terminal or the log of a build. */
final readonly class ComparisonReport
{
    public function __construct(private OutputInterface $output) {}

    public function write(Comparison $comparison): void
    {
        if ($comparison->differences !== []) {
            $this->output->writeln('The two runs differ in more than what they measured, which may be why their figures do: ' . implode('; ', $comparison->differences) . '.');
        }
        foreach ($comparison->refused as $experiment => $parameters) {
            $this->output->writeln(sprintf('%s is not compared, because it measured different things under the same names (%s): compare two runs of one profile and version.', $experiment, implode('; ', $parameters)));
        }
        if ($comparison->changes === []) {
            return;
        }
        $this->table('got better', $comparison->with(Verdict::Wins));
        $this->table('got worse', $comparison->with(Verdict::Loses));
        $this->output->writeln(sprintf(
            'Of %s measurements %d got better, %d got worse and %s did not change beyond the noise of %s %%.',
            number_format(count($comparison->changes)),
            count($comparison->with(Verdict::Wins)),
            count($comparison->with(Verdict::Loses)),
            number_format(count($comparison->with(Verdict::Ties))),
            Quantity::number(100 * $comparison->floor->share),
        ));
        $this->output->writeln($comparison->agreement->sentence());
        foreach ($comparison->agreement->flips as $flip) {
            $this->output->writeln("turned round: {$flip}");
        }
    }

    /** @param list<Change> $changes */
    private function table(string $what, array $changes): void
    {
        if ($changes === []) {
            return;
        }
        $this->output->writeln("<info>What {$what}</info>");
        $table = new Table($this->output);
        $table->setHeaders(['experiment', 'what', 'subject', 'before', 'after', 'after over before']);
        usort($changes, static fn(Change $one, Change $other): int => abs(log($other->ratio->estimate)) <=> abs(log($one->ratio->estimate)));
        foreach ($changes as $change) {
            $table->addRow([
                $change->experiment,
                $change->metric . ', ' . implode(', ', $change->case),
                $change->subject,
                Quantity::of($change->before->estimate, $change->unit),
                Quantity::of($change->after->estimate, $change->unit),
                Quantity::interval($change->ratio),
            ]);
        }
        $table->render();
    }
}
