<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Finding\Advice;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Recommendation;
use Larder\Bench\Statistics\Quantity;
use Larder\Bench\Subject\Operation;

/** The first screen of the report: the winning store for each site, and by how much. Five charts show it, sorted and drawn without a script. */
final readonly class Answer
{
    /** What the charts show: title => value and operation. */
    private const CHARTS = [
        'Reading a string of 20 bytes' => ['string-20', Operation::Get],
        'Reading an object with 20 properties' => ['entity', Operation::Get],
        'Reading a page of 30 KB' => ['page', Operation::Get],
        'Reading an array of 600 options, 100 KB' => ['alloptions', Operation::Get],
        'Storing that array' => ['alloptions', Operation::Set],
    ];

    /** One of each kind, and of APCu those that are fastest at something. The tables have them all. */
    private const SUBJECTS = [
        'array', 'shared-memory', 'cache-shared-memory', 'apcu-default', 'apcu-php', 'apcu-igbinary', 'php-file', 'sqlite', 'file-disk', 'memcached-unix', 'redis-unix', 'valkey-unix',
    ];

    private const OURS = 'shared-memory';

    public function __construct(private Findings $findings) {}

    public function render(): string
    {
        $sentences = '';
        foreach (Recommendation::of($this->findings) as $advice) {
            $sentences .= $advice->best === null ? '' : '<li>' . $this->sentence($advice, $advice->best);
        }
        $charts = '';
        foreach (self::CHARTS as $title => [$value, $operation]) {
            $charts .= $this->chart($title, ['value' => $value, 'operation' => $operation->value, 'keys' => 'one hot key']);
        }

        return $sentences . $charts === '' ? '' : '<section id="answer"><h2>Which store wins</h2>'
            . ($sentences === '' ? '' : "<ul class=\"answers\">{$sentences}</ul><p>Times of a request, by this run; <a href=\"#recommendation\">what is assumed</a> says how they were weighed.</p>")
            . ($charts === '' ? '' : "<h3>One call for one key</h3><p>Medians; shorter is better, and each line of the scale is ten times the one before.</p><div class=\"charts\">{$charts}</div>") . '</section>';
    }

    private function sentence(Advice $advice, string $best): string
    {
        $ties = array_map(fn(string $subject): string => $this->title($advice, $subject), $advice->ties);
        $winner = '<strong>' . $this->title($advice, $best) . '</strong>' . ($ties === [] ? '' : ' (a tie with ' . implode(' and ', $ties) . ')');
        $site = Markup::escape("{$advice->site}, {$advice->host}");

        return $advice->next === null || $advice->ratio === null
            ? "<span class=\"site\">{$site}:</span> {$winner}; nothing else is shown to be slower"
            : sprintf('<span class="site">%s:</span> %s, <strong>%s</strong> times as fast as %s', $site, $winner, Quantity::interval($advice->ratio), $this->title($advice, $advice->next));
    }

    /** @param array<string, string> $case */
    private function chart(string $title, array $case): string
    {
        $times = [];
        $unit = '';
        foreach (self::SUBJECTS as $subject) {
            $measurement = $this->findings->measurement('gets', 'time', $case, $subject);
            if ($measurement !== null) {
                $times[$subject] = $this->findings->median('gets', $measurement)->estimate;
                $unit = $measurement->unit;
            }
        }
        $times = array_filter($times, static fn(float $time): bool => $time > 0.0);
        asort($times);
        if (count($times) < 2) {
            return '';
        }
        $least = floor(log10(min($times)));
        $decades = max(1.0, ceil(log10(max($times))) - $least);
        $rows = '';
        foreach ($times as $subject => $time) {
            $rows .= sprintf(
                '<li%s><span class="name">%s</span><span class="bar"><span style="width:%.1f%%"></span></span><span class="time">%s</span>',
                $subject === self::OURS ? ' class="ours"' : '',
                Markup::escape($this->findings->run->title($subject)),
                max(1.0, 100 * (log10($time) - $least) / $decades),
                Quantity::of($time, $unit),
            );
        }

        return sprintf('<div class="bars" style="--decades:%d"><h4>%s</h4><ol>%s</ol></div>', (int) $decades, Markup::escape($title), $rows);
    }

    private function title(Advice $advice, string $subject): string
    {
        return Markup::escape($this->findings->run->title($subject, $this->findings->run->outcome($advice->experiment)));
    }
}
