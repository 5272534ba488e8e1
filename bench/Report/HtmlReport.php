<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Statistics\Summary;
use Larder\Bench\Subject\Values;

/**
 * One HTML file, drawn from a run's JSON alone, that opens without a network.
 *
 * Charts show dots with intervals, on a logarithmic axis where values span more than a decade; colours are those of
 * Okabe and Ito, which colour-blind readers can tell apart, and shapes say the same again. Behind each chart is a table.
 */
final readonly class HtmlReport
{
    private const COLOURS = ['#0072B2', '#E69F00', '#009E73', '#D55E00', '#CC79A7', '#56B4E9'];
    private const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down'];

    /** @param string|null $scripts the charts' runtime; without it the report has tables only */
    public function __construct(private ?string $scripts) {}

    public function render(Findings $findings): string
    {
        $run = $findings->run;
        $sections = '';
        $contents = '';
        foreach ($run->outcomes as $outcome) {
            $sections .= $this->experiment($findings, $outcome);
            $contents .= sprintf('<li><a href="#%s">%s</a></li>', self::escape($outcome->name), self::escape($outcome->title));
        }
        $style = (string) file_get_contents(__DIR__ . '/report.css');
        $scripts = $this->scripts === null ? '' : "<script>{$this->scripts}</script><script>" . file_get_contents(__DIR__ . '/report.js') . '</script>';
        $incomplete = $run->isComplete ? '' : '<p class="warning">This run was interrupted: what it did not measure is missing below.</p>';

        return <<<HTML
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="data:,">
            <title>Larder: what the caches of this machine cost</title>
            <style>{$style}</style>
            </head>
            <body>
            <header>
            <h1>What the caches of this machine cost</h1>
            <p>Measured by <code>{$this->text($run->command)}</code> on {$this->text($run->started)}, profile {$this->text($run->profile)}, in {$this->text(self::duration($run->seconds))}.
            Everything here is computed from the samples in the JSON file beside it.</p>
            {$incomplete}
            <nav><ul><li><a href="#promises">The promises of this run</a></li>{$contents}<li><a href="#how">How it was measured</a></li><li><a href="#environment">The machine</a></li></ul></nav>
            </header>
            <main>
            {$this->promises($findings)}
            {$sections}
            {$this->how($findings)}
            {$this->environment($run)}
            </main>
            {$scripts}
            </body>
            </html>

            HTML;
    }

    private function promises(Findings $findings): string
    {
        $rows = '';
        foreach (Promises::of($findings) as $promise) {
            $rows .= self::row([
                self::escape($promise->title),
                self::escape($promise->figure),
                $promise->found === null ? '–' : Quantity::interval($promise->found),
                $promise->bound,
                sprintf('<strong class="%s">%s</strong>', strtr($promise->state->value, ' ', '-'), $promise->state->value),
            ]);
        }

        return '<section id="promises"><h2>The promises of this run</h2><p>What Larder claims of itself, each a ratio within '
            . 'this run: the median of paired blocks and its 95&nbsp;% interval. Met means that the median keeps the bound, or, where '
            . 'it says so, that the interval reaches it.</p>'
            . self::table(['promise', 'figure', 'found', 'bound', ''], $rows) . '</section>';
    }

    private function experiment(Findings $findings, Outcome $outcome): string
    {
        $parts = '';
        foreach ($findings->metrics($outcome) as $metric) {
            $parts .= $outcome->name === 'gets' && $metric === 'time'
                ? $this->heatMap($findings, $outcome)
                : '';
            foreach ($this->groups($findings->cases($outcome, $metric)) as $title => $cases) {
                $parts .= $this->figure($findings, $outcome, $metric, $title, $cases);
            }
        }
        $parameters = '';
        foreach ($outcome->parameters as $name => $value) {
            $parameters .= sprintf('<dt>%s</dt><dd>%s</dd>', self::escape($name), self::escape((string) $value));
        }
        $notes = implode('', array_map(static fn(string $note): string => '<li>' . self::escape($note) . '</li>', $outcome->notes));
        foreach ($findings->leftOut($outcome) as $why => $titles) {
            $notes .= sprintf('<li>Left out: %s; %s</li>', self::escape(implode(', ', $titles)), nl2br(self::escape($why)));
        }
        $notes = $notes === '' ? '' : "<h3>Notes</h3><ul>{$notes}</ul>";
        $incomplete = $outcome->isComplete ? '' : '<p class="warning">This experiment was interrupted.</p>';

        return sprintf(
            '<section id="%s"><h2>%s</h2><p>%s</p>%s<dl>%s</dl>%s%s%s</section>',
            self::escape($outcome->name),
            self::escape($outcome->title),
            self::escape($outcome->recreates),
            $incomplete,
            $parameters,
            $this->published($findings, $outcome),
            $parts,
            $notes,
        );
    }

    private function published(Findings $findings, Outcome $outcome): string
    {
        $rows = '';
        foreach (Sources::figures() as $figure) {
            if ($figure->experiment !== $outcome->name) {
                continue;
            }
            $measurement = $findings->measurement($outcome->name, $figure->metric, $figure->case, $figure->subject);
            $ours = $measurement === null ? null : $findings->median($outcome->name, $measurement);
            $rows .= self::row([
                self::escape($figure->title),
                Quantity::number($figure->value),
                $ours === null ? 'not measured' : sprintf(
                    '%s [%s … %s]',
                    Quantity::number($ours->estimate * $figure->factor),
                    Quantity::number($ours->low * $figure->factor),
                    Quantity::number($ours->high * $figure->factor),
                ),
                self::escape($figure->unit),
            ]);
        }

        return $rows === '' ? '' : '<h3>Published, and measured here</h3><p>The published figures are those of '
            . self::escape(Sources::A) . ' ' . self::escape(Sources::CLAIMS_OF_A) . '</p>'
            . self::table(['', 'published by the source', 'measured here', 'unit'], $rows, true);
    }

    /**
     * Cases that share a chart: those that differ in their last factors only.
     *
     * @param list<array<string, string>> $cases
     * @return array<string, list<array<string, string>>> by what the chart is called
     */
    private function groups(array $cases): array
    {
        $groups = [];
        foreach ($cases as $case) {
            $groups[$this->groupTitle($case)][] = $case;
        }

        return $groups;
    }

    /** @param array<string, string> $case */
    private function groupTitle(array $case): string
    {
        if (isset($case['operation'])) {
            $value = Values::all()[$case['value']] ?? null;

            return ($value === null ? $case['value'] : $value->title) . ', ' . ($case['keys'] ?? '');
        }
        array_pop($case);

        return implode(', ', array_map(static fn(string $name, string $value): string => "{$name} {$value}", array_keys($case), $case));
    }

    /** @param array<string, string> $case */
    private function series(array $case): string
    {
        return $case['operation'] ?? (($last = array_key_last($case)) === null ? '' : "{$last} {$case[$last]}");
    }

    /**
     * A chart with a dot and an interval for each subject and case, and the table behind it.
     *
     * @param list<array<string, string>> $cases
     */
    private function figure(Findings $findings, Outcome $outcome, string $metric, string $group, array $cases): string
    {
        $dots = [];
        $rows = '';
        $unit = '';
        $direction = '';
        $reference = $this->reference($findings, $outcome, $metric, $cases);
        foreach ($cases as $case) {
            foreach ($findings->inCase($outcome, $metric, $case) as $measurement) {
                $unit = $measurement->unit;
                $direction = $measurement->direction->inWords();
                $median = $findings->median($outcome->name, $measurement);
                if (is_nan($median->estimate)) {
                    continue;
                }
                $dots[] = [
                    'subject' => $findings->run->title($measurement->subject, $outcome),
                    'series' => $this->series($case),
                    'median' => $median->estimate,
                    'low' => $median->low,
                    'high' => $median->high,
                    'label' => Quantity::of($median->estimate, $unit),
                ];
                $rows .= $this->figures($findings, $outcome, $measurement, $reference);
            }
        }
        if ($dots === []) {
            return '';
        }
        $title = ucfirst($metric) . ($group === '' ? '' : ": {$group}") . " ({$unit}, {$direction})";
        $headings = [
            'subject', $this->seriesName($cases), 'median', '95 % interval', 'n', 'min', 'p1', 'p5', 'mean', 'p95', 'p99', 'max', 'range', 'MAD',
            'stdev', 'client CPU', 'server CPU', ...($reference === null ? [] : ['over ' . $findings->run->title($reference, $outcome), 'verdict on ' . $findings->run->title($reference, $outcome)]),
        ];

        return sprintf(
            '<figure><figcaption>%s</figcaption>%s<details><summary>The figures behind it</summary>%s</details></figure>',
            self::escape($title),
            $this->chart(self::dotPlot($dots, $unit, $direction, count($cases) > 1)),
            self::table($headings, $rows, true),
        );
    }

    /** @param list<array<string, string>> $cases */
    private function seriesName(array $cases): string
    {
        return isset($cases[0]['operation']) ? 'operation' : (string) array_key_last($cases[0] ?? ['case' => '']);
    }

    /** @param list<array<string, string>> $cases */
    private function reference(Findings $findings, Outcome $outcome, string $metric, array $cases): ?string
    {
        foreach (['shared-memory', 'apcu-php', 'apcu', 'empty'] as $subject) {
            foreach ($cases as $case) {
                if ($findings->measurement($outcome->name, $metric, $case, $subject) !== null) {
                    return $subject;
                }
            }
        }

        return null;
    }

    private function figures(Findings $findings, Outcome $outcome, Measurement $measurement, ?string $reference): string
    {
        $values = array_merge(...array_map(array_values(...), array_values($findings->values($outcome->name, $measurement))));
        if ($values === []) {
            return '';
        }
        $summary = Summary::of($values);
        $median = $findings->median($outcome->name, $measurement);
        $show = static fn(float $value): string => Quantity::of($value, $measurement->unit);
        $cells = [
            self::escape($findings->run->title($measurement->subject, $outcome)),
            self::escape($this->series($measurement->case)),
            '<strong>' . $show($summary->median) . '</strong>',
            $show($median->low) . ' … ' . $show($median->high),
            (string) $summary->n,
            ...array_map($show, [$summary->min, $summary->p1, $summary->p5, $summary->mean, $summary->p95, $summary->p99, $summary->max, $summary->range, $summary->mad, $summary->stdev]),
            ...array_map(static fn(string $column): string => self::cpu($measurement, $column), ['client cpu', 'server cpu']),
        ];
        if ($reference !== null) {
            $ratio = $findings->ratio($outcome->name, $measurement->metric, $measurement->case, $measurement->subject, $reference);
            $verdict = $measurement->subject === $reference
                ? null
                : $findings->verdict($outcome->name, $measurement->metric, $measurement->case, $reference, $measurement->subject);
            $cells[] = $ratio === null ? '–' : Quantity::interval($ratio);
            $cells[] = $verdict === null ? '–' : $verdict->value;
        }

        return self::row($cells);
    }

    private static function cpu(Measurement $measurement, string $column): string
    {
        $times = $measurement->column($column);
        sort($times);

        return $times === [] ? '–' : Quantity::of(Summary::percentile($times, 0.5), 'ns');
    }

    private function heatMap(Findings $findings, Outcome $outcome): string
    {
        $cells = [];
        $order = [];
        foreach ($findings->cases($outcome, 'time') as $case) {
            if ($case['operation'] !== 'get' || $case['keys'] !== 'one hot key') {
                continue;
            }
            $order[] = $case['value'];
            foreach ($findings->inCase($outcome, 'time', $case) as $measurement) {
                $median = $findings->median($outcome->name, $measurement)->estimate;
                if (!is_nan($median)) {
                    $cells[] = ['subject' => $findings->run->title($measurement->subject, $outcome), 'value' => $case['value'], 'time' => $median, 'label' => Quantity::of($median, 'ns')];
                }
            }
        }

        return $cells === [] ? '' : sprintf(
            '<figure><figcaption>Time of one get of each value (one hot key, lower is better); the tables below have the figures</figcaption>%s</figure>',
            $this->chart([
                'width' => ['step' => 62], 'height' => ['step' => 20],
                'data' => ['values' => $cells],
                'encoding' => [
                    'x' => ['field' => 'value', 'type' => 'nominal', 'sort' => $order, 'title' => null, 'axis' => ['orient' => 'top', 'labelAngle' => -35]],
                    'y' => ['field' => 'subject', 'type' => 'nominal', 'sort' => null, 'title' => null, 'axis' => ['labelLimit' => 330]],
                ],
                'layer' => [
                    ['mark' => 'rect', 'encoding' => ['color' => ['field' => 'time', 'type' => 'quantitative', 'scale' => ['type' => 'log', 'scheme' => 'cividis', 'reverse' => true], 'legend' => null]]],
                    ['mark' => ['type' => 'text', 'fontSize' => 10], 'encoding' => [
                        'text' => ['field' => 'label'],
                        'color' => ['condition' => ['test' => 'datum.time > 3000', 'value' => '#ffffff'], 'value' => '#000001'],
                    ]],
                ],
            ]),
        );
    }

    /**
     * @param non-empty-list<array{subject: string, series: string, median: float, low: float, high: float, label: string}> $dots
     * @return array<string, mixed> a specification of Vega-Lite
     */
    private static function dotPlot(array $dots, string $unit, string $direction, bool $hasSeries): array
    {
        $least = min(array_map(static fn(array $dot): float => $dot['median'], $dots));
        $greatest = max(array_map(static fn(array $dot): float => $dot['median'], $dots));
        $isLog = $least > 0 && $greatest / $least > 10;
        $x = static fn(string $field): array => [
            'field' => $field, 'type' => 'quantitative', 'title' => "{$unit}, {$direction}",
            'scale' => $isLog ? ['type' => 'log', 'nice' => true] : ['zero' => true],
            'axis' => ['format' => $greatest < 1 ? '.2~f' : '~s', ...($isLog ? ['tickCount' => 6] : [])],
        ];
        $series = $hasSeries ? [
            'color' => ['field' => 'series', 'type' => 'nominal', 'sort' => null, 'title' => null, 'scale' => ['range' => self::COLOURS], 'legend' => ['orient' => 'top']],
            'shape' => ['field' => 'series', 'type' => 'nominal', 'sort' => null, 'title' => null, 'scale' => ['range' => self::SHAPES]],
        ] : [];
        $colour = array_intersect_key($series, ['color' => true]);

        return [
            'width' => 'container', 'height' => ['step' => 22], 'autosize' => ['type' => 'fit-x', 'contains' => 'padding'],
            'data' => ['values' => $dots],
            'encoding' => ['y' => [
                'field' => 'subject', 'type' => 'nominal', 'sort' => null, 'title' => null,
                'axis' => ['grid' => true, 'labelLimit' => 330],
            ]],
            'layer' => [
                ['mark' => ['type' => 'rule', 'strokeWidth' => 2], 'encoding' => ['x' => $x('low'), 'x2' => ['field' => 'high'], ...$colour]],
                ['mark' => ['type' => 'point', 'filled' => true, 'size' => 55, 'opacity' => 0.9], 'encoding' => [
                    'x' => $x('median'),
                    'tooltip' => [['field' => 'subject'], ['field' => 'series'], ['field' => 'label', 'title' => 'median']],
                    ...$series,
                ]],
            ],
        ];
    }

    /** @param array<string, mixed> $specification */
    private function chart(array $specification): string
    {
        return $this->scripts === null
            ? ''
            : '<div class="scroll"><div class="chart"><script type="application/json">'
                . json_encode($specification, JSON_THROW_ON_ERROR | JSON_HEX_TAG | JSON_UNESCAPED_UNICODE) . '</script></div></div>';
    }

    private function how(Findings $findings): string
    {
        $run = $findings->run;
        $floors = '';
        foreach ($run->outcomes as $outcome) {
            foreach ($findings->metrics($outcome) as $metric) {
                if (!in_array($outcome->name, ['gets', 'connect'], true) || $metric !== 'time') {
                    continue;
                }
                $floors .= sprintf(
                    '<li>%s: %s&nbsp;%% without a server, %s&nbsp;%% with one.</li>',
                    self::escape($outcome->title),
                    Quantity::number(100 * $findings->floor($outcome->name, $metric, 'apcu-php', 'apcu-php')->share),
                    Quantity::number(100 * $findings->floor($outcome->name, $metric, 'redis-tcp', 'redis-tcp')->share),
                );
            }
        }
        $settings = '';
        foreach ($run->settings as $name => $value) {
            $settings .= self::row([self::escape($name), self::escape($value)]);
        }

        return <<<HTML
            <section id="how"><h2>How it was measured</h2>
            <ul>
            <li>Each subject runs in fresh processes of its own. All subjects take turns, a block of each in a random order, so that whatever slows the machine for a while slows all of them.</li>
            <li>A comparison is the median ratio of paired blocks with a 95&nbsp;% interval, bootstrapped over processes and over the blocks in each. A verdict needs the whole interval to lie beyond the noise floor; everything else ties.</li>
            <li>The noise floor is what a subject differs by from itself when it runs twice side by side (the 95th percentile over all cases, at least 1&nbsp;%): <ul>{$floors}</ul></li>
            <li>The empty loop is measured like a subject and subtracted from the times of reads and writes; the JSON has the times as they were taken. Processor times are shown as they were taken, the loop and, for the client, the making of keys included.</li>
            <li>Every value read is compared with what was written, outside the timed region.</li>
            <li>Placement: {$this->text($run->placement)}.</li>
            <li>MAD is the mean absolute deviation from the mean, stdev the sample's standard deviation. No sample is dropped.</li>
            </ul>
            <details><summary>Settings of PHP in every worker</summary>{$this->table(['setting', 'value'], $settings)}</details>
            <p>To repeat it: <code>{$this->text($run->command)}</code></p>
            </section>
            HTML;
    }

    private function environment(Run $run): string
    {
        $rows = '';
        foreach ([...$run->environment, ...$run->versions] as $name => $value) {
            $rows .= self::row([self::escape($name), self::escape($value)]);
        }
        foreach ($run->servers as $name => $server) {
            $rows .= self::row([
                self::escape($name),
                self::escape($server['version'] ?? 'unknown') . (isset($server['memory']) ? ', ' . self::escape($server['memory']) : '')
                    . '<br><code>' . nl2br(self::escape(trim($server['command'] ?? ''))) . '</code>',
            ]);
        }

        return '<section id="environment"><h2>The machine</h2>' . self::table(['', ''], $rows) . '</section>';
    }

    /**
     * @param list<string> $headings
     * @param string $rows HTML
     */
    private static function table(array $headings, string $rows, bool $isNumeric = false): string
    {
        $head = array_filter($headings) === [] ? '' : '<thead><tr>' . implode('', array_map(static fn(string $heading): string => '<th scope="col">' . self::escape($heading) . '</th>', $headings)) . '</tr></thead>';

        return sprintf('<div class="scroll"><table%s>%s<tbody>%s</tbody></table></div>', $isNumeric ? ' class="figures"' : '', $head, $rows);
    }

    /** @param list<string> $cells HTML */
    private static function row(array $cells): string
    {
        return '<tr>' . implode('', array_map(static fn(string $cell): string => "<td>{$cell}</td>", $cells)) . '</tr>';
    }

    private static function duration(float $seconds): string
    {
        return $seconds < 90 ? round($seconds) . ' s' : round($seconds / 60, 1) . ' min';
    }

    private function text(string $text): string
    {
        return self::escape($text);
    }

    private static function escape(string $text): string
    {
        return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
    }
}
