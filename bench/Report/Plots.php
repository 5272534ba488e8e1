<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

/**
 * Specifications of Vega-Lite.
 *
 * Values are dots with intervals or lines with error bars, never bars, on a logarithmic axis where they span more
 * than a decade. Colours are those of Okabe and Ito, which colour-blind readers can tell apart; shapes or dashes say
 * the same again.
 */
final class Plots
{
    private const COLOURS = ['#0072B2', '#E69F00', '#009E73', '#D55E00', '#CC79A7', '#56B4E9', '#7a7a7a', '#a6761d'];
    private const SHAPES = ['circle', 'square', 'triangle-up', 'diamond', 'cross', 'triangle-down', 'triangle-left', 'triangle-right'];
    private const DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 2], [1, 3], [10, 4], [3, 6]];

    /**
     * Subjects below each other, a dot with its interval for each series; a thin line from the least to the greatest sample.
     *
     * @param non-empty-list<array{subject: string, series: string, median: float, low: float, high: float, min: float, max: float, label: string}> $dots
     * @return array<string, mixed>
     */
    public static function dots(array $dots, string $unit, string $direction, bool $hasSeries): array
    {
        $medians = array_map(static fn(array $dot): float => $dot['median'], $dots);
        $isLog = self::isLog($medians);
        $x = static fn(string $field): array => [
            'field' => $field, 'type' => 'quantitative', 'title' => "{$unit}, {$direction}",
            'scale' => $isLog ? ['type' => 'log', 'nice' => true] : ['zero' => true],
            'axis' => ['format' => self::format($medians), 'tickCount' => 6],
        ];
        $series = $hasSeries ? self::series() : [];
        unset($series['strokeDash']);
        $colour = array_intersect_key($series, ['color' => true]);

        return [
            'width' => 'container', 'height' => ['step' => 22], 'autosize' => ['type' => 'fit-x', 'contains' => 'padding'],
            'data' => ['values' => $dots],
            'encoding' => ['y' => [
                'field' => 'subject', 'type' => 'nominal', 'sort' => null, 'title' => null,
                'axis' => ['grid' => true, 'labelLimit' => 0],
            ]],
            'layer' => [
                ['mark' => ['type' => 'rule', 'strokeWidth' => 1, 'opacity' => 0.5, 'color' => self::COLOURS[0]], 'encoding' => ['x' => $x('min'), 'x2' => ['field' => 'max'], ...$colour]],
                ['mark' => ['type' => 'rule', 'strokeWidth' => 3, 'color' => self::COLOURS[0]], 'encoding' => ['x' => $x('low'), 'x2' => ['field' => 'high'], ...$colour]],
                ['mark' => ['type' => 'point', 'filled' => true, 'size' => 55, 'opacity' => 0.9, 'color' => self::COLOURS[0]], 'encoding' => [
                    'x' => $x('median'),
                    'tooltip' => [['field' => 'subject'], ['field' => 'series'], ['field' => 'label', 'title' => 'median']],
                    ...$series,
                ]],
            ],
        ];
    }

    /**
     * A line for each subject, with an error bar at each point.
     *
     * @param non-empty-list<array{subject: string, x: float|string, y: float, low: float, high: float}> $points
     * @return array<string, mixed>
     */
    public static function lines(array $points, string $x, string $y, bool $isLogX = false): array
    {
        $values = array_map(static fn(array $point): float => $point['y'], $points);
        $isOrdinal = is_string($points[0]['x']);
        $across = $isOrdinal
            ? ['field' => 'x', 'type' => 'ordinal', 'sort' => null, 'title' => $x, 'axis' => ['labelAngle' => 0]]
            : ['field' => 'x', 'type' => 'quantitative', 'title' => $x, 'scale' => $isLogX ? ['type' => 'log', 'nice' => false] : ['nice' => false], 'axis' => ['format' => '~s', 'tickCount' => 8]];
        $up = static fn(string $field): array => [
            'field' => $field, 'type' => 'quantitative', 'title' => $y,
            'scale' => self::isLog($values) ? ['type' => 'log', 'nice' => true] : ['zero' => true],
            'axis' => ['format' => self::format($values), 'tickCount' => 6],
        ];
        $series = self::series('subject');

        return [
            'width' => 'container', 'height' => 320, 'autosize' => ['type' => 'fit-x', 'contains' => 'padding'],
            'data' => ['values' => $points],
            'encoding' => ['x' => $across, 'color' => $series['color']],
            'layer' => [
                ['mark' => ['type' => 'line', 'strokeWidth' => 2], 'encoding' => ['y' => $up('y'), 'strokeDash' => $series['strokeDash']]],
                ['mark' => ['type' => 'rule', 'strokeWidth' => 1.5], 'encoding' => ['y' => $up('low'), 'y2' => ['field' => 'high']]],
                ['mark' => ['type' => 'point', 'filled' => true, 'size' => count($points) > 400 ? 8 : 40], 'encoding' => [
                    'y' => $up('y'), 'shape' => $series['shape'],
                    'tooltip' => [['field' => 'subject'], ['field' => 'x', 'title' => $x], ['field' => 'y', 'title' => $y]],
                ]],
            ],
        ];
    }

    /**
     * Subjects against values, the time as a shade and as text.
     *
     * @param non-empty-list<array{subject: string, value: string, time: float, label: string}> $cells
     * @param list<string> $order of the values
     * @return array<string, mixed>
     */
    public static function heatMap(array $cells, array $order): array
    {
        return [
            'width' => ['step' => 50], 'height' => ['step' => 20],
            'data' => ['values' => $cells],
            'encoding' => [
                'x' => ['field' => 'value', 'type' => 'nominal', 'sort' => $order, 'title' => null, 'axis' => ['orient' => 'top', 'labelAngle' => -35]],
                'y' => ['field' => 'subject', 'type' => 'nominal', 'sort' => null, 'title' => null, 'axis' => ['labelLimit' => 0]],
            ],
            'layer' => [
                ['mark' => 'rect', 'encoding' => ['color' => ['field' => 'time', 'type' => 'quantitative', 'scale' => ['type' => 'log', 'scheme' => 'cividis', 'reverse' => true], 'legend' => null]]],
                ['mark' => ['type' => 'text', 'fontSize' => 10], 'encoding' => [
                    'text' => ['field' => 'label'],
                    'color' => ['condition' => ['test' => 'datum.time > 3000', 'value' => '#ffffff'], 'value' => '#000001'],
                ]],
            ],
        ];
    }

    /** @return array{color: array<string, mixed>, shape: array<string, mixed>, strokeDash: array<string, mixed>} */
    private static function series(string $field = 'series'): array
    {
        $legend = ['orient' => 'top', 'columns' => 3, 'labelLimit' => 0, 'symbolLimit' => 40, 'symbolOpacity' => 1];

        return [
            'color' => ['field' => $field, 'type' => 'nominal', 'sort' => null, 'title' => null, 'scale' => ['range' => self::COLOURS], 'legend' => $legend],
            'shape' => ['field' => $field, 'type' => 'nominal', 'sort' => null, 'title' => null, 'scale' => ['range' => self::SHAPES], 'legend' => $legend],
            'strokeDash' => ['field' => $field, 'type' => 'nominal', 'sort' => null, 'title' => null, 'scale' => ['range' => self::DASHES], 'legend' => $legend],
        ];
    }

    /** @param non-empty-list<float> $values */
    private static function isLog(array $values): bool
    {
        return min($values) > 0 && max($values) / min($values) > 10;
    }

    /** @param non-empty-list<float> $values */
    private static function format(array $values): string
    {
        return max($values) < 1 ? '.2~f' : '~s';
    }
}
