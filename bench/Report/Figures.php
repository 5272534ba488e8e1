<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Full;
use Larder\Bench\Experiment\Measurement;
use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Saturation;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Server\CpuMeter;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Statistics\Summary;
use Larder\Bench\Subject\Values;

/** The figures of one experiment: a chart each, and the table behind it. */
final readonly class Figures
{
    /** @param bool $hasCharts false: tables only */
    public function __construct(private Findings $findings, private Outcome $outcome, private bool $hasCharts) {}

    public function render(): string
    {
        $parts = '';
        foreach ($this->findings->metrics($this->outcome) as $metric) {
            $parts .= $this->outcome->name === 'gets' && $metric === 'time' ? $this->heatMap() : '';
            foreach ($this->groups($this->findings->cases($this->outcome, $metric)) as $title => $cases) {
                $parts .= $this->figure($metric, $title, $cases);
            }
        }

        return $parts;
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
        if (isset($case['value'], $case['operation'])) {
            $value = Values::find($case['value']);

            return ($value === null ? $case['value'] : $value->title) . ', ' . ($case['keys'] ?? '');
        }
        array_pop($case);

        return implode(', ', array_map(static fn(string $name, string $value): string => "{$name}: {$value}", array_keys($case), $case));
    }

    /** @param array<string, string> $case */
    private function series(array $case): string
    {
        return isset($case['value'], $case['operation']) ? $case['operation'] : (($last = array_key_last($case)) === null ? '' : "{$last}: {$case[$last]}");
    }

    /** @param list<array<string, string>> $cases */
    private function seriesName(array $cases): string
    {
        return isset($cases[0]['value'], $cases[0]['operation']) ? 'operation' : (string) array_key_last($cases[0] ?? ['case' => '']);
    }

    /** @param list<array<string, string>> $cases */
    private function figure(string $metric, string $group, array $cases): string
    {
        $rows = [];
        $unit = $direction = '';
        $isLoaded = $this->isLoaded($metric, $cases);
        $reference = $this->findings->reference($this->outcome, $metric, $cases);
        foreach ($cases as $case) {
            foreach ($this->findings->inCase($this->outcome, $metric, $case) as $measurement) {
                [$unit, $direction] = [$measurement->unit, $measurement->direction->inWords()];
                $row = $this->row($measurement, $reference, $isLoaded);
                if ($row !== []) {
                    $rows[] = $row;
                }
            }
        }
        if ($rows === []) {
            return '';
        }
        $compared = $reference === null ? [] : ['over ' . $this->title($reference), 'verdict on ' . $this->title($reference)];
        $headings = [
            'subject', $this->seriesName($cases), 'median', ...$compared, '95 % interval', 'n', 'min', 'p1', 'p5', 'mean', 'p95', 'p99', 'max', 'range', 'MAD',
            'stdev', 'client CPU', 'server CPU', ...($isLoaded ? ['generator busy'] : []),
        ];

        return sprintf(
            '<figure><figcaption>%s</figcaption>%s<details><summary>The figures behind it</summary>%s</details></figure>',
            Markup::escape(ucfirst($metric) . ($group === '' ? '' : ", {$group}") . " ({$unit}, {$direction})"),
            $this->chart($this->plot($metric, $cases, $unit, $direction)),
            Markup::figures($headings, $rows),
        );
    }

    /**
     * @param list<array<string, string>> $cases
     * @return array<string, mixed>|null a specification of Vega-Lite
     */
    private function plot(string $metric, array $cases, string $unit, string $direction): ?array
    {
        return match (true) {
            $this->outcome->name === 'clients' && $metric === 'rate' && isset($cases[0]['clients']) => $this->sweep($metric, $cases, "{$unit}, {$direction}"),
            $metric === Full::OVER_TIME => $this->overTime($metric, $cases, "{$unit}, {$direction}"),
            in_array($metric, [Full::SET, Full::SMALL_SET], true) => $this->percentiles($metric, $cases, "{$unit}, {$direction}"),
            default => $this->dots($metric, $cases, $unit, $direction),
        };
    }

    /**
     * @param list<array<string, string>> $cases
     * @return array<string, mixed>|null
     */
    private function dots(string $metric, array $cases, string $unit, string $direction): ?array
    {
        $dots = [];
        foreach ($cases as $case) {
            foreach ($this->findings->inCase($this->outcome, $metric, $case) as $measurement) {
                $median = $this->findings->median($this->outcome->name, $measurement);
                $values = $this->values($measurement);
                if ($values === []) {
                    continue;
                }
                $dots[] = [
                    'subject' => $this->title($measurement->subject), 'series' => $this->series($case),
                    'median' => $median->estimate, 'low' => $median->low, 'high' => $median->high, 'min' => min($values), 'max' => max($values),
                    'label' => Quantity::of($median->estimate, $unit),
                ];
            }
        }

        return $dots === [] ? null : Plots::dots($dots, $unit, $direction, count($cases) > 1);
    }

    /**
     * Means with the standard deviation as error bars, as the source shows them.
     *
     * @param list<array<string, string>> $cases
     * @return array<string, mixed>|null
     */
    private function sweep(string $metric, array $cases, string $title): ?array
    {
        $points = [];
        foreach ($cases as $case) {
            foreach ($this->findings->inCase($this->outcome, $metric, $case) as $measurement) {
                $values = $this->values($measurement);
                if ($values !== []) {
                    $summary = Summary::of($values);
                    $points[] = [
                        'subject' => $this->title($measurement->subject), 'x' => (float) ($case['clients'] ?? 0), 'y' => $summary->mean,
                        'low' => max($summary->mean - $summary->stdev, $summary->min / 2), 'high' => $summary->mean + $summary->stdev,
                    ];
                }
            }
        }

        return $points === [] ? null : Plots::lines($points, 'clients (error bars: standard deviation)', $title);
    }

    /**
     * @param list<array<string, string>> $cases
     * @return array<string, mixed>|null
     */
    private function overTime(string $metric, array $cases, string $title): ?array
    {
        $points = [];
        foreach ($this->findings->inCase($this->outcome, $metric, $cases[0] ?? []) as $measurement) {
            $reads = $measurement->column('reads');
            foreach ($measurement->byBlock()[0] ?? [] as $block => $value) {
                $points[] = ['subject' => $this->title($measurement->subject), 'x' => $reads[$block] ?? (float) $block, 'y' => $value, 'low' => $value, 'high' => $value];
            }
        }

        return $points === [] ? null : Plots::lines($points, 'reads so far', $title, true);
    }

    /**
     * @param list<array<string, string>> $cases
     * @return array<string, mixed>|null
     */
    private function percentiles(string $metric, array $cases, string $title): ?array
    {
        $points = [];
        foreach ($cases as $case) {
            foreach ($this->findings->inCase($this->outcome, $metric, $case) as $measurement) {
                $values = $this->values($measurement);
                if ($values !== []) {
                    $points[] = [
                        'subject' => $this->title($measurement->subject), 'x' => $case['percentile'] ?? '',
                        'y' => Summary::of($values)->median, 'low' => min($values), 'high' => max($values),
                    ];
                }
            }
        }

        return $points === [] ? null : Plots::lines($points, 'percentile', $title);
    }

    private function heatMap(): string
    {
        $cells = [];
        $order = [];
        foreach ($this->findings->cases($this->outcome, 'time') as $case) {
            if (($case['operation'] ?? '') !== 'get' || ($case['keys'] ?? '') !== 'one hot key') {
                continue;
            }
            $order[] = $case['value'] ?? '';
            foreach ($this->findings->inCase($this->outcome, 'time', $case) as $measurement) {
                $median = $this->findings->median($this->outcome->name, $measurement)->estimate;
                if (!is_nan($median)) {
                    $cells[] = ['subject' => $this->title($measurement->subject), 'value' => $case['value'] ?? '', 'time' => $median, 'label' => Quantity::of($median, 'ns')];
                }
            }
        }

        return $cells === [] ? '' : sprintf(
            '<figure><figcaption>Time of one get of each value (one hot key, lower is better); the tables below have the figures</figcaption>%s</figure>',
            $this->chart(Plots::heatMap($cells, $order)),
        );
    }

    /** @return list<string> HTML of the cells; none: it has no figures */
    private function row(Measurement $measurement, ?string $reference, bool $isLoaded): array
    {
        $values = $this->values($measurement);
        if ($values === []) {
            return [];
        }
        $summary = Summary::of($values);
        $median = $this->findings->median($this->outcome->name, $measurement);
        $show = static fn(float $value): string => Quantity::of($value, $measurement->unit);
        $cells = [
            Markup::escape($this->title($measurement->subject)),
            Markup::escape($this->series($measurement->case)),
            '<strong>' . $show($summary->median) . '</strong>',
            ...($reference === null ? [] : $this->against($reference, $measurement)),
            $show($median->low) . ' … ' . $show($median->high),
            (string) $summary->n,
            ...array_map($show, [$summary->min, $summary->p1, $summary->p5, $summary->mean, $summary->p95, $summary->p99, $summary->max, $summary->range, $summary->mad, $summary->stdev]),
            ...array_map(static fn(string $column): string => self::cpu($measurement, $column), CpuMeter::COLUMNS),
        ];
        if ($isLoaded) {
            $share = Saturation::share($measurement);
            $cells[] = $share === null ? '–' : sprintf('%d %%', round(100 * $share));
        }

        return $cells;
    }

    /** @return list<string> HTML of two cells: its ratio to the reference, and the reference's verdict on it */
    private function against(string $reference, Measurement $measurement): array
    {
        $ratio = $this->findings->ratio($this->outcome->name, $measurement->metric, $measurement->case, $measurement->subject, $reference);
        $verdict = $measurement->subject === $reference
            ? null
            : $this->findings->verdict($this->outcome->name, $measurement->metric, $measurement->case, $reference, $measurement->subject);

        return [$ratio === null ? '–' : Quantity::interval($ratio), $verdict === null ? '–' : $verdict->value];
    }

    /**
     * Whether a load generator made any of these, so that its share of a processor belongs into the table.
     *
     * @param list<array<string, string>> $cases
     */
    private function isLoaded(string $metric, array $cases): bool
    {
        foreach ($cases as $case) {
            foreach ($this->findings->inCase($this->outcome, $metric, $case) as $measurement) {
                if (Saturation::share($measurement) !== null) {
                    return true;
                }
            }
        }

        return false;
    }

    private static function cpu(Measurement $measurement, string $column): string
    {
        $times = $measurement->column($column);
        sort($times);

        return $times === [] ? '–' : Quantity::of(Summary::percentile($times, 0.5), 'ns');
    }

    /** @return list<float> without the empty loop */
    private function values(Measurement $measurement): array
    {
        $values = [];
        foreach ($this->findings->values($this->outcome->name, $measurement) as $blocks) {
            array_push($values, ...array_values($blocks));
        }

        return $values;
    }

    private function title(string $subject): string
    {
        return $this->findings->run->title($subject, $this->outcome);
    }

    /** @param array<string, mixed>|null $specification */
    private function chart(?array $specification): string
    {
        if ($specification === null || !$this->hasCharts) {
            return '';
        }
        array_walk_recursive($specification, static function (mixed &$value): void {
            $value = is_float($value) ? Quantity::rounded($value, 5) : $value;
        });

        return '<div class="scroll" tabindex="0"><div class="chart"><script type="application/json">'
            . json_encode($specification, JSON_THROW_ON_ERROR | JSON_HEX_TAG | JSON_UNESCAPED_UNICODE) . '</script></div></div>';
    }
}
