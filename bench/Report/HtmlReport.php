<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Outcome;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Promises;
use Larder\Bench\Finding\PromiseState;
use Larder\Bench\Finding\Run;
use Larder\Bench\Finding\Sources;
use Larder\Bench\Finding\Standing;
use Larder\Bench\Statistics\NoiseFloor;
use Larder\Bench\Statistics\Quantity;

/**
 * One HTML file, drawn from a run's JSON alone, that opens without a network.
 *
 * Behind each chart is a table, and beside what was measured stands what the sources published.
 */
final readonly class HtmlReport
{
    /** @param string|null $scripts the charts' runtime; without it the report has tables only */
    public function __construct(private ?string $scripts) {}

    public function render(Findings $findings): string
    {
        $run = $findings->run;
        $sections = '';
        $contents = '';
        foreach ($run->outcomes as $outcome) {
            $sections .= $this->experiment($findings, $outcome);
            $contents .= sprintf('<li><a href="#%s">%s</a></li>', Markup::escape($outcome->name), Markup::escape($outcome->title));
        }
        $answer = (new Answer($findings))->render();
        $conclusions = (new Conclusions($findings))->render();
        $style = (string) file_get_contents(__DIR__ . '/report.css');
        $scripts = ($this->scripts === null ? '' : "<script>{$this->scripts}</script>") . '<script>' . file_get_contents(__DIR__ . '/report.js') . '</script>';
        $incomplete = $run->isComplete ? '' : '<p class="warning">This run is not complete: it was interrupted or something failed. Figures that were not measured are missing below.</p>';

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
            <p>Measured by <code>{$this->text($run->command)}</code> on {$this->text($run->started)}, profile {$this->text($run->profile)}, in {$this->text(Markup::duration($run->seconds))}.
            Everything here is computed from the samples in the JSON file beside it.</p>
            {$incomplete}
            </header>
            <main>
            {$answer}
            <p>{$this->text(Standing::inWords($findings))} <a href="#recommendation">Which cache for which site</a> says what follows from that.</p>
            <nav><ul>{$contents}<li><a href="#recommendation">Which cache for which site</a></li><li><a href="#features">What no time tells</a></li><li><a href="#ledger">What the sources claim</a></li><li><a href="#promises">What Larder promises</a></li><li><a href="#not-measured">What was not measured</a></li><li><a href="#how">How it was measured</a></li><li><a href="#environment">The machine</a></li></ul></nav>
            {$sections}
            {$conclusions}
            {$this->promises($findings)}
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
        $rows = $met = $untold = $open = [];
        $told = $measured = 0;
        foreach (Promises::of($findings) as $promise) {
            $measured += $promise->state === PromiseState::NotMeasured ? 0 : 1;
            $told += in_array($promise->state, [PromiseState::Met, PromiseState::Missed], true) ? 1 : 0;
            $row = [
                Markup::escape($promise->title),
                Markup::escape($promise->figure),
                $promise->found === null ? '–' : Quantity::interval($promise->found),
                $promise->bound,
                $promise->state === PromiseState::NotShown ? Markup::samples($promise) : Markup::state($promise->state->value),
            ];
            match ($promise->state) {
                PromiseState::Met => $met[] = $row,
                PromiseState::Missed => $rows[] = $row,
                PromiseState::NotShown => $untold[] = $row,
                PromiseState::NotMeasured => $open[] = $row,
            };
        }

        return '<section id="promises"><h2>What Larder promises</h2><p>What Larder claims of itself, a ratio or a figure '
            . 'of this run, with its 95&nbsp;% interval. Met means that all of the interval keeps the bound, missed that none of it '
            . 'does; where it says so, met means that the interval reaches the bound. '
            . "This run can tell of {$told} of the {$measured} promises that it measures."
            . ($findings->run->profile === 'quick' ? ' A quick run takes few samples; a thorough one can tell of more.' : '') . '</p>'
            . '<h3>Not met</h3>' . $this->promiseTable($rows) . "<details><summary>What this run cannot tell</summary>{$this->promiseTable($untold, 'samples that would tell')}</details><details><summary>What it did not measure</summary>{$this->promiseTable($open)}</details><details><summary>Met</summary>{$this->promiseTable($met)}</details></section>";
    }

    /**
     * @param list<list<string>> $rows
     * @param string             $last heading of the last column
     */
    private function promiseTable(array $rows, string $last = 'state'): string
    {
        return $rows === [] ? '<p>None.</p>' : Markup::table(['promise', 'figure', 'found', 'bound', $last], $rows);
    }

    private function experiment(Findings $findings, Outcome $outcome): string
    {
        $table = $outcome->name === 'shapes' ? (new ShapeTable($findings, $outcome))->render() : '';
        $parts = $table . (new Figures($findings, $outcome, $this->scripts !== null))->render();
        $parameters = '';
        foreach ($outcome->parameters as $name => $value) {
            $parameters .= sprintf('<dt>%s</dt><dd>%s</dd>', Markup::escape($name), Markup::escape(is_int($value) ? number_format($value) : $value));
        }
        $notes = implode('', array_map(static fn(string $note): string => '<li>' . Markup::escape($note) . '</li>', $outcome->notes));
        foreach ($findings->leftOut($outcome) as $why => $titles) {
            $notes .= sprintf('<li>Left out: %s – %s</li>', Markup::escape(implode('; ', $titles)), nl2br(Markup::escape($why)));
        }
        $notes = $notes === '' ? '' : "<h3>Notes</h3><ul>{$notes}</ul>";
        $incomplete = $outcome->isComplete ? '' : '<p class="warning">This experiment is not complete: it was interrupted, something failed, or what it needs is not here.</p>';

        return sprintf(
            '<section id="%s"><details class="experiment"><summary><h2>%s</h2></summary><p>%s</p>%s<dl>%s</dl>%s%s%s</details></section>',
            Markup::escape($outcome->name),
            Markup::escape($outcome->title),
            Markup::escape($outcome->recreates),
            $incomplete,
            $parameters,
            $this->published($findings, $outcome),
            $parts,
            $notes,
        );
    }

    private function published(Findings $findings, Outcome $outcome): string
    {
        $rows = [];
        foreach (Sources::figures() as $figure) {
            if ($figure->experiment !== $outcome->name) {
                continue;
            }
            $rows[] = [Markup::escape($figure->title), Quantity::number($figure->value), $figure->measuredIn($findings), Markup::escape($figure->unit)];
        }

        return $rows === [] ? '' : '<h3>Published, and measured here</h3><p>The published figures are those of '
            . Markup::escape(Sources::of($outcome->name)) . '</p>'
            . Markup::table(['figure', 'published by the source', 'measured here', 'unit'], $rows);
    }

    private function how(Findings $findings): string
    {
        $run = $findings->run;
        $floors = '';
        foreach ($run->outcomes as $outcome) {
            foreach ($findings->metrics($outcome) as $metric) {
                foreach (['apcu-php' => '', 'redis-tcp' => ', where a server takes part'] as $twin => $where) {
                    if ($findings->hasTwins($outcome->name, $metric, $twin === 'redis-tcp')) {
                        $share = Quantity::number(100 * $findings->floor($outcome->name, $metric, $twin, $twin)->share);
                        $floors .= "<li>{$this->text("{$outcome->title}, {$metric}{$where}")}: {$share}&nbsp;%.</li>";
                    }
                }
            }
        }
        $assumed = Quantity::number(100 * NoiseFloor::ASSUMED);
        $inTurns = implode(', ', Findings::IN_TURNS);
        $settings = [];
        foreach ($run->settings as $name => $value) {
            $settings[] = [Markup::escape($name), Markup::escape($value)];
        }

        $settings = Markup::table(['setting', 'value'], $settings);

        return <<<HTML
            <section id="how"><h2>How it was measured</h2>
            <ul>
            <li>Each subject runs in fresh processes of its own. In {$inTurns}, and among the servers of clients, the subjects take turns, a block of each in a random order, so that whatever slows the machine for a while slows all of them; so do many items and few where tags compares cleans. Elsewhere they run one after the other.</li>
            <li>A comparison of what took turns is the median ratio of paired blocks, any other the ratio of the medians, each with a 95&nbsp;% interval, bootstrapped over processes and over the blocks in each; of fewer than six samples of one process it is Student's, of the logarithms, or Welch's. The mix of tags runs three times in stores of their own where a design does all of it in half of its time, and once where not: then its samples are four clients that ran at the same time, and what another start would add is not in their intervals. A verdict needs the whole interval to lie beyond the noise floor; everything else ties.</li>
            <li>The noise floor is what a subject differs by from itself when it runs twice side by side (the 95th percentile over all cases, at least 1&nbsp;%): <ul>{$floors}</ul>Where no subject ran twice, {$assumed}&nbsp;% is assumed. A time or a rate that was taken once has no verdict.</li>
            <li>The empty loop is measured like a subject and subtracted from the times of reads and writes; the JSON has the times as they were taken. Processor times are shown as they were taken, the loop and, for the client, the making of keys included, but in the mix of tags, whose loop is measured with a cache that does nothing and subtracted; such a cache has nothing to compare, so that the comparison of what was read is left in.</li>
            <li>Values read are compared with what was written, outside the timed region: each key's once after it was stored and the last of each block (gets, connect), the last of each round (scale, and the processes in clients), one read in fifty (tags), each session after each block (sessions), every read (full, cold, and the load generator of clients and web, which compares every answer). What was wrong has no figures.</li>
            <li>Placement: {$this->text($run->placement)}, but where an experiment's parameters say otherwise.</li>
            <li>MAD is the mean absolute deviation from the mean, stdev the sample's standard deviation. No sample is dropped.</li>
            </ul>
            <details><summary>Settings of PHP in every worker</summary>{$settings}</details>
            <p>To repeat it: <code>{$this->text($run->command)}</code></p>
            </section>
            HTML;
    }

    private function environment(Run $run): string
    {
        $rows = [];
        foreach ([...$run->environment, ...$run->versions] as $name => $value) {
            $rows[] = [Markup::escape($name), Markup::escape($value)];
        }
        foreach ($run->servers as $name => $server) {
            $rows[] = [
                Markup::escape($name),
                Markup::escape($server['version'] ?? 'unknown') . (isset($server['memory']) ? ', ' . Markup::escape($server['memory']) : '')
                    . '<br><code>' . nl2br(Markup::escape(trim($server['command'] ?? ''))) . '</code>',
            ];
        }

        return '<section id="environment"><h2>The machine</h2>' . Markup::table(['', ''], $rows) . '</section>';
    }

    private function text(string $text): string
    {
        return Markup::escape($text);
    }
}
