<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

use Larder\Bench\Finding\Advice;
use Larder\Bench\Finding\Claim;
use Larder\Bench\Finding\Comparison;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Ledger;
use Larder\Bench\Finding\Promise;
use Larder\Bench\Finding\Promises;
use Larder\Bench\Finding\PromiseState;
use Larder\Bench\Finding\Recommendation;
use Larder\Bench\Finding\Run;
use Larder\Bench\Finding\Sources;
use Larder\Bench\Statistics\Quantity;

/** What a recorded run says on the pages of the experiments and of the results. */
final readonly class ResultPages
{
    private Findings $findings;

    public function __construct(private Run $run)
    {
        $this->findings = new Findings($run);
    }

    /** The published figures of an experiment beside those of the run. */
    public function experiment(string $name): string
    {
        $rows = [];
        foreach (Sources::figures() as $figure) {
            if ($figure->experiment === $name) {
                $rows[] = sprintf('| %s | %s | %s | %s |', $figure->title, Quantity::number($figure->value), $figure->measuredIn($this->findings), $figure->unit);
            }
        }
        if ($rows === []) {
            return "No figures were published of this. What was claimed is judged on the page of the [results](../results/README.md).\n";
        }

        return implode("\n", [
            'Published: ' . Sources::of($name),
            '',
            $this->circumstances(),
            '',
            '| | published | measured here | unit |',
            '|---|---:|---:|---|',
            ...$rows,
        ]) . "\n";
    }

    /** What follows from the run: advice, a text, losses included, then claims and promises. */
    public function conclusions(): string
    {
        return implode("\n", [
            $this->circumstances(),
            '',
            '### Which cache for which site',
            '',
            'The cache that makes a request take the least time. The report says how often a request is assumed to do what.',
            '',
            '| site | host | use | a tie with it | the next, as times of its time |',
            '|---|---|---|---|---|',
            ...array_map($this->advice(...), Recommendation::of($this->findings)),
            '',
            ...(new ResultText($this->findings))->lines(),
            '',
            '### What the sources claim',
            '',
            '| source | claim | figure | found here | |',
            '|---|---|---|---:|---|',
            ...array_map(static fn(Claim $claim): string => sprintf('| %s | %s | %s | %s | %s |', $claim->source, $claim->claim, $claim->figure, $claim->found === null ? '–' : Quantity::interval($claim->found), $claim->state->value), Ledger::of($this->findings)),
            '',
            ...array_map(static fn(string $letter, string $source): string => "- {$letter}: {$source}", ['A', 'B', 'C', 'D'], [Sources::A, Sources::B, Sources::C, Sources::D]),
            '',
            '### What Larder promises',
            '',
            ...$this->promises(),
            '',
            '### What was left out',
            '',
            ...$this->leftOut(),
        ]) . "\n";
    }

    /** How far a second run on the same machine says the same, where there was one. */
    public function agreement(?Comparison $again): string
    {
        if ($again === null) {
            return "No second run has been compared with the recorded one; `AGAIN=1 make record` does that.\n";
        }

        return implode("\n", [
            'A second run on this machine was compared with the recorded one. ' . $again->agreement->sentence(),
            ...array_map(static fn(string $flip): string => "- {$flip}", $again->agreement->flips),
        ]) . "\n";
    }

    private function advice(Advice $advice): string
    {
        $outcome = $this->run->outcome($advice->experiment);
        $title = fn(string $subject): string => $this->run->title($subject, $outcome);

        return sprintf(
            '| %s | %s | %s | %s | %s |',
            $advice->site,
            $advice->host,
            $advice->best === null ? 'not measured' : $title($advice->best),
            $advice->ties === [] ? '–' : implode('; ', array_map($title, $advice->ties)),
            $advice->next === null || $advice->ratio === null ? '–' : $title($advice->next) . ': ' . Quantity::interval($advice->ratio) . ' ×',
        );
    }

    /** @return list<string> */
    private function promises(): array
    {
        $promises = Promises::of($this->findings);
        $met = array_filter($promises, static fn(Promise $promise): bool => $promise->state === PromiseState::Met);
        $rows = [sprintf('Of %d promises this run met %d. The others:', count($promises), count($met)), '', '| promise | figure | found | bound | |', '|---|---|---:|---:|---|'];
        foreach ($promises as $promise) {
            if ($promise->state !== PromiseState::Met) {
                $rows[] = sprintf('| %s | %s | %s | %s | %s |', $promise->title, $promise->figure, $promise->found === null ? '–' : Quantity::interval($promise->found), $promise->bound, $promise->state->value);
            }
        }

        return $rows;
    }

    /** @return list<string> */
    private function leftOut(): array
    {
        $items = [];
        foreach ($this->run->outcomes as $outcome) {
            foreach ($this->findings->leftOut($outcome) as $why => $titles) {
                $items[] = sprintf('- %s: %s – %s', $outcome->title, implode('; ', $titles), strtok($why, "\n") ?: $why);
            }
        }

        return $items === [] ? ['Nothing.'] : $items;
    }

    private function circumstances(): string
    {
        $machine = $this->run->environment;

        return sprintf(
            'Measured here: `%s`, %s, %s cores, %s; %s, %s; PHP %s.',
            $this->run->command,
            $machine['processor'] ?? 'a processor not stated',
            $machine['cores'] ?? '?',
            $machine['memory'] ?? 'memory not stated',
            $machine['system'] ?? 'a system not stated',
            $machine['kernel'] ?? '',
            $this->run->versions['PHP'] ?? 'not stated',
        );
    }
}
