<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Finding\Advice;
use Larder\Bench\Finding\Features;
use Larder\Bench\Finding\Findings;
use Larder\Bench\Finding\Ledger;
use Larder\Bench\Finding\Recommendation;
use Larder\Bench\Finding\Sources;
use Larder\Bench\Statistics\Quantity;

/** The end of the report: the advice, the claims of the sources, and everything that was not measured. */
final readonly class Conclusions
{
    public function __construct(private Findings $findings) {}

    public function render(): string
    {
        return $this->recommendation() . $this->sourcesOwn() . $this->features() . $this->ledger() . $this->notMeasured();
    }

    private function recommendation(): string
    {
        $rows = [];
        foreach (Recommendation::of($this->findings) as $advice) {
            $rows[] = [
                Markup::escape($advice->site),
                Markup::escape($advice->host),
                $advice->best === null ? 'not measured' : '<strong>' . $this->title($advice, $advice->best) . '</strong>',
                $advice->ties === [] ? '–' : implode('; ', array_map(fn(string $subject): string => $this->title($advice, $subject), $advice->ties)),
                $advice->next === null || $advice->ratio === null ? '–' : $this->title($advice, $advice->next) . ': ' . Quantity::interval($advice->ratio) . ' ×',
            ];
        }

        return '<section id="recommendation"><h2>Which cache for which site</h2><p>The store with the least time of a request, by the samples above. A store that is not shown to be slower ties with it.</p>'
            . Markup::table(['site', 'host', 'use', 'a tie with it', 'the next, as times of its time'], $rows)
            . '<h3>What is assumed</h3><p>How often a request does what is our assumption.</p><ul>'
            . '<li>A request of a blog reads its options once, 20 posts and a page, and stores a post every tenth time. One of a shop reads its options, 40 products and 20 entities, and stores three.</li>'
            . '<li>In a large catalogue\'s cache a hundred reads come with five writes and one clean by tag. Where it is mostly read, there are 999 reads with one write and one clean, as in the tool of source D. A write there is one after half was cleaned, which reclaims what cleans leave.</li>'
            . '<li>A server is asked for one item a round trip. On one host, it is asked once more for a hundred at once where a request reads 20 or more of a kind. That is more than such a request has, and flatters it.</li>'
            . '<li>Several hosts: the network\'s round trips come on top of every figure. For a blog and a shop they are the same for each store. For a catalogue they are not. Its figures are of Unix sockets on one host, and designs differ in how often they ask. To clean a tag, Memcached in two levels asks for each item that has it. Tag sets ask twice a write.</li></ul></section>';
    }

    private function title(Advice $advice, string $subject): string
    {
        return Markup::escape($this->findings->run->title($subject, $this->findings->run->outcome($advice->experiment)));
    }

    private function sourcesOwn(): string
    {
        return '<section id="sources-own"><h2>What source D recommends</h2><p>As published, with its weighting: deletes over writes over '
            . 'reads. ' . Markup::escape(Sources::D) . '</p>' . Markup::table(Sources::HEADINGS_OF_D, Sources::adviceOfD()) . '</section>';
    }

    private function features(): string
    {
        $rows = array_map(static fn(array $row): array => array_map(Markup::escape(...), $row), Features::rows());

        return '<section id="features"><h2>What no time tells</h2>' . Markup::table(Features::HEADINGS, $rows) . '</section>';
    }

    private function ledger(): string
    {
        $rows = [];
        foreach (Ledger::of($this->findings) as $claim) {
            $rows[] = [
                $claim->source,
                Markup::escape($claim->claim),
                Markup::escape($claim->figure),
                $claim->found === null ? '–' : Quantity::interval($claim->found),
                Markup::state($claim->state->value),
            ];
        }

        return '<section id="ledger"><h2>What the sources claim</h2><p>Each claim of the four sources, and whether this run agrees. A '
            . '"three times" that lies between twice and four and a half times is agreed with. '
            . 'Where Valkey was measured and Redis was not, it speaks for Redis.</p><ul>'
            . implode('', array_map(static fn(string $letter, string $source): string => "<li>{$letter}: " . Markup::escape($source) . '</li>', ['A', 'B', 'C', 'D'], [Sources::A, Sources::B, Sources::C, Sources::D]))
            . '</ul>' . Markup::table(['source', 'claim', 'figure', 'found here', 'verdict'], $rows) . '</section>';
    }

    private function notMeasured(): string
    {
        $items = '';
        foreach ($this->findings->run->outcomes as $outcome) {
            foreach ($this->findings->leftOut($outcome) as $why => $titles) {
                $items .= sprintf('<li>%s: %s – %s</li>', Markup::escape($outcome->title), Markup::escape(implode('; ', $titles)), Markup::escape(strtok($why, "\n") ?: $why));
            }
        }
        $items .= '<li>Hosts that are apart: everything here runs on one machine, over its loopback interface.</li>'
            . '<li>WordPress, its plugins and its page caches; disks of other kinds; other releases of PHP than this one.</li>';

        return "<section id=\"not-measured\"><h2>What was not measured</h2><ul>{$items}</ul></section>";
    }
}
