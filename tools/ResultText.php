<?php

declare(strict_types=1);

namespace Larder\Tools;

use Larder\Bench\Report\Claim;
use Larder\Bench\Report\ClaimState;
use Larder\Bench\Report\Features;
use Larder\Bench\Report\Findings;
use Larder\Bench\Report\Ledger;
use Larder\Bench\Report\Loss;
use Larder\Bench\Report\Quantity;
use Larder\Bench\Report\Restated;
use Larder\Bench\Report\Sources;
use Larder\Bench\Report\Standing;

/** What a run shows, in words: every sentence and figure follows from the samples. */
final readonly class ResultText
{
    private const WORDS = ['alike', 'nearer together', 'further apart', 'turned round', 'cannot be told'];

    public function __construct(private Findings $findings) {}

    /** @return list<string> Markdown */
    public function lines(): array
    {
        return [
            '### What follows from it',
            '',
            $this->restatedInWords(),
            '',
            ...array_merge(...array_map(fn(string $source): array => [$this->judged($source), ''], ['A', 'B', 'C', 'D'])),
            '**Larder.** ' . Standing::inWords($this->findings),
            '',
            '### Published, and measured here',
            '',
            '| experiment | | published | measured here | unit |',
            '|---|---|---:|---:|---|',
            ...$this->published(),
            '',
            'Ratios travel to other machines better than times and rates do:',
            '',
            '| experiment | | published | measured here | |',
            '|---|---|---:|---:|---|',
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

    private function restatedInWords(): string
    {
        $words = array_fill_keys(self::WORDS, []);
        foreach (Restated::all($this->findings) as $one) {
            if ($one->found !== null) {
                $words[$one->word][] = sprintf('%s in `%s` (%s published, %s here)', $one->title(), $one->above->experiment, Quantity::number($one->published), Quantity::number($one->found->estimate));
            }
        }
        $words = array_filter($words);
        if ($words === []) {
            return 'Nothing was measured that has a published figure beside it.';
        }

        return 'In terms of each other, what source A published and what was measured here are '
            . implode('; ', array_map(static fn(string $word, array $which): string => "{$word} for " . implode(', ', $which), array_keys($words), $words)) . '.';
    }

    /** What the run says to a source, claim by claim. */
    private function judged(string $source): string
    {
        $claims = [];
        foreach (Ledger::of($this->findings) as $claim) {
            if ($claim->source === $source) {
                $claims[$claim->state->value][] = $claim->found === null ? $claim->claim : sprintf('%s (%s)', $claim->claim, Quantity::number($claim->found->estimate));
            }
        }
        $sentences = [];
        foreach ([[ClaimState::Agrees, 'agrees', 'that'], [ClaimState::Disagrees, 'disagrees', 'that'], [ClaimState::Tie, 'cannot tell', 'whether']] as [$state, $verb, $word]) {
            if (isset($claims[$state->value])) {
                $sentences[] = "{$verb} {$word} " . implode("; {$word} ", $claims[$state->value]);
            }
        }
        $open = count($claims[ClaimState::NotMeasured->value] ?? []);

        return "**Source {$source}.** " . ($sentences === [] ? 'This run judges none of its claims' : 'This run ' . implode('. It ', $sentences))
            . ($open === 0 ? '.' : sprintf('. %d of its claims %s not measured.', $open, $open === 1 ? 'was' : 'were'));
    }

    /** @return list<string> */
    private function published(): array
    {
        $rows = [];
        foreach (Sources::figures() as $figure) {
            $rows[] = sprintf('| [%1$s](../experiments/%1$s.md) | %2$s | %3$s | %4$s | %5$s |', $figure->experiment, $figure->title, Quantity::number($figure->value), $figure->measuredIn($this->findings), $figure->unit);
        }

        return $rows;
    }

    /** @return list<string> */
    private function restated(): array
    {
        return array_map(static fn(Restated $one): string => sprintf(
            '| [%1$s](../experiments/%1$s.md) | %2$s | %3$s | %4$s | %5$s |',
            $one->above->experiment,
            $one->title(),
            Quantity::number($one->published),
            $one->found === null ? '–' : Quantity::interval($one->found),
            $one->word,
        ), Restated::all($this->findings));
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
            return [...$counts, '', 'It loses to nobody.'];
        }

        return [
            ...$counts,
            '',
            'Every rival that is better by some metric, and the case in which it is so most: what shared memory takes or does, as times of the '
            . 'rival\'s. What ends with the request, as an array does, what caches nothing, and Larder itself are no rivals. Without a verdict is what was measured too seldom for one.',
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
