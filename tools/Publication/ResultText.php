<?php

declare(strict_types=1);

namespace Larder\Tools\Publication;

use Larder\Bench\Finding\ClaimState;
use Larder\Bench\Finding\Features;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Ledger;
use Larder\Bench\Finding\Loss;
use Larder\Bench\Finding\Sources;
use Larder\Bench\Finding\Standing;
use Larder\Bench\Statistics\Quantity;

/** What a run shows, in words: every sentence and figure follows from the samples. */
final readonly class ResultText
{
    public function __construct(private Findings $findings) {}

    /** @return list<string> Markdown */
    public function lines(): array
    {
        return [
            '### What follows from it',
            '',
            '**Larder.** ' . Standing::inWords($this->findings),
            '',
            ...array_merge(...array_map(fn(string $source): array => [$this->judged($source), ''], ['A', 'B', 'C', 'D'])),
            '### Published ratios, and measured ones',
            '',
            ...$this->restated(),
            '',
            '### Where shared memory loses',
            '',
            ...$this->losses(),
            '',
            '### What no time tells',
            '',
            ...self::table(Features::HEADINGS, Features::rows()),
            '',
            '### What source D recommends',
            '',
            'As published, with its weighting: deletes over writes over reads.',
            '',
            ...self::table(Sources::HEADINGS_OF_D, Sources::adviceOfD()),
        ];
    }

    /** What the run says to a source: what it does not agree with, claim by claim. */
    private function judged(string $source): string
    {
        $claims = [];
        foreach (Ledger::of($this->findings) as $claim) {
            if ($claim->source === $source) {
                $claims[$claim->state->value][] = $claim->found === null ? $claim->claim : sprintf('%s (%s)', $claim->claim, Quantity::number($claim->found->estimate));
            }
        }
        $count = static fn(ClaimState $state): int => count($claims[$state->value] ?? []);
        $all = array_sum(array_map($count, ClaimState::cases()));
        $sentences = $all === $count(ClaimState::NotMeasured)
            ? ["**Source {$source}.** This run judges none of its {$all} claims."]
            : [sprintf('**Source %s.** This run agrees with %d of its %d claims%s.', $source, $count(ClaimState::Agrees), $all, match ($open = $count(ClaimState::NotMeasured)) {
                0 => '',
                1 => ', and one was not measured',
                default => ", and {$open} were not measured",
            })];
        foreach ([[ClaimState::Disagrees, 'disagrees', 'that'], [ClaimState::Tie, 'cannot tell', 'whether']] as [$state, $verb, $word]) {
            if (isset($claims[$state->value])) {
                $sentences[] = "It {$verb} {$word} " . implode("; {$word} ", $claims[$state->value]) . '.';
            }
        }

        return implode(' ', $sentences);
    }

    /** @return list<string> how far apart source A and this run are, which alone has figures that make ratios */
    private function restated(): array
    {
        $all = Restated::all($this->findings);
        $words = array_count_values(array_map(static fn(Restated $one): string => $one->word, array_filter($all, static fn(Restated $one): bool => $one->found !== null)));
        if ($words === []) {
            return ['Nothing was measured that has a published figure beside it.'];
        }

        return [
            'Times and rates as they were published stand beside ours on the pages of the [experiments](../experiments/README.md). Ratios travel to other machines better. Of source A\'s ratios, '
            . implode(', ', array_map(static fn(string $word, int $count): string => "{$count} " . ($count === 1 ? 'is' : 'are') . " {$word}", array_keys($words), $words)) . ':',
            '',
            '| experiment | | published | measured here | |',
            '|---|---|---:|---:|---|',
            ...array_map(static fn(Restated $one): string => sprintf(
                '| [%1$s](../experiments/%1$s.md) | %2$s | %3$s | %4$s | %5$s |',
                $one->above->experiment,
                $one->title(),
                Quantity::number($one->published),
                $one->found === null ? '–' : Quantity::interval($one->found),
                $one->word,
            ), $all),
        ];
    }

    /** @return list<string> each experiment's count, and every rival that is better by some metric */
    private function losses(): array
    {
        $counts = ['| experiment | wins | ties | loses |', '|---|---:|---:|---:|'];
        $rows = [];
        foreach (Standing::all($this->findings) as $standing) {
            $counts[] = sprintf('| [%1$s](../experiments/%1$s.md) | %2$d | %3$d | %4$d |', $standing->experiment, $standing->wins, $standing->ties, $standing->loses);
            foreach ($standing->losses as $loss) {
                $rows[] = self::loss($standing->experiment, $loss);
            }
        }
        if (count($counts) === 2) {
            return ['It was compared with nothing.'];
        }
        if ($rows === []) {
            return [...$counts, '', 'It loses to none.'];
        }

        return [
            ...$counts,
            '',
            'Every rival that is better by some metric, and the case in which it is most so. The ratio is the figure of shared memory over the rival\'s. '
            . 'An array that ends with the request, a subject that caches nothing, and Larder itself are no rivals. A subject that was measured too seldom has no verdict.',
            '',
            '| experiment | metric | rival | cases lost | the worst of them | ratio |',
            '|---|---|---|---:|---|---:|',
            ...$rows,
        ];
    }

    /**
     * @param list<string> $headings
     * @param list<list<string>> $rows
     * @return list<string>
     */
    private static function table(array $headings, array $rows): array
    {
        $lines = [];
        foreach ([$headings, array_fill(0, count($headings), '---'), ...$rows] as $cells) {
            $lines[] = '| ' . implode(' | ', $cells) . ' |';
        }

        return $lines;
    }

    private static function loss(string $experiment, Loss $loss): string
    {
        return sprintf('| %s | %s | %s | %d of %d%s | %s | %s |', $experiment, $loss->metric, $loss->rival, $loss->cases, $loss->compared, $loss->isJudged ? '' : ', without a verdict', implode(', ', $loss->case), Quantity::interval($loss->ratio));
    }
}
