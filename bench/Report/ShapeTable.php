<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Experiment\Shapes;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\ShapeRatios;
use Larder\Bench\Statistics\Interval;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Subject\Values;

/** Shared memory over APCu, one row a shape, and the means of all. */
final readonly class ShapeTable
{
    public function __construct(private Findings $findings, private Outcome $outcome) {}

    public function render(): string
    {
        $ratios = new ShapeRatios($this->findings);
        $rows = [];
        foreach (['all reads' => $ratios->reads(), 'all stores' => $ratios->stores(), 'all first fetches of a request' => $ratios->fetches()] as $title => $mean) {
            if ($mean !== null) {
                $rows[] = [$title, 'geometric mean', Quantity::interval($mean), '–'];
            }
        }
        foreach ($ratios->table($this->outcome) as $row) {
            $name = $row['case']['value'] ?? '';
            $rows[] = [
                Markup::escape(Values::find($name)->title ?? $name),
                Markup::escape($row['metric'] === Shapes::ONE ? 'the one fetch of a request' : $row['case']['operation'] ?? ''),
                self::interval($row['php']),
                self::interval($row['igbinary']),
            ];
        }

        return $rows === [] ? '' : '<h3>Shared memory over APCu (time, lower is better)</h3>'
            . Markup::table(['value', 'operation', 'APCu with PHP\'s serialiser = 1', 'APCu with igbinary = 1'], $rows);
    }

    private static function interval(?Interval $interval): string
    {
        return $interval === null ? '–' : Markup::escape(Quantity::interval($interval));
    }
}
