<?php

declare(strict_types=1);

namespace Larder\Bench\Report;

use Larder\Bench\Experiment\Tags;

/** What tags may cost. */
final readonly class TagPromises
{
    private const OURS = 'shared-memory';
    /** Two times within 5 % of each other are the same, because nothing measured here is told apart more finely. */
    private const SAME = 1.05;

    private function __construct(private Findings $findings, private TagDesigns $designs) {}

    /** @return array<string, list<Promise>> by the experiment that shows them */
    public static function of(Findings $findings): array
    {
        $promises = new self($findings, TagDesigns::in($findings));
        $one = ['tagged items' => '1'];
        $many = ['tagged items' => '1,000,000'];
        $time = $findings->measurement('tags', Tags::INVALIDATE, $many, self::OURS);

        return ['tags' => [
            Promise::atMost('invalidating a tag of 1,000,000 items', 'time, over that of a tag of one item', $findings->between('tags', Tags::INVALIDATE, $many, self::OURS, $one, self::OURS), self::SAME),
            Promise::atMost('invalidating a tag of 1,000,000 items, again and again', 'ns', $time === null ? null : $findings->median('tags', $time), 1_000),
            $promises->against('cleaning %s items by tag', 'cleans by tag', 'cleans', 'tag-sets', 100),
            $promises->against('reading %s tagged items', 'reads', 'reads', 'tag-files', 1),
            $promises->against('writing %s tagged items', 'writes', 'writes', 'tag-sets', 1),
        ]];
    }

    /** @param string $title of the promise, with a place for the number of items */
    private function against(string $title, string $metric, string $what, string $design, float $bound): Promise
    {
        $theirs = $this->designs->speaker($metric, $design);

        return Promise::atLeast(
            sprintf($title, $this->designs->case['items'] ?? 'all') . ", against {$this->designs->title($theirs)}",
            "{$what} per second, ours over theirs",
            $this->findings->ratio('tags', $metric, $this->designs->case, self::OURS, $theirs),
            $bound,
        );
    }
}
