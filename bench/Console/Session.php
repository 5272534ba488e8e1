<?php

declare(strict_types=1);

namespace Larder\Bench\Console;

use Larder\Bench\Experiment\Environment;
use Larder\Bench\Experiment\Experiment;
use Larder\Bench\Experiment\Interrupted;
use Larder\Bench\Experiment\Laboratory;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Run;
use Symfony\Component\Console\Output\OutputInterface;

/** Runs one experiment after the other, and writes down after each what there is. */
final class Session
{
    private bool $hasFailed = false;
    /** How long what was done took in terms of what it was expected to take. */
    private float $pace = 1.0;

    /**
     * @param bool $isAskedFor whether the reader named the subjects: then one that cannot be had is a failure
     * @param bool $isNamed whether the reader named the experiments: then one of which nothing could be measured is a failure
     */
    public function __construct(
        private readonly Run $run,
        private readonly Laboratory $laboratory,
        private readonly OutputInterface $errors,
        private readonly string $json,
        private readonly bool $isAskedFor = false,
        private readonly bool $isNamed = false,
    ) {}

    /**
     * @param array<string, Experiment> $experiments
     * @return bool whether something failed: an experiment altogether, or a subject in it
     */
    public function measure(array $experiments): bool
    {
        $number = 0;
        try {
            foreach ($experiments as $name => $experiment) {
                if ($this->laboratory->isInterrupted()) {
                    break;
                }
                $this->announce($experiments, $number++);
                $began = hrtime(true);
                $outcome = $this->one($name, $experiment);
                $this->keep($outcome, (hrtime(true) - $began) / 1e9);
                $this->pace = $outcome->seconds > 0 ? $outcome->seconds / max(1, $experiment->needs($this->laboratory->profile)->seconds) : $this->pace;
            }
        } finally {
            $this->laboratory->stopServers();
        }
        $this->run->isComplete = !$this->laboratory->isInterrupted() && !$this->hasFailed;

        return $this->hasFailed;
    }

    private function one(string $name, Experiment $experiment): Outcome
    {
        $outcome = new Outcome($experiment->name(), $experiment->title(), $experiment->recreates());
        $steal = Environment::stealTicks();
        $needs = $experiment->needs($this->laboratory->profile);
        $missing = $needs->missingMemory();
        if ($missing !== null) {
            $this->giveUp($name, $outcome, $missing . '.');

            return $outcome;
        }
        $asked = $this->laboratory->subjects;
        $tooLittle = $needs->missingSharedMemory();
        try {
            $this->leaveOut($name, $tooLittle);
            $experiment->run($this->laboratory, new ConsoleProgress($this->errors), $outcome);
        } catch (Interrupted) {
            $outcome->isComplete = false;
        } catch (\RuntimeException $problem) {
            // A Ctrl-C at the terminal ends the load generator, too, which then fails.
            if ($this->laboratory->isInterrupted()) {
                $outcome->isComplete = false;
            } else {
                $this->giveUp($name, $outcome, $problem->getMessage());
            }
        } finally {
            $this->laboratory->subjects = $asked;
        }
        $isEmpty = $outcome->measurements === [];
        $lacks = $this->isAskedFor || ($this->isNamed && $isEmpty) ? array_diff($outcome->lacks(), ["{$tooLittle}."]) : [];
        if ($this->isNamed && $isEmpty && $outcome->isComplete && $outcome->lacks() === []) {
            $lacks[] = 'nothing of it was measured: give other --subjects; the report says why each was left out.';
        }
        // What is missing may be there when the run is resumed.
        $outcome->isComplete = $outcome->isComplete && !$isEmpty;
        foreach (array_unique([...$outcome->failures(), ...$lacks]) as $failure) {
            $this->errors->writeln("\n<error>{$name}: {$failure}</error>");
            $this->hasFailed = true;
        }
        // Also where it is none: that is part of what a figure depends on.
        $outcome->notes[] = sprintf('The hypervisor gave %.1f s of processor time to others meanwhile.', (Environment::stealTicks() - $steal) / 100);

        return $outcome;
    }

    /** What needs no /dev/shm is measured where there is too little of it; the report says why the rest is not. */
    private function leaveOut(string $name, ?string $missing): void
    {
        $titles = $missing === null ? [] : $this->laboratory->leaveOutSharedMemory("{$missing}.");
        if ($titles !== []) {
            $this->errors->writeln(sprintf("\n<error>The experiment %s is done without %s: %s.</error>", $name, implode(', ', $titles), $missing));
            $this->hasFailed = true;
        }
    }

    private function giveUp(string $name, Outcome $outcome, string $why): void
    {
        $outcome->isComplete = false;
        $outcome->notes[] = "It was given up: {$why}";
        $this->errors->writeln("\n<error>The experiment {$name} was given up: {$why}</error>");
        $this->hasFailed = true;
    }

    /** What is written after each experiment is there even if the next one takes the machine down. */
    private function keep(Outcome $outcome, float $seconds): void
    {
        $outcome->seconds = $seconds;
        $this->run->seconds += $seconds;
        $this->run->outcomes[] = $outcome;
        $this->run->servers = [...$this->run->servers, ...array_map(static fn(array $server): array => array_map(strval(...), $server), $this->laboratory->serverDescriptions())];
        try {
            ResultFile::write($this->json, $this->run->toJson());
        } catch (\RuntimeException $problem) {
            // There may be room when the next one is done.
            $this->errors->writeln("\n<error>{$problem->getMessage()}</error>");
            $this->hasFailed = true;
        }
    }

    /** @param array<string, Experiment> $experiments */
    private function announce(array $experiments, int $done): void
    {
        $left = 0.0;
        foreach (array_slice($experiments, $done) as $experiment) {
            $left += $experiment->needs($this->laboratory->profile)->seconds * $this->pace;
        }
        $this->errors->writeln(sprintf("\n<info>Experiment %d of %d</info>, about %s left in all", $done + 1, count($experiments), $left < 90 ? round($left) . ' s' : round($left / 60) . ' min'));
    }
}
